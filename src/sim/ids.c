// sim/ids.c: ids with generations. Lists are short (cloths, bodies, handles), so a walk over the slots is enough.

#include "sim/ids.h"

bool sim_ids_reserve(const tl_allocator *alloc, sim_ids *ids)
{
    return TL_GROW(alloc, ids->slots, ids->cap, ids->count + 1);
}

sim_id sim_ids_take(sim_ids *ids, int32_t place)
{
    int32_t slot = 0;
    while (slot < ids->count && ids->slots[slot].place != TL_NO_PLACE) slot++;
    if (slot == ids->count) ids->slots[ids->count++].gen = 0;
    ids->slots[slot].gen++, ids->slots[slot].place = place;
    return (sim_id){(uint32_t)slot, ids->slots[slot].gen};
}

int32_t sim_ids_place(const sim_ids *ids, uint32_t slot, uint32_t gen)
{
    return gen > 0 && slot < (uint32_t)ids->count && ids->slots[slot].gen == gen ? ids->slots[slot].place : TL_NO_PLACE;
}

sim_id sim_ids_at(const sim_ids *ids, int32_t place)
{
    for (int32_t slot = 0; slot < ids->count && place >= 0; slot++)
        if (ids->slots[slot].place == place) return (sim_id){(uint32_t)slot, ids->slots[slot].gen};
    return (sim_id){0, 0};
}

void sim_ids_drop(sim_ids *ids, int32_t place)
{
    for (int32_t slot = 0; slot < ids->count; slot++) {
        if (ids->slots[slot].place == place)
            ids->slots[slot].place = TL_NO_PLACE;
        else if (ids->slots[slot].place > place)
            ids->slots[slot].place--;
    }
}

void sim_ids_free(const tl_allocator *alloc, sim_ids *ids)
{
    TL_FREE(alloc, ids->slots, ids->cap);
    *ids = (sim_ids){NULL, 0, 0};
}
