// tests/unit/test_io_file.c: whole files or nothing.

#include "test_io_help.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "io/file.h"

static int entries(const char *dir)
{
    DIR *folder = opendir(dir);
    int n = 0;
    for (struct dirent *entry; (entry = readdir(folder));) n += entry->d_name[0] != '.';
    closedir(folder);
    return n;
}

static void written_bytes_come_back(void **state)
{
    (void)state;
    tl_error err;
    const tl_allocator alloc = tl_allocator_default();
    const char bytes[] = "one\0two";
    assert_ok(tl_file_write("a.bin", bytes, sizeof bytes, true, &err));
    assert_ok(tl_file_write("a.bin", bytes, sizeof bytes - 1, false, &err));
    tl_text text;
    assert_ok(tl_file_read(&alloc, "a.bin", 100, &text, &err));
    assert_int_equal(text.size, sizeof bytes - 1);
    assert_memory_equal(text.data, bytes, sizeof bytes);  // with the zero behind it
    tl_text_free(&alloc, &text);
    assert_int_equal(entries("."), 1);
}

static void reading_what_is_not_there(void **state)
{
    (void)state;
    tl_error err;
    tl_text text;
    const tl_allocator alloc = tl_allocator_default();
    assert_int_equal(tl_file_read(&alloc, "gone.json", 100, &text, &err), TL_IO);
    assert_message_has("gone.json: no such file (");
    assert_int_equal(mkdir("dir", 0777), 0);
    assert_fails(tl_file_read(&alloc, "dir", 100, &text, &err), TL_IO, "dir: is a folder, a file is needed");
    help_write("big.txt", "0123456789");
    assert_fails(tl_file_read(&alloc, "big.txt", 9, &text, &err), TL_BAD_INPUT,
                 "big.txt: 10 bytes, must be <= 9 for this kind of file");
    ledger f;
    const tl_allocator none = failing_allocator(&f, 0);
    assert_int_equal(tl_file_read(&none, "big.txt", 100, &text, &err), TL_NO_MEMORY);
    assert_int_equal(mkfifo("pipe", 0666), 0);
    assert_int_equal(tl_file_read(&alloc, "pipe", 100, &text, &err), TL_IO);
}

static void failed_write_leaves_the_old_file(void **state)
{
    (void)state;
    tl_error err;
    help_write("a.txt", "old");
    static char large[100000];
    // A limit on file sizes stands in for a full disk: write stops half way.
    struct rlimit old, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 5000;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const tl_status status = tl_file_write("a.txt", large, sizeof large, true, &err);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(status, TL_IO);
    assert_message_has("a.txt: cannot write: ");
    assert_int_equal(entries("."), 1);  // no half file beside it
    char *text = help_read("a.txt", NULL);
    assert_string_equal(text, "old");
    free(text);
}

static void unwritable_folders(void **state)
{
    (void)state;
    tl_error err;
    help_write("file", "x");
    assert_int_equal(tl_file_write("file/a.txt", "x", 1, true, &err), TL_IO);
    assert_message_has("file/a.txt: cannot write: ");
    assert_int_equal(tl_file_write("none/a.txt", "x", 1, true, &err), TL_IO);
    assert_int_equal(tl_file_write("/proc/a.txt", "x", 1, true, &err), TL_IO);
    assert_fails(tl_make_dirs("file/sub", &err), TL_IO,
                 "file: is a file, a folder is needed (remove it or choose another name)");
    assert_int_equal(tl_make_dirs("/proc/toile/sub", &err), TL_IO);
    assert_int_equal(mkdir("dir", 0777), 0);
    assert_fails(tl_file_write("dir", "x", 1, true, &err), TL_IO, "dir: is a folder, cannot write");
    if (geteuid() != 0) {  // root may write anywhere
        assert_int_equal(chmod("dir", 0555), 0);
        assert_int_equal(tl_file_write("dir/a.txt", "x", 1, true, &err), TL_IO);
        assert_message_has("check the permissions");
        assert_int_equal(chmod("dir", 0777), 0);
    }
    assert_int_equal(entries("dir"), 0);
}

static void paths(void **state)
{
    (void)state;
    tl_error err;
    char out[TL_PATH_MAX], stem[8];
    assert_ok(tl_path_join("a/b", "c.obj", out, &err));
    assert_string_equal(out, "a/b/c.obj");
    assert_ok(tl_path_join("a/b", "/c.obj", out, &err));
    assert_string_equal(out, "/c.obj");
    assert_ok(tl_path_join(".", "c.obj", out, &err));
    assert_string_equal(out, "c.obj");
    assert_ok(tl_path_dir("a/b.obj", out, &err));
    assert_string_equal(out, "a");
    assert_ok(tl_path_dir("b.obj", out, &err));
    assert_string_equal(out, ".");
    assert_ok(tl_path_dir("/b.obj", out, &err));
    assert_string_equal(out, "/");
    tl_path_stem("a/longname.json", stem, sizeof stem);
    assert_string_equal(stem, "longnam");
    char *endless = malloc(2 * TL_PATH_MAX);
    memset(endless, 'x', 2 * TL_PATH_MAX - 1);
    endless[2 * TL_PATH_MAX - 1] = 0;
    assert_int_equal(tl_path_join("a", endless, out, &err), TL_BAD_INPUT);
    assert_int_equal(tl_file_write(endless, "x", 1, false, &err), TL_IO);
    free(endless);
    assert_ok(tl_make_dirs("one/two/three/", &err));
    assert_int_equal(tl_path_look("one/two/three"), TL_PATH_DIR);
    assert_int_equal(tl_path_look("one/none"), TL_PATH_NONE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, help_setup, help_teardown)
    const struct CMUnitTest tests[] = {
        TEST(written_bytes_come_back),
        TEST(reading_what_is_not_there),
        TEST(failed_write_leaves_the_old_file),
        TEST(unwritable_folders),
        TEST(paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
