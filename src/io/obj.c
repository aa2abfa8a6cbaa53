// io/obj.c: cloth meshes as OBJ, reader. Linear time and memory; two million faces in about a second.

#include "io/obj.h"
#include "io/other_format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/fail.h"

enum { NO_VT = -1, MAX_NODES_PER_VT = 64 };  // panels may lie on each other; a mesh with one dummy vt is useless

typedef struct parser {
    const char *path, *text, *end;
    const char *p;  ///< reading position, inside the current line
    const char *line_start;
    int64_t line;
    tl_obj_mode mode;
    tl_obj *obj;
    int32_t (*corner)[2];  ///< (node, vt) of every corner, three per face
    int32_t corner_cap;
    int32_t uv_count;      ///< vt lines so far
    int32_t last_face;     ///< first triangle of the last polygon, -1: none yet
    int32_t last_edge[2];  ///< nodes of the last e line; -1: none yet
    bool any_vt, any_bare;
    int64_t bare_line;
    tl_error *err;
} parser;

// "mesh.obj:12: f 1 2 900: vertex 900, there are only 4"
static tl_status bad(const parser *ps, const char *what)
{
    const char *end = ps->line_start;
    while (end < ps->end && *end != '\n' && *end != '\r' && end - ps->line_start < 80) end++;
    char shown[96];
    size_t n = 0;
    for (const char *c = ps->line_start; c < end; c++) shown[n++] = (unsigned char)*c < 0x20 ? ' ' : *c;
    shown[n] = 0;
    return tl_fail(ps->err, TL_BAD_INPUT, "%s:%lld: \"%s\": %s", ps->path, (long long)ps->line, shown, what);
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

// To the next token of the line; false at its end. A backslash at the end of a line joins the next one.
static bool next_token(parser *ps)
{
    for (;;) {
        while (ps->p < ps->end && is_space(*ps->p)) ps->p++;
        if (ps->p == ps->end || *ps->p == '\n' || *ps->p == '#') return false;
        if (*ps->p != '\\') return true;
        const char *q = ps->p + 1;
        while (q < ps->end && is_space(*q)) q++;
        if (q == ps->end || *q != '\n') return true;
        ps->p = q + 1;
        ps->line++;
    }
}

static const char *token_end(const parser *ps)
{
    const char *q = ps->p;
    while (q < ps->end && *q != '\n' && !is_space(*q)) q++;
    return q;
}

static void skip_line(parser *ps)
{
    const char *newline = ps->p < ps->end ? memchr(ps->p, '\n', (size_t)(ps->end - ps->p)) : NULL;
    ps->p = newline ? newline : ps->end;
}

// nan, inf, infinity with a sign or without.
static bool is_not_finite_word(const char *p, const char *end)
{
    if (p < end && (*p == '-' || *p == '+')) p++;
    const size_t n = (size_t)(end - p);
    return n >= 3 && n <= 8 && (strncasecmp(p, "nan", 3) == 0 || strncasecmp(p, "inf", 3) == 0);
}

static tl_status read_number(parser *ps, const char *what, double *out)
{
    char message[160];
    if (!next_token(ps)) {
        snprintf(message, sizeof message, "%s: a number is missing", what);
        return bad(ps, message);
    }
    const char *end = token_end(ps);
    const char *behind = tl_parse_double(ps->p, end, out);
    const int shown = end - ps->p > 40 ? 40 : (int)(end - ps->p);
    if (ps->mode == TL_OBJ_LENIENT && is_not_finite_word(ps->p, end))
        *out = (double)NAN;  // counted by whoever looks
    else if (behind != end || !isfinite(*out)) {
        snprintf(message, sizeof message, "%s %.*s, must be a finite number", what, shown, ps->p);
        return bad(ps, message);
    }
    if (ps->mode != TL_OBJ_LENIENT && fabs(*out) > TL_OBJ_MAX_COORD) {
        snprintf(message, sizeof message, "%s %.*s, must be in [-1e9, 1e9]", what, shown, ps->p);
        return bad(ps, message);
    }
    ps->p = end;
    return TL_OK;
}

static tl_status read_label(parser *ps, const char *what, int32_t *out)
{
    char message[160];
    int64_t value = 0;
    const bool there = next_token(ps);
    const char *end = token_end(ps);
    if (!there || tl_parse_int(ps->p, end, &value) != end || value < 0 || value > INT32_MAX) {
        snprintf(message, sizeof message, "%s %.*s, must be a whole number >= 0", what,
                 there ? (int)(end - ps->p > 40 ? 40 : end - ps->p) : 0, ps->p);
        return bad(ps, message);
    }
    ps->p = end;
    *out = (int32_t)value;
    return TL_OK;
}

static tl_status too_many(const parser *ps, int64_t count, const char *what)
{
    if (count < INT32_MAX / 3 - 1) return tl_fail_memory(ps->err, what);
    return tl_fail(ps->err, TL_BAD_INPUT, "%s:%lld: more than %d %s", ps->path, (long long)ps->line, INT32_MAX / 3,
                   what);
}

static tl_status read_node(parser *ps)
{
    tl_obj *obj = ps->obj;
    tl_vec3 x = {0};
    TL_TRY(read_number(ps, "x", &x.x));
    TL_TRY(read_number(ps, "y", &x.y));
    TL_TRY(read_number(ps, "z", &x.z));
    if (obj->node_count >= INT32_MAX / 3 - 1 || !TL_GROW(&obj->alloc, obj->pos, obj->pos_cap, obj->node_count + 1))
        return too_many(ps, obj->node_count, "nodes");
    obj->pos[obj->node_count++] = x;
    return TL_OK;
}

static tl_status read_uv(parser *ps)
{
    tl_obj *obj = ps->obj;
    tl_vec2 u = {0};
    TL_TRY(read_number(ps, "u", &u.x));
    TL_TRY(read_number(ps, "v", &u.y));
    if (ps->uv_count >= INT32_MAX / 3 - 1 || !TL_GROW(&obj->alloc, obj->uv, obj->uv_cap, ps->uv_count + 1))
        return too_many(ps, ps->uv_count, "material vertices");
    obj->uv[ps->uv_count++] = u;
    return TL_OK;
}

// One index of a corner, from 1, or from the end when negative; into an id from 0.
static tl_status read_index(parser *ps, const char **at, const char *end, int32_t count, const char *what, int32_t *out)
{
    char message[160];
    int64_t value = 0;
    const char *behind = tl_parse_int(*at, end, &value);
    if (!behind || value == 0 || value > INT32_MAX / 3 || (value < 0 && -value > count)) {
        snprintf(message, sizeof message, "%s %.*s, must be 1 to %d (or -1 to -%d)", what,
                 (int)(end - *at > 40 ? 40 : end - *at), *at, count, count);
        return bad(ps, message);
    }
    *out = (int32_t)(value > 0 ? value - 1 : count + value);  // forward references are checked at the end
    *at = behind;
    return TL_OK;
}

// v, v/vt, v//vn, v/vt/vn
static tl_status read_corner(parser *ps, int32_t out[2])
{
    const char *end = token_end(ps), *at = ps->p;
    TL_TRY(read_index(ps, &at, end, ps->obj->node_count, "node", &out[0]));
    out[1] = NO_VT;
    if (at < end && *at == '/' && ps->mode == TL_OBJ_BODY) at = end;  // nor is vt
    if (at < end && *at == '/') {
        at++;
        if (at < end && *at != '/') TL_TRY(read_index(ps, &at, end, ps->uv_count, "vt", &out[1]));
        if (at < end && *at == '/') at = end;  // the normal is not ours
    }
    if (at != end) return bad(ps, "a corner must read v, v/vt, v//vn or v/vt/vn");
    if (out[1] == NO_VT && !ps->any_bare) ps->any_bare = true, ps->bare_line = ps->line;
    if (out[1] != NO_VT) ps->any_vt = true;
    ps->p = end;
    return TL_OK;
}

static tl_status read_face(parser *ps)
{
    tl_obj *obj = ps->obj;
    int32_t corner[3][2];
    int count = 0;
    ps->last_face = obj->face_count;
    while (next_token(ps)) {
        TL_TRY(read_corner(ps, corner[count < 2 ? count : 2]));
        if (++count < 3) continue;
        if (obj->face_count >= INT32_MAX / 3 - 1) return too_many(ps, INT32_MAX, "faces");
        if (!TL_GROW(&obj->alloc, ps->corner, ps->corner_cap, 3 * (int64_t)obj->face_count + 3))
            return tl_fail_memory(ps->err, "faces");
        memcpy(ps->corner[3 * obj->face_count++], corner, sizeof corner);
        memcpy(corner[1], corner[2], sizeof corner[1]);  // a fan: the next triangle shares the first and last
    }
    return count >= 3 ? TL_OK : bad(ps, "a face needs three corners or more");
}

static tl_status read_velocity(parser *ps)
{
    tl_obj *obj = ps->obj;
    if (obj->node_count == 0) return bad(ps, "there is no v before it");
    tl_vec3 v = {0};
    TL_TRY(read_number(ps, "x", &v.x));
    TL_TRY(read_number(ps, "y", &v.y));
    TL_TRY(read_number(ps, "z", &v.z));
    const int32_t old = obj->vel_cap;
    if (!TL_GROW(&obj->alloc, obj->vel, obj->vel_cap, obj->node_count)) return tl_fail_memory(ps->err, "velocities");
    if (obj->vel_cap > old) memset(obj->vel + old, 0, (size_t)(obj->vel_cap - old) * sizeof *obj->vel);
    obj->vel[obj->node_count - 1] = v;
    return TL_OK;
}

static bool grow_labels(const tl_allocator *alloc, int32_t **labels, int32_t *cap, int32_t need)
{
    const int32_t old = *cap;
    if (!TL_GROW(alloc, *labels, *cap, need)) return false;
    if (*cap > old) memset(*labels + old, 0, (size_t)(*cap - old) * sizeof **labels);
    return true;
}

static tl_status read_node_label(parser *ps)
{
    tl_obj *obj = ps->obj;
    if (obj->node_count == 0) return bad(ps, "there is no v before it");
    int32_t label;
    TL_TRY(read_label(ps, "node label", &label));
    if (!grow_labels(&obj->alloc, &obj->node_label, &obj->node_label_cap, obj->node_count))
        return tl_fail_memory(ps->err, "labels");
    obj->node_label[obj->node_count - 1] = label;
    return TL_OK;
}

static tl_status read_face_label(parser *ps)
{
    tl_obj *obj = ps->obj;
    if (ps->last_face < 0) return bad(ps, "there is no f before it");
    int32_t label;
    TL_TRY(read_label(ps, "face label", &label));
    if (!grow_labels(&obj->alloc, &obj->face_label, &obj->face_label_cap, obj->face_count))
        return tl_fail_memory(ps->err, "labels");
    for (int32_t f = ps->last_face; f < obj->face_count; f++) obj->face_label[f] = label;
    return TL_OK;
}

static tl_status read_pinched(parser *ps)
{
    tl_obj *obj = ps->obj;
    int32_t node;
    TL_TRY(read_label(ps, "node", &node));
    if (node >= obj->node_count) return bad(ps, "there is no such node before it");
    if (!TL_GROW(&obj->alloc, obj->pinched, obj->pinched_cap, obj->pinched_count + 1))
        return tl_fail_memory(ps->err, "pinched nodes");
    obj->pinched[obj->pinched_count++] = node;
    return TL_OK;
}

// Indices that are no numbers of nodes are not looked at: in other files e lines mean other things.
static tl_status read_edge(parser *ps)
{
    for (int k = 0; k < 2; k++) {
        int64_t node = 0;
        const bool there = next_token(ps);
        const char *end = token_end(ps);
        const bool ok = there && tl_parse_int(ps->p, end, &node) == end && node >= 1 && node <= ps->obj->node_count;
        ps->last_edge[k] = ok ? (int32_t)node - 1 : -1;
        ps->p = end;
    }
    return TL_OK;
}

static tl_status read_edge_label(parser *ps)
{
    tl_obj *obj = ps->obj;
    int32_t label;
    TL_TRY(read_label(ps, "edge label", &label));
    if (ps->last_edge[0] < 0 || ps->last_edge[1] < 0) return bad(ps, "there is no e before it that names two nodes");
    if (label == 0) return TL_OK;
    if (!TL_GROW(&obj->alloc, obj->edge, obj->edge_cap, obj->edge_count + 1) ||
        !TL_GROW(&obj->alloc, obj->edge_label, obj->edge_label_cap, obj->edge_count + 1))
        return tl_fail_memory(ps->err, "edges");
    memcpy(obj->edge[obj->edge_count], ps->last_edge, sizeof ps->last_edge);
    obj->edge_label[obj->edge_count++] = label;
    return TL_OK;
}

// Is any number of the line not zero?
static void look_for_plastic(parser *ps)
{
    bool any = false;
    while (!any && next_token(ps)) {
        double value = 0;
        const char *end = token_end(ps);
        any = tl_parse_double(ps->p, end, &value) == end && value != 0;
        ps->p = end;
    }
    if (any && ps->obj->plastic_lines++ == 0) ps->obj->first_plastic_line = ps->line;
}

static bool is_plastic(const char *word, size_t size)
{
    static const char *const known[] = {"ny", "ea", "ed", "ts", "fs", "td", "fd", NULL};
    for (int i = 0; known[i]; i++)
        if (size == 2 && memcmp(known[i], word, 2) == 0) return true;
    return false;
}

static bool is_skipped(const char *word, size_t size)
{
    static const char *const known[] = {"vn", "g", "o", "s", "usemtl", "mtllib", "vp", "vl", "e", "el", "l", "p", NULL};
    for (int i = 0; known[i]; i++)
        if (strlen(known[i]) == size && memcmp(known[i], word, size) == 0) return true;
    return false;
}

static tl_status read_line(parser *ps)
{
    if (!next_token(ps)) return TL_OK;
    const char *word = ps->p;
    ps->p = token_end(ps);
    const size_t size = (size_t)(ps->p - word);
#define IS(text) (size == sizeof text - 1 && memcmp(word, text, sizeof text - 1) == 0)
    if (IS("v")) return read_node(ps);
    if (IS("f")) return read_face(ps);
    if (ps->mode == TL_OBJ_BODY && (IS("vt") || IS("nv") || IS("nl") || IS("fl") || IS("tl") || IS("e") || IS("el")))
        return TL_OK;
    if (IS("vt")) return read_uv(ps);
    if (IS("nv")) return read_velocity(ps);
    if (IS("nl")) return read_node_label(ps);
    if (IS("np")) return read_pinched(ps);
    if (IS("fl") || IS("tl")) return read_face_label(ps);
    if (IS("na")) {
        ps->obj->absent = true;
        return TL_OK;
    }
    if (IS("nm")) {
        ps->obj->moves = true;
        return TL_OK;
    }
    if (IS("e")) return read_edge(ps);
    if (IS("el")) return read_edge_label(ps);
#undef IS
    if (is_plastic(word, size)) {
        look_for_plastic(ps);
        return TL_OK;
    }
    if (!is_skipped(word, size) && ps->obj->unknown_lines++ == 0) ps->obj->first_unknown_line = ps->line;
    return TL_OK;
}

static tl_status read_lines(parser *ps)
{
    while (ps->p < ps->end) {
        ps->line++;
        ps->line_start = ps->p;
        TL_TRY(read_line(ps));
        skip_line(ps);
        if (ps->p < ps->end) ps->p++;
    }
    return TL_OK;
}

// Reading again, only to say where the wanted node or face was; leaves the parser on its line.
static void find_line(parser *ps, int32_t node, int32_t face)
{
    int32_t nodes = 0, faces = 0;
    ps->p = ps->text, ps->line = 0;
    while (ps->p < ps->end) {
        ps->line++;
        ps->line_start = ps->p;
        if (next_token(ps)) {
            const char *word = ps->p;
            ps->p = token_end(ps);
            const bool is_v = ps->p - word == 1 && *word == 'v', is_f = ps->p - word == 1 && *word == 'f';
            nodes += is_v;
            if (is_v && node >= 0 && nodes > node) return;
            if (is_f) {
                int corners = 0;
                for (; next_token(ps); corners++) ps->p = token_end(ps);
                faces += corners - 2;
                if (face >= 0 && faces > face) return;
            }
        }
        skip_line(ps);
        if (ps->p < ps->end) ps->p++;
    }
}

// Corners that name the same node and the same vt are one vertex; numbered by vt, then by first use.
static tl_status join_corners(parser *ps)
{
    tl_obj *obj = ps->obj;
    const tl_allocator *alloc = &obj->alloc;
    const int32_t corners = 3 * obj->face_count;
    int32_t *first = TL_ALLOC(alloc, int32_t, ps->uv_count);  // per vt: its first vertex, in order of first use
    int32_t *last = TL_ALLOC(alloc, int32_t, ps->uv_count);
    int32_t *node = NULL, *next = NULL, *order = NULL;
    int32_t node_cap = 0, next_cap = 0, count = 0;
    tl_status status = first && last ? TL_OK : tl_fail_memory(ps->err, "vertices");
    for (int32_t i = 0; status == TL_OK && i < ps->uv_count; i++) first[i] = last[i] = -1;
    for (int32_t c = 0; status == TL_OK && c < corners; c++) {
        const int32_t n = ps->corner[c][0], t = ps->corner[c][1];
        int32_t v = first[t], tried = 0;
        while (v >= 0 && node[v] != n) v = next[v], tried++;
        if (tried > MAX_NODES_PER_VT) {
            find_line(ps, -1, c / 3);
            char message[160];
            snprintf(message, sizeof message, "vt %d is shared by more than %d nodes (give every node its own)", t + 1,
                     MAX_NODES_PER_VT);
            status = bad(ps, message);
        } else if (v < 0) {
            if (!TL_GROW(alloc, node, node_cap, count + 1) || !TL_GROW(alloc, next, next_cap, count + 1)) {
                status = tl_fail_memory(ps->err, "vertices");
                break;
            }
            v = count++;
            node[v] = n, next[v] = -1;
            if (last[t] >= 0)
                next[last[t]] = v;
            else
                first[t] = v;
            last[t] = v;
        }
        ps->corner[c][1] = v;
    }
    tl_vec2 *uv = status == TL_OK ? TL_ALLOC(alloc, tl_vec2, count) : NULL;
    obj->vert_node = uv ? TL_ALLOC(alloc, int32_t, count) : NULL;
    order = obj->vert_node ? TL_ALLOC(alloc, int32_t, count) : NULL;
    obj->vert_count = obj->vert_cap = obj->vert_node ? count : 0;
    if (status == TL_OK && !order) status = tl_fail_memory(ps->err, "vertices");
    if (status == TL_OK) {
        int32_t id = 0;
        for (int32_t t = 0; t < ps->uv_count; t++)
            for (int32_t v = first[t]; v >= 0; v = next[v]) {
                order[v] = id;
                uv[id] = obj->uv[t];
                obj->vert_node[id++] = node[v];
            }
        for (int32_t c = 0; c < corners; c++) obj->face[c / 3][c % 3] = order[ps->corner[c][1]];
        TL_FREE(alloc, obj->uv, obj->uv_cap);
        obj->uv = uv, obj->uv_cap = count;
    } else {
        TL_FREE(alloc, uv, count);
    }
    TL_FREE(alloc, first, ps->uv_count);
    TL_FREE(alloc, last, ps->uv_count);
    TL_FREE(alloc, node, node_cap);
    TL_FREE(alloc, next, next_cap);
    TL_FREE(alloc, order, count);
    return status;
}

// No vt anywhere: x, y of the nodes.
static tl_status flat_corners(parser *ps)
{
    tl_obj *obj = ps->obj;
    if (!TL_GROW(&obj->alloc, obj->uv, obj->uv_cap, obj->node_count) ||
        !TL_GROW(&obj->alloc, obj->vert_node, obj->vert_cap, obj->node_count))
        return tl_fail_memory(ps->err, "vertices");
    obj->vert_count = obj->node_count;
    for (int32_t i = 0; i < obj->node_count; i++) {
        obj->uv[i] = (tl_vec2){obj->pos[i].x, obj->pos[i].y};
        obj->vert_node[i] = i;
    }
    for (int32_t f = 0; f < obj->face_count; f++)
        for (int k = 0; k < 3; k++) obj->face[f][k] = ps->corner[3 * f + k][0];
    return TL_OK;
}

static tl_status check_indices(parser *ps)
{
    tl_obj *obj = ps->obj;
    char message[160];
    for (int32_t c = 0; c < 3 * obj->face_count; c++) {
        const int32_t n = ps->corner[c][0], t = ps->corner[c][1];
        if (n < obj->node_count && t < ps->uv_count) continue;
        const bool is_node = n >= obj->node_count;
        snprintf(message, sizeof message, "%s %d, there are only %d", is_node ? "node" : "vt", (is_node ? n : t) + 1,
                 is_node ? obj->node_count : ps->uv_count);
        find_line(ps, -1, c / 3);
        return bad(ps, message);
    }
    return TL_OK;
}

// What a simulation cannot use, told here because only here the line is known.
static tl_status check_usable(parser *ps)
{
    tl_obj *obj = ps->obj;
    for (int32_t f = 0; f < obj->face_count; f++) {
        const int32_t *v = obj->face[f];
        const int32_t a = obj->vert_node[v[0]], b = obj->vert_node[v[1]], c = obj->vert_node[v[2]];
        if (a == b || b == c || c == a) {
            find_line(ps, -1, f);
            return bad(ps, "a face names the same node twice");
        }
        const tl_vec2 p = obj->uv[v[0]], q = obj->uv[v[1]], r = obj->uv[v[2]];
        const double area = (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x);
        if (area == 0 && ps->any_vt) {
            find_line(ps, -1, f);
            return bad(ps, "the face has no area in material space (vt)");
        }
    }
    uint8_t *used = TL_CALLOC(&obj->alloc, uint8_t, obj->node_count);
    if (!used) return tl_fail_memory(ps->err, "a mark per node");
    for (int32_t f = 0; f < obj->face_count; f++)
        for (int k = 0; k < 3; k++) used[obj->vert_node[obj->face[f][k]]] = 1;
    int32_t lost = 0;
    while (lost < obj->node_count && used[lost]) lost++;
    TL_FREE(&obj->alloc, used, obj->node_count);
    if (lost == obj->node_count) return TL_OK;
    find_line(ps, lost, -1);
    return bad(ps, "the node is in no face (remove it)");
}

static tl_status finish(parser *ps)
{
    tl_obj *obj = ps->obj;
    if (obj->face_count == 0 && obj->absent && ps->mode == TL_OBJ_LENIENT) return flat_corners(ps);
    if (obj->face_count == 0)
        return tl_fail(ps->err, TL_BAD_INPUT, "%s:%lld: no faces (%d nodes), a mesh needs at least one", ps->path,
                       (long long)(ps->line > 0 ? ps->line : 1), obj->node_count);
    if (ps->any_vt && ps->any_bare) {
        ps->line = ps->bare_line;
        return tl_fail(ps->err, TL_BAD_INPUT, "%s:%lld: a corner without vt in a file where others have one", ps->path,
                       (long long)ps->bare_line);
    }
    TL_TRY(check_indices(ps));
    tl_status status = TL_OK;
    if (ps->mode == TL_OBJ_LOOSE) tl_obj_drop_lost(obj, ps->corner, ps->err, &status);
    if (status != TL_OK) return status;
    obj->face = tl_alloc_bytes(&obj->alloc, (size_t)obj->face_count, sizeof *obj->face);
    if (!obj->face) return tl_fail_memory(ps->err, "faces");
    obj->face_cap = obj->face_count;
    obj->has_uv = ps->any_vt;
    TL_TRY(ps->any_vt ? join_corners(ps) : flat_corners(ps));
    if (obj->face_label && !grow_labels(&obj->alloc, &obj->face_label, &obj->face_label_cap, obj->face_count))
        return tl_fail_memory(ps->err, "labels");
    if (obj->node_label && !grow_labels(&obj->alloc, &obj->node_label, &obj->node_label_cap, obj->node_count))
        return tl_fail_memory(ps->err, "labels");
    const int32_t old = obj->vel_cap;
    if (obj->vel && !TL_GROW(&obj->alloc, obj->vel, obj->vel_cap, obj->node_count))
        return tl_fail_memory(ps->err, "velocities");
    if (obj->vel && obj->vel_cap > old) memset(obj->vel + old, 0, (size_t)(obj->vel_cap - old) * sizeof *obj->vel);
    return ps->mode == TL_OBJ_STRICT || ps->mode == TL_OBJ_LOOSE ? check_usable(ps) : TL_OK;
}

tl_status tl_obj_parse(const tl_allocator *alloc, const char *path, const char *text, size_t size, tl_obj_mode mode,
                       tl_obj *out, tl_error *err)
{
    *out = (tl_obj){.alloc = *alloc};
    parser ps = {.path = path,
                 .text = text,
                 .end = text + size,
                 .p = text,
                 .line_start = text,
                 .mode = mode,
                 .obj = out,
                 .last_face = -1,
                 .last_edge = {-1, -1},
                 .err = err};
    const char *other = tl_other_format(path, text, size);
    if (other)
        return tl_fail(err, TL_BAD_INPUT, "%s: is %s, and an OBJ file is needed here (export it as Wavefront OBJ)",
                       path, other);
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) ps.p += 3;
    tl_status status = read_lines(&ps);
    if (status == TL_OK) status = finish(&ps);
    TL_FREE(alloc, ps.corner, ps.corner_cap);
    if (status != TL_OK) tl_obj_free(out);
    return status;
}

void tl_obj_free(tl_obj *obj)
{
    const tl_allocator alloc = obj->alloc;
    TL_FREE(&alloc, obj->pos, obj->pos_cap);
    TL_FREE(&alloc, obj->vel, obj->vel_cap);
    TL_FREE(&alloc, obj->node_label, obj->node_label_cap);
    TL_FREE(&alloc, obj->uv, obj->uv_cap);
    TL_FREE(&alloc, obj->vert_node, obj->vert_cap);
    TL_FREE(&alloc, obj->face, obj->face_cap);
    TL_FREE(&alloc, obj->face_label, obj->face_label_cap);
    TL_FREE(&alloc, obj->pinched, obj->pinched_cap);
    TL_FREE(&alloc, obj->edge, obj->edge_cap);
    TL_FREE(&alloc, obj->place, obj->place_count);
    TL_FREE(&alloc, obj->turned, obj->turned_count);
    TL_FREE(&alloc, obj->edge_label, obj->edge_label_cap);
    *obj = (tl_obj){.alloc = alloc};
}
