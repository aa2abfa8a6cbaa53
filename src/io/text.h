// io/text.h: text that grows, numbers to text and back without losing a bit, and the nearest word.
#pragma once
#include <stdbool.h>

#include "toile/base.h"

/// Text under construction. After a failed allocation every further call does nothing and `failed` stays set,
/// so a writer checks once, at the end.
typedef struct tl_buf {
    tl_allocator alloc;
    char *data;  ///< size bytes in use; no final zero unless tl_buf_end was called
    size_t size, cap;
    bool failed;
} tl_buf;

void tl_buf_init(tl_buf *buf, const tl_allocator *alloc);
void tl_buf_free(tl_buf *buf);
void tl_buf_add(tl_buf *buf, const void *data, size_t size);
void tl_buf_text(tl_buf *buf, const char *text);
void tl_buf_int(tl_buf *buf, int64_t value);
void tl_buf_double(tl_buf *buf, double value);  ///< shortest form, see tl_format_double
void tl_buf_printf(tl_buf *buf, const char *format, ...) TL_PRINTF(2, 3);
/// Puts a zero byte behind the text (not counted in size). TL_NO_MEMORY if anything failed on the way.
tl_status tl_buf_end(tl_buf *buf, const char *what, tl_error *err);

enum { TL_NUMBER_CHARS = 32 };

/// The fewest digits (denormals: at most one more) that read back as the same double; "nan", "inf", "-inf" for the
/// rest. Does not look at the locale. Returns the length; the text ends with a zero.
int tl_format_double(double value, char out[TL_NUMBER_CHARS]);
/// At most six digits, as a person would write it: "0.015", "5834.14", "1e6", "1.2e-5". For messages.
int tl_format_short(double value, char out[TL_NUMBER_CHARS]);
int tl_format_int(int64_t value, char *out);

/// Reads the decimal number at [text, end): sign, digits, point, exponent; correctly rounded, does not look at the
/// locale. Returns the first byte behind it, or NULL when there is no number. Too large gives infinity.
const char *tl_parse_double(const char *text, const char *end, double *out);

/// A signed integer; NULL when there is none or it does not fit.
const char *tl_parse_int(const char *text, const char *end, int64_t *out);

/// Insertions, deletions, replacements and swaps of neighbours between two words, capitals aside; 99 when a word
/// is longer than 63 bytes.
int tl_word_distance(const char *a, const char *b);

/// The word nearest to `word` if it is near enough to be a slip of the pen, else NULL. The list ends with NULL.
const char *tl_nearest_word(const char *word, const char *const *words);
