// render/font.c: glyphs and how to walk them.
//
// A glyph is "WIDTH strokes": capitals are 20 units high, small letters 14, tails go down to -6. A stroke is
// a letter and points: l straight lines, s a smooth curve that starts at the first point and ends at the
// last, c a smooth closed curve. Smooth curves are quadratic B-splines: they touch the middle of each side of
// the polygon that the points span, so the four corners of a box make a round O. Drawn by us.

#include "render/font.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 33, LAST = 126, MAX_POINTS = 24, STEPS = 6, GAP = 5, SPACE = 8 };

// clang-format off
static const char *const GLYPHS[LAST - FIRST + 1] = {
    "2 l 1 20 1 7 l 1 0 1 1",                                                   // !
    "7 l 1 20 1 14 l 6 20 6 14",                                                // "
    "15 l 5 19 3 1 l 12 19 10 1 l 1 13 15 13 l 0 7 14 7",                       // #
    "13 s 13 16 11 18 2 19 0 14 3 11 13 9 13 3 6 0 0 3 l 7 22 7 -2",            // $
    "19 l 16 20 3 0 c 0 11 8 11 8 20 0 20 c 11 0 19 0 19 9 11 9",               // %
    "17 s 17 0 2 14 3 20 11 20 11 13 0 10 -1 -1 13 -2 16 9",                    // &
    "2 l 1 20 1 14",                                                            // '
    "6 s 6 23 1 18 -2 10 1 1 6 -4",                                             // (
    "6 s 0 23 5 18 8 10 5 1 0 -4",                                              // )
    "10 l 5 20 5 9 l 0 17 10 12 l 10 17 0 12",                                  // *
    "13 l 6 15 6 2 l 0 8 13 8",                                                 // +
    "3 l 2 1 0 -4",                                                             // ,
    "8 l 0 8 8 8",                                                              // -
    "2 l 1 0 1 1",                                                              // .
    "10 l 10 22 0 -3",                                                          // /
    "13 c 0 0 13 0 13 20 0 20",                                                 // 0
    "8 l 0 16 6 20 6 0",                                                        // 1
    "13 s 0 15 1 20 13 21 13 13 9 9 0 0 l 0 0 13 0",                            // 2
    "13 s 0 18 4 21 12 20 12 11 5 11 l 5 11 5 11 s 5 11 14 11 14 0 4 -1 0 2",   // 3
    "14 l 14 6 0 6 10 20 10 0",                                                 // 4
    "13 l 12 20 2 20 1 11 s 1 11 4 13 13 13 13 0 4 -1 0 2",                     // 5
    "13 s 11 20 5 18 0 13 0 6 c 0 0 13 0 13 13 0 13",                           // 6
    "13 l 0 20 13 20 s 13 20 6 10 5 0",                                         // 7
    "13 c 0 0 13 0 13 11 0 11 c 1 11 12 11 12 20 1 20",                         // 8
    "13 c 0 7 13 7 13 20 0 20 s 13 14 13 7 8 2 2 0",                            // 9
    "2 l 1 0 1 1 l 1 11 1 12",                                                  // :
    "3 l 2 1 0 -4 l 2 11 2 12",                                                 // ;
    "12 l 12 15 0 8 12 1",                                                      // <
    "13 l 0 11 13 11 l 0 5 13 5",                                               // =
    "12 l 0 15 12 8 0 1",                                                       // >
    "12 s 0 16 2 20 12 21 12 13 6 11 6 6 l 6 0 6 1",                            // ?
    "21 s 15 6 15 15 7 15 7 5 14 5 15 10 s 15 10 15 4 21 5 21 20 0 20 0 -4 13 -4 17 -2",  // @
    "16 l 0 0 8 20 16 0 l 3 7 13 7",                                            // A
    "14 l 7 11 0 11 0 20 7 20 s 7 20 13 20 13 11 7 11 l 0 11 0 0 7 0 s 7 0 15 0 15 11 7 11",  // B
    "16 s 16 16 12 20 0 21 0 -1 12 0 16 4",                                     // C
    "16 l 6 20 0 20 0 0 6 0 s 6 20 16 20 16 0 6 0",                             // D
    "12 l 12 20 0 20 0 0 12 0 l 0 11 10 11",                                    // E
    "11 l 11 20 0 20 0 0 l 0 11 9 11",                                          // F
    "17 s 16 16 12 20 0 21 0 -1 14 -1 17 4 l 17 4 17 9 10 9",                   // G
    "14 l 0 0 0 20 l 14 0 14 20 l 0 11 14 11",                                  // H
    "2 l 1 0 1 20",                                                             // I
    "10 l 10 20 10 6 s 10 6 10 0 5 0 0 0 0 5",                                  // J
    "14 l 0 0 0 20 l 13 20 0 8 l 5 12 14 0",                                    // K
    "11 l 0 20 0 0 11 0",                                                       // L
    "18 l 0 0 0 20 9 5 18 20 18 0",                                             // M
    "14 l 0 0 0 20 14 0 14 20",                                                 // N
    "18 c 0 0 18 0 18 20 0 20",                                                 // O
    "13 l 0 0 0 20 7 20 s 7 20 14 20 14 9 7 9 l 7 9 0 9",                       // P
    "18 c 0 0 18 0 18 20 0 20 l 11 5 17 -2",                                    // Q
    "14 l 0 0 0 20 7 20 s 7 20 14 20 14 10 7 10 l 7 10 0 10 l 8 10 14 0",       // R
    "13 s 13 16 11 20 1 21 0 15 2 11 13 9 13 2 8 -1 1 0 0 4",                   // S
    "14 l 0 20 14 20 l 7 20 7 0",                                               // T
    "14 l 0 20 0 8 s 0 8 0 0 7 0 14 0 14 8 l 14 8 14 20",                       // U
    "16 l 0 20 8 0 16 20",                                                      // V
    "22 l 0 20 6 0 11 18 16 0 22 20",                                           // W
    "14 l 0 20 14 0 l 14 20 0 0",                                               // X
    "14 l 0 20 7 10 14 20 l 7 10 7 0",                                          // Y
    "14 l 0 20 14 20 0 0 14 0",                                                 // Z
    "5 l 5 23 0 23 0 -4 5 -4",                                                  // [
    "10 l 0 22 10 -3",                                                          // backslash
    "5 l 0 23 5 23 5 -4 0 -4",                                                  // ]
    "11 l 0 13 5 20 11 13",                                                     // ^
    "13 l 0 -3 13 -3",                                                          // _
    "5 l 0 20 5 15",                                                            // `
    "12 l 12 14 12 0 c 0 0 12 0 12 14 0 14",                                    // a
    "12 l 0 20 0 0 c 0 0 12 0 12 14 0 14",                                      // b
    "11 s 11 12 8 14 0 14 0 0 8 0 11 2",                                        // c
    "12 l 12 20 12 0 c 0 0 12 0 12 14 0 14",                                    // d
    "12 l 0 8 12 8 s 12 8 12 14 6 14 0 14 0 7 l 0 7 0 7 s 0 7 0 0 7 0 10 0 12 3",  // e
    "8 s 8 20 3 21 3 15 l 3 15 3 0 l 0 13 8 13",                                // f
    "12 c 0 0 12 0 12 14 0 14 l 12 14 12 0 s 12 0 12 -6 6 -6 3 -6 1 -4",        // g
    "11 l 0 20 0 0 l 0 8 0 8 s 0 8 0 14 6 14 11 14 11 8 l 11 8 11 0",           // h
    "2 l 1 14 1 0 l 1 19 1 20",                                                 // i
    "4 l 3 14 3 -1 s 3 -1 3 -6 -1 -6 l 3 19 3 20",                              // j
    "11 l 0 20 0 0 l 10 14 0 5 l 4 8 11 0",                                     // k
    "2 l 1 20 1 0",                                                             // l
    "18 l 0 14 0 0 s 0 8 0 14 5 14 9 14 9 8 l 9 8 9 0 s 9 8 9 14 14 14 18 14 18 8 l 18 8 18 0",  // m
    "11 l 0 14 0 0 s 0 8 0 14 6 14 11 14 11 8 l 11 8 11 0",                     // n
    "13 c 0 0 13 0 13 14 0 14",                                                 // o
    "12 l 0 14 0 -6 c 0 0 12 0 12 14 0 14",                                     // p
    "12 l 12 14 12 -6 c 0 0 12 0 12 14 0 14",                                   // q
    "7 l 0 14 0 0 s 0 8 0 13 4 14 7 14",                                        // r
    "10 s 10 12 8 14 0 15 0 9 5 8 10 6 10 -1 2 0 0 2",                          // s
    "8 l 3 19 3 4 s 3 4 3 -1 8 0 l 0 14 8 14",                                  // t
    "11 l 0 14 0 6 s 0 6 0 0 5 0 11 0 11 6 l 11 14 11 0",                       // u
    "12 l 0 14 6 0 12 14",                                                      // v
    "18 l 0 14 5 0 9 12 13 0 18 14",                                            // w
    "11 l 0 14 11 0 l 11 14 0 0",                                               // x
    "12 l 0 14 6 0 l 12 14 6 0 s 6 0 4 -6 0 -6",                                // y
    "11 l 0 14 11 14 0 0 11 0",                                                 // z
    "7 s 7 23 3 23 3 16 3 10 0 10 l 0 10 0 10 s 0 10 3 10 3 4 3 -4 7 -4",       // {
    "2 l 1 23 1 -4",                                                            // |
    "7 s 0 23 4 23 4 16 4 10 7 10 l 7 10 7 10 s 7 10 4 10 4 4 4 -4 0 -4",       // }
    "13 s 0 7 2 11 7 9 11 5 13 10",                                             // ~
};

static const struct { uint32_t code; const char *glyph; } EXTRA[] = {
    {0xb0, "7 c 0 13 7 13 7 20 0 20"},                                // degree
    {0xb1, "13 l 6 16 6 4 l 0 10 13 10 l 0 0 13 0"},                  // plus-minus
    {0xb2, "7 s 0 18 1 21 7 21 7 17 4 14 0 11 l 0 11 7 11"},          // squared
    {0xb3, "7 s 0 20 2 21 7 20 7 16 3 16 s 3 16 8 16 8 11 2 10 0 12"},  // cubed
    {0xb5, "11 l 0 14 0 -6 s 0 6 0 0 5 0 11 0 11 6 l 11 14 11 0"},    // micro
    {0xb7, "4 l 2 8 2 9"},                                            // middle dot
    {0xd7, "11 l 0 13 11 2 l 11 13 0 2"},                             // times
    {0x2013, "11 l 0 8 11 8"},                                        // en dash
    {0x2212, "13 l 0 8 13 8"},                                        // minus
    {0x221a, "14 l 0 10 3 10 6 0 10 22 14 22"},                       // root
};
// clang-format on
static const char *const MISSING = "10 l 0 0 0 14 10 14 10 0 0 0";

static uint32_t next_code(const char **text)
{
    const unsigned char *s = (const unsigned char *)*text;
    uint32_t code = *s++;
    const int more = code >= 0xf0 ? 3 : code >= 0xe0 ? 2 : code >= 0xc0 ? 1 : 0;
    if (more) code &= 0x3fu >> more;
    for (int i = 0; i < more && (*s & 0xc0) == 0x80; i++) code = code << 6 | (*s++ & 0x3fu);
    *text = (const char *)s;
    return code;
}

static const char *find_glyph(uint32_t code)
{
    if (code >= FIRST && code <= LAST) return GLYPHS[code - FIRST];
    for (size_t i = 0; i < sizeof EXTRA / sizeof *EXTRA; i++)
        if (EXTRA[i].code == code) return EXTRA[i].glyph;
    return MISSING;
}

static tl_vec2f mid(tl_vec2f a, tl_vec2f b) { return (tl_vec2f){(a.x + b.x) / 2, (a.y + b.y) / 2}; }

static int32_t add_arc(tl_vec2f *out, int32_t n, tl_vec2f a, tl_vec2f c, tl_vec2f b)
{
    for (int i = 1; i <= STEPS; i++) {
        const float t = (float)i / STEPS, s = 1 - t;
        out[n++] = (tl_vec2f){s * s * a.x + 2 * s * t * c.x + t * t * b.x, s * s * a.y + 2 * s * t * c.y + t * t * b.y};
    }
    return n;
}

static void give_stroke(char kind, const tl_vec2f *p, int32_t n, tl_stroke_fn stroke, void *arg)
{
    tl_vec2f out[MAX_POINTS * STEPS + 2];
    int32_t m = 0;
    if (kind == 'l' || n < 3) {
        stroke(arg, p, n);
        return;
    }
    if (kind == 'c') {
        out[m++] = mid(p[n - 1], p[0]);
        for (int32_t i = 0; i < n; i++)
            m = add_arc(out, m, mid(p[(i + n - 1) % n], p[i]), p[i], mid(p[i], p[(i + 1) % n]));
    } else {
        out[m++] = p[0];
        for (int32_t i = 1; i + 1 < n; i++)
            m = add_arc(out, m, out[m - 1], p[i], i + 2 == n ? p[n - 1] : mid(p[i], p[i + 1]));
    }
    stroke(arg, out, m);
}

float tl_font_strokes(const char *text, tl_stroke_fn stroke, void *arg)
{
    const float unit = 1.0f / 20;
    float x = 0;
    bool any = false;
    while (*text) {
        const uint32_t code = next_code(&text);
        if (any) x += GAP;
        any = true;
        if (code == ' ') {
            x += SPACE - GAP;
            continue;
        }
        char *at;
        const float width = (float)strtol(find_glyph(code), &at, 10);
        while (stroke && *at) {
            while (*at == ' ') at++;
            if (!*at) break;
            const char kind = *at++;
            tl_vec2f p[MAX_POINTS];
            int32_t n = 0;
            for (char *end = at; n < MAX_POINTS; at = end) {
                const long px = strtol(at, &end, 10);
                if (end == at) break;
                const long py = strtol(end, &end, 10);
                p[n++] = (tl_vec2f){(x + (float)px) * unit, (float)py * unit};
            }
            give_stroke(kind, p, n, stroke, arg);
        }
        x += width;
    }
    return x * unit;
}
