// io/dxf.c: DXF as drawings of pieces need it.

#include "io/dxf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

static const double PI = 3.14159265358979323846;

void tl_dxf_init(tl_dxf *dxf, const char *path, const char *text, size_t size)
{
    *dxf = (tl_dxf){.path = path, .at = text, .end = text + size};
}

tl_status tl_dxf_fail(const tl_dxf *dxf, tl_error *err, const char *what)
{
    return tl_fail(err, TL_BAD_INPUT, "%s:%lld: '%.*s' %s", dxf->path, (long long)dxf->line,
                   (int)(dxf->size < 60 ? dxf->size : 60), dxf->value ? dxf->value : "", what);
}

static bool read_line(tl_dxf *dxf, const char **text, size_t *size)
{
    if (dxf->at >= dxf->end) return false;
    const char *end = memchr(dxf->at, '\n', (size_t)(dxf->end - dxf->at));
    if (!end) end = dxf->end;
    const char *a = dxf->at, *b = end;
    while (a < b && (*a == ' ' || *a == '\t')) a++;
    while (b > a && (b[-1] == ' ' || b[-1] == '\r' || b[-1] == '\t')) b--;
    *text = a, *size = (size_t)(b - a);
    dxf->at = end < dxf->end ? end + 1 : end;
    dxf->line++;
    return true;
}

static tl_status next_pair(tl_dxf *dxf, tl_error *err)
{
    const char *code;
    size_t size;
    do {  // blank lines at the end of a file
        if (!read_line(dxf, &code, &size)) {
            dxf->done = true;
            dxf->value = "", dxf->size = 0, dxf->code = 0;
            return TL_OK;
        }
    } while (size == 0 && dxf->at >= dxf->end);
    int64_t number;
    const char *behind = tl_parse_int(code, code + size, &number);
    dxf->value = code, dxf->size = size;
    if (!behind || behind != code + size || number < -10 || number > 2000)
        return tl_dxf_fail(dxf, err, "must be a group code (a number) of a DXF file in text form");
    if (!read_line(dxf, &dxf->value, &dxf->size)) return tl_dxf_fail(dxf, err, "is a group code without a value");
    dxf->code = (int32_t)number;
    return TL_OK;
}

tl_status tl_dxf_next(tl_dxf *dxf, tl_error *err)
{
    for (;;) {
        TL_TRY(next_pair(dxf, err));
        if (dxf->done || dxf->code != 999) return TL_OK;
        if (!dxf->comments || dxf->size < 6 || memcmp(dxf->value, "TOILE ", 6) != 0) continue;
        tl_buf_add(dxf->comments, dxf->value + 6, dxf->size - 6);
        tl_buf_text(dxf->comments, "\n");
    }
}

bool tl_dxf_is(const tl_dxf *dxf, const char *text)
{
    return strlen(text) == dxf->size && memcmp(dxf->value, text, dxf->size) == 0;
}

tl_status tl_dxf_real(const tl_dxf *dxf, double *out, tl_error *err)
{
    const char *start = dxf->size > 0 && dxf->value[0] == '+' ? dxf->value + 1 : dxf->value;
    const char *behind = tl_parse_double(start, dxf->value + dxf->size, out);
    if (!behind || behind != dxf->value + dxf->size || !isfinite(*out))
        return tl_dxf_fail(dxf, err, "must be a finite number");
    return TL_OK;
}

tl_status tl_dxf_int(const tl_dxf *dxf, int32_t *out, tl_error *err)
{
    double x = 0;
    TL_TRY(tl_dxf_real(dxf, &x, err));
    *out = fabs(x) < 1e9 ? (int32_t)x : 0;
    return TL_OK;
}

// --- entities --------------------------------------------------------------------------------------------

static void copy_text(const tl_dxf *dxf, char *out, size_t size)
{
    snprintf(out, size, "%.*s", (int)(dxf->size < size - 1 ? dxf->size : size - 1), dxf->value);
}

static tl_status add_vertex(const tl_allocator *alloc, tl_dxf_entity *e, tl_vec2 at, tl_error *err)
{
    if (!TL_GROW(alloc, e->pieces, e->cap, e->count + 1)) return tl_fail_memory(err, "a polyline");
    e->pieces[e->count++] = (tl_segment){TL_SEGMENT_LINE, at, at, {{0}}, 0};
    return TL_OK;
}

// Vertices are kept as pieces that have a start and a bulge alone; here they get their ends.
static void join_vertices(tl_dxf_entity *e)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < e->count; i++) {
        if (i + 1 == e->count && !e->closed) break;
        tl_segment s = e->pieces[i];
        s.to = e->pieces[(i + 1) % e->count].from;
        s.kind = s.bulge != 0 ? TL_SEGMENT_ARC : TL_SEGMENT_LINE;
        if (i + 1 == e->count && kept > 0) s.to = e->pieces[0].from;
        if (s.from.x == s.to.x && s.from.y == s.to.y) continue;  // a vertex twice
        if (kept > 0) s.from = e->pieces[kept - 1].to;
        e->pieces[kept++] = s;
    }
    e->count = kept;
}

// A polyline's vertices follow it as entities of their own, up to SEQEND.
static tl_status read_vertices(tl_dxf *dxf, const tl_allocator *alloc, tl_dxf_entity *e, tl_error *err)
{
    while (!dxf->done && dxf->code == 0 && tl_dxf_is(dxf, "VERTEX")) {
        tl_vec2 at = {0};
        double bulge = 0;
        int32_t flags = 0;
        TL_TRY(tl_dxf_next(dxf, err));
        for (; !dxf->done && dxf->code != 0;) {
            if (dxf->code == 10) TL_TRY(tl_dxf_real(dxf, &at.x, err));
            if (dxf->code == 20) TL_TRY(tl_dxf_real(dxf, &at.y, err));
            if (dxf->code == 42) TL_TRY(tl_dxf_real(dxf, &bulge, err));
            if (dxf->code == 70) TL_TRY(tl_dxf_int(dxf, &flags, err));
            TL_TRY(tl_dxf_next(dxf, err));
        }
        if (flags & 16) continue;  // a spline's control point; its curve is there as vertices as well
        TL_TRY(add_vertex(alloc, e, at, err));
        e->pieces[e->count - 1].bulge = bulge;
    }
    if (dxf->code == 0 && tl_dxf_is(dxf, "SEQEND")) {
        TL_TRY(tl_dxf_next(dxf, err));
        while (!dxf->done && dxf->code != 0) TL_TRY(tl_dxf_next(dxf, err));
    }
    return TL_OK;
}

static tl_status read_value(tl_dxf *dxf, const tl_allocator *alloc, tl_dxf_entity *e, tl_error *err)
{
    const bool light = strcmp(e->name, "LWPOLYLINE") == 0;
    switch (dxf->code) {
    case 8: copy_text(dxf, e->layer, sizeof e->layer); return TL_OK;
    case 1: copy_text(dxf, e->text, sizeof e->text); return TL_OK;
    case 2:
        if (e->kind == TL_DXF_INSERT) copy_text(dxf, e->text, sizeof e->text);
        return TL_OK;
    case 10: TL_TRY(tl_dxf_real(dxf, &e->at.x, err)); return light ? add_vertex(alloc, e, e->at, err) : TL_OK;
    case 20:
        TL_TRY(tl_dxf_real(dxf, &e->at.y, err));
        if (light && e->count > 0) e->pieces[e->count - 1].from.y = e->at.y;
        return TL_OK;
    case 11: return tl_dxf_real(dxf, &e->to.x, err);
    case 21: return tl_dxf_real(dxf, &e->to.y, err);
    case 39: return tl_dxf_real(dxf, &e->depth, err);
    case 40: return tl_dxf_real(dxf, &e->radius, err);
    case 41: return tl_dxf_real(dxf, &e->scale.x, err);
    case 42:
        if (light && e->count > 0) return tl_dxf_real(dxf, &e->pieces[e->count - 1].bulge, err);
        return tl_dxf_real(dxf, &e->scale.y, err);
    case 50:
        e->turn_deg = 0;
        TL_TRY(tl_dxf_real(dxf, &e->turn_deg, err));
        e->angle[0] = e->turn_deg;
        return TL_OK;
    case 51: return tl_dxf_real(dxf, &e->angle[1], err);
    case 70: {
        int32_t flags = 0;
        TL_TRY(tl_dxf_int(dxf, &flags, err));
        e->closed = flags & 1;
        return TL_OK;
    }
    default: return TL_OK;
    }
}

static tl_status finish_arc(const tl_allocator *alloc, tl_dxf_entity *e, bool circle, tl_error *err)
{
    // Counter-clockwise from angle[0] to angle[1]; a circle as two halves.
    const double a = circle ? 0 : e->angle[0] * PI / 180;
    double b = circle ? 2 * PI : e->angle[1] * PI / 180;
    while (b <= a) b += 2 * PI;
    const int n = circle || b - a > 3 ? 2 : 1;
    for (int i = 0; i < n; i++) {
        const double u = a + (b - a) * i / n;
        TL_TRY(add_vertex(alloc, e, (tl_vec2){e->at.x + e->radius * cos(u), e->at.y + e->radius * sin(u)}, err));
        e->pieces[e->count - 1].bulge = tan((b - a) / n / 4);
    }
    if (!circle)
        TL_TRY(add_vertex(alloc, e, (tl_vec2){e->at.x + e->radius * cos(b), e->at.y + e->radius * sin(b)}, err));
    e->closed = circle;
    return TL_OK;
}

static tl_dxf_kind kind_of(const char *name)
{
    static const char *const paths[] = {"LINE", "POLYLINE", "LWPOLYLINE", "ARC", "CIRCLE"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (strcmp(name, paths[i]) == 0) return TL_DXF_PATH;
    if (strcmp(name, "POINT") == 0) return TL_DXF_POINT;
    if (strcmp(name, "TEXT") == 0 || strcmp(name, "MTEXT") == 0) return TL_DXF_TEXT;
    return strcmp(name, "INSERT") == 0 ? TL_DXF_INSERT : TL_DXF_OTHER;
}

tl_status tl_dxf_entity_read(tl_dxf *dxf, const tl_allocator *alloc, tl_dxf_entity *e, tl_error *err)
{
    tl_segment *pieces = e->pieces;
    const int32_t cap = e->cap;
    *e = (tl_dxf_entity){.scale = {1, 1}, .line = dxf->line, .pieces = pieces, .cap = cap};
    copy_text(dxf, e->name, sizeof e->name);
    e->kind = kind_of(e->name);
    TL_TRY(tl_dxf_next(dxf, err));
    while (!dxf->done && dxf->code != 0) {
        TL_TRY(read_value(dxf, alloc, e, err));
        TL_TRY(tl_dxf_next(dxf, err));
    }
    if (strcmp(e->name, "POLYLINE") == 0) {
        e->count = 0;
        TL_TRY(read_vertices(dxf, alloc, e, err));
    } else if (strcmp(e->name, "LINE") == 0) {
        TL_TRY(add_vertex(alloc, e, e->at, err));
        TL_TRY(add_vertex(alloc, e, e->to, err));
    } else if (strcmp(e->name, "ARC") == 0 || strcmp(e->name, "CIRCLE") == 0) {
        TL_TRY(finish_arc(alloc, e, strcmp(e->name, "CIRCLE") == 0, err));
    }
    join_vertices(e);
    return TL_OK;
}
