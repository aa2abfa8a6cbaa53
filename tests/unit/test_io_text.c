// tests/unit/test_io_text.c: numbers to text and back, growing text, the nearest word.

#include "test_io_help.h"

#include <locale.h>

#include "base/rng.h"
#include "io/text.h"

static void check_format(double x, const char *wanted)
{
    char text[TL_NUMBER_CHARS];
    assert_int_equal(tl_format_double(x, text), strlen(wanted));
    assert_string_equal(text, wanted);
}

static void known_numbers(void **state)
{
    (void)state;
    check_format(0, "0");
    check_format(-0.0, "-0");
    check_format(1, "1");
    check_format(-0.5, "-0.5");
    check_format(0.1, "0.1");
    check_format(9.81, "9.81");
    check_format(1200, "1200");
    check_format(1e-5, "0.00001");
    check_format(1.5e-6, "1.5e-6");
    check_format(2.0 / 3, "0.6666666666666666");
    check_format(1e22, "1e+22");
    check_format((double)NAN, "nan");
    check_format(-(double)INFINITY, "-inf");
}

// Shortest: no text with a digit less reads back as x. Exact: ours does, by libc's reader and by our own.
static void check_exact(double x)
{
    char text[TL_NUMBER_CHARS], other[64];
    const int n = tl_format_double(x, text);
    double back;
    assert_true(n < TL_NUMBER_CHARS);
    assert_ptr_equal(tl_parse_double(text, text + n, &back), text + n);
    const double by_libc = strtod(text, NULL);
    if (memcmp(&back, &x, sizeof x) != 0 || memcmp(&by_libc, &x, sizeof x) != 0) {
        print_error("%.17g became %s\n", x, text);
        fail();
    }
    snprintf(other, sizeof other, "%.20g", x);
    tl_parse_double(other, other + strlen(other), &back);
    assert_memory_equal(&back, &x, sizeof x);
}

static void random_numbers_keep_their_bits(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 100000; i++) {
        const uint64_t bits = tl_random_bits(1, 1, i);
        double x;
        memcpy(&x, &bits, sizeof x);
        if (isfinite(x)) check_exact(x);                                            // any size
        check_exact((tl_random(1, 2, i) - 0.5) * 4);                                // positions of a cloth
        check_exact((double)(int64_t)(bits % 2000001) * 1e-6 - 1);                  // written by people
        check_exact(nextafter(ldexp(1, (int)(bits % 60) - 30), bits & 1 ? 0 : 2));  // around powers of two
        check_exact(ldexp(1, (int)(bits % 60) - 30));
    }
}

static void reading_agrees_with_libc(void **state)
{
    (void)state;
    static const char *const texts[] = {"1",
                                        "+1.5",
                                        "-.5",
                                        "5.",
                                        "1e3",
                                        "1E-3",
                                        "0.1e+2",
                                        "123456789012345678901234567890",
                                        "0.00000000000000000000000000000000000001",
                                        "9007199254740993",
                                        "1e400",
                                        "1e-400",
                                        "4.9406564584124654e-324",
                                        "179769313486231570e291",
                                        "0e5",
                                        "000.25"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        double x;
        assert_ptr_equal(tl_parse_double(texts[i], texts[i] + strlen(texts[i]), &x), texts[i] + strlen(texts[i]));
        const double wanted = strtod(texts[i], NULL);
        assert_memory_equal(&x, &wanted, sizeof x);
    }
    double x;
    static const char *const none[] = {"", "-", ".", "e5", "nan", "inf", "x1", "+-1"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_null(tl_parse_double(none[i], none[i] + strlen(none[i]), &x));
    const char *tail = "2.5e";
    assert_ptr_equal(tl_parse_double(tail, tail + 4, &x), tail + 3);
}

// A locale with a decimal comma: an installed one, or one made here from the system's sources.
static bool take_comma(void)
{
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8")) return true;
    if (system("localedef --no-archive -i de_DE -f UTF-8 ./de_DE.UTF-8 > /dev/null 2>&1") != 0) return false;
    setenv("LOCPATH", ".", 1);
    return setlocale(LC_NUMERIC, "de_DE.UTF-8") != NULL;
}

static void locale_does_not_matter(void **state)
{
    (void)state;
    if (!take_comma()) {
        print_message("no locale with a decimal comma, and none can be made (Debian: package locales)\n");
        skip();
    }
    char printed[16];
    snprintf(printed, sizeof printed, "%g", 0.5);
    assert_string_equal(printed, "0,5");  // the locale is what it should be
    char text_short[TL_NUMBER_CHARS];
    tl_format_short(5834.136933461909, text_short);
    assert_string_equal(text_short, "5834.14");
    check_format(0.25, "0.25");
    check_format(1.25e-30, "1.25e-30");
    double x;
    const char *text = "1.23456789012345678901234e-5";
    assert_ptr_equal(tl_parse_double(text, text + strlen(text), &x), text + strlen(text));
    setlocale(LC_NUMERIC, "C");
    assert_true(x == strtod(text, NULL));
}

static void short_numbers_are_as_people_write_them(void **state)
{
    (void)state;
    static const struct {
        double x;
        const char *text;
    } cases[] = {{0, "0"},           {1, "1"},           {-0.015, "-0.015"},         {1.0 / 6, "0.166667"},
                 {1e6, "1e6"},       {999999, "999999"}, {9999999, "1e7"},           {0.00001274622903, "1.27462e-5"},
                 {1e-9, "1e-9"},     {2.5e8, "2.5e8"},   {-123456789, "-1.23457e8"}, {0.0001, "0.0001"},
                 {25, "25"},         {0.1 + 0.2, "0.3"}, {1e300, "1e300"},           {1.0000042918444425e+93, "1e93"},
                 {120000, "120000"}, {12.5, "12.5"},     {0.3001787, "0.300179"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[TL_NUMBER_CHARS];
        assert_int_equal(tl_format_short(cases[i].x, text), strlen(cases[i].text));
        assert_string_equal(text, cases[i].text);
    }
}

static void integers(void **state)
{
    (void)state;
    char text[TL_NUMBER_CHARS];
    const int64_t numbers[] = {0, 7, -7, 1234567890, INT64_MAX, INT64_MIN};
    for (int i = 0; i < 6; i++) {
        int64_t back;
        const int n = tl_format_int(numbers[i], text);
        assert_ptr_equal(tl_parse_int(text, text + n, &back), text + n);
        assert_true(back == numbers[i]);
    }
    int64_t back;
    const char *large = "9223372036854775808";
    assert_null(tl_parse_int(large, large + strlen(large), &back));
}

static void growing_text_fails_once_and_for_all(void **state)
{
    (void)state;
    tl_error err;
    for (int64_t at = 0; at < 20; at++) {
        ledger f;
        const tl_allocator alloc = failing_allocator(&f, at);
        tl_buf buf;
        tl_buf_init(&buf, &alloc);
        for (int i = 0; i < 1000; i++) tl_buf_printf(&buf, "%d and more text, ", i);
        const tl_status status = tl_buf_end(&buf, "text", &err);
        assert_true(status == TL_OK || status == TL_NO_MEMORY);
        if (status == TL_OK) assert_int_equal(strlen(buf.data), buf.size);
        tl_buf_free(&buf);
        assert_true(f.live == 0);
    }
}

static void nearest_words(void **state)
{
    (void)state;
    static const char *const words[] = {"density", "drag", "skin", "wind", NULL};
    assert_string_equal(tl_nearest_word("desnity", words), "density");
    assert_string_equal(tl_nearest_word("Density", words), "density");
    assert_string_equal(tl_nearest_word("wnd", words), "wind");
    assert_null(tl_nearest_word("obstacles", words));
    assert_int_equal(tl_word_distance("ab", "ba"), 1);
    assert_int_equal(tl_word_distance("", "abc"), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_numbers),
        cmocka_unit_test(random_numbers_keep_their_bits),
        cmocka_unit_test(reading_agrees_with_libc),
        cmocka_unit_test(locale_does_not_matter),
        cmocka_unit_test(short_numbers_are_as_people_write_them),
        cmocka_unit_test(integers),
        cmocka_unit_test(growing_text_fails_once_and_for_all),
        cmocka_unit_test(nearest_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
