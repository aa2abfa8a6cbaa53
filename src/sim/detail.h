// sim/detail.h: what is seen of cloth by springs, and what may be spent on it (tl_detail).
#pragma once
#include "sim/internal.h"
#include "sim/spring_cloth.h"

void sim_free_detail(tl_sim *sim);

/// What a cloth is to know of it at a time.
spring_sight sim_sight_of(const tl_sim *sim, const sim_cloth *cloth, double time);
