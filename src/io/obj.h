// io/obj.h: cloth meshes as OBJ: v world node, vt material vertex, f; and the extra lines of ARCSim.
//
// Extra lines follow the element they belong to: nv velocity and nl label of a node, fl (or tl) label of a face. A line
// of ours, np I, says that node I (from 0) is pinched between bodies, where contact with them cannot be kept. `e a b`
// and `el n` after it label an edge (nodes from 1). What others write (vn, g, o, s, usemtl, mtllib, vl) is skipped;
// lines about plasticity and damage (ny, ea, ed, ts, fs, td, fd) are counted where they are not zero. Without vt the
// material coordinates are the x, y of the nodes, until somebody knows better (has_uv).
#pragma once
#include "io/text.h"
#include "toile/base.h"

/// Arrays as tl_cloth_def wants them. Vertices are numbered in the order of vt, then of first use.
typedef struct tl_obj {
    tl_allocator alloc;
    int32_t node_count, vert_count, face_count;
    tl_vec3 *pos;         ///< [m]
    tl_vec3 *vel;         ///< [m/s]; NULL without nv lines
    int32_t *node_label;  ///< NULL without nl lines
    tl_vec2 *uv;          ///< [m]
    int32_t *vert_node;
    int32_t (*face)[3];
    int32_t *face_label;  ///< NULL without fl lines
    int32_t *pinched;     ///< nodes of np lines as they came, pinched_count of them
    int32_t pinched_count;
    int32_t (*edge)[2];  ///< nodes of edges with a label, edge_count of them
    int32_t *edge_label;
    int32_t edge_count;
    int32_t
        *place;  ///< TL_OBJ_LOOSE, where nodes were left out: number of every node of the file, -1: left out; else NULL
    int32_t place_count;
    uint8_t *turned;  ///< tl_obj_unmirror, where panels were turned over: 1 for every vertex of these; else NULL
    int32_t turned_count;
    bool has_uv;            ///< there were vt lines; without them uv are x, y of the nodes, good for flat cloth only
    bool absent;            ///< a line na: an obstacle that is not there at this frame; then there may be no faces
    bool moves;             ///< a line nm: an obstacle that has a file at every frame
    int64_t plastic_lines;  ///< that say something, which has no effect here
    int64_t first_plastic_line;
    int64_t unknown_lines;  ///< lines that nobody knows
    int64_t first_unknown_line;
    // capacities behind the arrays, for freeing
    int32_t pos_cap, vel_cap, node_label_cap, uv_cap, vert_cap, face_cap, face_label_cap, pinched_cap, edge_cap,
        edge_label_cap;
} tl_obj;

typedef enum tl_obj_mode {
    TL_OBJ_STRICT,   ///< as input of a simulation: also no isolated node, no face without material area
    TL_OBJ_LOOSE,    ///< the same, but isolated nodes are left out
    TL_OBJ_BODY,     ///< as an obstacle: finite, but vt is not read, faces may be degenerate and nodes isolated
    TL_OBJ_LENIENT,  ///< as something to look at: nan and inf are numbers, faces may be degenerate
} tl_obj_mode;

#define TL_OBJ_MAX_BYTES (SIZE_MAX > UINT32_MAX ? (size_t)((uint64_t)16 << 30) : (size_t)1 << 30)
#define TL_OBJ_MAX_COORD 1e9  // [m]; beyond this squares and products of coordinates lose all meaning

/// Reads a mesh from memory. `text[size]` need not be a zero. TL_BAD_INPUT names path, line, its text and the value.
tl_status tl_obj_parse(const tl_allocator *alloc, const char *path, const char *text, size_t size, tl_obj_mode mode,
                       tl_obj *out, tl_error *err);
void tl_obj_free(tl_obj *obj);

/// Leaves out nodes in no face; `corner` are the nodes (and vt) of the faces. True: there were some.
bool tl_obj_drop_lost(tl_obj *obj, int32_t (*corner)[2], tl_error *err, tl_status *status);

/// Turns panels over that are drawn mirrored as a whole, u to -u, notes their vertices in `turned`, and counts them.
tl_status tl_obj_unmirror(tl_obj *obj, int32_t *panels, tl_error *err);

/// What to write; all borrowed. Labels and velocities are left out when NULL (or all zero).
typedef struct tl_obj_view {
    const char *name;
    const tl_vec3 *pos, *vel;
    const int32_t *node_label;
    int32_t node_count;
    const tl_vec2 *uv;         ///< NULL: an obstacle, without vt; then faces are of nodes
    const int32_t *vert_node;  ///< NULL: vertex i lies on node i
    int32_t vert_count;
    const int32_t (*face)[3];
    const int32_t *face_label;
    int32_t face_count;
    const int32_t *pinched;  ///< nodes, pinched_count of them
    int32_t pinched_count;
    const int32_t (*edge)[2];  ///< nodes of edges with a label, edge_count of them
    const int32_t *edge_label;
    int32_t edge_count;
    bool absent;        ///< an obstacle that is not there at this frame: no faces
    bool moves;         ///< an obstacle that is written at every frame
    const char *units;  ///< of v, for the comment; NULL: "m; right-handed, y up"
} tl_obj_view;

/// Appends the file; reading it back gives the same bits.
void tl_obj_write(tl_buf *buf, const tl_obj_view *view);
