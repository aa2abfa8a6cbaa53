// io/json_numbers.c: numbers as people and older programs write them: 1. and .5 and +2 and 007 as well as 1.0, 0.5,
// 2, 7.
//
// jansson reads what the standard allows, no more. Files that were written by hand for readers that end in strtod have
// the other forms too, so texts that have such numbers are parsed from a copy in which they are put right. No line
// changes its number.

#include "io/json.h"

typedef struct number {
    const char *end;                      ///< behind it
    const char *digits, *digits_end;      ///< before the point, without leading zeros; may be empty
    const char *fraction, *fraction_end;  ///< behind the point; may be empty
    const char *exponent;                 ///< up to `end`; NULL: none
    bool minus, plain;                    ///< plain: as the standard has it
} number;

static const char *skip_digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9') p++;
    return p;
}

// Reads the number at p; false if it is none in any style.
static bool read_number(const char *p, const char *end, number *out)
{
    *out = (number){.plain = *p != '+', .minus = *p == '-'};
    if (*p == '-' || *p == '+') p++;
    const char *start = p;
    p = skip_digits(p, end);
    out->digits = start, out->digits_end = p;
    if (p - start > 1 && *start == '0') out->plain = false;
    while (out->digits + 1 < out->digits_end && *out->digits == '0') out->digits++;
    bool any = p > start;
    out->plain = out->plain && any;
    out->fraction = out->fraction_end = p;
    if (p < end && *p == '.') {
        out->fraction = ++p;
        out->fraction_end = p = skip_digits(p, end);
        any = any || p > out->fraction;
        out->plain = out->plain && p > out->fraction;
    }
    if (any && p < end && (*p == 'e' || *p == 'E')) {
        const char *q = p + 1;
        if (q < end && (*q == '-' || *q == '+')) q++;
        const char *last = skip_digits(q, end);
        if (last == q) return false;
        out->exponent = p, p = last;
    }
    out->end = p;
    return any;
}

static bool starts_number(char c) { return c == '-' || c == '+' || c == '.' || (c >= '0' && c <= '9'); }

// To the next number that is not plain, or `end`.
static const char *next_odd(const char *p, const char *end, number *found)
{
    while (p < end) {
        if (*p == '"') {
            for (p++; p < end && *p != '"'; p++)
                if (*p == '\\' && p + 1 < end) p++;
            if (p < end) p++;
        } else if (starts_number(*p)) {
            if (!read_number(p, end, found))
                found->end = p + 1;
            else if (!found->plain)
                return p;
            p = found->end;
        } else {
            p++;
        }
    }
    return end;
}

bool tl_json_plain_numbers(const char *text, size_t size, tl_buf *out)
{
    const char *p = text, *end = text + size;
    number odd;
    for (const char *at; (at = next_odd(p, end, &odd)) < end; p = odd.end) {
        tl_buf_add(out, p, (size_t)(at - p));
        if (odd.minus) tl_buf_text(out, "-");
        if (odd.digits == odd.digits_end) tl_buf_text(out, "0");
        tl_buf_add(out, odd.digits, (size_t)(odd.digits_end - odd.digits));
        if (odd.fraction < odd.fraction_end || odd.fraction != odd.digits_end) tl_buf_text(out, ".");
        if (odd.fraction == odd.fraction_end && odd.fraction != odd.digits_end) tl_buf_text(out, "0");
        tl_buf_add(out, odd.fraction, (size_t)(odd.fraction_end - odd.fraction));
        if (odd.exponent) tl_buf_add(out, odd.exponent, (size_t)(odd.end - odd.exponent));
    }
    if (p == text) return false;
    tl_buf_add(out, p, (size_t)(end - p));
    return true;
}
