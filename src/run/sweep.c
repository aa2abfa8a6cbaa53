// run/sweep.c: the folder of a sweep: what is done, what failed, and a sample's way from nothing to its last file.

#include "toile/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "io/json.h"
#include "io/text.h"
#include "run/sweep_impl.h"
#include "toile/run.h"

enum { PATH = TL_PATH_MAX, SETS_MAX = 1024 };

static tl_status sample_path(const tl_sweep *sweep, int32_t sample, const char *file, char out[PATH], tl_error *err)
{
    char name[64];
    snprintf(name, sizeof name, "runs/%06d%s%s", sample, *file ? "/" : "", file);
    return tl_path_join(sweep->dir, name, out, err);
}

// One line with the shortest numbers that read back as the same. NULL: no memory.
static char *compact(const json_t *value)
{
    const tl_allocator alloc = tl_allocator_default();
    tl_buf text;
    tl_buf_init(&text, &alloc);
    tl_json_write(&text, value);
    char *out = tl_buf_end(&text, "JSON", NULL) == TL_OK ? malloc(text.size + 1) : NULL;
    size_t n = 0;
    for (size_t i = 0; out && i < text.size; i++) {
        if (text.data[i] == '\n')  // within texts it is written as an escape
            while (i + 1 < text.size && text.data[i + 1] == ' ') i++;
        else
            out[n++] = text.data[i];
    }
    if (out) out[n] = 0;
    tl_buf_free(&text);
    return out;
}

// The folder is this sweep's: sweep.json holds the same samples, or is written now.
static tl_status claim(tl_sweep *sweep, tl_error *err)
{
    char path[PATH];
    tl_buf text;
    tl_text there;
    TL_TRY(tl_make_dirs(sweep->dir, err));
    TL_TRY(tl_path_join(sweep->dir, "sweep.json", path, err));
    tl_buf_init(&text, &sweep->alloc);
    tl_buf_printf(&text, "{\"toile\": \"sweep\", \"frames\": %d, \"samples\": [\n", sweep->frames);
    for (int32_t i = 0; i < tl_sweep_count(sweep); i++) {
        tl_buf_text(&text, sweep->text[i]);
        tl_buf_text(&text, i + 1 < tl_sweep_count(sweep) ? ",\n" : "\n");
    }
    tl_buf_text(&text, "]}\n");
    tl_status status = tl_buf_end(&text, "samples", err);
    if (status == TL_OK && tl_path_look(path) == TL_PATH_FILE) {
        status = tl_file_read(&sweep->alloc, path, SIZE_MAX / 2, &there, err);
        if (status == TL_OK && (there.size != text.size || memcmp(there.data, text.data, text.size) != 0))
            status = tl_fail(err, TL_BAD_INPUT,
                             "%s: another sweep is in this folder (give another one with --out, or remove this)",
                             sweep->dir);
        if (status != TL_IO) tl_text_free(&sweep->alloc, &there);
    } else if (status == TL_OK) {
        status = tl_file_write(path, text.data, text.size, true, err);
    }
    tl_buf_free(&text);
    return status;
}

tl_status tl_sweep_open(const char *spec, const char *dir, tl_sweep **out, tl_error *err)
{
    const tl_allocator alloc = tl_allocator_default();
    *out = NULL;
    if (!spec || !dir || !*dir) return tl_fail(err, TL_BAD_ARG, "sweep_open: a specification and a folder are needed");
    tl_sweep *sweep = tl_calloc_bytes(&alloc, 1, sizeof *sweep);
    if (!sweep) return tl_fail_memory(err, "a sweep");
    sweep->alloc = alloc;
    tl_status status = tl_path_join("", dir, sweep->dir, err);
    if (status == TL_OK) status = tl_sweep_expand(sweep, spec, err);
    if (status == TL_OK) {
        const size_t n = json_array_size(sweep->samples);
        sweep->text = calloc(n ? n : 1, sizeof *sweep->text);
        bool ok = sweep->text != NULL;
        for (size_t i = 0; ok && i < n; i++) ok = (sweep->text[i] = compact(json_array_get(sweep->samples, i))) != NULL;
        if (!ok) status = tl_fail_memory(err, "samples");
    }
    if (status == TL_OK) status = claim(sweep, err);
    if (status == TL_OK)
        *out = sweep;
    else
        tl_sweep_close(sweep);
    return status;
}

void tl_sweep_close(tl_sweep *sweep)
{
    if (!sweep) return;
    for (size_t i = 0; sweep->text && i < json_array_size(sweep->samples); i++) free(sweep->text[i]);
    free(sweep->text);
    json_decref(sweep->samples);
    const tl_allocator alloc = sweep->alloc;
    tl_free_bytes(&alloc, sweep, 1, sizeof *sweep);
}

int32_t tl_sweep_count(const tl_sweep *sweep) { return (int32_t)json_array_size(sweep->samples); }

const char *tl_sweep_dir(const tl_sweep *sweep) { return sweep->dir; }

const char *tl_sweep_sample(const tl_sweep *sweep, int32_t sample)
{
    return sample < 0 || sample >= tl_sweep_count(sweep) ? NULL : sweep->text[sample];
}

static bool there(const tl_sweep *sweep, int32_t sample, const char *file)
{
    char path[PATH];
    return sample_path(sweep, sample, file, path, NULL) == TL_OK && tl_path_look(path) == TL_PATH_FILE;
}

tl_sweep_state tl_sweep_state_of(const tl_sweep *sweep, int32_t sample)
{
    if (there(sweep, sample, "sample.json")) return TL_SWEEP_DONE;
    return there(sweep, sample, "failed.json") ? TL_SWEEP_FAILED : TL_SWEEP_PENDING;
}

tl_status tl_sweep_note_failure(tl_sweep *sweep, int32_t sample, const char *message, tl_error *err)
{
    char path[PATH], dir[PATH];
    TL_TRY(sample_path(sweep, sample, "", dir, err));
    TL_TRY(tl_make_dirs(dir, err));
    TL_TRY(sample_path(sweep, sample, "failed.json", path, err));
    json_t *row = json_copy(json_array_get(sweep->samples, (size_t)sample));
    json_t *words = json_string(message);
    if (!words) words = json_string("the message is not UTF-8");
    json_object_set_new(row, "error", words);
    char *text = compact(row);
    json_decref(row);
    if (!text) return tl_fail_memory(err, "a message");
    const tl_status status = tl_file_write(path, text, strlen(text), true, err);
    free(text);
    return status;
}

tl_status tl_sweep_forget_failure(tl_sweep *sweep, int32_t sample, tl_error *err)
{
    char path[PATH];
    TL_TRY(sample_path(sweep, sample, "failed.json", path, err));
    if (tl_path_look(path) == TL_PATH_FILE && unlink(path) != 0)
        return tl_fail(err, TL_IO, "%s: cannot be removed", path);
    return TL_OK;
}

// Paths in values start at the folder of the specification: those that begin with ./ or ../ become whole ones.
static char *set_word(const tl_sweep *sweep, const char *key, const json_t *value, tl_error *err)
{
    char path[PATH];
    const char *given = json_string_value(value);
    char *text = NULL, *out = NULL;
    if (given && (strncmp(given, "./", 2) == 0 || strncmp(given, "../", 3) == 0)) {
        if (tl_path_join(sweep->spec_dir, given, path, err) != TL_OK) return NULL;
        json_t *whole = json_string(path);
        text = compact(whole);
        json_decref(whole);
    } else {
        text = compact(value);
    }
    const size_t size = text ? strlen(key) + strlen(text) + 2 : 0;
    if (text) out = malloc(size);
    if (out)
        snprintf(out, size, "%s=%s", key, text);
    else
        tl_fail_memory(err, "settings");
    free(text);
    return out;
}

static tl_status load_scene(const tl_sweep *sweep, const json_t *row, tl_scene **out, tl_error *err)
{
    char path[PATH];
    json_t *set = json_object_get(row, "set");
    char *words[SETS_MAX];
    int32_t count = 0;
    tl_status status = tl_path_join(sweep->spec_dir, json_string_value(json_object_get(row, "scene")), path, err);
    if (status == TL_OK && json_object_size(set) > SETS_MAX)
        status = tl_fail(err, TL_BAD_INPUT, "more than %d keys are set", SETS_MAX);
    const char *key;
    json_t *value;
    json_object_foreach(set, key, value)
    {
        if (status != TL_OK) break;
        words[count] = set_word(sweep, key, value, err);
        if (words[count])
            count++;
        else
            status = TL_NO_MEMORY;
    }
    if (status == TL_OK) status = tl_scene_load(path, (const char *const *)words, count, out, err);
    for (int32_t i = 0; i < count; i++) free(words[i]);
    return status;
}

static tl_status simulate(const tl_sweep *sweep, int32_t sample, const char *dir, int32_t threads,
                          const tl_cancel *cancel, tl_error *err)
{
    tl_scene *scene;
    TL_TRY(load_scene(sweep, json_array_get(sweep->samples, (size_t)sample), &scene, err));
    tl_run_def def = tl_run_def_default();
    tl_run_report report;
    def.out_dir = dir, def.frames = sweep->frames, def.threads = threads;
    def.resume = there(sweep, sample, "checkpoint.bin");
    if (cancel) def.cancelled = cancel->asked, def.interrupted = cancel->asked, def.user = cancel->user;
    const tl_status status = tl_run(scene, &def, &report, err);
    tl_scene_destroy(scene);
    return status;
}

static tl_status finish(tl_sweep *sweep, int32_t sample, const char *dir, tl_error *err)
{
    char path[PATH], name[64];
    json_t *row = json_copy(json_array_get(sweep->samples, (size_t)sample));
    if (!row) return tl_fail_memory(err, "a sample");
    snprintf(name, sizeof name, "runs/%06d", sample);
    json_object_set_new(row, "folder", json_string(name));
    snprintf(name, sizeof name, "runs/%06d/arrays.npz", sample);
    json_object_set_new(row, "arrays", json_string(name));
    tl_status status = tl_sweep_arrays(sweep, dir, row, err);
    char *text = status == TL_OK ? compact(row) : NULL;
    if (status == TL_OK && !text) status = tl_fail_memory(err, "a sample");
    if (status == TL_OK) status = sample_path(sweep, sample, "sample.json", path, err);
    if (status == TL_OK) status = tl_file_write(path, text, strlen(text), true, err);
    free(text);
    json_decref(row);
    return status;
}

tl_status tl_sweep_run(tl_sweep *sweep, int32_t sample, int32_t threads, const tl_cancel *cancel, tl_error *err)
{
    char dir[PATH];
    tl_error own;
    if (!err) err = &own;
    if (sample < 0 || sample >= tl_sweep_count(sweep))
        return tl_fail(err, TL_BAD_ARG, "sample %d, must be from 0 to %d", sample, tl_sweep_count(sweep) - 1);
    if (tl_sweep_state_of(sweep, sample) == TL_SWEEP_DONE) return TL_OK;
    TL_TRY(sample_path(sweep, sample, "", dir, err));
    TL_TRY(tl_make_dirs(dir, err));
    tl_status status = simulate(sweep, sample, dir, threads, cancel, err);
    if (status == TL_OK) status = finish(sweep, sample, dir, err);
    if (status == TL_OK) return tl_sweep_forget_failure(sweep, sample, err);
    if (status != TL_CANCELLED) tl_sweep_note_failure(sweep, sample, err->message, NULL);
    return status;
}

static void add_field(tl_buf *table, const char *text)
{
    for (const char *c = text ? text : ""; *c; c++) tl_buf_add(table, *c == '\t' || *c == '\n' ? " " : c, 1);
}

// A line of dataset.jsonl or failures.tsv from the file that the sample left.
static tl_status add_sample(tl_sweep *sweep, int32_t sample, bool done, tl_buf *to, tl_error *err)
{
    char path[PATH];
    tl_text text;
    TL_TRY(sample_path(sweep, sample, done ? "sample.json" : "failed.json", path, err));
    TL_TRY(tl_file_read(&sweep->alloc, path, (size_t)64 << 20, &text, err));
    if (done) {
        tl_buf_add(to, text.data, text.size);
        tl_buf_text(to, "\n");
    } else {
        json_t *row = json_loadb(text.data, text.size, 0, NULL);
        char *set = compact(json_object_get(row, "set"));
        tl_buf_printf(to, "%d\t", sample);
        add_field(to, json_string_value(json_object_get(row, "error")));
        tl_buf_text(to, "\t");
        add_field(to, set);
        tl_buf_text(to, "\n");
        free(set);
        json_decref(row);
    }
    tl_text_free(&sweep->alloc, &text);
    return TL_OK;
}

tl_status tl_sweep_collect(tl_sweep *sweep, tl_sweep_report *out, tl_error *err)
{
    tl_sweep_report r = {.count = tl_sweep_count(sweep)};
    tl_buf data, failures;
    tl_buf_init(&data, &sweep->alloc);
    tl_buf_init(&failures, &sweep->alloc);
    tl_buf_text(&failures, "sample\terror\tset\n");
    tl_status status = TL_OK;
    for (int32_t i = 0; status == TL_OK && i < r.count; i++) {
        const tl_sweep_state state = tl_sweep_state_of(sweep, i);
        r.done += state == TL_SWEEP_DONE, r.failed += state == TL_SWEEP_FAILED, r.pending += state == TL_SWEEP_PENDING;
        if (state != TL_SWEEP_PENDING)
            status = add_sample(sweep, i, state == TL_SWEEP_DONE, state == TL_SWEEP_DONE ? &data : &failures, err);
    }
    char path[PATH];
    if (status == TL_OK) status = tl_buf_end(&data, "the data set", err);
    if (status == TL_OK) status = tl_buf_end(&failures, "the data set", err);
    if (status == TL_OK) status = tl_path_join(sweep->dir, "dataset.jsonl", path, err);
    if (status == TL_OK) status = tl_file_write(path, data.data, data.size, true, err);
    if (status == TL_OK) status = tl_path_join(sweep->dir, "failures.tsv", path, err);
    if (status == TL_OK) status = tl_file_write(path, failures.data, failures.size, true, err);
    tl_buf_free(&data);
    tl_buf_free(&failures);
    if (status == TL_OK && out) *out = r;
    return status;
}
