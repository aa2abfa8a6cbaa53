// bench/bench_fidelity_keep.c: shapes and states of `toile bench fidelity` in files: at full size it takes hours, and
// may be cut.
//
// Bytes as they lie in memory, for this machine alone: a mark, the key of the settings, counts, arrays. Written beside
// and moved to its place, so that there is a whole file or none.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench_fidelity.h"

static const char cloth_mark[8] = "tlcloth1", state_mark[8] = "tlstate1";
enum { PATH_SIZE = 1300, COUNT_MAX = 1 << 28 };

// --- files ------------------------------------------------------------------------------------------------

/// A file under way; `ok` turns false at the first fault.
typedef struct stream {
    FILE *file;
    bool ok;
} stream;

static void put(stream *s, const void *data, size_t size)
{
    s->ok = s->ok && (size == 0 || fwrite(data, size, 1, s->file) == 1);
}

static void get(stream *s, void *data, size_t size)
{
    s->ok = s->ok && (size == 0 || fread(data, size, 1, s->file) == 1);
}

static void *get_array(stream *s, int32_t count, size_t size)
{
    s->ok = s->ok && count >= 0 && count <= COUNT_MAX;
    void *data = s->ok ? malloc((size_t)count * size + 1) : NULL;
    s->ok = s->ok && data;
    if (s->ok) get(s, data, (size_t)count * size);
    return data;
}

static stream open_new(const char *path, char part[PATH_SIZE], const char mark[8], uint64_t key)
{
    snprintf(part, PATH_SIZE, "%.1200s.part", path);
    stream s = {.file = fopen(part, "wb")};
    s.ok = s.file != NULL;
    put(&s, mark, 8);
    put(&s, &key, sizeof key);
    return s;
}

static tl_status close_new(stream *s, const char *path, const char *part, tl_error *err)
{
    if (s->file && fclose(s->file) != 0) s->ok = false;
    if (s->ok && rename(part, path) == 0) return TL_OK;
    err->status = TL_IO;
    snprintf(err->message, sizeof err->message, "%.900s: cannot be written: %s", path, strerror(errno));
    if (s->file) remove(part);
    return TL_IO;
}

// *found: 0 not there, -1 not ours, 1 open.
static stream open_old(const char *path, const char mark[8], uint64_t key, int *found)
{
    char here[8];
    uint64_t its;
    stream s = {.file = fopen(path, "rb")};
    s.ok = s.file != NULL;
    *found = s.ok ? 1 : 0;
    if (!s.ok) return s;
    get(&s, here, sizeof here);
    get(&s, &its, sizeof its);
    s.ok = s.ok && memcmp(here, mark, sizeof here) == 0 && its == key;
    return s;
}

// --- shapes -----------------------------------------------------------------------------------------------

static bool within(const int32_t *ids, int64_t count, int32_t limit)
{
    for (int64_t i = 0; i < count; i++)
        if (ids[i] < 0 || ids[i] >= limit) return false;
    return true;
}

int fidelity_read_cloth(const char *path, uint64_t key, fidelity_cloth *out)
{
    int found;
    *out = (fidelity_cloth){0};
    stream s = open_old(path, cloth_mark, key, &found);
    if (!s.file) return found;
    fidelity_cloth c = {0};
    int32_t n[5] = {0};
    get(&s, n, sizeof n);
    c.node_count = n[0], c.vert_count = n[1], c.face_count = n[2], c.body_node_count = n[3], c.body_face_count = n[4];
    c.pos = get_array(&s, n[0], sizeof *c.pos);
    c.uv = get_array(&s, n[1], sizeof *c.uv);
    c.vert_node = get_array(&s, n[1], sizeof *c.vert_node);
    c.face = get_array(&s, n[2], sizeof *c.face);
    c.body_pos = get_array(&s, n[3], sizeof *c.body_pos);
    c.body_face = get_array(&s, n[4], sizeof *c.body_face);
    fclose(s.file);
    if (s.ok && within(c.vert_node, n[1], n[0]) && within(c.face[0], 3 * (int64_t)n[2], n[1]) &&
        within(c.body_face[0], 3 * (int64_t)n[4], n[3])) {
        *out = c;
        return 1;
    }
    fidelity_cloth_free(&c);
    return -1;
}

tl_status fidelity_write_cloth(const char *path, uint64_t key, const fidelity_cloth *c, tl_error *err)
{
    char part[PATH_SIZE];
    const int32_t n[5] = {c->node_count, c->vert_count, c->face_count, c->body_node_count, c->body_face_count};
    stream s = open_new(path, part, cloth_mark, key);
    put(&s, n, sizeof n);
    put(&s, c->pos, (size_t)n[0] * sizeof *c->pos);
    put(&s, c->uv, (size_t)n[1] * sizeof *c->uv);
    put(&s, c->vert_node, (size_t)n[1] * sizeof *c->vert_node);
    put(&s, c->face, (size_t)n[2] * sizeof *c->face);
    put(&s, c->body_pos, (size_t)n[3] * sizeof *c->body_pos);
    put(&s, c->body_face, (size_t)n[4] * sizeof *c->body_face);
    return close_new(&s, path, part, err);
}

// --- states -----------------------------------------------------------------------------------------------

int fidelity_read_state(const char *path, uint64_t key, fidelity_run *run, void **data, size_t *size)
{
    int found;
    double sums[5];
    uint64_t bytes = 0;
    *data = NULL, *size = 0;
    stream s = open_old(path, state_mark, key, &found);
    if (!s.file) return found;
    get(&s, sums, sizeof sums);
    get(&s, &bytes, sizeof bytes);
    s.ok = s.ok && bytes < (uint64_t)1 << 40;
    *data = s.ok ? malloc((size_t)bytes + 1) : NULL;
    s.ok = s.ok && *data;
    if (s.ok) get(&s, *data, (size_t)bytes);
    fclose(s.file);
    if (!s.ok) {
        free(*data);
        *data = NULL;
        return -1;
    }
    *size = (size_t)bytes;
    run->frames = (int32_t)sums[0], run->steps = (int64_t)sums[1], run->crossings = (int64_t)sums[2];
    run->faces = sums[3], run->cpu = sums[4];
    return 1;
}

tl_status fidelity_write_state(const char *path, uint64_t key, const fidelity_run *run, const void *data, size_t size,
                               tl_error *err)
{
    char part[PATH_SIZE];
    const double sums[5] = {run->frames, (double)run->steps, (double)run->crossings, run->faces, run->cpu};
    const uint64_t bytes = size;
    stream s = open_new(path, part, state_mark, key);
    put(&s, sums, sizeof sums);
    put(&s, &bytes, sizeof bytes);
    put(&s, data, size);
    return close_new(&s, path, part, err);
}
