// io/text.c: text that grows, numbers to text and back without losing a bit, and the nearest word.
//
// Numbers. A finite double is m 2^e with an integer m < 2^53. For 1e-11 <= |x| < 1e17 seventeen digits need
// x 10^k with 0 <= k <= 27 only, and m 5^k < 2^116 fits an integer of 128 bits: every digit, the rounding and the
// test "does this read back as x" are then exact integer arithmetic. The way back divides by 5^k the same way.
// Anything outside goes through libc, with a check. Own work, from the definition of rounding.

#include "io/text.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

__extension__ typedef unsigned __int128 u128;

void tl_buf_init(tl_buf *buf, const tl_allocator *alloc) { *buf = (tl_buf){.alloc = *alloc}; }

void tl_buf_free(tl_buf *buf)
{
    if (buf->data) tl_free_bytes(&buf->alloc, buf->data, buf->cap, 1);
    *buf = (tl_buf){.alloc = buf->alloc};
}

// Room for `more` bytes and a final zero.
static bool reserve(tl_buf *buf, size_t more)
{
    if (buf->failed) return false;
    size_t need;
    if (__builtin_add_overflow(buf->size, more, &need) || __builtin_add_overflow(need, (size_t)1, &need)) {
        buf->failed = true;
        return false;
    }
    if (need <= buf->cap) return true;
    size_t cap = buf->cap ? buf->cap : 1024;
    while (cap < need) cap = cap > SIZE_MAX / 2 ? need : cap + cap / 2;
    char *data = tl_resize_bytes(&buf->alloc, buf->data, buf->cap, cap, 1);
    if (!data) {
        buf->failed = true;
        return false;
    }
    buf->data = data, buf->cap = cap;
    return true;
}

void tl_buf_add(tl_buf *buf, const void *data, size_t size)
{
    if (size == 0 || !reserve(buf, size)) return;
    memcpy(buf->data + buf->size, data, size);
    buf->size += size;
}

void tl_buf_text(tl_buf *buf, const char *text) { tl_buf_add(buf, text, strlen(text)); }

void tl_buf_int(tl_buf *buf, int64_t value)
{
    if (!reserve(buf, TL_NUMBER_CHARS)) return;
    buf->size += (size_t)tl_format_int(value, buf->data + buf->size);
}

void tl_buf_double(tl_buf *buf, double value)
{
    if (!reserve(buf, TL_NUMBER_CHARS)) return;
    buf->size += (size_t)tl_format_double(value, buf->data + buf->size);
}

void tl_buf_printf(tl_buf *buf, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, format, args);
    if (length >= 0 && reserve(buf, (size_t)length)) {
        vsnprintf(buf->data + buf->size, (size_t)length + 1, format, again);
        buf->size += (size_t)length;
    }
    va_end(again);
    va_end(args);
}

tl_status tl_buf_end(tl_buf *buf, const char *what, tl_error *err)
{
    if (!reserve(buf, 0)) return tl_fail_memory(err, what);
    buf->data[buf->size] = 0;
    return TL_OK;
}

enum { MAX_POWER = 27 };  // 5^27 < 2^63

static const uint64_t power5[MAX_POWER + 1] = {UINT64_C(1),
                                               UINT64_C(5),
                                               UINT64_C(25),
                                               UINT64_C(125),
                                               UINT64_C(625),
                                               UINT64_C(3125),
                                               UINT64_C(15625),
                                               UINT64_C(78125),
                                               UINT64_C(390625),
                                               UINT64_C(1953125),
                                               UINT64_C(9765625),
                                               UINT64_C(48828125),
                                               UINT64_C(244140625),
                                               UINT64_C(1220703125),
                                               UINT64_C(6103515625),
                                               UINT64_C(30517578125),
                                               UINT64_C(152587890625),
                                               UINT64_C(762939453125),
                                               UINT64_C(3814697265625),
                                               UINT64_C(19073486328125),
                                               UINT64_C(95367431640625),
                                               UINT64_C(476837158203125),
                                               UINT64_C(2384185791015625),
                                               UINT64_C(11920928955078125),
                                               UINT64_C(59604644775390625),
                                               UINT64_C(298023223876953125),
                                               UINT64_C(1490116119384765625),
                                               UINT64_C(7450580596923828125)};
static const uint64_t power10[20] = {UINT64_C(1),
                                     UINT64_C(10),
                                     UINT64_C(100),
                                     UINT64_C(1000),
                                     UINT64_C(10000),
                                     UINT64_C(100000),
                                     UINT64_C(1000000),
                                     UINT64_C(10000000),
                                     UINT64_C(100000000),
                                     UINT64_C(1000000000),
                                     UINT64_C(10000000000),
                                     UINT64_C(100000000000),
                                     UINT64_C(1000000000000),
                                     UINT64_C(10000000000000),
                                     UINT64_C(100000000000000),
                                     UINT64_C(1000000000000000),
                                     UINT64_C(10000000000000000),
                                     UINT64_C(100000000000000000),
                                     UINT64_C(1000000000000000000),
                                     UINT64_C(10000000000000000000)};

int tl_format_short(double value, char out[TL_NUMBER_CHARS])
{
    enum { DIGITS = 6 };
    if (!isfinite(value) || value == 0) return tl_format_double(value, out);
    // Digits and exponent, whatever the locale puts between them.
    char printed[48], digit[DIGITS + 1];
    snprintf(printed, sizeof printed, "%.*e", DIGITS - 1, fabs(value));
    int count = 0;
    const char *p = printed;
    for (; *p && *p != 'e'; p++)
        if (*p >= '0' && *p <= '9' && count < DIGITS) digit[count++] = *p;
    const int power = atoi(p + 1);
    while (count > 1 && digit[count - 1] == '0') count--;
    digit[count] = 0;
    const char *sign = value < 0 ? "-" : "";
    if (power < -4 || power >= DIGITS)
        return snprintf(out, TL_NUMBER_CHARS, "%s%c%s%se%d", sign, digit[0], count > 1 ? "." : "", digit + 1, power);
    if (power < 0) return snprintf(out, TL_NUMBER_CHARS, "%s0.%.*s%s", sign, -power - 1, "0000", digit);
    const int whole = power + 1;  // digits before the point
    if (count <= whole) return snprintf(out, TL_NUMBER_CHARS, "%s%s%.*s", sign, digit, whole - count, "000000");
    return snprintf(out, TL_NUMBER_CHARS, "%s%.*s.%s", sign, whole, digit, digit + whole);
}

int tl_format_int(int64_t value, char *out)
{
    char digit[24];
    int n = 0, at = 0;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do digit[n++] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (value < 0) out[at++] = '-';
    while (n > 0) out[at++] = digit[--n];
    out[at] = 0;
    return at;
}

// Digits `n` (no trailing zero wanted) times 10^exponent.
static int place_digits(uint64_t n, int exponent, bool negative, char *out)
{
    char digit[24];
    int count = 0, at = 0;
    while (n % 10 == 0) n /= 10, exponent++;
    for (; n > 0; n /= 10) digit[count++] = (char)('0' + n % 10);  // last digit first
    const int point = count + exponent;                            // digits before the point
    if (negative) out[at++] = '-';
    if (point > 17 || point < -4) {  // d.ddde-dd
        out[at++] = digit[count - 1];
        if (count > 1) out[at++] = '.';
        for (int i = count - 2; i >= 0; i--) out[at++] = digit[i];
        out[at++] = 'e';
        return at + tl_format_int(point - 1, out + at);
    }
    if (point <= 0) {
        out[at++] = '0', out[at++] = '.';
        for (int i = point; i < 0; i++) out[at++] = '0';
    }
    for (int i = count - 1, p = point; i >= 0; i--, p--) {
        out[at++] = digit[i];
        if (p == 1 && i > 0) out[at++] = '.';
    }
    for (int i = 0; i < exponent; i++) out[at++] = '0';
    out[at] = 0;
    return at;
}

// Nearest integer to m 5^k 2^-shift / 10^drop, for shift >= 0.
static uint64_t rounded_quotient(u128 scaled, int shift, int drop)
{
    const uint64_t unit = power10[drop];
    u128 whole = shift < 128 ? scaled >> shift : 0;
    const u128 below = scaled - (shift < 128 ? whole << shift : 0);
    const u128 quotient = whole / unit;
    const uint64_t left = (uint64_t)(whole % unit);
    const bool up = drop == 0 ? shift > 0 && below >= (u128)1 << (shift - 1) : left >= unit - left;
    return (uint64_t)quotient + (up ? 1 : 0);
}

int tl_format_double(double value, char out[TL_NUMBER_CHARS])
{
    if (isnan(value)) return (int)strlen(strcpy(out, "nan"));
    if (isinf(value)) return (int)strlen(strcpy(out, value > 0 ? "inf" : "-inf"));
    if (value == 0) return (int)strlen(strcpy(out, signbit(value) ? "-0" : "0"));
    const bool negative = value < 0;
    const double x = fabs(value);
    if (x >= 1e-10 && x < 1e16) {
        int e;
        const uint64_t m = (uint64_t)ldexp(frexp(x, &e), 53);
        e -= 53;                            // x = m 2^e
        int k = 16 - (int)floor(log10(x));  // seventeen digits; one more or less does no harm below
        if (k > MAX_POWER) k = MAX_POWER;
        if (k < 0) k = 0;
        const int shift = -(e + k);  // x 10^k = m 5^k 2^-shift
        if (shift >= 3 && shift <= 100) {
            const uint64_t five = power5[k];
            const u128 scaled = (u128)m * five;
            // Half-way to the neighbours, in units of 2^-(shift + 2); the one below a power of two is nearer.
            const u128 high = (u128)(4 * m + 2) * five;
            const u128 low = (u128)(4 * m - (m == UINT64_C(1) << 52 ? 1 : 2)) * five;
            uint64_t best = 0;
            int best_drop = -1;
            for (int drop = 0; drop <= 18; drop++) {
                const uint64_t n = rounded_quotient(scaled, shift, drop);
                const u128 back = ((u128)n * power10[drop]) << (shift + 2);
                if (n == 0 || back <= low || back >= high) break;
                best = n, best_drop = drop;
            }
            if (best_drop >= 0) return place_digits(best, best_drop - k, negative, out);
        }
    }
    int length = 0;
    for (int digits = 15; digits <= 17; digits++) {  // rare: tiny and huge numbers
        length = snprintf(out, TL_NUMBER_CHARS, "%.*g", digits, value);
        for (char *c = out; *c; c++)
            if (*c != '-' && *c != '+' && *c != 'e' && (*c < '0' || *c > '9')) *c = '.';  // the locale's point
        double back;
        if (tl_parse_double(out, out + length, &back) && back == value) break;
    }
    return length;
}

// w 10^-k for 0 <= k <= 27, w > 0, correctly rounded.
static double scaled_down(uint64_t w, int k)
{
    if (w <= UINT64_C(1) << 53 && k <= 19) return (double)w / (double)power10[k];  // both exact: one rounding
    const int lead = __builtin_clzll(w);
    const uint64_t five = power5[k];
    const u128 numerator = (u128)(w << lead) << 63;
    u128 quotient = numerator / five;  // at least 2^63, so 53 bits and more behind them for the rounding
    const bool rest = quotient * five != numerator;
    const uint64_t top = (uint64_t)(quotient >> 64);
    const int bits = top ? 128 - __builtin_clzll(top) : 64 - __builtin_clzll((uint64_t)quotient);
    const int shift = bits - 54;  // keep 54 bits: the last one is the half
    const u128 kept = quotient >> shift;
    const bool sticky = rest || (kept << shift) != quotient;
    uint64_t m = (uint64_t)kept;
    const bool half = m & 1;
    m >>= 1;
    if (half && (sticky || (m & 1))) m++;
    return ldexp((double)m, shift + 1 - 63 - lead - k);
}

// The token through strtod, with the locale's point put in.
static double by_strtod(const char *text, size_t length)
{
    char small[256];
    const char *point = localeconv()->decimal_point;
    const size_t point_length = strlen(point);
    char *copy = length + point_length + 1 <= sizeof small ? small : malloc(length + point_length + 1);
    if (!copy) return (double)NAN;  // 200 digits and no memory: the caller rejects it as not finite
    size_t at = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '.') {
            memcpy(copy + at, point, point_length);
            at += point_length;
        } else {
            copy[at++] = text[i];
        }
    }
    copy[at] = 0;
    const double value = strtod(copy, NULL);
    if (copy != small) free(copy);
    return value;
}

const char *tl_parse_double(const char *text, const char *end, double *out)
{
    const char *p = text;
    const bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    uint64_t w = 0;
    int digits = 0, significant = 0, behind = 0;
    bool point = false;
    for (; p < end; p++) {
        if (*p == '.' && !point) {
            point = true;
            continue;
        }
        if (*p < '0' || *p > '9') break;
        digits++;
        if (point && behind < 100000) behind++;
        if (significant > 0 || *p != '0') significant++;
        if (significant <= 19) w = 10 * w + (uint64_t)(*p - '0');
    }
    if (digits == 0) return NULL;
    int64_t exponent = 0;
    if (p < end && (*p == 'e' || *p == 'E')) {
        const char *q = p + 1;
        const bool down = q < end && *q == '-';
        if (q < end && (*q == '-' || *q == '+')) q++;
        if (q < end && *q >= '0' && *q <= '9') {
            for (; q < end && *q >= '0' && *q <= '9'; q++)
                if (exponent < 1000000) exponent = 10 * exponent + (*q - '0');
            if (down) exponent = -exponent;
            p = q;
        }
    }
    const int64_t k = behind - exponent;
    double value;
    if (w == 0 && significant == 0)
        value = 0;
    else if (significant <= 19 && k >= 0 && k <= MAX_POWER)
        value = scaled_down(w, (int)k);
    else
        return *out = by_strtod(text, (size_t)(p - text)), p;
    *out = negative ? -value : value;
    return p;
}

const char *tl_parse_int(const char *text, const char *end, int64_t *out)
{
    const char *p = text;
    const bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    if (p == end || *p < '0' || *p > '9') return NULL;
    int64_t value = 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_sub_overflow(value, *p - '0', &value)) return NULL;
    if (!negative && value == INT64_MIN) return NULL;
    *out = negative ? value : -value;
    return p;
}

static int lower(char c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : (unsigned char)c; }

int tl_word_distance(const char *a, const char *b)
{
    enum { LONGEST = 63 };
    const size_t na = strlen(a), nb = strlen(b);
    if (na > LONGEST || nb > LONGEST) return 99;
    int row[3][LONGEST + 1];  // the last three rows of the usual table
    for (size_t j = 0; j <= nb; j++) row[0][j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        int *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            int best = last[j - 1] + (lower(a[i - 1]) != lower(b[j - 1]));
            if (last[j] + 1 < best) best = last[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]) &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[na % 3][nb];
}

const char *tl_nearest_word(const char *word, const char *const *words)
{
    const char *best = NULL;
    int best_distance = 99;
    for (; *words; words++) {
        const int distance = tl_word_distance(word, *words);
        if (distance < best_distance) best = *words, best_distance = distance;
    }
    if (!best) return NULL;
    const size_t n = strlen(best) > strlen(word) ? strlen(best) : strlen(word);
    return best_distance <= (n <= 3 ? 1 : n <= 7 ? 2 : 3) ? best : NULL;
}
