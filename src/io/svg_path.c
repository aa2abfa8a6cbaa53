// io/svg_path.c: the path data and transforms of SVG, as curves in metres.
//
// Lines and Bezier curves stay what they are under a transform. An arc of a circle under a similarity stays one; any
// other arc is an ellipse's and becomes cubic curves that stay within ARC_ERROR of it (SVG 1.1, appendix F.6 for its
// centre).

#include "io/svg_path.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "math/vec3.h"

#define ARC_ERROR 1e-10  // [m]
static const double PI = 3.14159265358979323846;

tl_affine tl_affine_times(tl_affine m, tl_affine n)
{
    return (tl_affine){m.a * n.a + m.c * n.b, m.b * n.a + m.d * n.b,       m.a * n.c + m.c * n.d,
                       m.b * n.c + m.d * n.d, m.a * n.e + m.c * n.f + m.e, m.b * n.e + m.d * n.f + m.f};
}

tl_vec2 tl_affine_point(const tl_affine *m, tl_vec2 p)
{
    return (tl_vec2){m->a * p.x + m->c * p.y + m->e, m->b * p.x + m->d * p.y + m->f};
}

static const char *skip_separators(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r' || *p == ',')) p++;
    return p;
}

bool tl_svg_number(const char **at, const char *end, double *out)
{
    const char *p = skip_separators(*at, end);
    const char *sign = p < end && *p == '+' ? p + 1 : p;
    // no words: the parser of numbers knows inf and nan
    if (sign >= end || !strchr("-.0123456789", *sign)) return false;
    const char *next = tl_parse_double(sign, end, out);
    if (!next || !isfinite(*out)) return false;
    *at = next;
    return true;
}

// --- transforms ------------------------------------------------------------------------------------------

static bool one_transform(tl_slice name, const double *v, int count, tl_affine *out)
{
    if (tl_slice_is(name, "matrix") && count == 6) {
        *out = (tl_affine){v[0], v[1], v[2], v[3], v[4], v[5]};
        return true;
    }
    if (tl_slice_is(name, "translate") && (count == 1 || count == 2)) {
        *out = (tl_affine){1, 0, 0, 1, v[0], count == 2 ? v[1] : 0};
        return true;
    }
    if (tl_slice_is(name, "scale") && (count == 1 || count == 2)) {
        *out = (tl_affine){v[0], 0, 0, count == 2 ? v[1] : v[0], 0, 0};
        return true;
    }
    if (tl_slice_is(name, "rotate") && (count == 1 || count == 3)) {
        const double c = cos(v[0] * PI / 180), s = sin(v[0] * PI / 180), x = count == 3 ? v[1] : 0,
                     y = count == 3 ? v[2] : 0;
        *out = (tl_affine){c, s, -s, c, x - c * x + s * y, y - s * x - c * y};
        return true;
    }
    const bool skew_x = tl_slice_is(name, "skewX"), skew_y = tl_slice_is(name, "skewY");
    if (count != 1 || !(skew_x || skew_y)) return false;
    const double t = tan(v[0] * PI / 180);
    *out = (tl_affine){1, skew_y ? t : 0, skew_x ? t : 0, 1, 0, 0};
    return true;
}

bool tl_svg_transform(tl_slice text, tl_affine *out)
{
    *out = (tl_affine){1, 0, 0, 1, 0, 0};
    const char *p = text.text, *end = p + text.size;
    for (;;) {
        p = skip_separators(p, end);
        if (p >= end) return true;
        const char *name = p;
        while (p < end && ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z'))) p++;
        const tl_slice word = {name, (size_t)(p - name)};
        p = skip_separators(p, end);
        if (p >= end || *p != '(') return false;
        p++;
        double v[6];
        int count = 0;
        while (count < 6 && tl_svg_number(&p, end, &v[count])) count++;
        p = skip_separators(p, end);
        if (p >= end || *p != ')') return false;
        p++;
        tl_affine one;
        if (!one_transform(word, v, count, &one)) return false;
        *out = tl_affine_times(*out, one);
    }
}

// --- pieces ----------------------------------------------------------------------------------------------

void tl_svg_path_free(tl_svg_path *p)
{
    TL_FREE(&p->alloc, p->items, p->cap);
    TL_FREE(&p->alloc, p->joined, p->joined_cap);
    TL_FREE(&p->alloc, p->start, p->start_cap);
    TL_FREE(&p->alloc, p->closed, p->closed_cap);
}

static bool add_piece(tl_path_pen *pen, tl_segment s)
{
    tl_svg_path *p = pen->path;
    if (!pen->open) {
        if (!TL_GROW(&p->alloc, p->start, p->start_cap, p->sub_count + 1)) return false;
        if (!TL_GROW(&p->alloc, p->closed, p->closed_cap, p->sub_count + 1)) return false;
        p->start[p->sub_count] = p->count;
        p->closed[p->sub_count++] = 0;
        pen->open = true;
    }
    if (!TL_GROW(&p->alloc, p->items, p->cap, p->count + 1)) return false;
    if (!TL_GROW(&p->alloc, p->joined, p->joined_cap, p->count + 1)) return false;
    p->joined[p->count] = p->next_joined;
    p->items[p->count++] = s;
    return true;
}

static bool add_whole(tl_path_pen *pen, tl_segment s)
{
    pen->path->next_joined++;
    return add_piece(pen, s);
}

bool tl_path_pen_move(tl_path_pen *pen, tl_vec2 to)
{
    pen->at = pen->start = to;
    pen->open = false;
    return true;
}

bool tl_path_pen_line(tl_path_pen *pen, tl_vec2 to)
{
    const tl_vec2 a = tl_affine_point(pen->m, pen->at), b = tl_affine_point(pen->m, to);
    pen->at = to;
    if (a.x == b.x && a.y == b.y) return true;  // nothing is drawn
    return add_whole(pen, (tl_segment){TL_SEGMENT_LINE, a, b, {{0}}, 0});
}

static bool curve(tl_path_pen *pen, tl_vec2 p, const tl_vec2 *q, tl_vec2 to)
{
    tl_segment s = {q ? TL_SEGMENT_CUBIC : TL_SEGMENT_QUADRATIC,
                    tl_affine_point(pen->m, pen->at),
                    tl_affine_point(pen->m, to),
                    {tl_affine_point(pen->m, p)},
                    0};
    if (q) s.control[1] = tl_affine_point(pen->m, *q);
    pen->at = to;
    return tl_segment_length(&s) == 0 || add_whole(pen, s);
}

// An ellipse's arc as cubics: with angles [t0, t0 + sweep] about the centre, pieces of h each have handles of length
// 4/3 tan(h/4) and are off by about 2/27 (sin(h/4)^6 / cos(h/4)^2) radii (Goldapp 1991).
static bool ellipse_arc(tl_path_pen *pen, const tl_affine *from_unit, double t0, double turn, tl_vec2 to)
{
    const double size = fmax(hypot(from_unit->a, from_unit->b), hypot(from_unit->c, from_unit->d));
    int n = (int)ceil(fabs(turn) / (PI / 2));
    for (n = n < 1 ? 1 : n; n < 512; n++) {
        const double h = fabs(turn) / n / 4, s = sin(h);
        if (size * s * s * s * s * s * s * 2 / 27 / (cos(h) * cos(h)) < ARC_ERROR) break;
    }
    const double h = turn / n, k = 4.0 / 3 * tan(h / 4);
    tl_vec2 last = tl_affine_point(pen->m, pen->at);
    pen->path->next_joined++;
    for (int i = 0; i < n; i++) {
        const double u = t0 + i * h, v = u + h;
        const tl_vec2 p = {cos(u) - k * sin(u), sin(u) + k * cos(u)}, q = {cos(v) + k * sin(v), sin(v) - k * cos(v)};
        const tl_vec2 end =
            i == n - 1 ? tl_affine_point(pen->m, to) : tl_affine_point(from_unit, (tl_vec2){cos(v), sin(v)});
        if (!add_piece(
                pen,
                (tl_segment){
                    TL_SEGMENT_CUBIC, last, end, {tl_affine_point(from_unit, p), tl_affine_point(from_unit, q)}, 0}))
            return false;
        last = end;
    }
    pen->at = to;
    return true;
}

static bool is_similarity(const tl_affine *m)
{
    const double size = fmax(fmax(fabs(m->a), fabs(m->b)), fmax(fabs(m->c), fabs(m->d))), slack = 1e-12 * size;
    return (fabs(m->a - m->d) <= slack && fabs(m->b + m->c) <= slack) ||
           (fabs(m->a + m->d) <= slack && fabs(m->b - m->c) <= slack);
}

bool tl_path_pen_arc(tl_path_pen *pen, const double r[3], bool large, bool sweep, tl_vec2 to)
{
    double rx = fabs(r[0]), ry = fabs(r[1]);
    const tl_vec2 a = pen->at;
    if (a.x == to.x && a.y == to.y) return true;  // F.6.2: left out
    if (rx == 0 || ry == 0) return tl_path_pen_line(pen, to);
    const tl_affine *m = pen->m;
    const double det = m->a * m->d - m->b * m->c;
    if (rx == ry && is_similarity(m)) {
        const double radius = rx * sqrt(fabs(det));
        const bool left = sweep == (det > 0);  // sweep: towards growing angles in the drawing's own frame
        const tl_segment s = tl_segment_arc(tl_affine_point(m, a), tl_affine_point(m, to), radius, large, left);
        pen->at = to;
        return (s.from.x == s.to.x && s.from.y == s.to.y) || add_whole(pen, s);
    }
    // F.6.5: the half chord in the frame of the ellipse
    const double phi = r[2] * PI / 180, c = cos(phi), s = sin(phi), dx = 0.5 * (a.x - to.x), dy = 0.5 * (a.y - to.y);
    const double x1 = c * dx + s * dy, y1 = -s * dx + c * dy;
    const double over = x1 * x1 / (rx * rx) + y1 * y1 / (ry * ry);
    if (over > 1) rx *= sqrt(over), ry *= sqrt(over);
    const double down = rx * rx * y1 * y1 + ry * ry * x1 * x1;
    const double root = sqrt(fmax(0, (rx * rx * ry * ry - down) / down)) * (large == sweep ? -1 : 1);
    const double cx = root * rx * y1 / ry, cy = -root * ry * x1 / rx;
    const tl_vec2 centre = {c * cx - s * cy + 0.5 * (a.x + to.x), s * cx + c * cy + 0.5 * (a.y + to.y)};
    const double t0 = atan2((y1 - cy) / ry, (x1 - cx) / rx), t1 = atan2((-y1 - cy) / ry, (-x1 - cx) / rx);
    double turn = t1 - t0;
    if (sweep && turn < 0) turn += 2 * PI;
    if (!sweep && turn > 0) turn -= 2 * PI;
    const tl_affine unit = tl_affine_times(*m, (tl_affine){c * rx, s * rx, -s * ry, c * ry, centre.x, centre.y});
    return ellipse_arc(pen, &unit, t0, turn, to);
}

bool tl_path_pen_close(tl_path_pen *pen)
{
    if (!pen->open) return true;
    tl_svg_path *p = pen->path;
    const tl_vec2 first = p->items[p->start[p->sub_count - 1]].from;
    tl_segment *last = &p->items[p->count - 1];
    const double gap = hypot(last->to.x - first.x, last->to.y - first.y),
                 joint = 1e-9;  // [m]: rounding of relative moves
    if (gap <= joint)
        last->to = first;
    else if (!add_whole(pen, (tl_segment){TL_SEGMENT_LINE, last->to, first, {{0}}, 0}))
        return false;
    p->closed[p->sub_count - 1] = 1;
    pen->at = pen->start;
    pen->open = false;
    return true;
}

// --- path data -------------------------------------------------------------------------------------------

typedef struct path_reader {
    tl_path_pen pen;
    const char *at, *end;
    tl_vec2 last_control;  // of the curve before, for S and T
    char last;             // command before, capital
} path_reader;

static bool read_flag(path_reader *r, double *out)
{
    r->at = skip_separators(r->at, r->end);
    if (r->at >= r->end || (*r->at != '0' && *r->at != '1')) return false;
    *out = *r->at++ - '0';
    return true;
}

static int argument_count(char command)
{
    switch (command) {
    case 'M':
    case 'L':
    case 'T': return 2;
    case 'H':
    case 'V': return 1;
    case 'S':
    case 'Q': return 4;
    case 'C': return 6;
    case 'A': return 7;
    default: return -1;
    }
}

static bool run_command(path_reader *r, char command, bool relative, const double *v)
{
    tl_path_pen *pen = &r->pen;
    const tl_vec2 o = relative ? pen->at : (tl_vec2){0}, at = pen->at;
    const tl_vec2 first = {o.x + v[0], o.y + v[1]};
    const bool after_c = r->last == 'C' || r->last == 'S', after_q = r->last == 'Q' || r->last == 'T';
    const tl_vec2 mirrored = {2 * at.x - r->last_control.x, 2 * at.y - r->last_control.y};
    switch (command) {
    case 'M': return tl_path_pen_move(pen, first);
    case 'L': return tl_path_pen_line(pen, first);
    case 'H': return tl_path_pen_line(pen, (tl_vec2){o.x + v[0], at.y});
    case 'V': return tl_path_pen_line(pen, (tl_vec2){at.x, o.y + v[0]});
    case 'C': {
        const tl_vec2 q = {o.x + v[2], o.y + v[3]};
        r->last_control = q;
        return curve(pen, first, &q, (tl_vec2){o.x + v[4], o.y + v[5]});
    }
    case 'S': {
        r->last_control = first;
        return curve(pen, after_c ? mirrored : at, &first, (tl_vec2){o.x + v[2], o.y + v[3]});
    }
    case 'Q': r->last_control = first; return curve(pen, first, NULL, (tl_vec2){o.x + v[2], o.y + v[3]});
    case 'T': {
        const tl_vec2 p = after_q ? mirrored : at;
        r->last_control = p;
        return curve(pen, p, NULL, first);
    }
    default: return tl_path_pen_arc(pen, v, v[3] != 0, v[4] != 0, (tl_vec2){o.x + v[5], o.y + v[6]});
    }
}

static bool read_arguments(path_reader *r, char command, int need, double *v)
{
    for (int i = 0; i < need; i++) {
        const bool flag = command == 'A' && (i == 3 || i == 4);
        if (flag ? !read_flag(r, &v[i]) : !tl_svg_number(&r->at, r->end, &v[i])) return false;
    }
    return true;
}

tl_status tl_svg_path_read(tl_svg_path *path, tl_slice data, const tl_affine *m, const char *what, tl_error *err)
{
    path_reader r = {.pen = {.path = path, .m = m}, .at = data.text, .end = data.text + data.size};
    char command = 0;
    for (;;) {
        r.at = skip_separators(r.at, r.end);
        if (r.at >= r.end) return TL_OK;
        const char c = *r.at;
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (letter) command = c, r.at++;
        const bool relative = command >= 'a';
        const char capital = (char)(relative ? command - 32 : command);
        if (capital == 'Z' && letter) {
            if (!tl_path_pen_close(&r.pen)) return tl_fail_memory(err, "a path");
            r.last = 'Z';
            continue;
        }
        const int need = argument_count(capital);
        double v[7] = {0};
        if (need < 0 || (r.last == 0 && capital != 'M') || !read_arguments(&r, capital, need, v))
            return tl_fail(err, TL_BAD_INPUT, "%s: path data cannot be read at '%.20s' (byte %zu)", what,
                           r.at < r.end ? r.at : "its end", (size_t)(r.at - data.text));
        if (!run_command(&r, capital, relative, v)) return tl_fail_memory(err, "a path");
        r.last = capital;
        if (capital == 'M') command = relative ? 'l' : 'L';  // more pairs are lines
    }
}
