// sim/snapshot.c: the state as bytes and back.
//
// Solvers reuse factors and levels from step to step, and what they reuse changes the last bits. To repeat a run to the
// bit without storing factors, a run is cut into epochs of a few steps: at the start of each the solver forgets and the
// state is noted. A saved state is the note of the present epoch and how many steps to take again from there.
//
// Layout, little-endian as on every machine we build for: header; if meshes may change, the meshes, when each was last
// remeshed, the state of its adapter, and the nodes of every handle; bytes of the dynamics and of the response; x, v
// (and for BDF2 x_before, v_before) of all nodes of all cloths in slot order, per handle whether it has taken hold and
// let go and its base positions, which nodes are pinched, of faces the stress of strain limits if there are any, last a
// hash of all before it. `built` is a hash of what was built, so a state cannot be loaded into another simulation.

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/hash.h"
#include "mesh/mesh_attr.h"
#include "mesh/mesh_bytes.h"
#include "mesh/mesh_rest.h"
#include "sim/internal.h"
#include "sim/springs.h"

#define MAGIC "TLSTATE9"
enum { TOOK_HOLD = 1, LET_GO = 2 };  // of a handle

typedef struct header {
    char magic[8];
    uint64_t built;
    int64_t step;
    double time, dt_before;
    double clock_time;
    int64_t clock_step;
    int64_t replay;               // steps to take from here
    uint64_t started;             // the start has been seen to: not again
    int64_t remeshed;             // step before which meshes were last looked at
    uint64_t dynamics, response;  // bytes of their own, after the meshes
} header;

static uint64_t hash_built(const tl_sim *sim)
{
    tl_hash hash;
    tl_hash_init(&hash);
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        tl_hash_add(&hash, &sim->cloths[c].built, sizeof sim->cloths[c].built);
        for (int32_t m = 0; m < sim->cloths[c].material_count; m++)  // the numbers, not the name
            tl_hash_add(&hash, &sim->cloths[c].materials[m].density,
                        sizeof(tl_material) - offsetof(tl_material, density));
    }
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        const sim_cloth *cloth = &sim->cloths[c];
        const double contact[3] = {cloth->thickness, isnan(cloth->friction) ? -1 : cloth->friction,
                                   cloth->friction_self};
        tl_hash_add(&hash, contact, sizeof contact);
        if (cloth->adapter->hash) cloth->adapter->hash(&cloth->remeshing, &hash);
        const int32_t lumping = (int32_t)tl_lumping_of(&cloth->remeshing);
        if (lumping != TL_LUMP_THIRDS) tl_hash_add(&hash, &lumping, sizeof lumping);
        if (cloth->strain.kind == TL_STRAIN_FREE) continue;
        const tl_strain_def *d = &cloth->strain;
        const double strain[6] = {(int)d->kind, d->min, d->max, d->weft_min, d->weft_max, d->shear};
        tl_hash_add(&hash, strain, sizeof strain);
    }
    for (int32_t i = 0; i < sim->body_count; i++)
        tl_hash_add(&hash, &sim->bodies[i].built, sizeof sim->bodies[i].built);
    const tl_collide_def *collide = &sim->def.collide;
    const double contact[8] = {collide->bodies,        collide->self,          (int)collide->combine,
                               collide->pressure,      collide->slip_speed,    (int)collide->on_intersection,
                               (int)collide->response, (int)collide->detection};
    tl_hash_add(&hash, contact, sizeof contact);
    if (sim->responder->hash) sim->responder->hash(collide, &hash);
    for (int32_t i = 0; i < sim->handle_count; i++) {
        const sim_handle *h = &sim->handles[i];
        const double numbers[5] = {h->start, h->end, h->pivot.x, h->pivot.y, h->pivot.z};
        if (!sim_remeshes(sim)) tl_hash_add(&hash, h->nodes, (size_t)h->node_count * sizeof(int32_t));
        tl_hash_add(&hash, numbers, sizeof numbers);
        const double fade[2] = {h->fade, h->stiffness};
        if (h->fade > 0) tl_hash_add(&hash, fade, sizeof fade);
        if (h->use_ellipse)
            tl_hash_add(&hash, h->ellipse, sizeof h->ellipse), tl_hash_add(&hash, &h->turns, sizeof h->turns);
        if (!h->is_live) tl_hash_add(&hash, h->keys, (size_t)h->key_count * sizeof *h->keys);
        if (h->ties) sim_hash_ties(h, &hash);
    }
    const tl_air_def *air = &sim->def.air;
    const double world[13] = {sim->def.gravity.x, sim->def.gravity.y, sim->def.gravity.z,    air->density, air->drag,
                              air->skin,          air->wind.x,        air->wind.y,           air->wind.z,  air->gust,
                              air->gust_period,   air->turbulence,    air->turbulence_length};
    tl_hash_add(&hash, world, sizeof world);
    if (air->lee > 0) tl_hash_add(&hash, &air->lee, sizeof air->lee);
    tl_hash_add(&hash, air->keys, (size_t)air->key_count * sizeof *air->keys);
    tl_hash_add(&hash, &sim->def.seed, sizeof sim->def.seed);
    tl_hash_add(&hash, &sim->def.bending, sizeof sim->def.bending);
    tl_hash_add(&hash, &sim->def.dt, sizeof sim->def.dt);
    const int32_t dynamics = (int32_t)sim->def.dynamics;
    tl_hash_add(&hash, &dynamics, sizeof dynamics);
    const tl_dynamics_settings set = sim_dynamics_settings(&sim->def);
    sim->dynamics->hash(&set, &hash);
    if (sim_by_springs(sim)) sim_springs_hash(sim, &hash);
    return tl_hash_value(&hash);
}

static int array_count(const tl_sim *sim) { return sim->def.integrator == TL_BDF2 ? 4 : 2; }

// The curvature of a rest shape and its sharp folds, for meshes that have them.
static size_t write_rest(const tl_mesh *mesh, char *out)
{
    const tl_rest_attrs attrs = tl_mesh_rest_find(mesh);
    if (attrs.curvature == TL_NONE) return 0;
    const size_t faces = 3 * sizeof(double) * (size_t)mesh->slots[TL_FACES].count,
                 edges = sizeof(double) * (size_t)mesh->slots[TL_EDGES].count;
    if (out) {
        memcpy(out, tl_mesh_attr_doubles(mesh, TL_FACES, attrs.curvature), faces);
        memcpy(out + faces, tl_mesh_attr_doubles(mesh, TL_EDGES, attrs.crease), edges);
    }
    return faces + edges;
}

// `like`: the mesh of the same cloth as it is.
static tl_status read_rest(tl_mesh *mesh, const tl_mesh *like, const char *data, size_t size, size_t *used,
                           tl_error *err)
{
    tl_rest_attrs attrs = tl_mesh_rest_find(like);
    if (attrs.curvature == TL_NONE) return TL_OK;
    TL_TRY(tl_mesh_rest_attach(mesh, &attrs, err));
    const size_t faces = 3 * sizeof(double) * (size_t)mesh->slots[TL_FACES].count, bytes = write_rest(mesh, NULL);
    if (size - *used < bytes) return tl_fail(err, TL_BAD_INPUT, "saved state: too short");
    memcpy(tl_mesh_attr_doubles(mesh, TL_FACES, attrs.curvature), data + *used, faces);
    memcpy(tl_mesh_attr_doubles(mesh, TL_EDGES, attrs.crease), data + *used + faces, bytes - faces);
    *used += bytes;
    return TL_OK;
}

// Meshes and the nodes of handles, where they may change; `out` NULL: counts only.
static size_t write_meshes(const tl_sim *sim, char *out)
{
    size_t at = 0;
    if (!sim_remeshes(sim)) return 0;
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        if (out) memcpy(out + at, &sim->cloths[c].passed, sizeof sim->cloths[c].passed);
        at += sizeof sim->cloths[c].passed;
        at += tl_mesh_write_bytes(sim->cloths[c].mesh, out ? out + at : NULL);
        const sim_cloth *cloth = &sim->cloths[c];
        if (cloth->adapter->save) at += cloth->adapter->save(cloth->adapter_self, cloth->mesh, out ? out + at : NULL);
        at += write_rest(sim->cloths[c].mesh, out ? out + at : NULL);
    }
    for (int32_t i = 0; i < sim->handle_count; i++) {
        const sim_handle *h = &sim->handles[i];
        const size_t bytes = (size_t)h->node_count * sizeof *h->nodes;
        if (out)
            memcpy(out + at, &h->node_count, sizeof h->node_count),
                memcpy(out + at + sizeof h->node_count, h->nodes, bytes);
        at += sizeof h->node_count + bytes;
    }
    return at;
}

enum { LIVE_COUNT, LIVE_WRITE, LIVE_READ };

static void live_field(int how, void *field, size_t bytes, char *out, const char *in, size_t *used)
{
    if (how == LIVE_WRITE) memcpy(out + *used, field, bytes);
    if (how == LIVE_READ) memcpy(field, in + *used, bytes);
    *used += bytes;
}

// Paths and shapes that the host has set (live.c): how many bytes, to bytes, or back.
static size_t live_bytes(const tl_sim *sim, int how, char *out, const char *in)
{
    size_t used = 0;
    for (int32_t i = 0; i < sim->handle_count; i++) {
        sim_handle *h = &sim->handles[i];
        if (!h->is_live) continue;
        live_field(how, &h->live, sizeof h->live, out, in, &used);
        live_field(how, h->keys, 2 * sizeof *h->keys, out, in, &used);
    }
    for (int32_t i = 0; i < sim->body_count; i++) {
        sim_body *b = &sim->bodies[i];
        if (!b->is_live) continue;
        live_field(how, &b->live, sizeof b->live, out, in, &used);
        live_field(how, b->motion, 2 * sizeof *b->motion, out, in, &used);
        if (b->key_count != 2) continue;
        live_field(how, b->key_time, 2 * sizeof *b->key_time, out, in, &used);
        live_field(how, b->shape, 2 * (size_t)b->node_count * sizeof *b->shape, out, in, &used);
    }
    return used;
}

// State of dynamics and response beside that of nodes; `out` NULL: counts only.
static size_t write_dynamics(const tl_sim *sim, char *out)
{
    return sim->dynamics->save ? sim->dynamics->save(sim->dynamics_self, out) : 0;
}

static size_t write_response(const tl_sim *sim, char *out)
{
    return sim->response && sim->responder->save ? sim->responder->save(sim->response, out) : 0;
}

// Bytes of nodes, handles and faces, of meshes (NULL: those of now) and numbers of nodes that handles hold (likewise).
static size_t nodes_size(const tl_sim *sim, tl_mesh *const *meshes, const int32_t *held)
{
    size_t size = live_bytes(sim, LIVE_COUNT, NULL, NULL);
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        const tl_mesh *mesh = meshes ? meshes[c] : sim->cloths[c].mesh;
        size += ((size_t)array_count(sim) * sizeof(tl_vec3) + 1) * (size_t)mesh->slots[TL_NODES].count;  // 1: pinched
        if (sim_has_limits(sim)) size += 3 * sizeof(double) * (size_t)mesh->slots[TL_FACES].count;
    }
    for (int32_t i = 0; i < sim->handle_count; i++)
        size += sizeof(uint64_t) + (size_t)(held ? held[i] : sim->handles[i].node_count) * sizeof(tl_vec3);
    return size;
}

size_t sim_live_bytes(const tl_sim *sim, char *out, const char *in)
{
    return live_bytes(sim, out ? LIVE_WRITE : in ? LIVE_READ : LIVE_COUNT, out, in);
}

/// `own`: bytes of dynamics and response.
static size_t state_size(const tl_sim *sim, size_t own)
{
    return sizeof(header) + write_meshes(sim, NULL) + own + nodes_size(sim, NULL, NULL) + sizeof(uint64_t);
}

static void seal(tl_sim *sim, int64_t replay)
{
    char *bytes = sim->epoch;
    memcpy(bytes + offsetof(header, replay), &replay, sizeof replay);
    tl_hash hash;
    tl_hash_init(&hash);
    tl_hash_add(&hash, bytes, sim->epoch_size - sizeof(uint64_t));
    const uint64_t sum = tl_hash_value(&hash);
    memcpy(bytes + sim->epoch_size - sizeof sum, &sum, sizeof sum);
}

static tl_status note_state(tl_sim *sim, tl_error *err)
{
    const size_t dynamics = write_dynamics(sim, NULL), response = write_response(sim, NULL);
    const size_t need = state_size(sim, dynamics + response);
    if (need != sim->epoch_size) {
        void *bytes = tl_alloc_bytes(&sim->alloc, need, 1);
        if (!bytes) return tl_fail_memory(err, "the saved state");  // the note there is stays
        tl_free_bytes(&sim->alloc, sim->epoch, sim->epoch_size, 1);
        sim->epoch = bytes, sim->epoch_size = need;
    }
    const tl_elements *e = sim->elements;
    char *at = sim->epoch;
    header h;
    memset(&h, 0, sizeof h);
    memcpy(h.magic, MAGIC, sizeof h.magic);
    h.built = hash_built(sim), h.step = sim->step, h.time = sim->time, h.dt_before = sim->dt_before;
    h.clock_time = sim->clock_time, h.clock_step = sim->clock_step;
    h.started = sim->started, h.remeshed = sim->remeshed;
    h.dynamics = dynamics, h.response = response;
    memcpy(at, &h, sizeof h), at += sizeof h;
    at += write_meshes(sim, at);
    at += write_dynamics(sim, at);
    at += write_response(sim, at);
    const tl_vec3 *arrays[4] = {sim->x, sim->v, sim->x_before, sim->v_before};
    for (int k = 0; k < array_count(sim); k++)
        for (int32_t slot = 0; slot < e->cloth_node_start[e->cloth_count]; slot++) {
            const tl_vec3 value = e->node_of[slot] == TL_NONE ? (tl_vec3){0, 0, 0} : arrays[k][e->node_of[slot]];
            memcpy(at, &value, sizeof value), at += sizeof value;
        }
    for (int32_t i = 0; i < sim->handle_count; i++) {
        const uint64_t took_hold = (sim->handles[i].took_hold ? TOOK_HOLD : 0) | (sim->handles[i].let_go ? LET_GO : 0);
        const size_t bytes = (size_t)sim->handles[i].node_count * sizeof(tl_vec3);
        memcpy(at, &took_hold, sizeof took_hold), at += sizeof took_hold;
        memcpy(at, sim->handles[i].base, bytes), at += bytes;
    }
    at += live_bytes(sim, LIVE_WRITE, at, NULL);
    const uint8_t *pinched = sim->contacts ? tl_contacts_pinched(sim->contacts) : NULL;
    for (int32_t slot = 0; slot < e->cloth_node_start[e->cloth_count]; slot++)
        *at++ = pinched && e->node_of[slot] != TL_NONE ? (char)pinched[e->node_of[slot]] : 0;
    for (int32_t c = 0; sim->limits && c < sim->cloth_count; c++)
        for (int32_t slot = 0; slot < sim->cloths[c].mesh->slots[TL_FACES].count; slot++) {
            double stress[3];
            sim_limit_stress(sim, c, slot, stress);
            memcpy(at, stress, sizeof stress), at += sizeof stress;
        }
    return TL_OK;
}

tl_status sim_begin_epoch(tl_sim *sim, tl_error *err)
{
    if (sim->epoch_open && sim->step - sim->epoch_step < SIM_EPOCH_STEPS) return TL_OK;
    sim->epoch_open = false;
    TL_TRY(note_state(sim, err));
    sim->dynamics->restart(sim->dynamics_self);
    if (sim->response && sim->responder->forget) sim->responder->forget(sim->response);
    sim->epoch_step = sim->step;
    tl_workers_forget(sim->workers);
    sim->epoch_open = true, sim->live_changed = false;
    return TL_OK;
}

int64_t tl_sim_replay_steps(const tl_sim *sim)
{
    if (sim_by_springs(sim)) return 0;
    if (sim->live_changed) return 0;  // saving begins an epoch
    const int64_t since = sim->step - sim->epoch_step;
    return sim->epoch_open && since < SIM_EPOCH_STEPS ? since : 0;
}

tl_status tl_sim_save(tl_sim *sim, const void **data, size_t *size, tl_error *err)
{
    *data = NULL, *size = 0;
    if (sim_by_springs(sim)) return sim_springs_save(sim, hash_built(sim), data, size, err);
    if (sim->interrupted) {  // what is there may have been remade for the step to come: the note knows better
        seal(sim, sim->step - sim->epoch_step);
        *data = sim->epoch, *size = sim->epoch_size;
        return TL_OK;
    }
    TL_TRY(sim_compile(sim, err));
    if (sim->live_changed) sim->epoch_open = false;
    TL_TRY(sim_come_and_go(sim, err));  // so that bodies are always noted as they are for the step to come
    TL_TRY(sim_begin_epoch(sim, err));
    seal(sim, sim->step - sim->epoch_step);
    *data = sim->epoch, *size = sim->epoch_size;
    return TL_OK;
}

/// Meshes and handles read from a saved state, not yet in place.
typedef struct read_meshes {
    tl_mesh **mesh;
    void **adapter_self;
    int64_t *passed;
    int32_t **nodes, *node_count;
} read_meshes;

static void drop_meshes(tl_sim *sim, read_meshes *r)
{
    for (int32_t c = 0; r->adapter_self && c < sim->cloth_count; c++)
        if (sim->cloths[c].adapter->destroy) sim->cloths[c].adapter->destroy(r->adapter_self[c]);
    for (int32_t c = 0; r->mesh && c < sim->cloth_count; c++) tl_mesh_destroy(r->mesh[c]);
    for (int32_t i = 0; r->nodes && r->node_count && i < sim->handle_count; i++)
        TL_FREE(&sim->alloc, r->nodes[i], r->node_count[i]);
    TL_FREE(&sim->alloc, r->mesh, sim->cloth_count);
    TL_FREE(&sim->alloc, r->adapter_self, sim->cloth_count);
    TL_FREE(&sim->alloc, r->passed, sim->cloth_count);
    TL_FREE(&sim->alloc, r->nodes, sim->handle_count);
    TL_FREE(&sim->alloc, r->node_count, sim->handle_count);
}

static tl_status parse_handle(tl_sim *sim, int32_t i, const char *data, size_t size, size_t *used, read_meshes *r,
                              tl_error *err)
{
    int32_t count;
    if (size < sizeof count) return tl_fail(err, TL_BAD_INPUT, "saved state: too short");
    memcpy(&count, data, sizeof count);
    if (count < 0 || (size - sizeof count) / sizeof(int32_t) < (size_t)count)
        return tl_fail(err, TL_BAD_INPUT, "saved state: handle %d with %d nodes", i, count);
    r->nodes[i] = TL_ALLOC(&sim->alloc, int32_t, count);
    if (!r->nodes[i]) return tl_fail_memory(err, "the saved state");
    r->node_count[i] = count;
    memcpy(r->nodes[i], data + sizeof count, (size_t)count * sizeof(int32_t));
    const int32_t nodes = r->mesh[sim->handles[i].cloth]->slots[TL_NODES].count;
    for (int32_t k = 0; k < count; k++)
        if (r->nodes[i][k] < 0 || r->nodes[i][k] >= nodes)
            return tl_fail(err, TL_BAD_INPUT, "saved state: handle %d holds node %d of %d", i, r->nodes[i][k], nodes);
    *used = sizeof count + (size_t)count * sizeof(int32_t);
    return TL_OK;
}

static tl_status parse_passed(int32_t c, const char *data, size_t size, int64_t step, int64_t *passed, tl_error *err)
{
    if (size < sizeof *passed) return tl_fail(err, TL_BAD_INPUT, "saved state: too short");
    memcpy(passed, data, sizeof *passed);
    if (*passed >= -1 && *passed <= step) return TL_OK;
    return tl_fail(err, TL_BAD_INPUT, "saved state: mesh %d was remade before step %lld, must be from -1 to %lld", c,
                   (long long)*passed, (long long)step);
}

static tl_status parse_meshes(tl_sim *sim, const char *data, size_t size, int64_t step, read_meshes *r, size_t *whole,
                              tl_error *err)
{
    r->mesh = TL_CALLOC(&sim->alloc, tl_mesh *, sim->cloth_count);
    r->adapter_self = TL_CALLOC(&sim->alloc, void *, sim->cloth_count);
    r->passed = TL_CALLOC(&sim->alloc, int64_t, sim->cloth_count);
    r->nodes = TL_CALLOC(&sim->alloc, int32_t *, sim->handle_count);
    r->node_count = TL_CALLOC(&sim->alloc, int32_t, sim->handle_count);
    if (!r->mesh || !r->adapter_self || !r->passed || !r->nodes || !r->node_count)
        return tl_fail_memory(err, "the saved state");
    size_t used;
    const char *begin = data;
    for (int32_t c = 0; c < sim->cloth_count; c++, data += used, size -= used) {
        const sim_cloth *cloth = &sim->cloths[c];
        TL_TRY(parse_passed(c, data, size, step, &r->passed[c], err));
        data += sizeof *r->passed, size -= sizeof *r->passed;
        TL_TRY(tl_mesh_read_bytes(&sim->alloc, data, size, &r->mesh[c], &used, err));
        for (int32_t f = 0; f < r->mesh[c]->slots[TL_FACES].count; f++)
            if (r->mesh[c]->face_label[f] < 0 || r->mesh[c]->face_label[f] >= sim->cloths[c].material_count)
                return tl_fail(err, TL_BAD_INPUT, "saved state: face %d is made of fabric %d", f,
                               r->mesh[c]->face_label[f]);
        if (cloth->adapter->load) {
            size_t bytes;
            TL_TRY(cloth->adapter->load(r->mesh[c], &cloth->remeshing, sim->handle_count, data + used, size - used,
                                        &bytes, &r->adapter_self[c], err));
            used += bytes;
        }
        TL_TRY(read_rest(r->mesh[c], sim->cloths[c].mesh, data, size, &used, err));
    }
    for (int32_t i = 0; i < sim->handle_count; i++, data += used, size -= used)
        TL_TRY(parse_handle(sim, i, data, size, &used, r, err));
    *whole = (size_t)(data - begin);
    return TL_OK;
}

// Exchanges meshes and handles for those that were read; the old ones end up in `r`, to be freed.
static tl_status swap_meshes(tl_sim *sim, read_meshes *r, tl_error *err)
{
    for (int32_t i = 0; i < sim->handle_count; i++) {
        sim_handle *h = &sim->handles[i];
        tl_vec3 *base = TL_CALLOC(&sim->alloc, tl_vec3, r->node_count[i]);
        if (!base) return tl_fail_memory(err, "the saved state");
        TL_FREE(&sim->alloc, h->base, h->node_count);
        int32_t *nodes = h->nodes;
        const int32_t count = h->node_count;
        h->base = base, h->nodes = r->nodes[i], h->node_count = r->node_count[i];
        r->nodes[i] = nodes, r->node_count[i] = count;
    }
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        tl_mesh *mesh = sim->cloths[c].mesh;
        void *adapter_self = sim->cloths[c].adapter_self;
        sim->cloths[c].mesh = r->mesh[c], sim->cloths[c].passed = r->passed[c];
        sim->cloths[c].adapter_self = r->adapter_self[c];
        r->mesh[c] = mesh, r->adapter_self[c] = adapter_self;
        sim->cloths[c].version++, sim->cloths[c].map_lost = true;
    }
    return sim_recompile(sim, err);
}

// Before meshes are exchanged, so that refused bytes change nothing.
static tl_status load_dynamics(tl_sim *sim, const header *h, const char *data, tl_error *err)
{
    return sim->dynamics->load ? sim->dynamics->load(sim->dynamics_self, data, h->dynamics, err) : TL_OK;
}

// Will the response accept its bytes? It is made anew with the meshes and bodies of the saved time.
static tl_status check_response(const tl_sim *sim, const header *h, tl_mesh *const *meshes, const char *data,
                                tl_error *err)
{
    const int32_t bodies = sim_present_count_at(sim, h->time);
    const bool any = sim->responder->save && (sim->def.collide.self || bodies > 0);
    int32_t nodes = 0;
    for (int32_t c = 0; c < sim->cloth_count; c++)
        nodes += tl_mesh_counts(meshes ? meshes[c] : sim->cloths[c].mesh).node;
    if (any) return sim->responder->check(nodes, bodies, data, h->response, err);
    return h->response == 0
               ? TL_OK
               : tl_fail(err, TL_BAD_INPUT, "saved state: %llu bytes of contacts", (unsigned long long)h->response);
}

// Checks everything before anything is changed. `size`: bytes after the header; `own`: those of dynamics and response.
static tl_status restore_meshes(tl_sim *sim, const header *h, const char *data, size_t size, tl_error *err)
{
    const size_t own = h->dynamics + h->response;
    if (!sim_remeshes(sim)) {
        TL_TRY(check_response(sim, h, NULL, data + h->dynamics, err));
        return load_dynamics(sim, h, data, err);
    }
    read_meshes r = {0};
    size_t used = 0;
    tl_status status = parse_meshes(sim, data, size, h->step, &r, &used, err);
    if (status == TL_OK && (size - used < own || size - used - own != nodes_size(sim, r.mesh, r.node_count)))
        status = tl_fail(err, TL_BAD_INPUT, "saved state: %zu bytes, its meshes ask for %zu", size - used,
                         own + nodes_size(sim, r.mesh, r.node_count));
    if (status == TL_OK) status = check_response(sim, h, r.mesh, data + used + h->dynamics, err);
    if (status == TL_OK) status = load_dynamics(sim, h, data + used, err);
    if (status == TL_OK) status = swap_meshes(sim, &r, err);
    drop_meshes(sim, &r);
    return status;
}

// Is it a state of this simulation, undamaged?
static tl_status check_header(tl_sim *sim, const void *data, size_t size, header *h, tl_error *err)
{
    if (!data || size < sizeof *h + sizeof(uint64_t))
        return tl_fail(err, TL_BAD_INPUT, "saved state: %zu bytes, too short", size);
    memcpy(h, data, sizeof *h);
    if (memcmp(h->magic, MAGIC, sizeof h->magic - 1) != 0)
        return tl_fail(err, TL_BAD_INPUT, "saved state: not one of ours");
    if (memcmp(h->magic, MAGIC, sizeof h->magic) != 0)  // they differ in the last character
        return tl_fail(err, TL_BAD_INPUT,
                       "saved state: of another version of the program, which cannot be gone on with; run it again "
                       "from the start");
    if (h->built != hash_built(sim) || h->dynamics > size || h->response > size - h->dynamics ||
        (!sim_remeshes(sim) && size != state_size(sim, h->dynamics + h->response)))
        return tl_fail(
            err, TL_BAD_INPUT,
            "saved state: of another simulation (other meshes, fabrics, bodies, handles, air, dt or solver)");
    tl_hash hash;
    tl_hash_init(&hash);
    tl_hash_add(&hash, data, size - sizeof(uint64_t));
    uint64_t sum;
    memcpy(&sum, (const char *)data + size - sizeof sum, sizeof sum);
    if (sum != tl_hash_value(&hash))
        return tl_fail(err, TL_BAD_INPUT, "saved state: damaged (the hash does not match)");
    if (h->replay < 0 || h->replay > SIM_EPOCH_STEPS)
        return tl_fail(err, TL_BAD_INPUT, "saved state: %lld steps to repeat, must be at most %d", (long long)h->replay,
                       SIM_EPOCH_STEPS);
    return TL_OK;
}

tl_status tl_sim_restore(tl_sim *sim, const void *data, size_t size, tl_error *err)
{
    if (sim_by_springs(sim)) return sim_springs_restore(sim, hash_built(sim), data, size, err);
    TL_TRY(sim_compile(sim, err));
    header h;
    TL_TRY(check_header(sim, data, size, &h, err));
    TL_TRY(restore_meshes(sim, &h, (const char *)data + sizeof h, size - sizeof h - sizeof(uint64_t), err));
    const tl_elements *e = sim->elements;
    const char *own = (const char *)data + sizeof h + write_meshes(sim, NULL), *at = own + h.dynamics + h.response;
    tl_vec3 *arrays[4] = {sim->x, sim->v, sim->x_before, sim->v_before};
    for (int k = 0; k < array_count(sim); k++)
        for (int32_t slot = 0; slot < e->cloth_node_start[e->cloth_count]; slot++, at += sizeof(tl_vec3))
            if (e->node_of[slot] != TL_NONE) memcpy(&arrays[k][e->node_of[slot]], at, sizeof(tl_vec3));
    sim->time = h.time;
    TL_TRY(sim_come_and_go(sim, err));
    if (sim->response && sim->responder->load)
        TL_TRY(sim->responder->load(sim->response, own + h.dynamics, h.response, err));
    for (int32_t i = 0; i < sim->handle_count; i++) {
        uint64_t took_hold;
        const size_t bytes = (size_t)sim->handles[i].node_count * sizeof(tl_vec3);
        memcpy(&took_hold, at, sizeof took_hold), at += sizeof took_hold;
        memcpy(sim->handles[i].base, at, bytes), at += bytes;
        sim->handles[i].took_hold = (took_hold & TOOK_HOLD) != 0, sim->handles[i].let_go = (took_hold & LET_GO) != 0;
        sim->handles[i].since = sim->handles[i].start;  // if it did, in a step before
    }
    at += live_bytes(sim, LIVE_READ, NULL, at);
    uint8_t *pinched = sim->contacts ? tl_contacts_pinched(sim->contacts) : NULL;
    for (int32_t slot = 0; slot < e->cloth_node_start[e->cloth_count]; slot++, at++)
        if (pinched && e->node_of[slot] != TL_NONE) pinched[e->node_of[slot]] = *at != 0;
    if (pinched) tl_contacts_count_pinched(sim->contacts);
    for (int32_t c = 0; sim->limits && c < sim->cloth_count; c++)
        for (int32_t slot = 0; slot < sim->cloths[c].mesh->slots[TL_FACES].count; slot++) {
            double stress[3];
            memcpy(stress, at, sizeof stress), at += sizeof stress;
            sim_set_limit_stress(sim, c, slot, stress);
        }
    sim->clock_time = h.clock_time, sim->clock_step = h.clock_step;
    sim->step = h.step, sim->time = h.time, sim->dt_before = h.dt_before, sim->started = h.started != 0;
    sim->remeshed = h.remeshed;
    sim->shape_changed = true;  // fixed flags are found anew by the next step
    sim->begun = false;
    sim->epoch_open = false;
    sim->interrupted = false;
    sim_publish(sim);
    for (int64_t k = 0; k < h.replay; k++) TL_TRY(tl_sim_step(sim, NULL, err));
    return TL_OK;
}

tl_status sim_go_back(tl_sim *sim, tl_error *err)
{
    if (!sim->interrupted) return TL_OK;
    const tl_cancel cancel = sim->cancel;
    const size_t size = sim->epoch_size;
    seal(sim, sim->step - sim->epoch_step);
    void *note = tl_alloc_bytes(&sim->alloc, size, 1);  // restoring makes a note of its own
    if (!note) return tl_fail_memory(err, "the saved state");
    memcpy(note, sim->epoch, size);
    sim->cancel = (tl_cancel){NULL, NULL};  // half-way back there would be no state to keep
    const tl_status status = tl_sim_restore(sim, note, size, err);
    sim->cancel = cancel;
    tl_free_bytes(&sim->alloc, note, size, 1);
    return status;
}
