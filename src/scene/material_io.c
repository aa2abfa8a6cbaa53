// scene/material_io.c: fabrics from files, from scenes and from the library of the installation.

#include "scene/material_io.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "scene/material_keys.h"

#ifndef TL_DATA_DIR
#define TL_DATA_DIR ""  // set by the build: the folder that holds materials/
#endif

// ---- tables -----------------------------------------------------------------------------------------------

// Row r of the stretch table; every row when there is only one.
static tl_status read_stretch(const tl_node *list, double out[6][4], tl_error *err)
{
    const size_t rows = json_array_size(list->value);
    if (rows != 1 && rows != 6) return tl_node_fail(list, true, err, "must have 1 or 6 rows");
    const tl_key_def row_key = {.type = TL_KEY_VEC4, .min = -1e12, .max = 1e12, .doc = "c11, c12, c22, c33"};
    for (size_t r = 0; r < 6; r++) {
        const tl_node row = tl_node_at(list, rows == 1 ? 0 : r);
        TL_TRY(tl_key_read(&row, &row_key, out[r], err));
    }
    return TL_OK;
}

static tl_status read_bend(const tl_node *list, bool may_be_short, double low, double out[3][5], tl_error *err)
{
    if (json_array_size(list->value) != 3) return tl_node_fail(list, true, err, "must have 3 rows (0, 45, 90 degrees)");
    const tl_key_def entry_key = {.type = TL_KEY_REAL, .min = low, .max = TL_KEY_LIMIT, .doc = "rigidity"};
    for (size_t r = 0; r < 3; r++) {
        const tl_node row = tl_node_at(list, r);
        const size_t columns = json_is_array(row.value) ? json_array_size(row.value) : 0;
        if (columns != 5 && !(may_be_short && columns == 1))
            return tl_node_fail(&row, true, err, "must be a list of %s5 numbers", may_be_short ? "1 or " : "");
        for (size_t k = 0; k < 5; k++) {
            const tl_node entry = tl_node_at(&row, columns == 1 ? 0 : k);
            TL_TRY(tl_key_read(&entry, &entry_key, &out[r][k], err));
        }
    }
    return TL_OK;
}

// c11, c22, c33 >= 0 and c11 c22 >= c12^2: no strain may give energy.
static tl_status check_definite(const tl_node *list, const double c[6][4], tl_error *err)
{
    const double slack = 1 + 1e-12;  // tables are written with rounded numbers
    for (int r = 0; r < 6; r++) {
        const bool ok =
            c[r][0] >= 0 && c[r][2] >= 0 && c[r][3] >= 0 && fabs(c[r][1]) <= sqrt(c[r][0]) * sqrt(c[r][2]) * slack;
        if (ok) continue;
        const tl_node row = tl_node_at(list, json_array_size(list->value) == 1 ? 0 : (size_t)r);
        return tl_node_fail(&row, false, err, "(%g, %g, %g, %g): c11, c22, c33 must be >= 0 and c12^2 <= c11 c22",
                            c[r][0], c[r][1], c[r][2], c[r][3]);
    }
    return TL_OK;
}

static void set_name(tl_material *m, const char *name, const char *fallback)
{
    memset(m->name, 0, sizeof m->name);  // all of it: equal fabrics have equal bytes
    snprintf(m->name, sizeof m->name, "%s", name ? name : fallback ? fallback : "fabric");
}

// The published files: stiffness is twice the number, rigidity a quarter; negative counts as 0
// (docs/errata.md). c12 is kept where the 2x2 block is positive semidefinite.
static tl_status read_wang(const tl_node *node, const char *fallback_name, tl_material *out, tl_error *err)
{
    tl_material_file file = {0};
    TL_TRY(tl_table_read(node, &tl_material_wang_table, &file, err));
    const tl_node stretching = tl_node_key(node, "stretching"), bending = tl_node_key(node, "bending");
    if (json_array_size(stretching.value) != 6) return tl_node_fail(&stretching, true, err, "must have 6 rows");
    tl_material m = tl_material_default();
    TL_TRY(read_stretch(&stretching, m.stretch, err));
    TL_TRY(read_bend(&bending, false, -TL_KEY_LIMIT, m.bend, err));
    for (int r = 0; r < 6; r++) {
        double *c = m.stretch[r];
        for (int k = 0; k < 4; k++) c[k] = fmax(0, 2 * c[k]);
        c[1] = fmin(c[1], sqrt(c[0]) * sqrt(c[2]));
    }
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 5; k++) m.bend[r][k] = fmax(0, m.bend[r][k]) / 4;
    m.density = file.density;
    m.stretch_sample = 1.0 / 6;
    m.bend_step = 10;
    m.bend_poisson = 0;
    set_name(&m, NULL, fallback_name);
    *out = m;
    return TL_OK;
}

static tl_status make_isotropic(const tl_material_file *file, tl_material *m, tl_error *err)
{
    TL_TRY(tl_material_isotropic(file->young, file->poisson, file->thickness, file->density, m, err));
    if (isnan(file->bend)) return TL_OK;
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 5; k++) m->bend[r][k] = file->bend;
    return TL_OK;
}

static tl_status read_measured(const tl_node *node, const tl_material_file *file, tl_material *m, tl_error *err)
{
    const tl_node stretch = tl_node_key(node, "stretch"), bend = tl_node_key(node, "bend");
    TL_TRY(read_stretch(&stretch, m->stretch, err));
    TL_TRY(check_definite(&stretch, (const double(*)[4])m->stretch, err));
    TL_TRY(read_bend(&bend, true, 0, m->bend, err));
    m->density = file->density;
    m->thickness = file->thickness;
    m->stretch_sample = file->stretch_sample;
    m->bend_step = file->bend_step;
    m->bend_poisson = file->bend_poisson;
    return TL_OK;
}

static tl_status read_own(const tl_node *node, bool need_source, const char *fallback_name, tl_material *out,
                          tl_material_file *file, tl_error *err)
{
    const tl_node kind = tl_node_key(node, "kind");
    if (!kind.value) {
        return tl_node_fail(node, false, err, "%slacks 'kind' (isotropic, orthotropic, measured, kesf or fast)",
                            node->up ? "" : "the fabric ");
    }
    const tl_key_def kind_key = {.type = TL_KEY_WORD, .words = tl_material_kind_words, .doc = "kind"};
    int32_t k = 0;
    TL_TRY(tl_key_read(&kind, &kind_key, &k, err));
    TL_TRY(tl_table_read(node, &tl_material_tables[k], file, err));
    if (need_source && (!file->source || !file->source[0]))
        return tl_node_fail(node, false, err, "%slacks 'source' (say where the numbers come from)",
                            node->up ? "" : "the fabric ");
    tl_material m = tl_material_default();
    tl_status status = TL_OK;
    if (isnan(file->orthotropic.bend_bias)) file->orthotropic.bend_bias = -1;
    switch (k) {
    case TL_MATERIAL_ISOTROPIC: status = make_isotropic(file, &m, err); break;
    case TL_MATERIAL_ORTHOTROPIC: status = tl_material_orthotropic(&file->orthotropic, &m, err); break;
    case TL_MATERIAL_KESF: status = tl_material_kesf(&file->kesf, &m, err); break;
    case TL_MATERIAL_FAST: status = tl_material_fast(&file->fast, &m, err); break;
    default: TL_TRY(read_measured(node, file, &m, err));
    }
    if (status != TL_OK) return tl_node_prefix(node, err);
    m.damping_stretch = file->damping_stretch;
    m.damping_bend = file->damping_bend;
    if (file->friction_bend > 0) m.friction_bend = file->friction_bend;  // a KES-F sheet may have its own
    set_name(&m, file->name, fallback_name);
    *out = m;
    return TL_OK;
}

tl_status tl_material_read(const tl_node *node, bool need_source, const char *fallback_name, tl_material *out,
                           json_t **resolved, tl_error *err)
{
    if (!json_is_object(node->value)) return tl_node_fail(node, true, err, "must be an object { .. }");
    tl_material_file file = {0};
    tl_material m;
    const bool wang = !json_object_get(node->value, "kind") && json_object_get(node->value, "stretching");
    if (wang)
        TL_TRY(read_wang(node, fallback_name, &m, err));
    else
        TL_TRY(read_own(node, need_source, fallback_name, &m, &file, err));
    if (tl_material_check(&m, err) != TL_OK) return tl_node_prefix(node, err);
    if (resolved) {
        const char *source = wang ? "file in the format of Wang, O'Brien, Ramamoorthi 2011" : file.source;
        *resolved = tl_material_json(&m, source ? source : "");
        if (!*resolved) return tl_fail_memory(err, "a fabric");
        json_t *look = json_object_get(node->value, "appearance");
        if (look && json_object_set(*resolved, "appearance", look) != 0) return tl_fail_memory(err, "a fabric");
    }
    *out = m;
    return TL_OK;
}

// ---- files ------------------------------------------------------------------------------------------------

tl_status tl_material_open(const tl_allocator *alloc, const tl_reader *reader, const char *path, tl_material *out,
                           json_t **resolved, tl_error *err)
{
    char stem[64];
    tl_path_stem(path, stem, sizeof stem);
    tl_json_doc *doc;
    TL_TRY(tl_json_load(alloc, &(tl_json_def){.path = path, .reader = reader}, &doc, err));
    const tl_node root = tl_json_root(doc);
    const tl_status status = tl_material_read(&root, true, stem, out, resolved, err);
    tl_json_destroy(doc);
    return status;
}

tl_status tl_material_load(const char *path, tl_material *out, tl_error *err)
{
    if (!path || !out) return tl_fail(err, TL_BAD_ARG, "material_load: path or out is NULL");
    const tl_allocator alloc = tl_allocator_default();
    return tl_material_open(&alloc, NULL, path, out, NULL, err);
}

static bool is_path(const char *name)
{
    const size_t n = strlen(name);
    return strchr(name, '/') || (n > 5 && strcmp(name + n - 5, ".json") == 0);
}

// ---- library ----------------------------------------------------------------------------------------------

/// Names of the fabrics in materials/ of the folders that make up the library, sorted, each once.
typedef struct library {
    tl_allocator alloc;
    char (*name)[64];
    int32_t count, cap;
    bool failed;
} library;

// Where the library is: $TOILE_DATA, then the installation. "": nowhere.
static void library_roots(const char *roots[2])
{
    const char *env = getenv("TOILE_DATA");
    roots[0] = env ? env : "", roots[1] = TL_DATA_DIR;
}

static void add_name(library *lib, const char *name)
{
    int32_t at = 0;
    while (at < lib->count && strcmp(lib->name[at], name) < 0) at++;
    if (at < lib->count && strcmp(lib->name[at], name) == 0) return;
    if (!TL_GROW(&lib->alloc, lib->name, lib->cap, lib->count + 1)) {
        lib->failed = true;
        return;
    }
    memmove(&lib->name[at + 1], &lib->name[at], (size_t)(lib->count - at) * sizeof *lib->name);
    snprintf(lib->name[at], sizeof lib->name[at], "%s", name);
    lib->count++;
}

static void library_open(library *lib, const tl_allocator *alloc)
{
    const char *roots[2];
    library_roots(roots);
    *lib = (library){.alloc = *alloc};
    for (int i = 0; i < 2; i++) {
        char path[TL_PATH_MAX], stem[64];
        const int n = snprintf(path, sizeof path, "%s/materials", roots[i]);
        DIR *folder = roots[i][0] && n > 0 && n < (int)sizeof path ? opendir(path) : NULL;
        for (struct dirent *entry; folder && (entry = readdir(folder));) {
            const size_t length = strlen(entry->d_name);
            if (length < 6 || length > 63 || strcmp(entry->d_name + length - 5, ".json") != 0) continue;
            tl_path_stem(entry->d_name, stem, sizeof stem);
            add_name(lib, stem);
        }
        if (folder) closedir(folder);
    }
}

static void library_close(library *lib) { TL_FREE(&lib->alloc, lib->name, lib->cap); }

// A slip of the pen changes a letter in three at most: a towel is no wool.
static const char *nearest_fabric(const library *lib, const char *name)
{
    const char *best = NULL;
    int least = 1 + ((int)strlen(name) + 1) / 3;
    for (int32_t i = 0; i < lib->count; i++) {
        const int distance = tl_word_distance(name, lib->name[i]);
        const bool part = strlen(name) >= 4 && strncmp(lib->name[i], name, strlen(name)) == 0;
        if (distance < least || (part && !best)) best = lib->name[i], least = distance < least ? distance : least;
    }
    return best;
}

static tl_status fail_unknown(const tl_allocator *alloc, const char *name, tl_error *err)
{
    library lib;
    char known[600] = "";
    library_open(&lib, alloc);
    const char *near = nearest_fabric(&lib, name);
    for (int32_t i = 0; i < lib.count; i++) {
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", lib.name[i]);
    }
    tl_status status;
    if (near)
        status = tl_fail(err, TL_BAD_INPUT, "no fabric of this name (did you mean '%s'? There are %s)", near, known);
    else if (lib.count > 0)
        status =
            tl_fail(err, TL_BAD_INPUT,
                    "no fabric of this name; there are %s (or give the path of your own, such as \"./%.40s.json\")",
                    known, name);
    else
        status = tl_fail(err, TL_BAD_INPUT,
                         "no fabric of this name in the scene's materials, and no library (give a path such as "
                         "\"./%.40s.json\", or set TOILE_DATA to the folder that has materials/)",
                         name);
    library_close(&lib);
    return status;
}

// The file of a fabric in the library; TL_IO if there is none.
static tl_status library_path(const char *name, char path[TL_PATH_MAX])
{
    const char *roots[2];
    library_roots(roots);
    for (int i = 0; i < 2; i++) {
        if (!roots[i][0]) continue;
        const int n = snprintf(path, TL_PATH_MAX, "%s/materials/%s.json", roots[i], name);
        if (n > 0 && n < TL_PATH_MAX && tl_path_look(path) == TL_PATH_FILE) return TL_OK;
    }
    return TL_IO;
}

tl_status tl_material_find(const tl_allocator *alloc, const tl_reader *reader, const char *name, const char *dir,
                           tl_material *out, json_t **resolved, tl_error *err)
{
    char path[TL_PATH_MAX];
    if (is_path(name)) {
        TL_TRY(tl_path_join(dir, name, path, err));
        return tl_material_open(alloc, reader, path, out, resolved, err);
    }
    const char *roots[2];
    library_roots(roots);
    for (int i = 0; i < 2; i++) {
        if (!roots[i][0]) continue;
        const int n = snprintf(path, sizeof path, "%s/materials/%s.json", roots[i], name);
        if (n < 0 || n >= (int)sizeof path) continue;
        const tl_status status = tl_material_open(alloc, reader, path, out, resolved, err);
        if (status != TL_IO) return status;
    }
    return fail_unknown(alloc, name, err);
}

static tl_status visit_fabric(const tl_allocator *alloc, const char *name, tl_fabric_visit visit, void *user,
                              bool *stop, tl_error *err)
{
    char path[TL_PATH_MAX];
    if (library_path(name, path) != TL_OK) return TL_OK;
    tl_json_doc *doc;
    TL_TRY(tl_json_load(alloc, &(tl_json_def){.path = path}, &doc, err));
    const tl_node root = tl_json_root(doc);
    const char *use = json_string_value(json_object_get(root.value, "use"));
    tl_material material;
    const tl_status status = tl_material_read(&root, true, name, &material, NULL, err);
    if (status == TL_OK) *stop = visit(user, &(tl_fabric_entry){name, use ? use : "", path, &material}) != 0;
    tl_json_destroy(doc);
    return status;
}

tl_status tl_fabrics_visit(tl_fabric_visit visit, void *user, tl_error *err)
{
    if (!visit) return tl_fail(err, TL_BAD_ARG, "fabrics_visit: visit is NULL");
    const tl_allocator alloc = tl_allocator_default();
    library lib;
    library_open(&lib, &alloc);
    tl_status status = lib.failed ? tl_fail_memory(err, "the list of fabrics") : TL_OK;
    if (status == TL_OK && lib.count == 0)
        status = tl_fail(err, TL_BAD_INPUT,
                         "there is no library of fabrics (set TOILE_DATA to the folder that has materials/)");
    bool stop = false;
    for (int32_t i = 0; status == TL_OK && !stop && i < lib.count; i++)
        status = visit_fabric(&alloc, lib.name[i], visit, user, &stop, err);
    library_close(&lib);
    return status;
}

// ---- writing ----------------------------------------------------------------------------------------------

static json_t *number_rows(const double *values, int rows, int columns)
{
    json_t *list = json_array();
    for (int r = 0; list && r < rows; r++) {
        json_t *row = json_array();
        bool ok = row != NULL;
        for (int k = 0; ok && k < columns; k++)
            ok = json_array_append_new(row, json_real(values[r * columns + k])) == 0;
        if (ok && json_array_append_new(list, row) == 0) continue;
        if (!ok) json_decref(row);
        json_decref(list);
        return NULL;
    }
    return list;
}

json_t *tl_material_json(const tl_material *m, const char *source)
{
    json_t *out = json_object();
    const struct {
        const char *name;
        json_t *value;
    } members[] = {
        {"name", json_string(m->name)},
        {"kind", json_string("measured")},
        {"source", json_string(source)},
        {"damping_stretch", json_real(m->damping_stretch)},
        {"damping_bend", json_real(m->damping_bend)},
        {"friction_bend", json_real(m->friction_bend)},
        {"density", json_real(m->density)},
        {"thickness", json_real(m->thickness)},
        {"stretch", number_rows(&m->stretch[0][0], 6, 4)},
        {"stretch_sample", json_real(m->stretch_sample)},
        {"bend", number_rows(&m->bend[0][0], 3, 5)},
        {"bend_step", json_real(m->bend_step)},
        {"bend_poisson", json_real(m->bend_poisson)},
    };
    bool ok = out != NULL;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (ok)
            ok = json_object_set_new(out, members[i].name, members[i].value) == 0;
        else
            json_decref(members[i].value);
    }
    if (ok) return out;
    json_decref(out);
    return NULL;
}

json_t *tl_material_schema(void)
{
    json_t *out = json_object(), *list = json_array();
    bool ok = out && list;
    for (int k = 0; ok && k < TL_MATERIAL_KINDS; k++) {
        json_t *schema = tl_table_schema(&tl_material_tables[k]);
        json_t *kind = json_object_get(json_object_get(schema, "properties"), "kind");  // only this kind's own word
        json_object_del(kind, "enum");
        ok = kind && json_object_set_new(kind, "const", json_string(tl_material_kind_words[k])) == 0;
        ok = json_array_append_new(list, schema) == 0 && ok;
    }
    ok = ok && json_array_append_new(list, tl_table_schema(&tl_material_wang_table)) == 0;
    ok = ok && json_object_set_new(out, "$schema", json_string("https://json-schema.org/draft/2020-12/schema")) == 0;
    ok = ok && json_object_set_new(out, "title", json_string("Toile fabric")) == 0;
    if (ok) ok = json_object_set(out, "anyOf", list) == 0;
    json_decref(list);
    if (ok) return out;
    json_decref(out);
    return NULL;
}
