// examples/checkpoint.c: save the state, go on, go back, go on again: the same bits both times, on any number of
// threads.
#include <string.h>

#include "sheet.h"

static tl_sim *hung_sheet(int32_t threads)
{
    tl_error err;
    tl_sim_def def = tl_sim_def_default();
    def.threads = threads;
    tl_sim *sim = NULL;
    must(tl_sim_create(&def, &sim, &err), &err);
    const tl_cloth_def square = sheet(0.5, 0);
    const int32_t corner = 0;
    tl_handle_def held = tl_handle_def_default();
    must(tl_sim_add_cloth(sim, &square, &held.cloth, &err), &err);
    held.nodes = &corner, held.node_count = 1;
    must(tl_sim_add_handle(sim, &held, &err), &err);
    return sim;
}

static unsigned long long hash_after(tl_sim *sim, int steps)
{
    tl_error err;
    while (steps-- > 0) must(tl_sim_step(sim, NULL, &err), &err);
    return tl_sim_hash(sim);
}

int main(void)
{
    tl_error err;
    tl_sim *a = hung_sheet(1), *b = hung_sheet(2);
    hash_after(a, 20);
    const void *data;
    size_t size;
    must(tl_sim_save(a, &data, &size, &err), &err);
    void *saved = malloc(size);  // `data` lives until `a` changes: keep a copy, or write it to a file
    if (!saved) return 1;
    memcpy(saved, data, size);
    const unsigned long long straight = hash_after(a, 30);
    must(tl_sim_restore(a, saved, size, &err), &err);
    const unsigned long long again = hash_after(a, 30);
    must(tl_sim_restore(b, saved, size, &err), &err);
    const unsigned long long elsewhere = hash_after(b, 30);
    free(saved);
    printf("%016llx straight on\n%016llx from the saved state\n%016llx in another, on two threads\n", straight, again,
           elsewhere);
    tl_sim_destroy(a), tl_sim_destroy(b);
    return straight == again && straight == elsewhere ? 0 : 1;
}
