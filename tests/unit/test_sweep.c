// tests/unit/test_sweep.c: archives of arrays as the formats have them; sweeps: samples in order, draws that do not
// depend on how many there are, what is done stays done, failures are named and can be forgotten.

#include "test_io_help.h"

#include <math.h>

#include "io/npz.h"
#include "toile/sweep.h"

// ---- arrays ---------------------------------------------------------------------------------------------------

static uint32_t read16(const uint8_t *p) { return p[0] | (uint32_t)p[1] << 8; }
static uint32_t read32(const uint8_t *p) { return read16(p) | read16(p + 2) << 16; }

// CRC-32 bit by bit, as APPNOTE 6.3, 4.4.7 defines it.
static uint32_t slow_crc(const uint8_t *p, size_t n)
{
    uint32_t c = 0xffffffff;
    for (size_t i = 0; i < n; i++) {
        c ^= p[i];
        for (int k = 0; k < 8; k++) c = c & 1 ? c >> 1 ^ 0xedb88320 : c >> 1;
    }
    return ~c;
}

static const tl_buf *two_arrays(const tl_allocator *alloc, tl_npz **npz)
{
    static const double x[6] = {1, 2, 3, 4, 5, -0.5};
    static const int32_t ids[3] = {7, -1, 2000000000};
    const tl_buf *file = NULL;
    tl_error err;
    assert_int_equal(tl_npz_create(alloc, npz, &err), TL_OK);
    assert_int_equal(tl_npz_add(*npz, "cloth.positions", TL_NPY_F8, x, 2, 3, &err), TL_OK);
    assert_int_equal(tl_npz_add(*npz, "ids", TL_NPY_I4, ids, 3, 0, &err), TL_OK);
    assert_int_equal(tl_npz_finish(*npz, &file, &err), TL_OK);
    return file;
}

static void an_archive_is_what_zip_and_numpy_say(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_npz *npz;
    const tl_buf *file = two_arrays(&alloc, &npz);
    const uint8_t *p = (const uint8_t *)file->data, *end = p + file->size - 22;
    assert_int_equal(read32(end), 0x06054b50);  // end of the directory
    assert_int_equal(read16(end + 10), 2);
    const uint8_t *entry = p + read32(end + 16);
    assert_ptr_equal(entry + read32(end + 12), end);
    static const char *const names[2] = {"cloth.positions.npy", "ids.npy"};
    static const char *const heads[2] = {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }",
                                         "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }"};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(read32(entry), 0x02014b50);
        const uint32_t crc = read32(entry + 16), size = read32(entry + 20), name = read16(entry + 28);
        assert_int_equal(name, strlen(names[i]));
        assert_memory_equal(entry + 46, names[i], name);
        const uint8_t *local = p + read32(entry + 42);
        assert_int_equal(read32(local), 0x04034b50);
        assert_memory_equal(local + 4, entry + 6, 24);  // the same facts in both places
        const uint8_t *npy = local + 30 + name;
        assert_int_equal(slow_crc(npy, size), crc);
        assert_memory_equal(npy, "\x93NUMPY\x01\x00", 8);
        const uint32_t head = read16(npy + 8);
        assert_int_equal((10 + head) % 64, 0);
        assert_memory_equal(npy + 10, heads[i], strlen(heads[i]));
        assert_int_equal(npy[9 + head], '\n');
        assert_int_equal(size, 10 + head + (i ? 3 * 4 : 6 * 8));
        if (i == 0) {
            double x[6];
            memcpy(x, npy + 10 + head, sizeof x);
            assert_true(x[0] == 1 && x[5] == -0.5);
        }
        entry += 46 + name;
    }
    tl_npz *again;
    const tl_buf *other = two_arrays(&alloc, &again);
    assert_int_equal(other->size, file->size);
    assert_memory_equal(other->data, file->data, file->size);
    char name[300];
    memset(name, 'a', 299), name[299] = 0;
    tl_error err;
    assert_int_equal(tl_npz_add(again, name, TL_NPY_I4, NULL, 0, 0, &err), TL_BAD_ARG);
    tl_npz_destroy(npz);
    tl_npz_destroy(again);
    tl_npz_destroy(NULL);
}

static void no_memory_is_told(void **state)
{
    (void)state;
    static const double x[600] = {0};
    int failed = 0;
    for (int64_t n = 0;; n++) {
        ledger l;
        const tl_allocator alloc = failing_allocator(&l, n);
        tl_npz *npz = NULL;
        const tl_buf *file;
        tl_error err;
        tl_status status = tl_npz_create(&alloc, &npz, &err);
        for (int i = 0; status == TL_OK && i < 3; i++) status = tl_npz_add(npz, "x", TL_NPY_F8, x, 200, 3, &err);
        if (status == TL_OK) status = tl_npz_finish(npz, &file, &err);
        tl_npz_destroy(npz);
        assert_int_equal(l.live, 0);
        if (status == TL_OK) break;
        assert_int_equal(status, TL_NO_MEMORY);
        failed++;
    }
    assert_true(failed >= 3);
}

// ---- sweeps ---------------------------------------------------------------------------------------------------

static const char scene[] =
    "{\"frames\": 1, \"fps\": 25, \"steps_per_frame\": 1, \"cloths\": [{\"name\": \"sheet\",\n"
    " \"mesh\": {\"rectangle\": {\"size\": [0.2, 0.2], \"edge\": 0.1}},\n"
    " \"material\": {\"name\": \"plain\", \"kind\": \"isotropic\", \"source\": \"made up\", \"density\": 0.2,\n"
    "  \"thickness\": 5e-4, \"young\": 2e6, \"poisson\": 0.3}, \"remeshing\": {\"kind\": \"none\"}}]}";

static tl_sweep *open_spec(const char *text, const char *dir)
{
    tl_sweep *sweep = NULL;
    tl_error err;
    help_write("scene.json", scene);
    help_write("spec.json", text);
    assert_ok(tl_sweep_open("spec.json", dir, &sweep, &err));
    return sweep;
}

static double value_of(const tl_sweep *sweep, int32_t sample, const char *key)
{
    const char *at = strstr(tl_sweep_sample(sweep, sample), key);
    assert_non_null(at);
    at += strlen(key);
    return strtod(at + strspn(at, "\": "), NULL);
}

static void samples_are_in_order(void **state)
{
    (void)state;
    tl_sweep *s = open_spec("{\"scene\": \"scene.json\", \"grid\": {\"fps\": [10, 20], \"frames\": [1, 2, 3]},\n"
                            " \"list\": [{\"seed\": 1}, {\"seed\": 2}]}",
                            "out");
    assert_int_equal(tl_sweep_count(s), 12);
    for (int32_t i = 0; i < 12; i++) {  // scenes x grid x list, the last fastest
        assert_near(value_of(s, i, "fps"), i < 6 ? 10 : 20, 0);
        assert_near(value_of(s, i, "frames"), i / 2 % 3 + 1, 0);
        assert_near(value_of(s, i, "seed"), i % 2 + 1, 0);
    }
    assert_null(tl_sweep_sample(s, 12));
    assert_null(tl_sweep_sample(s, -1));
    tl_sweep_close(s);
    tl_sweep_close(NULL);
}

static void draws_do_not_depend_on_their_count(void **state)
{
    (void)state;
    double few[20], sum = 0;
    for (int round = 0; round < 2; round++) {
        char text[400], dir[20];
        snprintf(text, sizeof text,
                 "{\"scene\": \"scene.json\", \"random\": {\"count\": %d, \"seed\": 3, \"keys\": {\"fps\": "
                 "{\"uniform\": [10, 20]},\n"
                 " \"seed\": {\"integer\": [1, 3]}, \"cloths[0].thickness\": {\"log_uniform\": [1e-4, 1e-2]}}}}",
                 round ? 2000 : 20);
        snprintf(dir, sizeof dir, "out%d", round);
        tl_sweep *s = open_spec(text, dir);
        int32_t seen[4] = {0}, small = 0;
        for (int32_t i = 0; i < tl_sweep_count(s); i++) {
            const double fps = value_of(s, i, "fps"), seed = value_of(s, i, "seed"), t = value_of(s, i, "thickness");
            assert_true(fps >= 10 && fps <= 20 && t >= 1e-4 && t <= 1e-2 && seed >= 1 && seed <= 3);
            if (i < 20 && round == 0) few[i] = fps;
            if (i < 20) assert_near(fps, few[i], 0);
            seen[(int)seed]++, small += t < 1e-3, sum += round ? fps : 0;
        }
        if (round) {  // 2,000 draws: means within five deviations of themselves
            assert_near(sum / 2000, 15, 5 * 10 / sqrt(12.0 * 2000));
            for (int k = 1; k <= 3; k++) assert_near(seen[k], 2000 / 3.0, 5 * sqrt(2000 * 2 / 9.0));
            assert_near(small, 1000, 5 * sqrt(500));
        }
        tl_sweep_close(s);
    }
}

static void what_is_done_stays_done(void **state)
{
    (void)state;
    const char *text =
        "{\"scene\": \"scene.json\", \"list\": [{}, {\"cloths[0].material\": \"cottn\"}, {\"gravity\": [0, -1, 0]}]}";
    tl_error err;
    tl_sweep *s = open_spec(text, "out");
    assert_int_equal(tl_sweep_state_of(s, 0), TL_SWEEP_PENDING);
    assert_ok(tl_sweep_run(s, 0, 1, NULL, &err));
    assert_int_equal(tl_sweep_run(s, 1, 1, NULL, &err), TL_BAD_INPUT);
    assert_message_has("cottn");
    tl_sweep_report report;
    assert_ok(tl_sweep_collect(s, &report, &err));
    assert_true(report.count == 3 && report.done == 1 && report.failed == 1 && report.pending == 1);
    tl_sweep_close(s);

    s = open_spec(text, "out");  // another process
    assert_int_equal(tl_sweep_state_of(s, 0), TL_SWEEP_DONE);
    assert_int_equal(tl_sweep_state_of(s, 1), TL_SWEEP_FAILED);
    size_t size;
    char *before = help_read("out/runs/000000/arrays.npz", &size), *failures = help_read("out/failures.tsv", NULL);
    assert_memory_equal(before, "PK\3\4", 4);
    assert_non_null(strstr(failures, "cottn"));
    help_write("out/runs/000000/arrays.npz", "touched");  // a sample that is done is left alone
    assert_ok(tl_sweep_run(s, 0, 1, NULL, &err));
    char *after = help_read("out/runs/000000/arrays.npz", NULL);
    assert_string_equal(after, "touched");
    assert_ok(tl_sweep_forget_failure(s, 1, &err));
    assert_int_equal(tl_sweep_state_of(s, 1), TL_SWEEP_PENDING);
    assert_ok(tl_sweep_note_failure(s, 2, "killed by signal 9", &err));
    assert_int_equal(tl_sweep_state_of(s, 2), TL_SWEEP_FAILED);
    assert_ok(tl_sweep_forget_failure(s, 2, &err));
    assert_ok(tl_sweep_run(s, 2, 2, NULL, &err));
    assert_ok(tl_sweep_collect(s, &report, &err));
    assert_true(report.done == 2 && report.failed == 0 && report.pending == 1);
    char *lines = help_read("out/dataset.jsonl", NULL);
    assert_non_null(strstr(lines, "\"sample\": 0"));
    assert_non_null(strstr(lines, "\"sample\": 2"));
    free(before), free(after), free(failures), free(lines);
    tl_sweep_close(s);
    help_write("spec.json", "{\"scene\": \"scene.json\"}");
    assert_int_equal(tl_sweep_open("spec.json", "out", &s, &err), TL_BAD_INPUT);  // another sweep is there
    assert_null(s);
}

static void bad_specifications_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"{}", "scene"},
        {"{\"scene\": \"scene.json\", \"gird\": {}}", "grid"},
        {"{\"scene\": \"scene.json\",\n\"grid\": {\"fps\": []}}", "fps"},
        {"{\"scene\": \"scene.json\", \"random\": {\"count\": 0, \"keys\": {\"fps\": {\"uniform\": [1, 2]}}}}",
         "count"},
        {"{\"scene\": \"scene.json\", \"random\": {\"count\": 2, \"keys\": {\"fps\": {\"uniform\": [2, 1]}}}}", "fps"},
        {"{\"scene\": \"scene.json\", \"random\": {\"count\": 2, \"keys\": {\"fps\": {\"log_uniform\": [0, 1]}}}}",
         "fps"},
        {"{\"scene\": \"scene.json\", \"random\": {\"count\": 2, \"keys\": {\"fps\": {\"unform\": [0, 1]}}}}",
         "unform"},
        {"{\"scene\": \"scene.json\", \"random\": {\"count\": 2000000, \"keys\": {\"fps\": {\"uniform\": [1, 2]}}}}",
         "1000000"},
    };
    help_write("scene.json", scene);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tl_sweep *s = NULL;
        tl_error err = {0};
        help_write("spec.json", cases[i].text);
        const tl_status status = tl_sweep_open("spec.json", "bad", &s, &err);
        if (status == TL_OK) print_error("taken: %s\n", cases[i].text);
        assert_true(status == TL_BAD_INPUT || status == TL_IO);
        assert_null(s);
        assert_message_has(cases[i].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_archive_is_what_zip_and_numpy_say),
        cmocka_unit_test(no_memory_is_told),
        cmocka_unit_test_setup_teardown(samples_are_in_order, help_setup, help_teardown),
        cmocka_unit_test_setup_teardown(draws_do_not_depend_on_their_count, help_setup, help_teardown),
        cmocka_unit_test_setup_teardown(what_is_done_stays_done, help_setup, help_teardown),
        cmocka_unit_test_setup_teardown(bad_specifications_are_named, help_setup, help_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
