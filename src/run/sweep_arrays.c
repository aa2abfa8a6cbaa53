// run/sweep_arrays.c: a finished run as arrays for learning: arrays.npz (docs/sweep.md).
//
// Meshes may change from frame to frame, so everything of a frame stands one behind the other, with lists of where
// frames and shapes begin. A run with one mesh has one shape, and its positions are frames x nodes x 3 by a reshape.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "io/npz.h"
#include "io/text.h"
#include "run/sweep_impl.h"
#include "toile/export.h"

// What a surface's arrays are gathered in.
typedef struct gathered {
    tl_buf pos, strain, contact, uv, vert_node, face, shape, node_start, vert_start, face_start;
    int64_t nodes, verts, faces;
    uint64_t last_shape;
    int32_t shapes;
} gathered;

enum { GATHERED_BUFS = 10 };

static void begin(gathered *g, const tl_allocator *alloc)
{
    *g = (gathered){.last_shape = UINT64_MAX};
    tl_buf *all = &g->pos;
    for (int i = 0; i < GATHERED_BUFS; i++) tl_buf_init(&all[i], alloc);
}

static void end(gathered *g)
{
    tl_buf *all = &g->pos;
    for (int i = 0; i < GATHERED_BUFS; i++) tl_buf_free(&all[i]);
}

static void start(tl_buf *b, int64_t at) { tl_buf_add(b, &at, sizeof at); }

static void add_frame(gathered *g, const tl_recording_view *v)
{
    if (v->present && v->shape != g->last_shape) {  // a mesh of its own
        g->last_shape = v->shape;
        g->shapes++;
        start(&g->vert_start, g->verts);
        start(&g->face_start, g->faces);
        if (v->uv) {
            tl_buf_add(&g->uv, v->uv, (size_t)v->vert_count * sizeof *v->uv);
            tl_buf_add(&g->vert_node, v->vert_node, (size_t)v->vert_count * sizeof *v->vert_node);
            g->verts += v->vert_count;
        }
        tl_buf_add(&g->face, v->face, (size_t)v->face_count * sizeof *v->face);
        g->faces += v->face_count;
    }
    const int32_t shape = v->present ? g->shapes - 1 : -1;
    tl_buf_add(&g->shape, &shape, sizeof shape);
    start(&g->node_start, g->nodes);
    if (!v->present) return;
    tl_buf_add(&g->pos, v->pos, (size_t)v->node_count * sizeof *v->pos);
    g->nodes += v->node_count;
    const float *numbers[] = {v->attribute[TL_ATTRIBUTE_STRAIN], v->attribute[TL_ATTRIBUTE_CONTACT]};
    tl_buf *to[] = {&g->strain, &g->contact};
    for (int i = 0; i < 2; i++)
        if (numbers[i]) tl_buf_add(to[i], numbers[i], (size_t)v->node_count * sizeof **numbers);
}

static tl_status put(tl_npz *npz, const char *name, const char *what, tl_npy_type type, const tl_buf *b,
                     int32_t columns, tl_error *err)
{
    static const size_t bytes[] = {8, 4, 4, 8};
    char full[160];
    if (b->failed) return tl_fail_memory(err, "arrays");
    snprintf(full, sizeof full, "%s.%s", name, what);
    const size_t row = bytes[type] * (size_t)(columns > 0 ? columns : 1);
    return tl_npz_add(npz, full, type, b->data, (int64_t)(b->size / row), columns, err);
}

static tl_status put_surface(tl_npz *npz, const char *name, gathered *g, bool is_body, tl_error *err)
{
    start(&g->node_start, g->nodes), start(&g->vert_start, g->verts), start(&g->face_start, g->faces);
    TL_TRY(put(npz, name, "positions", TL_NPY_F8, &g->pos, 3, err));
    TL_TRY(put(npz, name, "node_start", TL_NPY_I8, &g->node_start, 0, err));
    TL_TRY(put(npz, name, "shape", TL_NPY_I4, &g->shape, 0, err));
    TL_TRY(put(npz, name, "faces", TL_NPY_I4, &g->face, 3, err));
    TL_TRY(put(npz, name, "face_start", TL_NPY_I8, &g->face_start, 0, err));
    if (is_body) return TL_OK;
    TL_TRY(put(npz, name, "rest", TL_NPY_F8, &g->uv, 2, err));
    TL_TRY(put(npz, name, "vert_node", TL_NPY_I4, &g->vert_node, 0, err));
    TL_TRY(put(npz, name, "vert_start", TL_NPY_I8, &g->vert_start, 0, err));
    TL_TRY(put(npz, name, "strain", TL_NPY_F4, &g->strain, 0, err));
    return put(npz, name, "contact", TL_NPY_F4, &g->contact, 0, err);
}

// One surface after another, so that no more than one is in memory twice.
static tl_status put_surfaces(tl_npz *npz, const tl_allocator *alloc, tl_recording *film, json_t *facts, tl_error *err)
{
    const tl_recording_facts f = tl_recording_facts_of(film);
    json_t *names = json_array(), *bodies = json_array();
    int64_t faces = 0, nodes = 0;
    tl_status status = TL_OK;
    for (int32_t i = 0; status == TL_OK && i < f.surfaces; i++) {
        const char *name = tl_recording_surface_name(film, i);
        const bool is_body = tl_recording_surface_is_body(film, i);
        gathered g;
        begin(&g, alloc);
        tl_recording_view v = {0};
        for (int32_t k = 0; status == TL_OK && k < f.frames; k++) {
            status = tl_recording_frame(film, k, i, &v, err);
            if (status == TL_OK) add_frame(&g, &v);
        }
        if (status == TL_OK) status = put_surface(npz, name, &g, is_body, err);
        if (!is_body) faces += v.face_count, nodes += v.node_count;
        json_array_append_new(is_body ? bodies : names, json_string(name));
        end(&g);
    }
    json_object_set_new(facts, "cloths", names);
    json_object_set_new(facts, "bodies", bodies);
    json_object_set_new(facts, "frames", json_integer(f.frames));
    json_object_set_new(facts, "nodes", json_integer(nodes));
    json_object_set_new(facts, "faces", json_integer(faces));
    return status;
}

// Energies, contacts and strain of every frame from stats.jsonl. Seconds stay out: they differ from run to run.
static tl_status put_stats(tl_npz *npz, const tl_allocator *alloc, const char *dir, json_t *facts, tl_error *err)
{
    char path[TL_PATH_MAX];
    tl_text text;
    TL_TRY(tl_path_join(dir, "stats.jsonl", path, err));
    TL_TRY(tl_file_read(alloc, path, SIZE_MAX / 2, &text, err));
    tl_buf energies, time, contacts, strain;
    tl_buf *all[] = {&energies, &time, &contacts, &strain};
    for (int i = 0; i < 4; i++) tl_buf_init(all[i], alloc);
    static const char *const energy[] = {"kinetic", "stretch", "bend", "gravity"};
    tl_status status = TL_OK;
    for (const char *line = text.data, *stop; status == TL_OK && *line; line = stop + (*stop == '\n')) {
        stop = line + strcspn(line, "\n");
        json_t *row = json_loadb(line, (size_t)(stop - line), 0, NULL);
        if (!row) status = tl_fail(err, TL_BAD_INPUT, "%s: a line is not JSON", path);
        for (int i = 0; row && i < 4; i++) {
            const double e = json_number_value(json_object_get(json_object_get(row, "energies"), energy[i]));
            tl_buf_add(&energies, &e, sizeof e);
        }
        const double t = json_number_value(json_object_get(row, "time"));
        const double s[2] = {json_number_value(json_object_get(row, "strain_min")),
                             json_number_value(json_object_get(row, "strain_max"))};
        const int64_t c = json_integer_value(json_object_get(row, "contacts"));
        tl_buf_add(&time, &t, sizeof t), tl_buf_add(&strain, s, sizeof s), tl_buf_add(&contacts, &c, sizeof c);
        if (row) json_object_set(facts, "state_hash", json_object_get(row, "state_hash"));  // the last one stays
        json_decref(row);
    }
    if (status == TL_OK) status = put(npz, "run", "time", TL_NPY_F8, &time, 0, err);
    if (status == TL_OK) status = put(npz, "run", "energies", TL_NPY_F8, &energies, 4, err);
    if (status == TL_OK) status = put(npz, "run", "strain", TL_NPY_F8, &strain, 2, err);
    if (status == TL_OK) status = put(npz, "run", "contacts", TL_NPY_I8, &contacts, 0, err);
    for (int i = 0; i < 4; i++) tl_buf_free(all[i]);
    tl_text_free(alloc, &text);
    return status;
}

tl_status tl_sweep_arrays(const tl_sweep *sweep, const char *dir, json_t *facts, tl_error *err)
{
    char film_path[TL_PATH_MAX], out[TL_PATH_MAX];
    TL_TRY(tl_path_join(dir, "arrays.toile", film_path, err));
    TL_TRY(tl_path_join(dir, "arrays.npz", out, err));
    tl_export_def def = tl_export_def_default();
    def.dir = dir, def.out = film_path, def.bodies = 1, def.velocities = 0, def.precision = 1e-9;
    def.attributes = 1u << TL_ATTRIBUTE_STRAIN | 1u << TL_ATTRIBUTE_CONTACT;
    tl_export_report report;
    TL_TRY(tl_export(&def, &report, err));
    tl_recording *film = NULL;
    tl_npz *npz = NULL;
    const tl_buf *file;
    tl_status status = tl_recording_open(film_path, &film, err);
    if (status == TL_OK) status = tl_npz_create(&sweep->alloc, &npz, err);
    if (status == TL_OK) status = put_surfaces(npz, &sweep->alloc, film, facts, err);
    if (status == TL_OK) status = put_stats(npz, &sweep->alloc, dir, facts, err);
    if (status == TL_OK) status = tl_npz_finish(npz, &file, err);
    if (status == TL_OK) status = tl_file_write(out, file->data, file->size, true, err);
    tl_recording_close(film);
    tl_npz_destroy(npz);
    unlink(film_path);
    return status;
}
