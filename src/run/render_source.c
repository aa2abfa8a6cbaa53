// run/render_source.c: finds the frames of a recording and reads them.

#include "run/render_source.h"
#include "toile/character.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/log.h"
#include "io/json.h"
#include "math/vec3.h"

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcasecmp(text + n - m, end) == 0;
}

// --- which frames there are --------------------------------------------------------------------------------

/// "000012_shirt.obj" (or "12.obj", "0012_00.obj", as others write them) into frame and name.
static bool parse_name(const char *file, int64_t *frame, char name[64])
{
    size_t digits = strspn(file, "0123456789");
    const size_t n = strlen(file);
    if (digits == 0 || digits > 9 || n < 4 || !ends_with(file, ".obj")) return false;
    *frame = strtoll(file, NULL, 10);
    const char *rest = file + digits + (file[digits] == '_');
    const size_t length = (size_t)(file + n - 4 - rest);
    if (length >= 64) return false;
    memcpy(name, rest, length);
    name[length] = 0;
    return true;
}

/// The place of `name` in the sorted list, added if new. -1: no memory.
static int32_t name_index(const tl_allocator *alloc, tl_frame_list *list, const char *name)
{
    int32_t i = 0;
    while (i < list->name_count && strcmp(list->names[i], name) < 0) i++;
    if (i < list->name_count && strcmp(list->names[i], name) == 0) return i;
    if (!TL_GROW(alloc, list->names, list->name_cap, list->name_count + 1)) return -1;
    memmove(&list->names[i + 1], &list->names[i], (size_t)(list->name_count - i) * sizeof *list->names);
    snprintf(list->names[i], sizeof list->names[i], "%s", name);
    list->name_count++;
    for (int32_t k = 0; k < list->count; k++) list->files[k].name += list->files[k].name >= i;
    return i;
}

static int compare_files(const void *a, const void *b)
{
    const tl_frame_file *x = a, *y = b;
    if (x->frame != y->frame) return x->frame < y->frame ? -1 : 1;
    if (x->name != y->name) return x->name < y->name ? -1 : 1;
    return strcmp(x->file, y->file);
}

static tl_status list_folder(const tl_allocator *alloc, const char *folder, tl_frame_list *list, tl_error *err)
{
    snprintf(list->folder, sizeof list->folder, "%s", folder);
    DIR *dir = opendir(folder);
    if (!dir && (errno == ENOENT || errno == ENOTDIR)) return TL_OK;
    if (!dir) return tl_fail(err, TL_IO, "%s: cannot read the folder: %s", folder, strerror(errno));
    tl_status status = TL_OK;
    for (struct dirent *entry; status == TL_OK && (entry = readdir(dir));) {
        tl_frame_file file = {0};
        char name[64];
        if (strlen(entry->d_name) >= sizeof file.file || !parse_name(entry->d_name, &file.frame, name)) continue;
        memcpy(file.file, entry->d_name, strlen(entry->d_name) + 1);
        file.name = name_index(alloc, list, name);
        if (file.name < 0 || !TL_GROW(alloc, list->files, list->cap, list->count + 1))
            status = tl_fail_memory(err, "the list of frames");
        else
            list->files[list->count++] = file;
    }
    closedir(dir);
    if (list->count > 0) qsort(list->files, (size_t)list->count, sizeof *list->files, compare_files);
    return status;
}

static tl_status count_frames(tl_source *s, tl_error *err)
{
    s->frames = TL_ALLOC(&s->alloc, int64_t, s->cloths.count);
    if (!s->frames) return tl_fail_memory(err, "the list of frames");
    for (int32_t i = 0; i < s->cloths.count; i++) {
        const int64_t frame = s->cloths.files[i].frame;
        if (s->frame_count > 0 && s->frames[s->frame_count - 1] == frame) continue;
        s->frames[s->frame_count++] = frame;
    }
    // the usual distance between frames is the smallest one; larger ones are gaps
    int64_t step = INT64_MAX;
    for (int32_t i = 1; i < s->frame_count; i++)
        if (s->frames[i] - s->frames[i - 1] < step) step = s->frames[i] - s->frames[i - 1];
    for (int32_t i = 1; i < s->frame_count; i++) {
        const int64_t gap = (s->frames[i] - s->frames[i - 1]) / step - 1;
        if (gap <= 0) continue;
        s->missing += (int32_t)(gap < 1000000 ? gap : 1000000);
        tl_log_write(s->log, TL_LOG_WARNING, "%s: %lld frame%s missing after frame %lld", s->path, (long long)gap,
                     gap == 1 ? " is" : "s are", (long long)s->frames[i - 1]);
    }
    return TL_OK;
}

// --- what the scene says -----------------------------------------------------------------------------------

/// Frame rate and the direction of up, as far as the scene tells. A scene that cannot be read is no reason
/// not to draw.
static void read_scene(tl_source *s)
{
    if (!s->scene_path[0]) return;
    tl_json_doc *doc;
    tl_error err;
    if (tl_json_load(&s->alloc, &(tl_json_def){.path = s->scene_path, .includes = true}, &doc, &err) != TL_OK) {
        tl_log_write(s->log, TL_LOG_WARNING, "%s; drawing without it", err.message);
        return;
    }
    const json_t *root = tl_json_root(doc).value;
    const double fps = json_number_value(json_object_get(root, "fps"));
    if (fps > 0 && fps <= 1000) s->fps = fps;
    const char *name = json_string_value(json_object_get(root, "name"));
    if (name) snprintf(s->title, sizeof s->title, "%s", name);
    const json_t *g = json_object_get(root, "gravity");
    if (json_array_size(g) == 3) {
        const double a[3] = {json_number_value(json_array_get(g, 0)), json_number_value(json_array_get(g, 1)),
                             json_number_value(json_array_get(g, 2))};
        int k = 0;
        for (int i = 1; i < 3; i++)
            if (fabs(a[i]) > fabs(a[k])) k = i;
        const double sign = a[k] > 0 ? -1 : 1;
        if (a[k] != 0) s->up = (tl_vec3){k == 0 ? sign : 0, k == 1 ? sign : 0, k == 2 ? sign : 0};
    }
    tl_json_destroy(doc);
}

// --- opening -----------------------------------------------------------------------------------------------

static tl_status open_folder(tl_source *s, tl_error *err)
{
    char folder[TL_PATH_MAX];
    s->kind = TL_SOURCE_FOLDER;
    TL_TRY(tl_path_join(s->path, "frames", folder, err));
    const bool run = tl_path_look(folder) == TL_PATH_DIR;
    TL_TRY(list_folder(&s->alloc, run ? folder : s->path, &s->cloths, err));
    if (run) {
        TL_TRY(tl_path_join(s->path, "obstacles", folder, err));
        TL_TRY(list_folder(&s->alloc, folder, &s->obstacles, err));
        TL_TRY(tl_path_join(s->path, "scene.json", s->scene_path, err));
        if (tl_path_look(s->scene_path) != TL_PATH_FILE) s->scene_path[0] = 0;
    }
    if (s->cloths.count == 0)
        return tl_fail(err, TL_BAD_INPUT,
                       "%s: no frames in it; expected frames/NNNNNN_CLOTH.obj (the --out folder of 'toile run') or "
                       "numbered OBJ files",
                       s->path);
    return count_frames(s, err);
}

static tl_status open_single(tl_source *s, tl_source_kind kind, tl_error *err)
{
    s->kind = kind;
    s->frames = TL_CALLOC(&s->alloc, int64_t, 1);
    if (!s->frames) return tl_fail_memory(err, "the list of frames");
    s->frame_count = s->frame_cap = 1;
    s->cloths.count = 0;
    if (kind == TL_SOURCE_SCENE) snprintf(s->scene_path, sizeof s->scene_path, "%s", s->path);
    return TL_OK;
}

tl_status tl_source_open(const tl_allocator *alloc, const char *path, const tl_log *log, tl_source *out, tl_error *err)
{
    *out = (tl_source){.alloc = *alloc, .up = {0, 1, 0}, .log = log};
    if (strlen(path) + 1 > sizeof out->path) return tl_fail(err, TL_BAD_INPUT, "path too long: %.200s...", path);
    snprintf(out->path, sizeof out->path, "%s", path);
    for (size_t n = strlen(out->path); n > 1 && out->path[n - 1] == '/'; n--) out->path[n - 1] = 0;
    tl_path_stem(out->path, out->title, sizeof out->title);
    tl_status status;
    switch (tl_path_look(path)) {
    case TL_PATH_NONE: return tl_fail(err, TL_IO, "%s: no such file or folder", path);
    case TL_PATH_DIR: status = open_folder(out, err); break;
    default:
        if (ends_with(path, ".obj"))
            status = open_single(out, TL_SOURCE_OBJ, err);
        else if (ends_with(path, ".json"))
            status = open_single(out, TL_SOURCE_SCENE, err);
        else if (tl_source_is_character(path))
            status = tl_source_open_character(out, err);
        else
            status = tl_fail(err, TL_BAD_INPUT,
                             "%s: cannot draw this; give the folder of a run, a scene (.json), a mesh or a character "
                             "(.obj, .ply, .stl, "
                             ".glb, .gltf)",
                             path);
    }
    if (status == TL_OK)
        read_scene(out);
    else
        tl_source_close(out);
    return status;
}

static void free_list(const tl_allocator *alloc, tl_frame_list *list)
{
    TL_FREE(alloc, list->files, list->cap);
    TL_FREE(alloc, list->names, list->name_cap);
}

void tl_source_close(tl_source *s)
{
    TL_FREE(&s->alloc, s->frames, s->kind == TL_SOURCE_FOLDER ? s->cloths.count : s->frame_cap);
    tl_character_destroy(s->character);
    free_list(&s->alloc, &s->cloths);
    free_list(&s->alloc, &s->obstacles);
    *s = (tl_source){0};
}

// --- reading -----------------------------------------------------------------------------------------------

tl_status tl_show_mesh_init(const tl_allocator *alloc, int32_t nodes, int32_t verts, int32_t faces, tl_show_mesh *out,
                            tl_error *err)
{
    *out = (tl_show_mesh){0};
    tl_obj *o = &out->obj;
    *o = (tl_obj){.alloc = *alloc, .node_count = nodes, .vert_count = verts, .face_count = faces};
    o->pos = TL_ALLOC(alloc, tl_vec3, nodes), o->pos_cap = nodes;
    o->uv = TL_ALLOC(alloc, tl_vec2, verts), o->uv_cap = verts;
    o->vert_node = TL_ALLOC(alloc, int32_t, verts), o->vert_cap = verts;
    o->face = tl_alloc_bytes(alloc, (size_t)faces, sizeof *o->face), o->face_cap = faces;
    out->face_node = tl_alloc_bytes(alloc, (size_t)faces, sizeof *out->face_node);
    if (o->pos && o->uv && o->vert_node && o->face && out->face_node) return TL_OK;
    tl_obj_free(o);
    TL_FREE(alloc, out->face_node, faces);
    *out = (tl_show_mesh){0};
    return tl_fail_memory(err, "a mesh to draw");
}

/// Without vt lines the reader sets the material coordinates to x, y: then the mesh is no cloth with a
/// pattern.
static bool has_pattern(const tl_obj *o)
{
    for (int32_t v = 0; v < o->vert_count; v++) {
        const tl_vec3 p = o->pos[o->vert_node[v]];
        if (!tl_finite3(p)) continue;
        if (o->uv[v].x != p.x || o->uv[v].y != p.y) return true;
    }
    return false;
}

/// Whether every edge is passed once each way: the sum of hash(a, b) - hash(b, a) over all edges is then
/// zero.
static bool is_closed(const tl_show_mesh *m)
{
    uint64_t sum = 0;
    for (int32_t f = 0; f < m->obj.face_count; f++)
        for (int c = 0; c < 3; c++) {
            const uint64_t a = (uint32_t)m->face_node[f][c], b = (uint32_t)m->face_node[f][(c + 1) % 3];
            sum += tl_mix64(a << 32 | b) - tl_mix64(b << 32 | a);
        }
    return sum == 0 && m->obj.face_count >= 4;
}

static tl_status finish_mesh(const tl_allocator *alloc, tl_show_mesh *m, tl_error *err)
{
    m->face_node = tl_alloc_bytes(alloc, (size_t)m->obj.face_count, sizeof *m->face_node);
    if (!m->face_node) return tl_fail_memory(err, "a mesh to draw");
    for (int32_t f = 0; f < m->obj.face_count; f++)
        for (int c = 0; c < 3; c++) m->face_node[f][c] = m->obj.vert_node[m->obj.face[f][c]];
    return TL_OK;
}

/// Adds the mesh in `path`; one that cannot be read is counted and told, and left out.
static tl_status add_file(const tl_source *s, const char *path, const char *name, bool obstacle, tl_show_frame *out,
                          tl_error *err)
{
    tl_text text;
    tl_error why;
    tl_show_mesh m = {.obstacle = obstacle};
    snprintf(m.name, sizeof m.name, "%s", name);
    tl_status status = tl_file_read(&s->alloc, path, TL_OBJ_MAX_BYTES, &text, &why);
    if (status == TL_OK) {
        status = tl_obj_parse(&s->alloc, path, text.data, text.size, TL_OBJ_LENIENT, &m.obj, &why);
        tl_text_free(&s->alloc, &text);
    }
    if (status == TL_NO_MEMORY) return tl_fail_memory(err, path);
    if (status != TL_OK) {
        tl_log_write(s->log, TL_LOG_WARNING, "%s; left out", why.message);
        out->unreadable++;
        return TL_OK;
    }
    if (m.obj.face_count == 0) {  // an obstacle that is not there
        tl_obj_free(&m.obj);
        return TL_OK;
    }
    m.woven = !obstacle && has_pattern(&m.obj);
    status = finish_mesh(&s->alloc, &m, err);
    if (status != TL_OK) {
        tl_obj_free(&m.obj);
        return status;
    }
    m.solid = s->kind == TL_SOURCE_OBJ && is_closed(&m);
    if (m.solid) m.woven = false;  // its vt are a texture's, not a pattern's
    out->meshes[out->mesh_count++] = m;
    if (!obstacle) out->cloth_count++, out->cloth_faces += m.obj.face_count;
    return TL_OK;
}

/// The file of obstacle `name` for `frame`: the latest before it, or the first there is (a still one is saved
/// once).
static const tl_frame_file *obstacle_file(const tl_frame_list *list, int32_t name, int64_t frame)
{
    const tl_frame_file *best = NULL;
    for (int32_t i = 0; i < list->count; i++) {
        if (list->files[i].name != name) continue;
        if (best && list->files[i].frame > frame) break;
        best = &list->files[i];
    }
    return best;
}

static int32_t first_file(const tl_frame_list *list, int64_t frame)
{
    int32_t lo = 0, hi = list->count;
    while (lo < hi) {
        const int32_t mid = lo + (hi - lo) / 2;
        if (list->files[mid].frame < frame)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static tl_status load_folder(const tl_source *s, tl_show_frame *out, tl_error *err)
{
    char path[TL_PATH_MAX];
    const tl_frame_list *list = &s->cloths;
    for (int32_t i = first_file(list, out->frame); i < list->count && list->files[i].frame == out->frame; i++) {
        TL_TRY(tl_path_join(list->folder, list->files[i].file, path, err));
        TL_TRY(add_file(s, path, list->names[list->files[i].name], false, out, err));
    }
    for (int32_t n = 0; n < s->obstacles.name_count; n++) {
        const tl_frame_file *file = obstacle_file(&s->obstacles, n, out->frame);
        if (!file) continue;
        TL_TRY(tl_path_join(s->obstacles.folder, file->file, path, err));
        TL_TRY(add_file(s, path, s->obstacles.names[n], true, out, err));
    }
    return TL_OK;
}

tl_status tl_source_load(const tl_source *s, int32_t index, tl_show_frame *out, tl_error *err)
{
    *out = (tl_show_frame){.frame = s->frames[index]};
    out->time = s->fps > 0 ? (double)out->frame / s->fps : (double)NAN;
    if (s->kind == TL_SOURCE_SCENE) return tl_source_load_start(s, out, err);
    if (s->kind == TL_SOURCE_CHARACTER) return tl_source_load_character(s, out, err);
    const int32_t most = s->cloths.name_count + s->obstacles.name_count + 1;
    out->meshes = TL_CALLOC(&s->alloc, tl_show_mesh, most);
    if (!out->meshes) return tl_fail_memory(err, "a frame");
    const tl_status status =
        s->kind == TL_SOURCE_OBJ ? add_file(s, s->path, s->title, false, out, err) : load_folder(s, out, err);
    // the array was made for `most`; keep its true size so that it is freed with the size it was made with
    if (status == TL_OK) {
        tl_show_mesh *exact = tl_resize_bytes(&s->alloc, out->meshes, (size_t)most,
                                              (size_t)(out->mesh_count > 0 ? out->mesh_count : 1), sizeof *exact);
        if (exact) {
            out->meshes = exact;
            return TL_OK;
        }
    }
    for (int32_t i = 0; i < out->mesh_count; i++) {
        TL_FREE(&s->alloc, out->meshes[i].face_node, out->meshes[i].obj.face_count);
        tl_obj_free(&out->meshes[i].obj);
    }
    TL_FREE(&s->alloc, out->meshes, most);
    *out = (tl_show_frame){0};
    return status != TL_OK ? status : tl_fail_memory(err, "a frame");
}

void tl_show_mesh_free(const tl_allocator *alloc, tl_show_mesh *mesh)
{
    TL_FREE(alloc, mesh->face_node, mesh->obj.face_count);
    TL_FREE(alloc, mesh->force, mesh->obj.node_count);
    tl_obj_free(&mesh->obj);
}

void tl_show_frame_free(const tl_allocator *alloc, tl_show_frame *frame)
{
    for (int32_t i = 0; i < frame->mesh_count; i++) tl_show_mesh_free(alloc, &frame->meshes[i]);
    TL_FREE(alloc, frame->meshes, frame->mesh_count > 0 ? frame->mesh_count : 1);
    *frame = (tl_show_frame){0};
}
