// run/stats.c: stats.jsonl.

#include "run/stats.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "base/fail.h"
#include "io/file.h"

static void add_int(tl_buf *buf, const char *name, int64_t value)
{
    tl_buf_printf(buf, "%s\"%s\": ", buf->size > 1 && buf->data[buf->size - 1] != '{' ? ", " : "", name);
    tl_buf_int(buf, value);
}

static void add_real(tl_buf *buf, const char *name, double value)
{
    tl_buf_printf(buf, "%s\"%s\": ", buf->size > 1 && buf->data[buf->size - 1] != '{' ? ", " : "", name);
    if (isfinite(value))
        tl_buf_double(buf, value);
    else
        tl_buf_text(buf, "null");  // JSON has no word for it
}

static void add_seconds(tl_buf *buf, const char *name, double value)
{
    add_real(buf, name, floor(value * 1e6 + 0.5) / 1e6);  // microseconds are enough
}

// Where cloth is pinched, if it is. Names of cloths and bodies need no escapes, those of joints may.
static void add_pinched(tl_buf *buf, const tl_frame_stats *s)
{
    if (s->pinched_places == 0) return;
    tl_buf_text(buf, ", \"pinched_at\": [");
    for (int32_t i = 0; i < s->pinched_places; i++) {
        const tl_pinch_place *p = &s->pinched_at[i];
        json_t *joint = json_string(p->joint);
        char *text = joint ? json_dumps(joint, JSON_ENCODE_ANY) : NULL;
        tl_buf_printf(buf, "%s{\"cloth\": \"%s\", \"body\": \"%s\", \"joint\": %s", i > 0 ? ", " : "", p->cloth,
                      p->body, text ? text : "\"\"");
        add_int(buf, "nodes", p->nodes);
        tl_buf_text(buf, ", \"place\": [");
        const double x[3] = {p->at.x, p->at.y, p->at.z};
        for (int k = 0; k < 3; k++) {
            if (k > 0) tl_buf_text(buf, ", ");
            tl_buf_double(buf, x[k]);
        }
        tl_buf_text(buf, "]}");
        free(text);
        json_decref(joint);
    }
    tl_buf_text(buf, "]");
}

// One line with its line end.
static void add_line(tl_buf *buf, const tl_frame_stats *s)
{
    tl_buf_text(buf, "{");
    add_int(buf, "frame", s->frame);
    add_real(buf, "time", s->time);
    add_int(buf, "faces", s->faces);
    add_int(buf, "vertices", s->vertices);
    add_int(buf, "nodes", s->nodes);
    tl_buf_text(buf, ", \"seconds\": {");
    add_seconds(buf, "physics", s->sums.seconds.physics);
    add_seconds(buf, "strain", s->sums.seconds.strain);
    add_seconds(buf, "collision", s->sums.seconds.collision);
    add_seconds(buf, "remesh", s->sums.seconds.remesh);
    add_seconds(buf, "other", s->sums.seconds.other);
    add_seconds(buf, "total", s->sums.seconds.total);
    tl_buf_text(buf, "}");
    add_int(buf, "newton_iterations", s->sums.newton_iterations);
    add_int(buf, "linear_iterations", s->sums.linear_iterations);
    add_real(buf, "strain_max", s->strain_max);
    add_real(buf, "strain_min", s->strain_min);
    add_real(buf, "strain_max_99", s->strain_max_99);
    add_real(buf, "strain_min_99", s->strain_min_99);
    tl_buf_text(buf, ", \"energies\": {");
    add_real(buf, "kinetic", s->energies.kinetic);
    add_real(buf, "stretch", s->energies.stretch);
    add_real(buf, "bend", s->energies.bend);
    add_real(buf, "gravity", s->energies.gravity);
    tl_buf_text(buf, "}");
    add_int(buf, "contacts", s->sums.contacts);
    add_int(buf, "candidates", s->sums.candidates);
    add_int(buf, "searches", s->sums.searches);
    add_int(buf, "limited", s->sums.limited);
    add_int(buf, "held", s->sums.held);
    tl_buf_text(buf, ", \"zones\": {");
    add_int(buf, "count", s->sums.zones);
    add_int(buf, "largest", s->sums.zone_nodes);
    add_int(buf, "rounds", s->sums.zone_rounds);
    tl_buf_text(buf, "}");
    if (s->sums.found > 0 || s->sums.there > 0 || s->sums.detection_seconds > 0) {  // kinds that say what they found
        tl_buf_text(buf, ", \"detection\": {");
        add_int(buf, "found", s->sums.found);
        if (s->sums.there > 0) add_real(buf, "ratio", 1 - (double)s->sums.missed / (double)s->sums.there);
        add_seconds(buf, "seconds", s->sums.detection_seconds);
        tl_buf_text(buf, "}");
    }
    add_int(buf, "pinched", s->sums.pinched);
    add_pinched(buf, s);
    add_int(buf, "intersections", s->intersections);
    add_int(buf, "substeps", s->sums.substeps);
    add_int(buf, "rejected_steps", s->sums.rejected);
    add_int(buf, "unconverged_steps", s->sums.unconverged);
    add_int(buf, "hurried_steps", s->sums.hurried);
    add_real(buf, "effort", s->sums.effort);
    tl_buf_text(buf, ", \"strain_limits\": {");
    add_int(buf, "active", s->sums.strain_active);
    add_int(buf, "rounds", s->sums.strain_rounds);
    add_int(buf, "mended", s->sums.strain_mended);
    add_int(buf, "violated", s->sums.strain_violated);
    add_real(buf, "excess", s->sums.strain_excess);
    tl_buf_text(buf, "}");
    tl_buf_text(buf, ", \"remeshing\": {");
    add_int(buf, "passes", s->sums.remesh_passes);
    add_int(buf, "splits", s->sums.splits);
    add_int(buf, "flips", s->sums.flips);
    add_int(buf, "collapses", s->sums.collapses);
    add_int(buf, "refused", s->sums.refused);
    add_int(buf, "too_long", s->sums.too_long);
    add_real(buf, "energy", s->sums.remesh_energy);
    add_real(buf, "momentum_drift", s->sums.momentum_drift);
    add_real(buf, "spin_drift", s->sums.spin_drift);
    tl_buf_text(buf, "}");
    tl_buf_printf(buf, ", \"linear_solver\": \"%s\"",
                  s->sums.steps > 0 ? tl_linear_name((tl_linear)s->sums.linear_used) : "none");
    tl_buf_printf(buf, ", \"memory\": %zu, \"memory_peak\": %zu, \"state_hash\": \"%016llx\"}\n", s->memory.used,
                  s->memory.peak, (unsigned long long)s->state_hash);
}

tl_status tl_stats_append(const char *path, const tl_frame_stats *stats, tl_error *err)
{
    tl_buf line;
    const tl_allocator alloc = tl_allocator_default();
    tl_buf_init(&line, &alloc);
    add_line(&line, stats);
    tl_status status = tl_buf_end(&line, "statistics", err);
    const int fd = status == TL_OK ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    if (status == TL_OK && fd < 0) status = tl_fail(err, TL_IO, "%s: cannot write: %s", path, strerror(errno));
    if (status == TL_OK) {
        struct stat info;
        const off_t before = fstat(fd, &info) == 0 ? info.st_size : -1;
        const ssize_t n = write(fd, line.data, line.size);
        if (n < 0 || (size_t)n != line.size) {
            status = tl_fail(err, TL_IO, "%s: cannot write: %s", path, n < 0 ? strerror(errno) : "no space left");
            if (n > 0 && before >= 0 && ftruncate(fd, before) != 0)
                status = tl_fail(err, TL_IO, "%s: cannot write: %s; its last line is torn", path, strerror(errno));
        }
    }
    if (fd >= 0) close(fd);
    tl_buf_free(&line);
    return status;
}

// The frame number of a line, -1 if it is not ours.
static int64_t frame_of(const char *line, size_t size)
{
    json_t *object = json_loadb(line, size, 0, NULL);
    const json_t *frame = json_object_get(object, "frame");
    const int64_t n = json_is_integer(frame) && json_integer_value(frame) >= 0 ? json_integer_value(frame) : -1;
    json_decref(object);
    return n;
}

int64_t tl_stats_last_frame(const char *text, size_t size, int64_t *damaged)
{
    int64_t last = -1;
    *damaged = 0;
    for (const char *p = text, *end = text + size; p < end;) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        const int64_t frame = newline ? frame_of(p, (size_t)(newline - p)) : -1;
        if (frame < 0) (*damaged)++;
        if (frame > last) last = frame;
        p = newline ? newline + 1 : end;
    }
    return last;
}

tl_status tl_stats_truncate(const tl_allocator *alloc, const char *path, int64_t last_frame, tl_error *err)
{
    if (tl_path_look(path) == TL_PATH_NONE) return TL_OK;
    tl_text text;
    TL_TRY(tl_file_read(alloc, path, (size_t)4 << 30, &text, err));
    size_t kept = 0;
    int64_t next = 0;
    for (const char *p = text.data, *end = text.data + text.size; p < end;) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        const size_t size = newline ? (size_t)(newline + 1 - p) : (size_t)(end - p);
        const int64_t frame = newline ? frame_of(p, size - 1) : -1;
        if (frame >= next && frame <= last_frame) {
            memmove(text.data + kept, p, size);
            kept += size;
            next = frame + 1;
        }
        p += size;
    }
    const tl_status status = kept == text.size ? TL_OK : tl_file_write(path, text.data, kept, true, err);
    tl_text_free(alloc, &text);
    return status;
}
