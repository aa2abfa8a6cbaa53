// tests/unit/test_io_json.c: comments, places of values, includes, settings, tables of keys.

#include "test_io_help.h"

#include <stddef.h>

#include "io/json.h"
#include "scene/keys.h"

typedef struct inner {
    double size;
    tl_vec3 at;
} inner;
typedef struct outer {
    int64_t count;
    double density;
    int32_t mode;
    const char *name;
    int32_t on;
    inner in;
} outer;

static const char *const mode_words[] = {"fast", "exact", NULL};
static const tl_key_def inner_keys[] = {
    {"size", TL_KEY_REAL, TL_KEY_REQUIRED | TL_KEY_OPEN_MIN, offsetof(inner, size), 0, 10, .doc = "its size"},
    {"at", TL_KEY_VEC3, 0, offsetof(inner, at), .number = {1, 2, 3}, .doc = "its place"},
    {0},
};
static const tl_key_table inner_table = {"inner", inner_keys};
static const tl_key_def outer_keys[] = {
    {"count", TL_KEY_INT, 0, offsetof(outer, count), 1, 100, {5}, .doc = "how many"},
    {"density", TL_KEY_REAL, TL_KEY_OPEN_MIN, offsetof(outer, density), 0, TL_KEY_LIMIT, {0.2}, .doc = "how heavy"},
    {"mode", TL_KEY_WORD, 0, offsetof(outer, mode), .words = mode_words, .text = "fast", .doc = "how"},
    {"name", TL_KEY_TEXT, TL_KEY_OPTIONAL, offsetof(outer, name), .doc = "a name"},
    {"on", TL_KEY_BOOL, 0, offsetof(outer, on), .number = {1}, .doc = "whether"},
    {"in", TL_KEY_OBJECT, TL_KEY_OPTIONAL, offsetof(outer, in), .table = &inner_table, .doc = "inside"},
    {"later", TL_KEY_REAL, TL_KEY_LATER, .doc = "not yet"},
    {0},
};
static const tl_key_table outer_table = {"outer", outer_keys};

static tl_status read_outer(const tl_allocator *alloc, const char *const *sets, int32_t set_count, outer *out,
                            tl_buf *text, tl_error *err)
{
    tl_json_doc *doc;
    const tl_json_def def = {.path = "a.json", .includes = true, .sets = sets, .set_count = set_count};
    const tl_status loaded = tl_json_load(alloc, &def, &doc, err);
    if (loaded != TL_OK) return loaded;
    const tl_node root = tl_json_root(doc);
    const tl_status status = tl_table_read(&root, &outer_table, out, err);
    if (status == TL_OK && text) tl_json_write(text, root.value);
    tl_json_destroy(doc);
    return status;
}

static void check_fails(const char *text, const char *message)
{
    tl_error err;
    outer out;
    const tl_allocator alloc = tl_allocator_default();
    help_write("a.json", text);
    assert_fails(read_outer(&alloc, NULL, 0, &out, NULL, &err), TL_BAD_INPUT, message);
}

static void check_set_fails(const char *set, const char *message)
{
    tl_error err;
    outer out;
    const tl_allocator alloc = tl_allocator_default();
    help_write("a.json", "{\"in\": {\"size\": 1}}");
    assert_fails(read_outer(&alloc, &set, 1, &out, NULL, &err), TL_BAD_INPUT, message);
}

static void comments_are_blank_and_lines_stay(void **state)
{
    (void)state;
    tl_error err;
    char text[] = "{ // one\n \"a//b\": \"/* no */ \\\" // no\", /* two\n three */ \"c\": 1 // end";
    const char *wanted = "{       \n \"a//b\": \"/* no */ \\\" // no\",       \n          \"c\": 1       ";
    assert_ok(tl_json_blank_comments(text, strlen(text), "x", &err));
    assert_string_equal(text, wanted);
    char open[] = "{\n\n/* never closed";
    assert_fails(tl_json_blank_comments(open, strlen(open), "x.json", &err), TL_BAD_INPUT,
                 "x.json:3: comment without end (close it with */)");
}

static void defaults_and_values(void **state)
{
    (void)state;
    tl_error err;
    outer out;
    const tl_allocator alloc = tl_allocator_default();
    tl_buf text;
    tl_buf_init(&text, &alloc);
    help_write("a.json", "\xef\xbb\xbf{\"mode\": \"exact\", \"in\": {\"size\": 2.5}, \"count\": 7.0}");
    assert_ok(read_outer(&alloc, NULL, 0, &out, &text, &err));
    assert_int_equal(out.count, 7);
    assert_int_equal(out.mode, 1);
    assert_int_equal(out.on, 1);
    assert_null(out.name);
    assert_near(out.density, 0.2, 0);
    assert_near(out.in.size, 2.5, 0);
    assert_near(out.in.at.z, 3, 0);
    assert_ok(tl_buf_end(&text, "text", &err));
    assert_string_equal(text.data, "{\n  \"count\": 7,\n  \"density\": 0.2,\n  \"mode\": \"exact\",\n  \"on\": true,\n"
                                   "  \"in\": {\n    \"size\": 2.5,\n    \"at\": [1, 2, 3]\n  }\n}");
    tl_buf_free(&text);
}

static void every_complaint_has_its_line(void **state)
{
    (void)state;
    check_fails("", "a.json:1: file is empty, a JSON object { .. } is needed");
    check_fails(" // only\n", "a.json:1: file is empty, a JSON object { .. } is needed");
    check_fails("[1]", "a.json:1: is a list, a JSON object { .. } is needed");
    check_fails("{\n \"count\": 1,\n \"mode\": \"fa", "a.json:3: not valid JSON: premature end of input near '\"fa'");
    check_fails("{\n\"count\": NaN}", "a.json:2: not valid JSON: invalid token near 'NaN'");
    check_fails("{\n\"density\": 1e309}", "a.json:2: not valid JSON: real number overflow near '1e309'");
    check_fails("{\"count\": 1,\n\"count\": 2}", "a.json:2: not valid JSON: duplicate object key near '\"count\"'");
    check_fails("{\n\n\"density\": -0.2}", "a.json:3: density -0.2, must be > 0");
    check_fails("{\n\"density\": 1e308}", "a.json:2: density 1e+308, must be <= 1e9");
    check_fails("{\n\"density\": \"x\"}", "a.json:2: density \"x\", must be a number");
    check_fails("{\"count\": 2.5}", "a.json:1: count 2.5, must be a whole number");
    check_fails("{\"count\": 101}", "a.json:1: count 101, must be in [1, 100]");
    check_fails("{\"mode\": \"exakt\"}",
                "a.json:1: mode \"exakt\", must be one of \"fast\", \"exact\" (did you mean 'exact'?)");
    check_fails("{\"mode\": 3}", "a.json:1: mode 3, must be one of \"fast\", \"exact\"");
    check_fails("{\"on\": 1}", "a.json:1: on 1, must be true or false");
    check_fails("{\"name\": null}", "a.json:1: name null, must be a text in quotes");
    check_fails("{\n\"in\": []}", "a.json:2: in [..] of 0, must be an object { .. }");
    check_fails("{\n\"in\": {\n}}", "a.json:2: in lacks 'size' (its size)");
    check_fails("{\"in\": {\"size\": 1,\n\"at\":\n [1, 2]}}", "a.json:2: in.at [..] of 2, must be a list of 3 numbers");
    check_fails("{\"in\": {\"size\": 1, \"at\": [1,\n 2,\n true]}}", "a.json:3: in.at[2] true, must be a number");
    check_fails("{\n\"desnity\": 1}", "a.json:2: desnity is not a known key (did you mean 'density'?)");
    check_fails("{\"in\":\n{\"size\": 1,\n\"ta\": 1}}", "a.json:3: in.ta is not a known key (did you mean 'at'?)");
    check_fails("{\"else\": 1}", "a.json:1: else is not a known key (known: count, density, mode, name, on, in)");
    check_fails("{\"later\": 1}", "a.json:1: later is not in this version yet (remove it)");
}

static void nesting_is_limited(void **state)
{
    (void)state;
    char text[400] = "{\"in\":\n";
    for (int i = 0; i < 70; i++) strcat(text, "[");
    check_fails(text, "a.json:2: nested 65 deep, must be <= 64");
}

static void includes_merge_and_keep_their_places(void **state)
{
    (void)state;
    tl_error err;
    outer out;
    const tl_allocator alloc = tl_allocator_default();
    help_write("base.json", "{\n \"count\": 3,\n \"in\": {\"size\": 4,\n \"at\": [9, 9, 9]}\n}");
    help_write("more.json", "{\n\n \"density\": 7\n}");
    help_write("a.json", "{\"include\": [\"base.json\", \"more.json\"], \"in\": {\"at\": [1, 1, 1]}}");
    assert_ok(read_outer(&alloc, NULL, 0, &out, NULL, &err));
    assert_int_equal(out.count, 3);
    assert_near(out.density, 7, 0);
    assert_near(out.in.size, 4, 0);
    assert_near(out.in.at.x, 1, 0);
    help_write("more.json", "{\n\n \"density\": -7\n}");
    assert_fails(read_outer(&alloc, NULL, 0, &out, NULL, &err), TL_BAD_INPUT, "more.json:3: density -7, must be > 0");
    help_write("more.json", "{\n \"count\": x}");
    assert_int_equal(read_outer(&alloc, NULL, 0, &out, NULL, &err), TL_BAD_INPUT);
    assert_message_has("more.json:2: not valid JSON");
}

static void includes_that_cannot_be(void **state)
{
    (void)state;
    tl_error err;
    outer out;
    const tl_allocator alloc = tl_allocator_default();
    help_write("b.json", "{\n \"include\": \"./a.json\"\n}");
    check_fails("{\"include\": \"b.json\"}",
                "b.json:2: include \"./a.json\", includes itself: a.json -> b.json -> ./a.json");
    check_fails("{\n\"include\": 3}", "a.json:2: include 3, must be the name of a file");
    help_write("a.json", "{\n\"include\": [\"gone.json\"]}");
    assert_int_equal(read_outer(&alloc, NULL, 0, &out, NULL, &err), TL_IO);
    assert_message_has("a.json:2: include[0]: gone.json: no such file");
    for (int i = 0; i < 40; i++) {
        char name[32], text[64];
        snprintf(name, sizeof name, "c%d.json", i);
        snprintf(text, sizeof text, "{\"include\": \"c%d.json\"}", i + 1);
        help_write(name, text);
    }
    help_write("a.json", "{\"include\": \"c0.json\"}");
    assert_int_equal(read_outer(&alloc, NULL, 0, &out, NULL, &err), TL_BAD_INPUT);
    assert_message_has("c14.json:1: include \"c15.json\", includes nested more than 16 deep: a.json -> c0.json -> ");
}

static void settings_come_on_top(void **state)
{
    (void)state;
    tl_error err;
    outer out;
    const tl_allocator alloc = tl_allocator_default();
    help_write("a.json", "{\"in\": {\"size\": 1, \"at\": [1, 2, 3]}}");
    const char *const sets[] = {"count=9", "mode=exact", "name=bare word", "in.at[1]=5", "in.at.2=6"};
    tl_json_doc *doc;
    assert_ok(tl_json_load(&alloc, &(tl_json_def){.path = "a.json", .sets = sets, .set_count = 5}, &doc, &err));
    const tl_node root = tl_json_root(doc);
    assert_ok(tl_table_read(&root, &outer_table, &out, &err));
    assert_string_equal(out.name, "bare word");
    tl_json_destroy(doc);
    assert_int_equal(out.count, 9);
    assert_int_equal(out.mode, 1);
    assert_near(out.in.at.y, 5, 0);
    assert_near(out.in.at.z, 6, 0);
    check_set_fails("density=-1", "--set density: density -1, must be > 0");
    check_set_fails("in.at=[1,2]", "--set in.at: in.at [..] of 2, must be a list of 3 numbers");
    check_set_fails("in={\"size\":99}", "--set in: in.size 99, must be in (0, 10]");
    check_set_fails("in.sise=1", "--set in.sise: in.sise is not a known key (did you mean 'size'?)");
    check_set_fails("density=nan", "--set density: density \"nan\", must be a number");
    check_set_fails("density=1e309", "--set density: density \"1e309\", must be a number");
    check_set_fails("density", "--set density: must read path.to.key=value");
    check_set_fails("=3", "--set =3: must read path.to.key=value");
    check_set_fails("a..b=3", "--set a..b: must read path.to.key=value");
    check_set_fails("in.size.x=3", "--set in.size.x: in.size is no object or list");
    help_write("a.json", "{\"in\": {\"size\": 1, \"at\": [1, 2, 3]}}");
    const char *far = "in.at[7]=3";
    assert_fails(tl_json_load(&alloc, &(tl_json_def){.path = "a.json", .sets = &far, .set_count = 1}, &doc, &err),
                 TL_BAD_INPUT, "--set in.at[7]: in.at[7] is not in a list of 3 (entries count from 0)");
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    tl_error err;
    outer out;
    help_write("base.json", "{\"count\": 3, \"in\": {\"size\": 4, \"at\": [9, 9, 9]}}");
    help_write("a.json", "{\"include\": \"base.json\", \"name\": \"x\", \"in\": {\"at\": [1, 1, 1]}}");
    const char *const sets[] = {"density=0.3", "in.size=2"};
    bool done = false;
    for (int64_t at = 0; !done; at++) {
        ledger f;
        const tl_allocator alloc = failing_allocator(&f, at);
        const tl_status status = read_outer(&alloc, sets, 2, &out, NULL, &err);
        assert_true(status == TL_OK || status == TL_NO_MEMORY);
        assert_true(f.live == 0);
        done = status == TL_OK;
        assert_true(at < 1000);
    }
    const tl_allocator alloc = tl_allocator_default();
    done = false;
    for (size_t at = 0; !done; at++) {
        json_left = at;
        json_set_alloc_funcs(json_failing_malloc, free);
        const tl_status status = read_outer(&alloc, sets, 2, &out, NULL, &err);
        json_set_alloc_funcs(malloc, free);
        // jansson itself takes some failures for a mistake in the text
        assert_true(status == TL_OK || status == TL_NO_MEMORY || status == TL_BAD_INPUT);
        done = status == TL_OK;
        assert_true(at < 10000);
    }
    assert_near(out.density, 0.3, 0);
}

static void schema_says_what_the_table_says(void **state)
{
    (void)state;
    json_t *schema = tl_table_schema(&outer_table);
    json_t *keys = json_object_get(schema, "properties");
    assert_int_equal(json_object_size(keys), 6);  // without the one reserved for later
    json_t *density = json_object_get(keys, "density");
    assert_near(json_number_value(json_object_get(density, "exclusiveMinimum")), 0, 0);
    assert_near(json_number_value(json_object_get(density, "default")), 0.2, 0);
    assert_true(json_is_false(json_object_get(schema, "additionalProperties")));
    json_decref(schema);
    schema = NULL;
    for (size_t at = 0; !schema; at++) {
        json_left = at;
        json_set_alloc_funcs(json_failing_malloc, free);
        schema = tl_table_schema(&outer_table);
        json_set_alloc_funcs(malloc, free);
    }
    json_decref(schema);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, help_setup, help_teardown)
    const struct CMUnitTest tests[] = {
        TEST(comments_are_blank_and_lines_stay),
        TEST(defaults_and_values),
        TEST(every_complaint_has_its_line),
        TEST(nesting_is_limited),
        TEST(includes_merge_and_keep_their_places),
        TEST(includes_that_cannot_be),
        TEST(settings_come_on_top),
        TEST(every_allocation_may_fail),
        TEST(schema_says_what_the_table_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
