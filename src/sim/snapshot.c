// sim/snapshot.c: the state as bytes and back.
//
// Layout, little-endian as on every machine we build for: header, then per cloth (x, v, x_before, v_before) of all nodes
// in slot order, then per handle whether it has taken hold and its base positions, last a hash of all before it.
// What can be computed again (elements, matrix, factors) is not stored; `built` is a hash of what was built, so a
// state cannot be loaded into another simulation.

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/hash.h"
#include "sim/internal.h"

#define MAGIC "TLSTATE1"

typedef struct header {
    char magic[8];
    uint64_t built;
    int64_t step;
    double time, dt_before;
} header;

static uint64_t hash_built(const tl_sim *sim)
{
    tl_hash hash;
    tl_hash_init(&hash);
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        const tl_mesh *mesh = sim->cloths[c].mesh;
        const int32_t count[3] = {mesh->slots[TL_NODES].count, mesh->slots[TL_VERTS].count, mesh->slots[TL_FACES].count};
        tl_hash_add(&hash, count, sizeof count);
        tl_hash_add(&hash, mesh->uv, (size_t)count[1] * sizeof *mesh->uv);
        tl_hash_add(&hash, mesh->vert_node, (size_t)count[1] * sizeof *mesh->vert_node);
        tl_hash_add(&hash, mesh->face_vert, (size_t)count[2] * sizeof *mesh->face_vert);
    }
    for (int32_t i = 0; i < sim->handle_count; i++)
        tl_hash_add(&hash, sim->handles[i].nodes, (size_t)sim->handles[i].node_count * sizeof(int32_t));
    tl_hash_add(&hash, &sim->def.dt, sizeof sim->def.dt);
    return tl_hash_value(&hash);
}

static size_t state_size(const tl_sim *sim)
{
    size_t size = sizeof(header);
    for (int32_t c = 0; c < sim->cloth_count; c++)
        size += 4 * (size_t)sim->cloths[c].mesh->slots[TL_NODES].count * sizeof(tl_vec3);
    for (int32_t i = 0; i < sim->handle_count; i++)
        size += sizeof(uint64_t) + (size_t)sim->handles[i].node_count * sizeof(tl_vec3);
    return size + sizeof(uint64_t);
}

tl_status tl_sim_save(tl_sim *sim, const void **data, size_t *size, tl_error *err)
{
    *data = NULL, *size = 0;
    TL_TRY(sim_compile(sim, err));
    const size_t need = state_size(sim);
    if (need != sim->saved_size) {
        tl_free_bytes(&sim->alloc, sim->saved, sim->saved_size, 1);
        sim->saved_size = 0;
        sim->saved = tl_alloc_bytes(&sim->alloc, need, 1);
        if (!sim->saved) return tl_fail_memory(err, "the saved state");
        sim->saved_size = need;
    }
    const tl_elements *e = sim->elements;
    char *at = sim->saved;
    header h = {.built = hash_built(sim), .step = sim->step, .time = sim->time, .dt_before = sim->dt_before};
    memcpy(h.magic, MAGIC, sizeof h.magic);
    memcpy(at, &h, sizeof h), at += sizeof h;
    const tl_vec3 *arrays[4] = {sim->x, sim->v, sim->x_before, sim->v_before};
    for (int k = 0; k < 4; k++)
        for (int32_t slot = 0; slot < e->cloth_node_start[e->cloth_count]; slot++) {
            const tl_vec3 value = e->node_of[slot] == TL_NONE ? (tl_vec3){0, 0, 0} : arrays[k][e->node_of[slot]];
            memcpy(at, &value, sizeof value), at += sizeof value;
        }
    for (int32_t i = 0; i < sim->handle_count; i++) {
        const uint64_t took_hold = sim->handles[i].took_hold;
        const size_t bytes = (size_t)sim->handles[i].node_count * sizeof(tl_vec3);
        memcpy(at, &took_hold, sizeof took_hold), at += sizeof took_hold;
        memcpy(at, sim->handles[i].base, bytes), at += bytes;
    }
    tl_hash hash;
    tl_hash_init(&hash);
    tl_hash_add(&hash, sim->saved, need - sizeof(uint64_t));
    const uint64_t sum = tl_hash_value(&hash);
    memcpy(at, &sum, sizeof sum);
    *data = sim->saved, *size = need;
    return TL_OK;
}

tl_status tl_sim_restore(tl_sim *sim, const void *data, size_t size, tl_error *err)
{
    TL_TRY(sim_compile(sim, err));
    header h;
    if (!data || size < sizeof h) return tl_fail(err, TL_BAD_INPUT, "saved state: %zu bytes, too short", size);
    memcpy(&h, data, sizeof h);
    if (memcmp(h.magic, MAGIC, sizeof h.magic) != 0) return tl_fail(err, TL_BAD_INPUT, "saved state: not one of ours");
    if (h.built != hash_built(sim) || size != state_size(sim))
        return tl_fail(err, TL_BAD_INPUT, "saved state: of another simulation (other meshes, handles or dt)");
    tl_hash hash;
    tl_hash_init(&hash);
    tl_hash_add(&hash, data, size - sizeof(uint64_t));
    uint64_t sum;
    memcpy(&sum, (const char *)data + size - sizeof sum, sizeof sum);
    if (sum != tl_hash_value(&hash)) return tl_fail(err, TL_BAD_INPUT, "saved state: damaged (the hash does not match)");
    const tl_elements *e = sim->elements;
    const char *at = (const char *)data + sizeof h;
    tl_vec3 *arrays[4] = {sim->x, sim->v, sim->x_before, sim->v_before};
    for (int k = 0; k < 4; k++)
        for (int32_t slot = 0; slot < e->cloth_node_start[e->cloth_count]; slot++, at += sizeof(tl_vec3))
            if (e->node_of[slot] != TL_NONE) memcpy(&arrays[k][e->node_of[slot]], at, sizeof(tl_vec3));
    for (int32_t i = 0; i < sim->handle_count; i++) {
        uint64_t took_hold;
        const size_t bytes = (size_t)sim->handles[i].node_count * sizeof(tl_vec3);
        memcpy(&took_hold, at, sizeof took_hold), at += sizeof took_hold;
        memcpy(sim->handles[i].base, at, bytes), at += bytes;
        sim->handles[i].took_hold = took_hold != 0;
    }
    sim->step = h.step, sim->time = h.time, sim->dt_before = h.dt_before;
    sim->shape_changed = true;  // fixed flags are found anew by the next step
    sim_publish(sim);
    return TL_OK;
}
