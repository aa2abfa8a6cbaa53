// sim/ids.h: ids with generations: a table from slots to places in a list that closes its gaps.
#pragma once
#include <stdbool.h>

#include "base/alloc.h"

typedef struct sim_id {
    uint32_t slot, gen;
} sim_id;

typedef struct sim_ids {
    struct {
        uint32_t gen;
        int32_t place;  ///< in the list; TL_NO_PLACE: free
    } * slots;
    int32_t count, cap;
} sim_ids;
enum { TL_NO_PLACE = -1 };

/// Room for one more id.
bool sim_ids_reserve(const tl_allocator *alloc, sim_ids *ids);
/// An id for `place`; there is room.
sim_id sim_ids_take(sim_ids *ids, int32_t place);
/// Its place, TL_NO_PLACE if it is stale.
int32_t sim_ids_place(const sim_ids *ids, uint32_t slot, uint32_t gen);
/// The id of a place.
sim_id sim_ids_at(const sim_ids *ids, int32_t place);
/// The list has closed the gap at `place`: its id goes stale, later ones move down.
void sim_ids_drop(sim_ids *ids, int32_t place);
void sim_ids_free(const tl_allocator *alloc, sim_ids *ids);
