// sim/springs_state.c: a simulation by springs as views, meshes and bytes.

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/hash.h"
#include "sim/springs.h"

#define MAGIC "TLSPRNG1"

void sim_springs_view(const spring_cloth *c, tl_cloth_view *out)
{
    *out = (tl_cloth_view){c->node_pos,   c->node_vel,  c->node_label, c->node_count,
                           c->uv,         c->vert_node, c->vert_count, (const int32_t(*)[3])c->face,
                           c->face_label, c->tri_count};
}

tl_status sim_springs_sync(tl_sim *sim, tl_error *err)
{
    if (!sim->springs_stale) return TL_OK;
    sim_discard(sim);
    for (int32_t i = 0; i < sim->cloth_count; i++) {
        sim_cloth *cloth = &sim->cloths[i];
        if (!cloth->engine) continue;
        const spring_cloth *c = cloth->engine;
        const tl_mesh_def def = {.node_count = c->node_count,
                                 .vert_count = c->vert_count,
                                 .face_count = c->tri_count,
                                 .pos = c->node_pos,
                                 .vel = c->node_vel,
                                 .uv = c->uv,
                                 .vert_node = c->vert_node,
                                 .face_vert = (const int32_t(*)[3])c->face,
                                 .face_label = c->face_label,
                                 .node_label = c->node_label};
        tl_mesh *mesh;
        TL_TRY(tl_mesh_create(&sim->alloc, &def, &mesh, err));
        tl_mesh_destroy(cloth->mesh);
        cloth->mesh = mesh;
    }
    sim->springs_stale = false, sim->started = true;
    return TL_OK;
}

// ---- saved states ---------------------------------------------------------------------------------------------
//
// Nothing is reused from step to step that shapes results, so the state is that of now and no step is taken again.
// Layout: header; per handle whether it has taken hold; what hosts have set; per cloth its engine; a hash of all that.

typedef struct header {
    char magic[8];
    uint64_t built;
    int64_t step, clock_step;
    double time, clock_time;
} header;

static size_t write_state(const tl_sim *sim, uint64_t built, char *out)
{
    header h;
    memset(&h, 0, sizeof h);
    memcpy(h.magic, MAGIC, sizeof h.magic);
    h.built = built, h.step = sim->step, h.clock_step = sim->clock_step;
    h.time = sim->time, h.clock_time = sim->clock_time;
    if (out) memcpy(out, &h, sizeof h);
    size_t at = sizeof h;
    for (int32_t i = 0; i < sim->handle_count; i++, at++)
        if (out) out[at] = sim->handles[i].took_hold;
    at += sim_live_bytes(sim, out ? out + at : NULL, NULL);
    for (int32_t c = 0; c < sim->cloth_count; c++)
        at += spring_cloth_write(sim->cloths[c].engine, out ? out + at : NULL);
    return at;
}

tl_status sim_springs_save(tl_sim *sim, uint64_t built, const void **data, size_t *size, tl_error *err)
{
    TL_TRY(sim_springs_prepare(sim, err));
    const size_t bytes = write_state(sim, built, NULL), need = bytes + sizeof(uint64_t);
    if (need != sim->epoch_size) {
        tl_free_bytes(&sim->alloc, sim->epoch, sim->epoch_size, 1);
        sim->epoch_size = 0;
        sim->epoch = tl_alloc_bytes(&sim->alloc, need, 1);
        if (!sim->epoch) return tl_fail_memory(err, "the saved state");
        sim->epoch_size = need;
    }
    write_state(sim, built, sim->epoch);
    tl_hash hash;
    tl_hash_init(&hash);
    tl_hash_add(&hash, sim->epoch, bytes);
    const uint64_t sum = tl_hash_value(&hash);
    memcpy((char *)sim->epoch + bytes, &sum, sizeof sum);
    *data = sim->epoch, *size = need;
    return TL_OK;
}

static tl_status check_state(uint64_t built, const void *data, size_t size, header *h, tl_error *err)
{
    if (!data || size < sizeof *h + sizeof(uint64_t))
        return tl_fail(err, TL_BAD_INPUT, "saved state: %zu bytes, too short", size);
    memcpy(h, data, sizeof *h);
    if (memcmp(h->magic, MAGIC, sizeof h->magic) != 0)
        return tl_fail(err, TL_BAD_INPUT, "saved state: not one of springs, or of another version of the program");
    if (h->built != built)
        return tl_fail(err, TL_BAD_INPUT,
                       "saved state: of another simulation (other meshes, fabrics, bodies, handles, air or dt)");
    tl_hash hash;
    tl_hash_init(&hash);
    tl_hash_add(&hash, data, size - sizeof(uint64_t));
    uint64_t sum;
    memcpy(&sum, (const char *)data + size - sizeof sum, sizeof sum);
    if (sum != tl_hash_value(&hash))
        return tl_fail(err, TL_BAD_INPUT, "saved state: damaged (the hash does not match)");
    return TL_OK;
}

// A fresh engine per cloth is read into, so that a state that turns out bad changes nothing.
static tl_status read_cloths(tl_sim *sim, const char *data, size_t size, spring_cloth **fresh, tl_error *err)
{
    size_t at = 0;
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        sim_cloth *cloth = &sim->cloths[c];
        size_t used;
        TL_TRY(spring_cloth_copy_base(cloth->engine, &fresh[c], err));
        TL_TRY(spring_cloth_read(fresh[c], data + at, size - at, &used, err));
        at += used;
    }
    return at == size ? TL_OK : tl_fail(err, TL_BAD_INPUT, "saved state: %zu bytes too many", size - at);
}

tl_status sim_springs_restore(tl_sim *sim, uint64_t built, const void *data, size_t size, tl_error *err)
{
    header h;
    TL_TRY(sim_springs_prepare(sim, err));
    TL_TRY(check_state(built, data, size, &h, err));
    const char *bytes = data;
    const size_t live = sim_live_bytes(sim, NULL, NULL), begin = sizeof h + (size_t)sim->handle_count + live;
    if (size < begin + sizeof(uint64_t)) return tl_fail(err, TL_BAD_INPUT, "saved state: too short");
    spring_cloth **fresh = TL_CALLOC(&sim->alloc, spring_cloth *, sim->cloth_count);
    if (!fresh) return tl_fail_memory(err, "the saved state");
    const tl_status status = read_cloths(sim, bytes + begin, size - begin - sizeof(uint64_t), fresh, err);
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        spring_cloth *old = sim->cloths[c].engine;
        if (status == TL_OK) sim->cloths[c].engine = fresh[c], sim->cloths[c].version++, sim->cloths[c].map_lost = true;
        spring_cloth_destroy(status == TL_OK ? old : fresh[c]);
    }
    TL_FREE(&sim->alloc, fresh, sim->cloth_count);
    if (status != TL_OK) return status;
    for (int32_t i = 0; i < sim->handle_count; i++) sim->handles[i].took_hold = bytes[sizeof h + (size_t)i] != 0;
    sim_live_bytes(sim, NULL, bytes + sizeof h + sim->handle_count);
    sim->step = h.step, sim->time = h.time, sim->clock_step = h.clock_step, sim->clock_time = h.clock_time;
    sim->started = true, sim->springs_stale = true;
    sim_forget_places(sim);
    return TL_OK;
}
