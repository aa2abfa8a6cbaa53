// web/wasm/shim_view.c: cloths and bodies as floats for drawing: nine a corner, three corners a face, no index.
//
// x y z, normal, u v on the cloth [m], and the number that colours show. The page finds the edges of faces by the place
// of a corner in its triple, so meshes that change from frame to frame need nothing else.

#include <stdlib.h>
#include <string.h>

#include "shim.h"

enum { CORNER = 9 };
#define CREASE 0.64  // cosine of 50 degrees: bodies are drawn with an edge where their faces turn by more

typedef enum tlw_colour {
    COLOUR_NONE,
    COLOUR_STRAIN,     // larger principal strain [-]
    COLOUR_TENSION,    // the same where it pulls, 0 elsewhere [-]
    COLOUR_SPEED,      // [m/s]
    COLOUR_CURVATURE,  // turn of the normal along edges [1/m]
    COLOUR_SIZE,       // mean length of the edges of a face [m]
    COLOUR_CONTACT,    // contact force [N]
    COLOUR_DISTANCE,   // to the nearest body [m], up to 0.05
} tlw_colour;

static float *corners;
static size_t corner_capacity;
static double *numbers;
static tl_vec3 *normals;
static size_t node_capacity;

static bool room(size_t faces, size_t nodes)
{
    if (3 * faces > corner_capacity) {
        free(corners);
        corner_capacity = 3 * faces * 5 / 4;
        corners = malloc(corner_capacity * CORNER * sizeof *corners);
        if (!corners) corner_capacity = 0;
    }
    if (nodes > node_capacity) {
        free(numbers), free(normals);
        node_capacity = nodes * 5 / 4;
        numbers = malloc(2 * node_capacity * sizeof *numbers);
        normals = malloc(node_capacity * sizeof *normals);
        if (!numbers || !normals) node_capacity = 0;
    }
    return 3 * faces <= corner_capacity && nodes <= node_capacity;
}

float *tlw_corner_room(size_t faces) { return room(faces, 0) ? corners : NULL; }

// Larger principal stretch of a face, minus 1.
static double strain_of(const tl_cloth_view *v, int32_t f)
{
    const int32_t *c = v->face[f];
    const tl_vec2 o = v->uv[c[0]], p = v->uv[c[1]], q = v->uv[c[2]];
    const double a = p.x - o.x, b = q.x - o.x, cc = p.y - o.y, d = q.y - o.y, det = a * d - b * cc;
    if (!(det > 0)) return 0;
    const tl_vec3 x = v->pos[v->vert_node[c[0]]], e = tlw_sub(v->pos[v->vert_node[c[1]]], x),
                  g = tlw_sub(v->pos[v->vert_node[c[2]]], x), zero = {0};
    const tl_vec3 fu = tlw_madd(tlw_madd(zero, d / det, e), -cc / det, g),
                  fv = tlw_madd(tlw_madd(zero, -b / det, e), a / det, g);
    const double uu = tlw_dot(fu, fu), vv = tlw_dot(fv, fv), uv = tlw_dot(fu, fv);
    const double mean = 0.5 * (uu + vv), spread = sqrt(0.25 * (uu - vv) * (uu - vv) + uv * uv);
    return sqrt(mean + spread) - 1;
}

static double mean_edge(const tl_cloth_view *v, int32_t f)
{
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += tlw_length(tlw_sub(v->pos[v->vert_node[v->face[f][i]]], v->pos[v->vert_node[v->face[f][(i + 1) % 3]]]));
    return sum / 3;
}

// Numbers of nodes as the mean of their faces.
static void from_faces(const tl_cloth_view *v, tlw_colour colour)
{
    double *count = numbers + node_capacity;
    memset(count, 0, (size_t)v->node_count * sizeof *count);
    for (int32_t f = 0; f < v->face_count; f++) {
        double value = colour == COLOUR_SIZE ? mean_edge(v, f) : colour == COLOUR_CURVATURE ? 0 : strain_of(v, f);
        if (colour == COLOUR_TENSION && value < 0) value = 0;
        for (int i = 0; i < 3; i++) {
            const int32_t n = v->vert_node[v->face[f][i]], m = v->vert_node[v->face[f][(i + 1) % 3]];
            if (colour == COLOUR_CURVATURE) {
                const tl_vec3 e = tlw_sub(v->pos[m], v->pos[n]);
                const double length = tlw_length(e);
                value = length > 0 ? tlw_length(tlw_sub(normals[m], normals[n])) / length : 0;
            }
            numbers[n] += value, count[n]++;
        }
    }
    for (int32_t i = 0; i < v->node_count; i++)
        if (count[i] > 0) numbers[i] /= count[i];
}

static void from_contacts(tl_cloth_id cloth, const tl_cloth_view *v)
{
    static tl_contact_point points[8192];
    const int32_t n = tl_sim_contact_points(tlw.sim, points, 8192);
    for (int32_t i = 0; i < n && i < 8192; i++)
        if (points[i].cloth.slot == cloth.slot && points[i].node >= 0 && points[i].node < v->node_count)
            numbers[points[i].node] += tlw_length(points[i].force);
}

static void fill_numbers(tl_cloth_id cloth, const tl_cloth_view *v, tlw_colour colour)
{
    memset(numbers, 0, (size_t)v->node_count * sizeof *numbers);
    if (colour == COLOUR_SPEED)
        for (int32_t i = 0; i < v->node_count; i++) numbers[i] = tlw_length(v->vel[i]);
    else if (colour == COLOUR_CONTACT)
        from_contacts(cloth, v);
    else if (colour == COLOUR_DISTANCE)
        for (int32_t i = 0; i < v->node_count; i++) {
            tl_hit hit;
            numbers[i] = tl_sim_nearest(tlw.sim, v->pos[i], 0.05, TL_QUERY_BODIES, &hit) ? hit.distance : 0.05;
        }
    else if (colour != COLOUR_NONE)
        from_faces(v, colour);
}

static float *put3(float *to, tl_vec3 a)
{
    to[0] = (float)a.x, to[1] = (float)a.y, to[2] = (float)a.z;
    return to + 3;
}

TLW_API int tlw_cloth_count(void);
int tlw_cloth_count(void) { return tlw.sim ? tl_sim_cloth_count(tlw.sim) : 0; }
TLW_API const char *tlw_cloth_name(int index);
const char *tlw_cloth_name(int index) { return tl_sim_cloth_name(tlw.sim, tl_sim_cloth(tlw.sim, index)); }

/// Fills tlw_corners with a cloth and returns its faces; -1: no such cloth or no memory.
TLW_API int tlw_cloth(int index, int colour);
int tlw_cloth(int index, int colour)
{
    tl_cloth_view v;
    const tl_cloth_id id = tl_sim_cloth(tlw.sim, index);
    if (tl_sim_cloth_view(tlw.sim, id, &v) != TL_OK) return -1;
    if (!room((size_t)v.face_count, (size_t)v.node_count)) return -1;
    if (tl_sim_cloth_normals(tlw.sim, id, normals) != TL_OK) return -1;
    fill_numbers(id, &v, (tlw_colour)colour);
    float *to = corners;
    for (int32_t f = 0; f < v.face_count; f++)
        for (int i = 0; i < 3; i++) {
            const int32_t vert = v.face[f][i], node = v.vert_node[vert];
            to = put3(put3(to, v.pos[node]), normals[node]);
            *to++ = (float)v.uv[vert].x, *to++ = (float)v.uv[vert].y, *to++ = (float)numbers[node];
        }
    return v.face_count;
}

TLW_API int tlw_body_count(void);
int tlw_body_count(void) { return tlw.sim ? tl_sim_body_count(tlw.sim) : 0; }
TLW_API const char *tlw_body_name(int index);
const char *tlw_body_name(int index) { return tl_sim_body_name(tlw.sim, tl_sim_body(tlw.sim, index)); }
/// 1: its shape or place may change from step to step.
TLW_API int tlw_body_moves(int index);
int tlw_body_moves(int index)
{
    tl_body_view v;
    return tl_sim_body_view(tlw.sim, tl_sim_body(tlw.sim, index), &v) == TL_OK && v.moves;
}

/// As tlw_cloth, for a body; 0 faces: it is not there now.
TLW_API int tlw_body(int index);
int tlw_body(int index)
{
    tl_body_view v;
    if (tl_sim_body_view(tlw.sim, tl_sim_body(tlw.sim, index), &v) != TL_OK) return -1;
    if (!v.present) return 0;
    if (!room((size_t)v.face_count, (size_t)v.node_count)) return -1;
    memset(normals, 0, (size_t)v.node_count * sizeof *normals);
    for (int32_t f = 0; f < v.face_count; f++) {
        const int32_t *c = v.face[f];
        const tl_vec3 n = tlw_cross(tlw_sub(v.pos[c[1]], v.pos[c[0]]), tlw_sub(v.pos[c[2]], v.pos[c[0]]));
        for (int i = 0; i < 3; i++) normals[c[i]] = tlw_madd(normals[c[i]], 1, n);
    }
    float *to = corners;
    for (int32_t f = 0; f < v.face_count; f++) {
        const int32_t *c = v.face[f];
        const tl_vec3 n = tlw_cross(tlw_sub(v.pos[c[1]], v.pos[c[0]]), tlw_sub(v.pos[c[2]], v.pos[c[0]])), zero = {0};
        const double length = tlw_length(n);
        const tl_vec3 flat = tlw_madd(zero, length > 0 ? 1 / length : 0, n);
        for (int i = 0; i < 3; i++) {
            const double whole = tlw_length(normals[c[i]]);
            const tl_vec3 smooth = tlw_madd(zero, whole > 0 ? 1 / whole : 0, normals[c[i]]);
            to = put3(put3(to, v.pos[c[i]]), tlw_dot(smooth, flat) > CREASE ? smooth : flat);
            *to++ = 0, *to++ = 0, *to++ = 0;
        }
    }
    return v.face_count;
}

TLW_API const float *tlw_corners(void);
const float *tlw_corners(void) { return corners; }
