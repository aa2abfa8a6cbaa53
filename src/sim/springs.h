// sim/springs.h: a simulation whose dynamics are springs that push out of bodies themselves (docs/realtime.md): what
// the files of sim need of it. With other responses springs are dynamics like any other
// (dynamics/springs/springs_kind.c).
//
// Every cloth has an engine of its own (spring_cloth.h), made at the first step from its mesh. Its nodes come in the
// order of their ids, so those of the mesh as it was given keep their numbers and handles hold. The mesh itself, and
// what is compiled from it, is brought up to date only when someone asks (sim_compile).
#pragma once
#include "sim/internal.h"
#include "sim/spring_cloth.h"

bool sim_by_springs(const tl_sim *sim);

/// May the cloth be one of this simulation?
tl_status sim_springs_check(const tl_sim *sim, const tl_cloth_def *def, tl_error *err);
tl_status sim_springs_check_options(const tl_springs_options *options, tl_error *err);

/// Bodies that are there, placed for a step that ends at `end`, in the arena; and what differs from cloth to cloth.
tl_status sim_springs_bodies(tl_sim *sim, double end, tl_push_body **out, int32_t *count, tl_error *err);
void sim_springs_contact(const tl_sim *sim, const sim_cloth *cloth, tl_push_body *bodies, int32_t count);

tl_status sim_springs_step(tl_sim *sim, tl_step_report *out, tl_error *err);

/// Meshes of cloths as their engines have them, if they are not; then nothing is compiled.
tl_status sim_springs_sync(tl_sim *sim, tl_error *err);

tl_status sim_springs_save(tl_sim *sim, uint64_t built, const void **data, size_t *size, tl_error *err);
tl_status sim_springs_restore(tl_sim *sim, uint64_t built, const void *data, size_t size, tl_error *err);
void sim_springs_hash(const tl_sim *sim, tl_hash *hash);  ///< settings

void sim_springs_view(const spring_cloth *c, tl_cloth_view *out);
void sim_springs_retune(const tl_sim *sim, sim_cloth *cloth);  ///< its engine goes by cloth->remeshing
tl_status sim_springs_prepare(tl_sim *sim, tl_error *err);     ///< engines of cloths that have none
