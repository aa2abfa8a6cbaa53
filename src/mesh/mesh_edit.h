// mesh/mesh_edit.h: split, flip and collapse edges, split faces; record edits and take them back to the bit.
//
// An edit either happens or leaves the mesh as it was, also when memory runs out. No edit moves a material
// vertex, changes a panel outline or a feature line in material space, or turns a face over.
#pragma once
#include "mesh/mesh.h"

/// May an edit be done, and if not, why.
typedef enum tl_verdict {
    TL_VERDICT_OK = 0,
    TL_VERDICT_NO_EDGE,      ///< no living edge, or the node is not one of its ends
    TL_VERDICT_RANGE,        ///< split parameter outside (0, 1)
    TL_VERDICT_BORDER,       ///< a border cannot be flipped
    TL_VERDICT_SEAM,         ///< a seam cannot be flipped
    TL_VERDICT_FEATURE,      ///< a feature line cannot be flipped
    TL_VERDICT_FIXED_NODE,   ///< the node ends or joins lines, or is a bow-tie: it stays
    TL_VERDICT_LEAVES_LINE,  ///< the node lies on an outline, seam or feature line that the edge is not part
                             ///< of
    TL_VERDICT_BENT,         ///< the line turns at the node in material space
    TL_VERDICT_TOPOLOGY,     ///< two edges or faces would fall together (link condition)
    TL_VERDICT_INVERTS,      ///< a face would turn over or become a needle in material space
} tl_verdict;
const char *tl_verdict_name(tl_verdict verdict);  ///< a phrase for messages; static storage

// ---- split ------------------------------------------------------------------------------------------------

typedef struct tl_split {
    int32_t node;      ///< the new node
    int32_t vert[2];   ///< its vertex on side 0 and 1 of the edge: equal unless a seam, [1] TL_NONE at a border
    int32_t edge;      ///< the new half, new node -> old node 1; the old edge is now old node 0 -> new node
    int32_t inner[2];  ///< new edge to the node opposite on each side; [1] TL_NONE at a border
    int32_t face[2];   ///< new face beside `edge` on each side; [1] TL_NONE at a border
} tl_split;

tl_verdict tl_mesh_can_split(const tl_mesh *mesh, int32_t e, double t);

/// Cuts the edge at `t` (0.5: the middle) of the way from its node 0 to node 1, on a seam on both sides
/// at once. New node: position and velocity are means by t (the caller may overwrite them), the label is
/// kept if both ends carry the same one, else 0. Both halves keep label and rest angle; inner edges start
/// with 0.
tl_status tl_mesh_split_edge(tl_mesh *mesh, int32_t e, double t, tl_split *out, tl_error *err);

/// A node in the middle of a face.
typedef struct tl_face_split {
    int32_t node, vert;  ///< the new node and its only vertex
    int32_t face[2];     ///< new: (b, c, new) and (c, a, new); the face (a, b, c) is now (a, b, new)
    int32_t edge[3];     ///< new, from the new node to corner a, b, c
} tl_face_split;

tl_verdict tl_mesh_can_split_face(const tl_mesh *mesh, int32_t f);

/// Cuts the face in three at its centroid. Position, velocity and uv of the new node are means of the corners. To
/// collapse the new node into any corner takes it back.
tl_status tl_mesh_split_face(tl_mesh *mesh, int32_t f, tl_face_split *out, tl_error *err);

// ---- flip -------------------------------------------------------------------------------------------------

tl_verdict tl_mesh_can_flip(const tl_mesh *mesh, int32_t e);

/// Turns the edge to join the two opposite nodes. Ids of edge and faces stay; the rest angle becomes 0 (mesh_rest.h
/// knows better).
tl_status tl_mesh_flip_edge(tl_mesh *mesh, int32_t e, tl_error *err);

// ---- collapse ---------------------------------------------------------------------------------------------

typedef struct tl_collapse {
    int32_t node;     ///< the surviving node
    int32_t edge[2];  ///< per side: the edge that took over from the pair that fell together; [1] may be TL_NONE
} tl_collapse;

tl_verdict tl_mesh_can_collapse(const tl_mesh *mesh, int32_t e, int32_t gone);

/// Melts node `gone`, an end of `e`, into the other end, which keeps all its own state. Nodes inside a
/// panel go freely; nodes on a border, a seam (both sides at once) or a feature line go only along it,
/// and only where it is straight in material space. Node labels do not hold a node back: that is for the
/// caller to decide.
tl_status tl_mesh_collapse_edge(tl_mesh *mesh, int32_t e, int32_t gone, tl_collapse *out, tl_error *err);

// ---- recording and undo -----------------------------------------------------------------------------------

typedef enum tl_edit_kind {
    TL_EDIT_SPLIT,
    TL_EDIT_FLIP,
    TL_EDIT_COLLAPSE,
    TL_EDIT_TOUCH,
    TL_EDIT_SPLIT_FACE
} tl_edit_kind;

/// One recorded edit. Ids are those at the time of the edit.
typedef struct tl_edit {
    tl_edit_kind kind;
    int32_t edge;  ///< the edge edited; TL_NONE for a touch and the split of a face
    int32_t node;  ///< split: the new node; collapse: the node that went; else TL_NONE
    int32_t into;  ///< collapse: the node that stayed; else TL_NONE
} tl_edit;

/// Starts recording; does nothing if it is on. While records exist, attributes can be neither added nor
/// removed and the mesh cannot be reordered.
tl_status tl_mesh_record(tl_mesh *mesh, tl_error *err);
void tl_mesh_record_stop(tl_mesh *mesh);   ///< stops, forgets, and gives the memory back
void tl_mesh_record_clear(tl_mesh *mesh);  ///< forgets, keeps recording and keeps the memory

/// Edits recorded so far: the mark to undo to. 0 when recording is off.
int32_t tl_mesh_mark(const tl_mesh *mesh);
tl_edit tl_mesh_edit_at(const tl_mesh *mesh, int32_t index);

/// Takes back every edit after the first `mark` ones, newest first: all arrays, free lists and ids are
/// the very same bits as at the mark. What was written to existing elements between edits is undone only
/// if touched before.
void tl_mesh_undo_to(tl_mesh *mesh, int32_t mark);

/// Records one living element as it is now, so that undo restores what the caller is about to overwrite.
tl_status tl_mesh_touch(tl_mesh *mesh, tl_domain domain, int32_t id, tl_error *err);
