// bench/bench_ccd.h: queries of continuous collision detection with their truth, read from files or made up.
#pragma once
#include "bench.h"
#include "toile/collide.h"

typedef struct ccd_query {
    tl_vec3 x0[4], x1[4];
    long double toi;  // time of a contact; not a number: not known
    bool first;       // toi is the first contact; else there may be earlier ones
    bool hit;         // the truth
} ccd_query;

/// The queries of one file, or of one family.
typedef struct ccd_set {
    char name[128];
    bool edges;
    ccd_query *queries;
    int32_t count;
} ccd_set;

typedef struct ccd_sets {
    ccd_set *items;
    int32_t count;
} ccd_sets;

/// One file, or every file of known layout below a folder, in order of names. `out` is empty after a failure.
tl_status bench_ccd_read(const char *path, ccd_sets *out, tl_error *err);

/// Families with a truth known by construction; the same for everybody.
tl_status bench_ccd_make(int32_t per_family, ccd_sets *out, tl_error *err);

void bench_ccd_free(ccd_sets *sets);

/// A new set at the end, with room for `count` queries, zeroed; NULL: no memory.
ccd_set *bench_ccd_add(ccd_sets *sets, const char *name, bool edges, int32_t count);
