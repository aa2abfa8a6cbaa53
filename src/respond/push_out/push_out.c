// respond/push_out/push_out.c: half-spaces of nodes near bodies, and nodes that went through.

#include "respond/push_out/push_out.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "detect/distance.h"
#include "detect/nearest.h"
#include "math/vec3.h"

enum { NODES_PER_CHUNK = 128, FACES_ON_THE_WAY = 512 };

// Nodes that go faster than gravity has made them are looked for a little farther.
#define LOOK_AHEAD 1.5
#define ON_SURFACE 1e-9  // [m] nearer than that the direction to the nearest point says nothing

static tl_vec3 at(const double (*x)[4], int32_t i) { return (tl_vec3){x[i][0], x[i][1], x[i][2]}; }

void tl_push_normals(const int32_t (*face)[3], int32_t face_count, const tl_vec3 *x, int32_t node_count, tl_vec3 *out)
{
    for (int32_t i = 0; i < node_count; i++) out[i] = (tl_vec3){0, 0, 0};
    for (int32_t f = 0; f < face_count; f++) {
        const int32_t *v = face[f];
        const tl_vec3 n = tl_cross3(tl_sub3(x[v[1]], x[v[0]]), tl_sub3(x[v[2]], x[v[0]]));
        for (int k = 0; k < 3; k++) out[v[k]] = tl_add3(out[v[k]], n);
    }
}

/// The nearest point of a body, and which way is out.
typedef struct spot {
    int32_t face;
    double gap;  // < 0: inside
    tl_vec3 point, normal, velocity, anchor;
} spot;

static tl_vec3 mix(const tl_vec3 *x, const int32_t v[3], const double w[3])
{
    return tl_madd3(tl_madd3(tl_mul3(w[0], x[v[0]]), w[1], x[v[1]]), w[2], x[v[2]]);
}

static bool look_at_solid(const tl_push_solid *s, tl_vec3 p, double reach, double dt, spot *out)
{
    tl_vec3 point, normal;
    const double gap = tl_solid_nearest(&s->shape, tl_frame_into(&s->now, p), &point, &normal);
    const tl_vec3 at = tl_frame_out_of(&s->now, point);
    *out = (spot){-1,
                  gap,
                  at,
                  tl_frame_turn_out(&s->now, normal),
                  tl_mul3(1 / dt, tl_sub3(tl_frame_out_of(&s->then, point), at)),
                  point};
    return fabs(gap) < reach;
}

static bool look(const tl_push_body *b, tl_vec3 p, double reach, int32_t hint, double dt, spot *out)
{
    if (!b->tree) {
        const double gap = tl_dot3(tl_sub3(p, b->point), b->axis);
        const tl_vec3 at = tl_madd3(p, -gap, b->axis);
        *out = (spot){-1, gap, at, b->axis, tl_mul3(1 / dt, tl_sub3(b->to, b->point)), tl_sub3(at, b->point)};
        return gap < reach;
    }
    if (b->solid) return look_at_solid(b->solid, p, reach, dt, out);
    const tl_nearest_spot near =
        b->search ? tl_search_nearest(b->search, p, reach, hint) : tl_bvh_nearest(b->tree, p, reach, hint);
    out->face = near.face;
    if (near.face < 0) return false;
    const int32_t *v = tl_bvh_surface(b->tree)->face[near.face];
    const tl_vec3 o = b->now[v[0]], e1 = tl_sub3(b->now[v[1]], o), e2 = tl_sub3(b->now[v[2]], o);
    double w[3];
    tl_nearest_on_face(tl_sub3(p, o), e1, e2, w);
    const tl_vec3 face_normal = tl_unit3_or(tl_cross3(e1, e2), (tl_vec3){0, 1, 0});
    const double inside_face = w[0] > 0 && w[1] > 0 && w[2] > 0 ? 1 : 0;
    const tl_vec3 smooth = inside_face > 0 ? face_normal : tl_unit3_or(mix(b->normal, v, w), face_normal);
    const double side = tl_dot3(near.offset, smooth) < 0 ? -1 : 1;
    out->gap = side * near.distance;
    out->normal = near.distance > ON_SURFACE ? tl_mul3(side / near.distance, near.offset) : face_normal;
    out->point = mix(b->now, v, w), out->anchor = (tl_vec3){w[0], w[1], w[2]};
    out->velocity = tl_mul3(1 / dt, tl_sub3(mix(b->then, v, w), out->point));
    return true;
}

typedef struct find_job {
    const tl_push_body *bodies;
    int32_t body_count;
    const tl_push_nodes *nodes;
    double dt;
    tl_push_contact *slot;  // body_count per node
    uint8_t *used;
    const double *body_speed;  // [m/s] the most that a node of the body goes
} find_job;

static void find_chunk(void *arg, int32_t begin, int32_t end)
{
    const find_job *job = arg;
    const tl_push_nodes *nodes = job->nodes;
    for (int32_t i = begin; i < end; i++) {
        const tl_vec3 p = at(nodes->pos, i), v = at(nodes->vel, i);
        job->used[i] = 0;
        for (int32_t k = 0; k < job->body_count; k++) {
            const tl_push_body *b = &job->bodies[k];
            int32_t *hint = nodes->hint ? &nodes->hint[(size_t)i * (size_t)job->body_count + (size_t)k] : NULL;
            const double reach = b->offset + nodes->depth + LOOK_AHEAD * job->dt * (tl_norm3(v) + job->body_speed[k]);
            spot s;
            const bool found = look(b, p, reach, hint ? *hint : -1, job->dt, &s);
            if (hint) *hint = s.face;
            if (!found) continue;
            job->slot[(size_t)i * (size_t)job->body_count + job->used[i]++] = (tl_push_contact){
                i, b->friction, tl_madd3(s.point, b->offset, s.normal), s.normal, s.velocity, k, s.face, s.anchor};
        }
    }
}

static double speed_of(const tl_push_body *b, double dt)
{
    double most = 0;
    if (!b->tree) return tl_norm3(tl_sub3(b->to, b->point)) / dt;
    if (b->then == b->now) return 0;
    for (int32_t i = 0; i < tl_bvh_surface(b->tree)->node_count; i++) {
        const tl_vec3 d = tl_sub3(b->then[i], b->now[i]);
        most = fmax(most, tl_dot3(d, d));
    }
    return sqrt(most) / dt;
}

tl_status tl_push_find(const tl_push_body *bodies, int32_t body_count, const tl_push_nodes *nodes, double dt,
                       const tl_ctx *ctx, tl_push_contact **out, int32_t *count, tl_error *err)
{
    *out = NULL, *count = 0;
    if (body_count == 0) return TL_OK;
    if (body_count > UINT8_MAX)
        return tl_fail(err, TL_BAD_INPUT, "%d bodies at a time, the springs take at most %d", body_count, UINT8_MAX);
    const size_t slots = (size_t)nodes->count * (size_t)body_count;
    tl_push_contact *slot = TL_SCRATCH(ctx->arena, tl_push_contact, slots);
    uint8_t *used = TL_SCRATCH(ctx->arena, uint8_t, nodes->count);
    double *speed = TL_SCRATCH(ctx->arena, double, body_count);
    if (!slot || !used || !speed) return tl_fail_memory(err, "contacts");
    for (int32_t k = 0; k < body_count; k++) speed[k] = speed_of(&bodies[k], dt);
    find_job job = {bodies, body_count, nodes, dt, slot, used, speed};
    tl_parallel_for(ctx->workers, nodes->count, NODES_PER_CHUNK, find_chunk, &job);
    int32_t n = 0;
    for (int32_t i = 0; i < nodes->count; i++)
        for (int k = 0; k < used[i]; k++) slot[n++] = slot[(size_t)i * (size_t)body_count + (size_t)k];
    *out = slot, *count = n;
    return TL_OK;
}

// ---- nodes that went through ----------------------------------------------------------------------------------

typedef struct catch_job {
    const tl_push_body *bodies;
    int32_t body_count;
    const tl_push_move *move;
    int32_t *caught;    // per chunk
    const double *way;  // [m] the most that a node of the body goes
} catch_job;

static double behind(const tl_vec3 *x, const int32_t v[3], tl_vec3 p, tl_vec3 *normal)
{
    *normal = tl_unit3_or(tl_cross3(tl_sub3(x[v[1]], x[v[0]]), tl_sub3(x[v[2]], x[v[0]])), (tl_vec3){0, 0, 0});
    return tl_dot3(tl_sub3(p, x[v[0]]), *normal);
}

// Does the path go through the face from its front to its back? Where in time, in [0, 1]; 2: no.
static double crossing(const tl_push_body *b, const int32_t v[3], tl_vec3 p0, tl_vec3 p1, tl_vec3 *normal)
{
    const double d0 = behind(b->now, v, p0, normal), d1 = behind(b->then, v, p1, normal);
    if (!(d0 > 0 && d1 <= 0)) return 2;
    const double t = d0 / (d0 - d1);
    tl_vec3 x[3];
    for (int k = 0; k < 3; k++) x[k] = tl_madd3(tl_mul3(1 - t, b->now[v[k]]), t, b->then[v[k]]);
    const tl_vec3 p = tl_madd3(tl_mul3(1 - t, p0), t, p1), e1 = tl_sub3(x[1], x[0]), e2 = tl_sub3(x[2], x[0]);
    double w[3];
    tl_nearest_on_face(tl_sub3(p, x[0]), e1, e2, w);
    const tl_vec3 q = tl_madd3(tl_madd3(x[0], w[1], e1), w[2], e2), off = tl_sub3(p, q);
    // on the face, or beside it by no more than rounding: neighbours share their edges
    return tl_dot3(off, off) <= 1e-12 * (tl_dot3(e1, e1) + tl_dot3(e2, e2)) ? t : 2;
}

static bool catch_node(const tl_push_move *m, const tl_push_body *b, double way, int32_t i)
{
    const tl_vec3 p0 = at(m->before, i), p1 = at((const double(*)[4])m->pos, i);
    if (!(tl_norm3(tl_sub3(p1, p0)) + way > b->offset)) return false;
    const tl_vec3 lo = {fmin(p0.x, p1.x) - way, fmin(p0.y, p1.y) - way, fmin(p0.z, p1.z) - way},
                  hi = {fmax(p0.x, p1.x) + way, fmax(p0.y, p1.y) + way, fmax(p0.z, p1.z) + way};
    int32_t faces[FACES_ON_THE_WAY];
    int32_t found = b->search && way == 0 ? tl_search_path(b->search, p0, p1, faces, FACES_ON_THE_WAY) : -1;
    if (found < 0)
        found = b->search ? tl_search_around(b->search, lo, hi, faces, FACES_ON_THE_WAY)
                          : tl_bvh_around(b->tree, lo, hi, faces, FACES_ON_THE_WAY);
    const int32_t count = found < FACES_ON_THE_WAY ? found : FACES_ON_THE_WAY;
    double first = 2;
    int32_t face = -1;
    tl_vec3 normal = {0, 0, 0};
    for (int32_t k = 0; k < count; k++) {
        tl_vec3 n;
        const double t = crossing(b, tl_bvh_surface(b->tree)->face[faces[k]], p0, p1, &n);
        if (t > 1 || t > first || (t == first && faces[k] > face)) continue;
        first = t, face = faces[k], normal = n;
    }
    if (face < 0) return false;
    const int32_t *v = tl_bvh_surface(b->tree)->face[face];
    const double depth = tl_dot3(tl_sub3(p1, b->then[v[0]]), normal);
    const tl_vec3 speed = tl_mul3(
        1 / (3 * m->dt), tl_add3(tl_add3(tl_sub3(b->then[v[0]], b->now[v[0]]), tl_sub3(b->then[v[1]], b->now[v[1]])),
                                 tl_sub3(b->then[v[2]], b->now[v[2]])));
    const tl_vec3 to = tl_madd3(p1, b->offset - depth, normal), u = at((const double(*)[4])m->vel, i);
    const double into = tl_dot3(tl_sub3(u, speed), normal);
    const tl_vec3 out = into < 0 ? tl_madd3(u, -into, normal) : u;
    double *x = m->pos[i], *w = m->vel[i];
    x[0] = to.x, x[1] = to.y, x[2] = to.z, w[0] = out.x, w[1] = out.y, w[2] = out.z;
    return true;
}

static void catch_chunk(void *arg, int32_t begin, int32_t end)
{
    const catch_job *job = arg;
    int32_t caught = 0;
    for (int32_t i = begin; i < end; i++)
        for (int32_t k = 0; k < job->body_count; k++)
            if (job->bodies[k].tree) caught += catch_node(job->move, &job->bodies[k], job->way[k], i);
    job->caught[begin / NODES_PER_CHUNK] = caught;
}

tl_status tl_push_catch(const tl_push_body *bodies, int32_t body_count, const tl_push_move *move, const tl_ctx *ctx,
                        int32_t *caught, tl_error *err)
{
    *caught = 0;
    if (body_count == 0) return TL_OK;
    const int32_t chunks = tl_chunk_count(move->count, NODES_PER_CHUNK);
    int32_t *counts = TL_SCRATCH(ctx->arena, int32_t, chunks);
    double *way = TL_SCRATCH(ctx->arena, double, body_count);
    if (!counts || !way) return tl_fail_memory(err, "contacts");
    for (int32_t k = 0; k < body_count; k++) way[k] = speed_of(&bodies[k], move->dt) * move->dt;
    catch_job job = {bodies, body_count, move, counts, way};
    tl_parallel_for(ctx->workers, move->count, NODES_PER_CHUNK, catch_chunk, &job);
    for (int32_t k = 0; k < chunks; k++) *caught += counts[k];
    return TL_OK;
}

// ---- single places --------------------------------------------------------------------------------------------

bool tl_push_inside(const tl_push_body *bodies, int32_t body_count, double depth, tl_vec3 x)
{
    spot s;
    for (int32_t k = 0; k < body_count; k++)
        if (look(&bodies[k], x, depth, -1, 1, &s) && s.gap < 0) return true;
    return false;
}

bool tl_push_place(const tl_push_body *bodies, int32_t body_count, double depth, tl_vec3 *x)
{
    bool moved = false;
    for (int32_t k = 0; k < body_count; k++) {
        spot s;
        if (!look(&bodies[k], *x, depth, -1, 1, &s) || !(s.gap < bodies[k].offset)) continue;
        *x = tl_madd3(*x, bodies[k].offset - s.gap, s.normal);
        moved = true;
    }
    return moved;
}
