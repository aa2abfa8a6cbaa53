// bench/bench_ccd_read.c: reads collision queries with their truth.
//
// Two published layouts. Sample queries (Wang et al. 2021): SCENE/edge-edge|vertex-face/*.csv, 8 rows per
// query, per row x, y, z as numerator, denominator and the truth. Scalable CCD (Belgrod et al. 2023):
// SCENE/queries/STEPee|vf.csv, the same without the truth, which stands in
// SCENE/mma_bool/STEPee_mma_bool.json, and the times of first contact, if any, in SCENE/toi/STEPee_toi.csv.
// Where only SCENE/boxes/STEPee.json is there, queries are made from the pairs of boxes and the meshes of
// that step and the next in SCENE/frames/*STEP.ply. Boxes are numbered vertices first, then edges, then
// faces; edges are the unique edges of the faces ordered by (larger vertex, smaller vertex).

#include "bench_ccd.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_SIZE = 1024, ROWS = 8, DEPTH_MAX = 16 };

static tl_status fail(tl_error *err, tl_status status, const char *format, ...) TL_PRINTF(3, 4);
static tl_status fail(tl_error *err, tl_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    err->status = status;
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    return status;
}

// --- whole files, read one number after the other ---------------------------------------------------------

typedef struct text {
    const char *path;
    char *data, *at, *end;
    int32_t line;
} text;

static tl_status text_open(const char *path, text *out, tl_error *err)
{
    *out = (text){.path = path, .line = 1};
    FILE *file = fopen(path, "rb");
    if (!file) return fail(err, TL_IO, "%s: cannot be opened: %s", path, strerror(errno));
    size_t size = 0, room = 1 << 16;
    char *data = malloc(room + 1);
    while (data) {
        size += fread(data + size, 1, room - size, file);
        if (size < room) break;
        char *more = realloc(data, 2 * room + 1);
        if (!more) free(data);
        data = more, room *= 2;
    }
    const bool bad = ferror(file) != 0;
    fclose(file);
    if (!data) return fail(err, TL_NO_MEMORY, "%s: out of memory", path);
    if (bad) return free(data), fail(err, TL_IO, "%s: cannot be read", path);
    data[size] = '\0';
    out->data = out->at = data, out->end = data + size;
    return TL_OK;
}

static void text_close(text *t) { free(t->data); }

static tl_status text_fail(const text *t, tl_error *err, const char *expected)
{
    char found[24];
    size_t n = 0;
    for (const char *c = t->at; n + 1 < sizeof found && c < t->end && *c != '\n' && *c != ','; c++)
        found[n++] = isprint((unsigned char)*c) ? *c : '?';
    found[n] = '\0';
    return fail(err, TL_BAD_INPUT, "%s:%d: found '%s', expected %s", t->path, t->line, found, expected);
}

// Skips blanks, line ends and the characters in `fill`; false at the end of the file.
static bool text_skip(text *t, const char *fill)
{
    for (; t->at < t->end; t->at++) {
        if (*t->at == '\n')
            t->line++;
        else if (!isspace((unsigned char)*t->at) && (*t->at == '\0' || !strchr(fill, *t->at)))
            return true;
    }
    return false;
}

// A whole number of any length.
static bool text_integer(text *t, long double *out)
{
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\t')) t->at++;
    const char *digit = t->at + (*t->at == '-');
    if (!isdigit((unsigned char)*digit)) return false;
    char *end;
    *out = strtold(t->at, &end);
    for (const char *c = digit; c < end; c++)
        if (!isdigit((unsigned char)*c)) return false;
    t->at = end;
    return isfinite(*out);
}

static bool text_comma(text *t)
{
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\t')) t->at++;
    if (*t->at != ',') return false;
    t->at++;
    return true;
}

// --- lists of queries -------------------------------------------------------------------------------------

ccd_set *bench_ccd_add(ccd_sets *sets, const char *name, bool edges, int32_t count)
{
    ccd_set *items = realloc(sets->items, (size_t)(sets->count + 1) * sizeof *items);
    if (!items) return NULL;
    sets->items = items;
    ccd_set *set = &items[sets->count];
    *set = (ccd_set){.edges = edges, .count = count};
    snprintf(set->name, sizeof set->name, "%s", name);
    set->queries = calloc((size_t)count + 1, sizeof *set->queries);
    if (!set->queries) return NULL;
    for (int32_t q = 0; q < count; q++) set->queries[q].toi = (long double)NAN;
    sets->count++;
    return set;
}

void bench_ccd_free(ccd_sets *sets)
{
    for (int32_t s = 0; s < sets->count; s++) free(sets->items[s].queries);
    free(sets->items);
    *sets = (ccd_sets){0};
}

static bool has_end(const char *name, const char *end)
{
    const size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

static bool exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

// The folder of `path`, `up` levels higher than the file, without its name: "a/b/c.csv" and 1 give "a/b".
static void folder_of(const char *path, int up, char *out)
{
    snprintf(out, PATH_SIZE, "%s", path);
    for (; up > 0; up--) {
        char *slash = strrchr(out, '/');
        if (slash)
            *slash = '\0';
        else
            strcpy(out, up == 1 ? "." : "");
    }
}

// The last part of a path.
static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// Rows of 6 numbers, or of 7 with the truth.
static tl_status read_csv(const char *path, const char *name, bool edges, bool with_truth, ccd_sets *out, tl_error *err)
{
    text t;
    tl_status status = text_open(path, &t, err);
    if (status != TL_OK) return status;
    int32_t lines = 0;
    for (const char *c = t.data; c < t.end; c++) lines += *c == '\n';
    ccd_set *set = bench_ccd_add(out, name, edges, lines / ROWS + 1);
    if (!set) status = fail(err, TL_NO_MEMORY, "%s: out of memory", path);
    int32_t row = 0;
    while (status == TL_OK && text_skip(&t, "")) {
        if (row / ROWS >= set->count) {
            status = text_fail(&t, err, "the end of the file");
            break;
        }
        ccd_query *query = &set->queries[row / ROWS];
        double x[3];
        for (int k = 0; k < 3 && status == TL_OK; k++) {
            long double top, bottom;
            if (k > 0 && !text_comma(&t)) status = text_fail(&t, err, "a comma");
            if (status == TL_OK && !text_integer(&t, &top)) status = text_fail(&t, err, "a whole number");
            if (status == TL_OK && !text_comma(&t)) status = text_fail(&t, err, "a comma");
            if (status == TL_OK && (!text_integer(&t, &bottom) || bottom <= 0))
                status = text_fail(&t, err, "a denominator > 0");
            if (status == TL_OK) x[k] = (double)(top / bottom);
        }
        if (status == TL_OK && with_truth) {
            long double truth;
            if (!text_comma(&t) || !text_integer(&t, &truth) || (truth != 0 && truth != 1))
                status = text_fail(&t, err, "the truth, 0 or 1");
            else if (row % ROWS > 0 && query->hit != (truth == 1))
                status = text_fail(&t, err, "the same truth in all 8 rows of a query");
            else
                query->hit = truth == 1;
        }
        if (status == TL_OK) {
            while (t.at < t.end && (*t.at == ' ' || *t.at == '\t' || *t.at == '\r')) t.at++;
            if (t.at < t.end && *t.at != '\n') status = text_fail(&t, err, "the end of the line");
        }
        if (status == TL_OK) {
            tl_vec3 *to = row % ROWS < 4 ? query->x0 : query->x1;
            to[row % 4] = (tl_vec3){x[0], x[1], x[2]};
            row++;
        }
    }
    if (status == TL_OK && row % ROWS != 0)
        status = fail(err, TL_BAD_INPUT, "%s:%d: %d rows, must be 8 for each query", path, t.line, row);
    if (status == TL_OK && row == 0) status = fail(err, TL_BAD_INPUT, "%s:1: no queries", path);
    if (set) set->count = row / ROWS;
    text_close(&t);
    return status;
}

// [true, false, ...]
static tl_status read_truth(const char *path, ccd_set *set, tl_error *err)
{
    text t;
    tl_status status = text_open(path, &t, err);
    if (status != TL_OK) return status;
    int32_t q = 0;
    while (status == TL_OK && text_skip(&t, "[],")) {
        const bool yes = strncmp(t.at, "true", 4) == 0, no = strncmp(t.at, "false", 5) == 0;
        if (q >= set->count)
            status = fail(err, TL_BAD_INPUT, "%s:%d: more answers than the %d queries", path, t.line, set->count);
        else if (!yes && !no)
            status = text_fail(&t, err, "true or false");
        else
            set->queries[q++].hit = yes, t.at += yes ? 4 : 5;
    }
    if (status == TL_OK && q < set->count)
        status = fail(err, TL_BAD_INPUT, "%s:%d: %d answers for %d queries", path, t.line, q, set->count);
    text_close(&t);
    return status;
}

// query,toi,solutions
static tl_status read_times(const char *path, ccd_set *set, tl_error *err)
{
    text t;
    tl_status status = text_open(path, &t, err);
    if (status != TL_OK) return status;
    while (t.at < t.end && *t.at != '\n') t.at++;  // the head
    while (status == TL_OK && text_skip(&t, "")) {
        long double q;
        if (!text_integer(&t, &q) || q < 0 || q >= set->count || !text_comma(&t)) {
            status = text_fail(&t, err, "the number of a query");
            break;
        }
        char *end;
        const long double toi = strtold(t.at, &end);
        if (end == t.at || !(toi >= 0 && toi <= 1))
            status = text_fail(&t, err, "a time from 0 to 1");
        else
            set->queries[(int32_t)q].toi = toi, set->queries[(int32_t)q].first = true;
        while (t.at < t.end && *t.at != '\n') t.at++;
    }
    text_close(&t);
    return status;
}

// --- meshes -----------------------------------------------------------------------------------------------

typedef struct mesh {
    tl_vec3 *x;
    int32_t (*face)[3];
    int32_t (*edge)[2];
    int32_t vert_count, face_count, edge_count;
} mesh;

static void mesh_free(mesh *m) { free(m->x), free(m->face), free(m->edge); }

// The next `size` bytes as a number's bytes in this machine's order (little-endian machines only, like the
// rest of bench/).
static void take(text *t, bool big, size_t size, void *out)
{
    char *to = out;
    for (size_t k = 0; k < size; k++) to[k] = t->at[big ? size - 1 - k : k];
    t->at += size;
}

static tl_status ply_body(text *t, bool big, bool wide, mesh *m, tl_error *err)
{
    const size_t number = wide ? 8 : 4, need = 3 * number * (size_t)m->vert_count + 13 * (size_t)m->face_count;
    if ((size_t)(t->end - t->at) < need)
        return fail(err, TL_BAD_INPUT, "%s:%d: the data end too early", t->path, t->line);
    m->x = calloc((size_t)m->vert_count, sizeof *m->x);
    m->face = calloc((size_t)m->face_count, sizeof *m->face);
    if (!m->x || !m->face) return fail(err, TL_NO_MEMORY, "%s: out of memory", t->path);
    for (int32_t v = 0; v < m->vert_count; v++) {
        double x[3];
        for (int k = 0; k < 3; k++) {
            float narrow;
            take(t, big, number, wide ? (void *)&x[k] : (void *)&narrow);
            if (!wide) x[k] = (double)narrow;
        }
        m->x[v] = (tl_vec3){x[0], x[1], x[2]};
    }
    for (int32_t f = 0; f < m->face_count; f++) {
        if (*t->at++ != 3) return fail(err, TL_BAD_INPUT, "%s: face %d is no triangle", t->path, f);
        for (int k = 0; k < 3; k++) {
            take(t, big, 4, &m->face[f][k]);
            if (m->face[f][k] < 0 || m->face[f][k] >= m->vert_count)
                return fail(err, TL_BAD_INPUT, "%s: face %d names vertex %d of %d", t->path, f, m->face[f][k],
                            m->vert_count);
        }
    }
    return TL_OK;
}

// Binary PLY with vertices of three floats or doubles and faces of three ints: what the data set holds.
static tl_status read_ply(const char *path, mesh *m, tl_error *err)
{
    *m = (mesh){0};
    text t;
    tl_status status = text_open(path, &t, err);
    if (status != TL_OK) return status;
    bool big = false, wide = false, done = false;
    char word[64];
    for (; !done && status == TL_OK && t.at < t.end; t.line++) {
        char *end = memchr(t.at, '\n', (size_t)(t.end - t.at));
        if (!end) break;
        snprintf(word, sizeof word, "%.*s", (int)(end - t.at), t.at);
        word[strcspn(word, "\r")] = '\0';
        if (strcmp(word, "format binary_big_endian 1.0") == 0)
            big = true;
        else if (strncmp(word, "format ", 7) == 0 && strcmp(word + 7, "binary_little_endian 1.0") != 0)
            status = text_fail(&t, err, "a binary format");
        else if (sscanf(word, "element vertex %d", &m->vert_count) == 1 ||
                 sscanf(word, "element face %d", &m->face_count) == 1) {
            if (m->vert_count < 0 || m->face_count < 0) status = text_fail(&t, err, "a count");
        } else if (strncmp(word, "property ", 9) == 0) {
            wide = wide || strncmp(word + 9, "double ", 7) == 0;
            if (strncmp(word + 9, "double ", 7) && strncmp(word + 9, "float ", 6) &&
                strcmp(word + 9, "list uchar int vertex_indices"))
                status = text_fail(&t, err, "float or double coordinates and lists of int");
        } else if (strcmp(word, "end_header") == 0)
            done = true;
        t.at = end + 1;
    }
    if (status == TL_OK && (!done || m->vert_count == 0)) status = fail(err, TL_BAD_INPUT, "%s:1: no PLY header", path);
    if (status == TL_OK) status = ply_body(&t, big, wide, m, err);
    text_close(&t);
    return status;
}

static int edge_order(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;  // larger vertex first, then the smaller
    if (x[1] != y[1]) return x[1] < y[1] ? -1 : 1;
    return (x[0] > y[0]) - (x[0] < y[0]);
}

static bool make_edges(mesh *m)
{
    m->edge = malloc(3 * (size_t)m->face_count * sizeof *m->edge + 1);
    if (!m->edge) return false;
    int32_t n = 0;
    for (int32_t f = 0; f < m->face_count; f++)
        for (int k = 0; k < 3; k++, n++) {
            const int32_t a = m->face[f][k], b = m->face[f][(k + 1) % 3];
            m->edge[n][0] = a < b ? a : b, m->edge[n][1] = a < b ? b : a;
        }
    qsort(m->edge, (size_t)n, sizeof *m->edge, edge_order);
    for (int32_t e = 0; e < n; e++)
        if (e == 0 || edge_order(m->edge[e], m->edge[e - 1]) != 0)
            memmove(m->edge[m->edge_count++], m->edge[e], sizeof *m->edge);
    return true;
}

// Corners of one box of a pair: 1 for a vertex, 2 for an edge, 3 for a face.
static int box_corners(const mesh *m, long double number, int32_t out[3])
{
    const long double edge0 = m->vert_count, face0 = edge0 + m->edge_count, end = face0 + m->face_count;
    if (number < 0 || number >= end) return 0;
    if (number < edge0) return out[0] = (int32_t)number, 1;
    if (number < face0) {
        memcpy(out, m->edge[(int32_t)(number - edge0)], 2 * sizeof *out);
        return 2;
    }
    memcpy(out, m->face[(int32_t)(number - face0)], 3 * sizeof *out);
    return 3;
}

// [[box, box], ...]
static tl_status read_pairs(const char *path, const char *name, bool edges, const mesh m[2], ccd_sets *out,
                            tl_error *err)
{
    text t;
    tl_status status = text_open(path, &t, err);
    if (status != TL_OK) return status;
    int32_t commas = 0;
    for (const char *c = t.data; c < t.end; c++) commas += *c == ',';
    ccd_set *set = bench_ccd_add(out, name, edges, (commas + 1) / 2);
    if (!set) status = fail(err, TL_NO_MEMORY, "%s: out of memory", path);
    int32_t count = 0;
    while (status == TL_OK && text_skip(&t, "[],")) {
        long double box[2];
        if (!text_integer(&t, &box[0]) || !text_skip(&t, ",") || !text_integer(&t, &box[1])) {
            status = text_fail(&t, err, "the number of a box");
            break;
        }
        int32_t v[6];
        const int first = box_corners(&m[0], box[0], v), second = first ? box_corners(&m[0], box[1], v + first) : 0;
        if (first != (edges ? 2 : 1) || second != (edges ? 2 : 3) || count >= set->count) {
            status = fail(err, TL_BAD_INPUT, "%s:%d: boxes %.0Lf and %.0Lf are no %s", path, t.line, box[0], box[1],
                          edges ? "two edges" : "vertex and face");
            break;
        }
        for (int k = 0; k < 4; k++) {
            set->queries[count].x0[k] = m[0].x[v[k]];
            set->queries[count].x1[k] = m[1].x[v[k]];
        }
        count++;
    }
    if (set) set->count = count;
    text_close(&t);
    return status;
}

// frames/ANYTHINGstep.ply, whatever stands before the number
static bool find_frame(const char *scene, long step, char *out)
{
    char folder[PATH_SIZE];
    snprintf(folder, sizeof folder, "%.900s/frames", scene);
    DIR *dir = opendir(folder);
    if (!dir) return false;
    bool found = false;
    for (struct dirent *entry; !found && (entry = readdir(dir)) != NULL;) {
        if (!has_end(entry->d_name, ".ply")) continue;
        const char *digit = entry->d_name + strlen(entry->d_name) - 4;
        while (digit > entry->d_name && isdigit((unsigned char)digit[-1])) digit--;
        if (!isdigit((unsigned char)*digit) || strtol(digit, NULL, 10) != step) continue;
        snprintf(out, PATH_SIZE, "%.700s/%.255s", folder, entry->d_name);
        found = true;
    }
    closedir(dir);
    return found;
}

static tl_status read_boxes(const char *path, const char *scene, const char *name, bool edges, ccd_sets *out,
                            tl_error *err)
{
    mesh m[2] = {0};
    const long step = strtol(base_of(path), NULL, 10);
    tl_status status = TL_OK;
    for (int k = 0; k < 2 && status == TL_OK; k++) {
        char frame[PATH_SIZE];
        if (!find_frame(scene, step + k, frame))
            status =
                fail(err, TL_BAD_INPUT, "%s: there is no %s/frames/*%ld.ply that goes with it", path, scene, step + k);
        else
            status = read_ply(frame, &m[k], err);
    }
    if (status == TL_OK && (m[0].vert_count != m[1].vert_count || m[0].face_count != m[1].face_count))
        status = fail(err, TL_BAD_INPUT, "%s: the frames of the two steps differ in their counts", path);
    if (status == TL_OK && !make_edges(&m[0])) status = fail(err, TL_NO_MEMORY, "%s: out of memory", path);
    if (status == TL_OK) status = read_pairs(path, name, edges, m, out, err);
    mesh_free(&m[0]), mesh_free(&m[1]);
    return status;
}

// --- which file is what -----------------------------------------------------------------------------------

static tl_status read_file(const char *path, bool given, ccd_sets *out, tl_error *err)
{
    char folder[PATH_SIZE], scene[PATH_SIZE], stem[PATH_SIZE], other[2 * PATH_SIZE + 64];
    folder_of(path, 1, folder);
    folder_of(path, 2, scene);
    const char *kind = base_of(folder), *name = base_of(scene);
    snprintf(stem, sizeof stem, "%s", base_of(path));
    char *dot = strrchr(stem, '.');
    const bool csv = dot && strcmp(dot, ".csv") == 0, json = dot && strcmp(dot, ".json") == 0;
    if (dot) *dot = '\0';
    const bool ee = has_end(stem, "ee"), vf = has_end(stem, "vf");
    if (csv && (strcmp(kind, "edge-edge") == 0 || strcmp(kind, "vertex-face") == 0))
        return read_csv(path, name, kind[0] == 'e', true, out, err);
    const bool queries = csv && (ee || vf) && strcmp(kind, "queries") == 0;
    const bool boxes = json && (ee || vf) && strcmp(kind, "boxes") == 0;
    if (!queries && !boxes) {
        if (!given) return TL_OK;
        return fail(err, TL_BAD_INPUT,
                    "%s: not a file of queries: expected edge-edge/*.csv, vertex-face/*.csv, "
                    "queries/*ee.csv, queries/*vf.csv, "
                    "boxes/*ee.json or boxes/*vf.json",
                    path);
    }
    if (boxes && !given) {
        snprintf(other, sizeof other, "%s/queries/%s.csv", scene, stem);
        if (exists(other)) return TL_OK;  // the same queries
    }
    tl_status status =
        queries ? read_csv(path, name, ee, false, out, err) : read_boxes(path, scene, name, ee, out, err);
    if (status != TL_OK) return status;
    ccd_set *set = &out->items[out->count - 1];
    snprintf(other, sizeof other, "%s/mma_bool/%s_mma_bool.json", scene, stem);
    status = read_truth(other, set, err);
    snprintf(other, sizeof other, "%s/toi/%s_toi.csv", scene, stem);
    if (status == TL_OK && exists(other)) status = read_times(other, set, err);
    return status;
}

static int visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static tl_status read_path(const char *path, int depth, ccd_sets *out, tl_error *err)
{
    struct stat info;
    if (stat(path, &info) != 0) return fail(err, TL_IO, "%s: cannot be opened: %s", path, strerror(errno));
    if (!S_ISDIR(info.st_mode)) return read_file(path, depth == 0, out, err);
    if (depth > DEPTH_MAX) return TL_OK;
    struct dirent **entries = NULL;
    const int count = scandir(path, &entries, visible, alphasort);
    if (count < 0) return fail(err, TL_IO, "%s: cannot be read: %s", path, strerror(errno));
    tl_status status = TL_OK;
    for (int k = 0; k < count; k++) {
        char child[PATH_SIZE];
        const int length = snprintf(child, sizeof child, "%s/%s", path, entries[k]->d_name);
        if (status == TL_OK && length >= PATH_SIZE / 2)
            status = fail(err, TL_BAD_INPUT, "%.200s...: the path is too long", path);
        if (status == TL_OK) status = read_path(child, depth + 1, out, err);
        free(entries[k]);
    }
    free(entries);
    return status;
}

tl_status bench_ccd_read(const char *path, ccd_sets *out, tl_error *err)
{
    *out = (ccd_sets){0};
    tl_status status = TL_OK;
    if (strlen(path) >= PATH_SIZE / 2) status = fail(err, TL_BAD_INPUT, "%.200s...: the path is too long", path);
    if (status == TL_OK) status = read_path(path, 0, out, err);
    if (status == TL_OK && out->count == 0) status = fail(err, TL_BAD_INPUT, "%s: no queries found below it", path);
    if (status != TL_OK) bench_ccd_free(out);
    return status;
}
