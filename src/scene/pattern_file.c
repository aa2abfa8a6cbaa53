// scene/pattern_file.c: pattern files of every format: which reader, which writer, and seams from a file beside.

#include "scene/pattern_file.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "io/file.h"
#include "io/pattern_io.h"

#define GARMENTCODE "_specification.json"  // the ending of what GarmentCode writes itself

static bool ends_with(const char *path, const char *ending)
{
    const size_t n = strlen(path), m = strlen(ending);
    return n > m && strcasecmp(path + n - m, ending) == 0;
}

static bool is_ours(const json_t *root)
{
    const char *format = json_string_value(json_object_get(root, "format"));
    return format && strncmp(format, "toile-pattern", 13) == 0;
}

bool tl_mesh_seams_are(const json_t *root)
{
    const char *format = json_string_value(json_object_get(root, "format"));
    return format && strncmp(format, "toile-mesh-seams", 16) == 0;
}

bool tl_pattern_file_is(const tl_allocator *alloc, const char *path)
{
    if (ends_with(path, ".svg") || ends_with(path, ".dxf")) return true;
    if (!ends_with(path, ".json")) return false;
    tl_reader disk = tl_reader_disk();
    const tl_reader reader = {tl_pattern_json_text, &disk};
    tl_json_doc *doc;
    if (tl_json_load(alloc, &(tl_json_def){.path = path, .reader = &reader}, &doc, NULL) != TL_OK) return false;
    const json_t *root = tl_json_root(doc).value;
    const bool yes = is_ours(root) || tl_garmentcode_is(root);
    tl_json_destroy(doc);
    return yes;
}

static tl_status read_json(const tl_allocator *alloc, const tl_reader *reader, const char *path, tl_pattern *out,
                           tl_error *err)
{
    tl_reader behind = *reader;
    const tl_reader filtered = {tl_pattern_json_text, &behind};
    tl_json_doc *doc;
    TL_TRY(tl_json_load(alloc, &(tl_json_def){.path = path, .reader = &filtered}, &doc, err));
    const tl_node root = tl_json_root(doc);
    tl_status status;
    if (is_ours(root.value))
        status = tl_pattern_json_read(&root, out, err);
    else if (tl_garmentcode_is(root.value))
        status = tl_garmentcode_read(&root, out, err);
    else
        status = tl_fail(err, TL_BAD_INPUT,
                         "%s: is no pattern (neither \"format\": \"toile-pattern-1\" nor pattern.panels)", path);
    tl_json_destroy(doc);
    return status;
}

// Seams from NAME.seams.json beside a drawing.
static tl_status read_seams_beside(const tl_allocator *alloc, const char *path, tl_pattern *out, tl_error *err)
{
    char side[TL_PATH_MAX];
    const int stem = (int)strlen(path) - 4;  // without .svg, .dxf
    if (snprintf(side, sizeof side, "%.*s.seams.json", stem, path) >= (int)sizeof side) return TL_OK;
    if (tl_path_look(side) != TL_PATH_FILE) return TL_OK;
    tl_json_doc *doc;
    TL_TRY(tl_json_load(alloc, &(tl_json_def){.path = side}, &doc, err));
    const tl_node root = tl_json_root(doc);
    const bool of_mesh = tl_mesh_seams_are(root.value);  // `toile mesh` has put the pairs of a mesh here
    const int32_t before = out->seam_count;
    const tl_status status = of_mesh ? TL_OK : tl_pattern_seams_read(&root, out, err);
    tl_json_destroy(doc);
    if (status == TL_OK && !of_mesh) tl_pattern_add_note(out, "%d seams come from %s", out->seam_count - before, side);
    return status;
}

static tl_status read_drawing(const tl_allocator *alloc, const tl_reader *reader, const char *path, tl_pattern *out,
                              tl_error *err)
{
    tl_text text;
    TL_TRY(reader->read(reader->user, alloc, path, TL_PATTERN_MAX_BYTES, &text, err));
    const tl_status status = ends_with(path, ".svg") ? tl_svg_pattern_read(path, text.data, text.size, out, err)
                                                     : tl_dxf_pattern_read(path, text.data, text.size, out, err);
    tl_text_free(alloc, &text);
    return status;
}

tl_status tl_pattern_open(const tl_allocator *alloc, const tl_reader *reader, const char *path, tl_pattern **out,
                          tl_error *err)
{
    *out = NULL;
    const tl_reader disk = tl_reader_disk();
    const bool on_disk = !reader, drawing = ends_with(path, ".svg") || ends_with(path, ".dxf");
    if (!reader) reader = &disk;
    if (!drawing && !ends_with(path, ".json"))
        return tl_fail(err, TL_BAD_INPUT, "%s: a pattern must end in .json, .svg or .dxf", path);
    tl_pattern *pattern = NULL;
    TL_TRY(tl_pattern_create(alloc, &pattern, err));
    tl_status status =
        drawing ? read_drawing(alloc, reader, path, pattern, err) : read_json(alloc, reader, path, pattern, err);
    if (status == TL_OK && drawing && on_disk) status = read_seams_beside(alloc, path, pattern, err);
    if (status == TL_OK && !pattern->name[0]) {
        char stem[200];
        tl_path_stem(path, stem, sizeof stem);
        status = tl_pattern_set_name(pattern, stem, err);
    }
    if (status == TL_OK) {
        status = tl_pattern_check(pattern, err);
        if (status == TL_BAD_INPUT && err) {  // the file's name in front
            const tl_error inner = *err;
            tl_fail(err, status, "%s: %s", path, inner.message);
        }
    }
    if (status != TL_OK) {
        tl_pattern_destroy(pattern);
        return status;
    }
    *out = pattern;
    return TL_OK;
}

tl_status tl_pattern_load(const char *path, tl_pattern **out, tl_error *err)
{
    if (!path || !out) return tl_fail(err, TL_BAD_ARG, "pattern_load: path or out is NULL");
    const tl_allocator alloc = tl_allocator_default();
    return tl_pattern_open(&alloc, NULL, path, out, err);
}

int32_t tl_pattern_is(const char *path)
{
    const tl_allocator alloc = tl_allocator_default();
    return path && tl_pattern_file_is(&alloc, path);
}

// `write` NULL: as GarmentCode's JSON.
static tl_status write_by(const tl_pattern *pattern, const char *path, void (*write)(tl_buf *, const tl_pattern *),
                          tl_error *err)
{
    tl_buf text;
    tl_buf_init(&text, &pattern->alloc);
    tl_status status = TL_OK;
    if (write)
        write(&text, pattern);
    else
        status = tl_garmentcode_write(&text, pattern, err);
    if (status == TL_OK) status = tl_buf_end(&text, "a pattern", err);
    if (status == TL_OK) status = tl_file_write(path, text.data, text.size, false, err);
    tl_buf_free(&text);
    return status;
}

tl_status tl_pattern_save(const tl_pattern *pattern, const char *path, tl_error *err)
{
    if (!pattern || !path) return tl_fail(err, TL_BAD_ARG, "pattern_save: pattern or path is NULL");
    if (!pattern->closed)
        return tl_fail(err, TL_BAD_ARG, "pattern_save: the pattern has not been checked (call tl_pattern_check)");
    if (ends_with(path, GARMENTCODE)) return write_by(pattern, path, NULL, err);
    if (ends_with(path, ".json")) return write_by(pattern, path, tl_pattern_json_write, err);
    if (ends_with(path, ".svg")) return write_by(pattern, path, tl_svg_pattern_write, err);
    if (ends_with(path, ".dxf")) return write_by(pattern, path, tl_dxf_pattern_write, err);
    return tl_fail(err, TL_BAD_INPUT, "%s: a pattern must end in .json, .svg or .dxf", path);
}

tl_status tl_pattern_left_out(const tl_pattern *pattern, const char *path, char *out, size_t size)
{
    if (!pattern || !path || !out || size == 0) return TL_BAD_ARG;
    tl_buf text;
    tl_buf_init(&text, &pattern->alloc);
    if (ends_with(path, GARMENTCODE)) tl_garmentcode_left_out(&text, pattern);
    const tl_status status = tl_buf_end(&text, "a list", NULL);
    snprintf(out, size, "%s", status == TL_OK ? text.data : "");
    tl_buf_free(&text);
    return status;
}

tl_status tl_pattern_draw(const tl_pattern *pattern, const char *path, tl_error *err)
{
    if (!pattern || !path) return tl_fail(err, TL_BAD_ARG, "pattern_draw: pattern or path is NULL");
    return write_by(pattern, path, tl_svg_pattern_write, err);
}
