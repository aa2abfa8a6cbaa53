// sim/contacts.c: what the contact stage needs of a simulation, and queries for intersections.

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "detect/intersect.h"
#include "sim/internal.h"

void sim_discard_contacts(tl_sim *sim)
{
    if (sim->response) sim->responder->destroy(sim->response);
    TL_FREE(&sim->alloc, sim->cloth_face, sim->face_count);
    TL_FREE(&sim->alloc, sim->cloth_edge, sim->edge_count);
    sim->response = NULL, sim->contacts = NULL, sim->cloth_face = NULL, sim->cloth_edge = NULL;
    sim->face_count = sim->edge_count = 0;
}

// Faces and edges of all cloths, numbered as in the elements.
static tl_status list_surface(tl_sim *sim, tl_error *err)
{
    const tl_elements *e = sim->elements;
    int32_t edges = 0;
    for (int32_t c = 0; c < sim->cloth_count; c++) edges += sim->cloths[c].mesh->slots[TL_EDGES].live;
    sim->cloth_face = tl_alloc_bytes(&sim->alloc, (size_t)e->face_count, sizeof *sim->cloth_face);
    if (!sim->cloth_face) return tl_fail_memory(err, "the contacts");
    sim->face_count = e->face_count;
    sim->cloth_edge = tl_alloc_bytes(&sim->alloc, (size_t)edges, sizeof *sim->cloth_edge);
    if (!sim->cloth_edge) return tl_fail_memory(err, "the contacts");
    sim->edge_count = edges;
    for (int32_t f = 0; f < e->face_count; f++)
        for (int k = 0; k < 3; k++) sim->cloth_face[f][k] = e->face[f][k];
    int32_t at = 0;
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        const tl_mesh *mesh = sim->cloths[c].mesh;
        for (int32_t i = 0; i < mesh->slots[TL_EDGES].count; i++) {
            if (!tl_alive(mesh, TL_EDGES, i)) continue;
            for (int k = 0; k < 2; k++)
                sim->cloth_edge[at][k] = e->node_of[e->cloth_node_start[c] + mesh->edge_node[i][k]];
            at++;
        }
    }
    return TL_OK;
}

static double combined(tl_combine rule, double a, double b)
{
    if (isnan(a)) return b;
    return rule == TL_COMBINE_MIN ? fmin(a, b) : rule == TL_COMBINE_MAX ? fmax(a, b) : 0.5 * (a + b);
}

// Cloth of every node, and its material coordinates where they are unique.
static void describe_nodes(const tl_sim *sim, int32_t *cloth, tl_vec2 *uv, int32_t *panel)
{
    const tl_elements *e = sim->elements;
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        const tl_mesh *mesh = sim->cloths[c].mesh;
        for (int32_t i = 0; i < mesh->slots[TL_NODES].count; i++) {
            const int32_t n = e->node_of[e->cloth_node_start[c] + i];
            if (n == TL_NONE) continue;
            const int32_t v = mesh->node_vert[i];
            cloth[n] = c, uv[n] = mesh->uv[v];
            panel[n] =
                mesh->vert_next[v] == v && mesh->vert_face[v] != TL_NONE ? mesh->face_panel[mesh->vert_face[v]] : -1;
        }
    }
}

static tl_status describe_body(tl_sim *sim, sim_body *s, tl_contact_body *out, tl_error *err)
{
    *out = (tl_contact_body){.surface = {s->node_count, s->face_count, s->edge_count, (const int32_t(*)[3])s->face,
                                         (const int32_t(*)[2])s->edge},
                             .pos = s->shape,
                             .thickness = s->thickness,
                             .plane = s->kind == TL_BODY_PLANE,
                             .moves = s->moves};
    if (!out->plane) TL_TRY(sim_fit_body(sim, s, sim->time, err));
    out->tree = s->tree;
    return TL_OK;
}

tl_status sim_compile_contacts(tl_sim *sim, tl_error *err)
{
    const tl_collide_def *def = &sim->def.collide;
    const int32_t n = sim->node_count, nc = sim->cloth_count, nb = sim_present_count(sim);
    TL_TRY(list_surface(sim, err));
    if ((!def->self && nb == 0) || sim->responder->in_dynamics) return TL_OK;
    const tl_arena_mark mark = tl_arena_save(&sim->arena);
    int32_t *cloth = TL_SCRATCH(&sim->arena, int32_t, n), *panel = TL_SCRATCH(&sim->arena, int32_t, n);
    tl_vec2 *uv = TL_SCRATCH(&sim->arena, tl_vec2, n);
    double *thickness = TL_SCRATCH(&sim->arena, double, nc), *self = TL_SCRATCH(&sim->arena, double, nc *nc);
    double *body = TL_SCRATCH(&sim->arena, double, nc *nb + 1);
    tl_contact_body *bodies = TL_SCRATCH(&sim->arena, tl_contact_body, nb + 1);
    if (!cloth || !panel || !uv || !thickness || !self || !body || !bodies) return tl_fail_memory(err, "the contacts");
    describe_nodes(sim, cloth, uv, panel);
    for (int32_t a = 0; a < nc; a++) {
        thickness[a] = sim->cloths[a].thickness;
        for (int32_t b = 0; b < nc; b++)
            self[a * nc + b] = combined(def->combine, sim->cloths[a].friction_self, sim->cloths[b].friction_self);
    }
    for (int32_t i = 0, b = 0; b < nb; i++) {
        if (!sim->bodies[i].present) continue;
        for (int32_t a = 0; a < nc; a++)
            body[a * nb + b] = combined(def->combine, sim->cloths[a].friction, sim->bodies[i].friction);
        TL_TRY(describe_body(sim, &sim->bodies[i], &bodies[b++], err));
    }
    const tl_contacts_def d = {.cloth = {n, sim->face_count, sim->edge_count, (const int32_t(*)[3])sim->cloth_face,
                                         (const int32_t(*)[2])sim->cloth_edge},
                               .x = sim->x,
                               .face_area = sim->elements->area,
                               .node_cloth = cloth,
                               .node_uv = uv,
                               .node_panel = panel,
                               .cloth_count = nc,
                               .body_count = nb,
                               .thickness = thickness,
                               .friction_self = self,
                               .friction_body = body,
                               .bodies = bodies,
                               .pressure = def->pressure,
                               .slip_speed = def->slip_speed,
                               .self = def->self != 0,
                               .detector = sim_detector_of(def->detection),
                               .collide = def,
                               .seed = sim->def.seed};
    const tl_status status = sim->responder->create(&sim->alloc, &d, &sim->response, err);
    if (status == TL_OK && sim->responder->contacts) sim->contacts = sim->responder->contacts(sim->response);
    tl_arena_release(&sim->arena, mark);
    return status;
}

// The map that takes a body from its position at `begin` to that at `end`.
static tl_body_map map_of(const sim_body *body, double begin, double end)
{
    const bool deforms = body->key_count > 1 && !(body->is_live && begin >= body->key_time[1]);
    tl_body_map map = {.a = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, .rigid = !deforms && !body->character};
    if (body->motion_count == 0 || !map.rigid) return map;
    const tl_pose from = tl_pose_at(body->motion, body->motion_count, begin),
                  to = tl_pose_at(body->motion, body->motion_count, end);
    const tl_vec3 place[4] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 0}};
    tl_vec3 goes[4];
    for (int k = 0; k < 4; k++) goes[k] = tl_pose_move(&to, body->pivot, tl_pose_back(&from, body->pivot, place[k]));
    map.b = goes[3];
    for (int k = 0; k < 3; k++) {
        const tl_vec3 column = tl_sub3(goes[k], map.b);
        map.a[0][k] = column.x, map.a[1][k] = column.y, map.a[2][k] = column.z;
    }
    return map;
}

// Nodes of all bodies that are present; planes have none.
static int32_t body_nodes(const tl_sim *sim)
{
    int32_t count = 0;
    for (int32_t i = 0; i < sim->body_count; i++)
        if (sim->bodies[i].present && sim->bodies[i].kind != TL_BODY_PLANE) count += sim->bodies[i].node_count;
    return count;
}

tl_status sim_begin_contacts(tl_sim *sim, const tl_respond_begin *at, tl_error *err)
{
    const double begin = at->begin, end = at->still ? begin : begin + at->dt;
    const int32_t nb = sim_present_count(sim), nodes = body_nodes(sim);
    tl_vec3 *from = TL_SCRATCH(&sim->arena, tl_vec3, nodes), *to = TL_SCRATCH(&sim->arena, tl_vec3, nodes);
    tl_vec3 *plane_from = TL_SCRATCH(&sim->arena, tl_vec3, 2 * nb),
            *plane_to = TL_SCRATCH(&sim->arena, tl_vec3, 2 * nb);
    tl_body_map *map = TL_SCRATCH(&sim->arena, tl_body_map, nb);
    if ((nodes > 0 && (!from || !to)) || (nb > 0 && (!plane_from || !plane_to || !map)))
        return tl_fail_memory(err, "the contacts");
    int32_t first = 0, b = -1;
    for (int32_t i = 0; b + 1 < nb; i++) {
        const sim_body *body = &sim->bodies[i];
        if (!body->present) continue;
        map[++b] = map_of(body, begin, end);
        if (body->kind == TL_BODY_PLANE) {
            sim_plane_at(body, begin, &plane_from[2 * b], &plane_from[2 * b + 1]);
            sim_plane_at(body, end, &plane_to[2 * b], &plane_to[2 * b + 1]);
            continue;
        }
        sim_body_at(body, begin, from + first);
        sim_body_at(body, end, to + first);
        first += body->node_count;
    }
    const tl_contact_step step = {.body_begin = from,
                                  .body_end = to,
                                  .plane_begin = plane_from,
                                  .plane_end = plane_to,
                                  .x_hat = at->x_hat,
                                  .fixed = sim->elements->fixed,
                                  .target = at->target,
                                  .mass = sim->elements->mass,
                                  .gamma = at->gamma,
                                  .dt = at->dt,
                                  .pinch = at->pinch,
                                  .again = at->again,
                                  .body_map = map};
    const tl_ctx ctx = {&sim->arena, sim->workers};
    return sim->responder->begin(sim->response, &step, sim->x, &ctx, err);
}

tl_status sim_come_and_go(tl_sim *sim, tl_error *err)
{
    bool came;
    if (!sim_find_present(sim, &came)) return TL_OK;
    const tl_arena_mark mark = tl_arena_save(&sim->arena);
    uint8_t *pinched = TL_SCRATCH(&sim->arena, uint8_t, sim->node_count);
    if (!pinched) return tl_fail_memory(err, "the contacts");
    memset(pinched, 0, (size_t)sim->node_count);
    if (sim->contacts) memcpy(pinched, tl_contacts_pinched(sim->contacts), (size_t)sim->node_count);
    sim_discard_contacts(sim);
    const tl_status status = sim_compile_contacts(sim, err);
    if (status == TL_OK && sim->contacts) {
        memcpy(tl_contacts_pinched(sim->contacts), pinched, (size_t)sim->node_count);
        tl_contacts_count_pinched(sim->contacts);
    }
    tl_arena_release(&sim->arena, mark);
    sim->epoch_open = false;
    if (came) sim->started = false;
    if (status != TL_OK) sim_discard(sim);  // made anew when it is next wanted
    return status;
}

// --- intersections, exactly ---

// The cloth of a slot, by the first slots of all cloths, and the number of the slot within that cloth.
static void name_of_slot(const tl_sim *sim, const int32_t *start, int32_t slot, const char **name, int32_t *index)
{
    int32_t c = 0;
    while (c + 1 < sim->cloth_count && slot >= start[c + 1]) c++;
    *name = sim->cloths[c].name, *index = slot - start[c];
}

static void name_of_face(const tl_sim *sim, int32_t face, const char **name, int32_t *index)
{
    name_of_slot(sim, sim->elements->cloth_face_start, sim->elements->slot_of_face[face], name, index);
}

static void name_of_node(const tl_sim *sim, int32_t node, const char **name, int32_t *index)
{
    name_of_slot(sim, sim->elements->cloth_node_start, sim->elements->slot_of_node[node], name, index);
}

/// Crossings of one kind: within the cloth (body TL_NONE), or with a body.
typedef struct crossing_source {
    const tl_sim *sim;
    int32_t body;
    const tl_vec3 *body_pos;
    uint8_t *mark;  ///< gets 1 for nodes of cloth that cross bodies; NULL: nobody asks
} crossing_source;

// Is a cloth node of the crossing pinched?
static bool is_pinched(const crossing_source *s, const tl_crossing *x)
{
    const tl_sim *sim = s->sim;
    const uint8_t *pinched = sim->contacts ? tl_contacts_pinched(sim->contacts) : NULL;
    if (!pinched || s->body == TL_NONE) return false;
    const int32_t *node = x->edge_surface == 0 ? sim->cloth_edge[x->edge] : sim->cloth_face[x->face];
    for (int k = 0; k < (x->edge_surface == 0 ? 2 : 3); k++)
        if (pinched[node[k]]) return true;
    return false;
}

static void mark_crossing(const crossing_source *s, const tl_crossing *x)
{
    if (!s->mark || s->body == TL_NONE) return;
    const bool edge = x->edge_surface == 0;
    const int32_t *node = edge ? s->sim->cloth_edge[x->edge] : s->sim->cloth_face[x->face];
    for (int k = 0; k < (edge ? 2 : 3); k++) s->mark[node[k]] = 1;
}

static void list_crossing(const crossing_source *s, const tl_crossing *x, tl_intersection_report *out)
{
    mark_crossing(s, x);
    if (s->body == TL_NONE)
        out->cloth_cloth++;
    else if (is_pinched(s, x))
        out->pinched++;
    else
        out->cloth_body++;
    if (is_pinched(s, x) || out->listed >= (int32_t)(sizeof out->list / sizeof out->list[0])) return;
    tl_intersection *item = &out->list[out->listed++];
    *item = (tl_intersection){0};
    const tl_sim *sim = s->sim;
    const sim_body *body = s->body == TL_NONE ? NULL : &sim->bodies[s->body];
    const char *name;
    tl_vec3 ends[2];
    if (x->edge_surface == 0) {
        for (int k = 0; k < 2; k++) {
            ends[k] = sim->x[sim->cloth_edge[x->edge][k]];
            name_of_node(sim, sim->cloth_edge[x->edge][k], &name, &item->edge_nodes[k]);
        }
    } else {
        name = body->name;
        for (int k = 0; k < 2; k++)
            item->edge_nodes[k] = body->edge[x->edge][k], ends[k] = s->body_pos[body->edge[x->edge][k]];
    }
    memcpy(item->first, name, strlen(name) + 1);
    if (x->edge_surface == 1 || !body)
        name_of_face(sim, x->face, &name, &item->face);
    else
        name = body->name, item->face = x->face;
    memcpy(item->second, name, strlen(name) + 1);
    item->place = tl_mul3(0.5, tl_add3(ends[0], ends[1]));
}

static tl_status count_planes(tl_sim *sim, tl_intersection_report *out)
{
    for (int32_t b = 0; b < sim->body_count; b++) {
        if (sim->bodies[b].kind != TL_BODY_PLANE || !sim->bodies[b].present) continue;
        tl_vec3 point, normal;
        sim_plane_at(&sim->bodies[b], sim->time, &point, &normal);
        for (int32_t e = 0; e < sim->edge_count; e++) {
            bool below = false;
            if (sim->contacts && (tl_contacts_pinched(sim->contacts)[sim->cloth_edge[e][0]] ||
                                  tl_contacts_pinched(sim->contacts)[sim->cloth_edge[e][1]]))
                continue;
            for (int k = 0; k < 2; k++) below |= !(tl_dot3(normal, tl_sub3(sim->x[sim->cloth_edge[e][k]], point)) > 0);
            if (!below) continue;
            out->cloth_body++;
            if (out->listed >= (int32_t)(sizeof out->list / sizeof out->list[0])) continue;
            tl_intersection *item = &out->list[out->listed++];
            const char *name;
            for (int k = 0; k < 2; k++) name_of_node(sim, sim->cloth_edge[e][k], &name, &item->edge_nodes[k]);
            memcpy(item->first, name, strlen(name) + 1);
            memcpy(item->second, sim->bodies[b].name, strlen(sim->bodies[b].name) + 1);
            item->face = 0, item->place = sim->x[sim->cloth_edge[e][0]];
        }
    }
    return TL_OK;
}

static tl_status count_crossings(tl_sim *sim, tl_crossings *found, tl_bvh **tree, tl_bvh **other, uint8_t *mark,
                                 tl_intersection_report *out, tl_error *err)
{
    const tl_bvh_def def = tl_bvh_def_default();
    const tl_surface cloth = {sim->node_count, sim->face_count, sim->edge_count, (const int32_t(*)[3])sim->cloth_face,
                              (const int32_t(*)[2])sim->cloth_edge};
    TL_TRY(tl_bvh_create(&sim->alloc, &def, &cloth, sim->x, tree, err));
    tl_bvh_refit(*tree, sim->x, NULL, 0, 0, sim->workers);
    if (sim->def.collide.self) {
        TL_TRY(tl_find_crossings(*tree, NULL, &sim->arena, sim->workers, found, err));
        for (int32_t i = 0; i < found->count; i++)
            list_crossing(&(crossing_source){sim, TL_NONE, NULL, NULL}, &found->items[i], out);
    }
    for (int32_t b = 0; b < sim->body_count && sim->def.collide.bodies; b++) {
        const sim_body *body = &sim->bodies[b];
        if (body->kind == TL_BODY_PLANE || !body->present) continue;
        const tl_surface s = {body->node_count, body->face_count, body->edge_count, (const int32_t(*)[3])body->face,
                              (const int32_t(*)[2])body->edge};
        tl_vec3 *pos = TL_SCRATCH(&sim->arena, tl_vec3, body->node_count);
        if (!pos) return tl_fail_memory(err, "the test for intersections");
        sim_body_at(body, sim->time, pos);
        TL_TRY(tl_bvh_create(&sim->alloc, &def, &s, pos, other, err));
        tl_bvh_refit(*other, pos, NULL, 0, 0, sim->workers);
        TL_TRY(tl_find_crossings(*tree, *other, &sim->arena, sim->workers, found, err));
        for (int32_t i = 0; i < found->count; i++)
            list_crossing(&(crossing_source){sim, b, pos, mark}, &found->items[i], out);
        tl_bvh_destroy(*other), *other = NULL;
    }
    return sim->def.collide.bodies ? count_planes(sim, out) : TL_OK;
}

static tl_status find_intersections(tl_sim *sim, uint8_t *mark, tl_intersection_report *out, tl_error *err)
{
    *out = (tl_intersection_report){0};
    TL_TRY(sim_compile(sim, err));
    const tl_arena_mark place = tl_arena_save(&sim->arena);
    tl_crossings found;
    tl_bvh *tree = NULL, *other = NULL;
    tl_crossings_init(&found, sim->alloc);
    const tl_status status = count_crossings(sim, &found, &tree, &other, mark, out, err);
    tl_bvh_destroy(other);
    tl_bvh_destroy(tree);
    tl_crossings_free(&found);
    tl_arena_release(&sim->arena, place);
    return status;
}

tl_status tl_sim_intersections(tl_sim *sim, tl_intersection_report *out, tl_error *err)
{
    TL_TRY(sim_go_back(sim, err));
    return find_intersections(sim, NULL, out, err);
}

tl_status sim_pinch_crossings(tl_sim *sim, tl_intersection_report *left, tl_error *err)
{
    const int32_t n = sim->node_count;
    uint8_t *mark = TL_CALLOC(&sim->alloc, uint8_t, n);
    tl_status status = mark ? find_intersections(sim, mark, left, err) : tl_fail_memory(err, "pinched cloth");
    if (status == TL_OK && left->cloth_cloth == 0 && sim->contacts) {
        uint8_t *pinched = tl_contacts_pinched(sim->contacts);
        for (int32_t i = 0; i < n; i++) pinched[i] |= mark[i];
        tl_contacts_count_pinched(sim->contacts);
        sim->epoch_open = false;
        status = find_intersections(sim, NULL, left, err);
    }
    TL_FREE(&sim->alloc, mark, n);
    return status;
}

int32_t tl_sim_pinched(const tl_sim *sim, tl_cloth_id cloth, int32_t *nodes, int32_t capacity)
{
    const int32_t c = sim_ids_place(&sim->cloth_ids, cloth.slot, cloth.gen);
    if (!sim->contacts || !sim->elements || c == TL_NO_PLACE) return 0;
    const tl_elements *e = sim->elements;
    const uint8_t *pinched = tl_contacts_pinched(sim->contacts);
    int32_t count = 0;
    for (int32_t slot = e->cloth_node_start[c]; slot < e->cloth_node_start[c + 1]; slot++) {
        if (e->node_of[slot] == TL_NONE || !pinched[e->node_of[slot]]) continue;
        if (nodes && count < capacity) nodes[count] = slot - e->cloth_node_start[c];
        count++;
    }
    return count;
}
