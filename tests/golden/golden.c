// tests/golden/golden.c: runs the short scenes of hashes.txt on 1, 2, 3 and 8 threads and compares state hashes.
//
//   golden REPO           compares with the recorded hashes; exit code 1 if one moved or threads disagree
//   golden REPO --record  writes the hashes of this build to the file and names those that moved
//
// A row of hashes.txt is NAME STEPS HASH SCENE [KEY=VALUE]..., lines that start with # are comments. The row "libm"
// holds a hash of what libc's mathematical functions return: where it differs (another libc or processor), recorded
// hashes mean nothing, and only the agreement of threads is tested.

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toile/toile.h"

enum { SETS_MAX = 16, LINE_MAX_LENGTH = 1024, LINES_MAX = 128 };

static const int32_t thread_counts[] = {1, 2, 3, 8};

typedef struct golden_row {
    char *name, *scene, *steps;
    const char *sets[SETS_MAX];
    int32_t set_count;
    uint64_t hash;  // recorded
} golden_row;

static uint64_t fnv(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < size; i++) hash = (hash ^ byte[i]) * UINT64_C(1099511628211);
    return hash;
}

// What the library takes from libm, at arguments that its rounding can differ at.
static uint64_t libm_hash(void)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (int i = 1; i <= 4000; i++) {
        volatile double x = 0.00173 * i;  // volatile: not folded at compile time
        const double y[] = {sin(x), cos(x), exp(x), log(x), pow(x, 1.7), atan2(x, 1.1), acos(x / 8), cbrt(x), tanh(x)};
        hash = fnv(hash, y, sizeof y);
    }
    return hash;
}

// Splits `line` at blanks in place. False: a comment or an empty line.
static bool row_read(char *line, golden_row *row)
{
    *row = (golden_row){0};
    char *rest = line;
    char *word[4 + SETS_MAX];
    int32_t count = 0;
    for (char *w; count < 4 + SETS_MAX && (w = strtok_r(rest, " \t\n", &rest)) != NULL;) word[count++] = w;
    if (count == 0 || word[0][0] == '#') return false;
    row->name = word[0];
    row->steps = count > 1 ? word[1] : "0";
    row->hash = count > 2 ? strtoull(word[2], NULL, 16) : 0;
    row->scene = count > 3 ? word[3] : NULL;
    for (int32_t i = 4; i < count; i++) row->sets[row->set_count++] = word[i];
    return true;
}

static tl_status row_run(const golden_row *row, const char *repo, int32_t threads, uint64_t *hash, tl_error *err)
{
    char path[LINE_MAX_LENGTH];
    snprintf(path, sizeof path, "%s/%s", repo, row->scene);
    tl_scene *scene = NULL;
    tl_sim *sim = NULL;
    tl_step_report report = {0};
    tl_status status = tl_scene_load(path, row->sets, row->set_count, &scene, err);
    if (status == TL_OK) status = tl_scene_simulate(scene, threads, NULL, NULL, &sim, err);
    for (long i = strtol(row->steps, NULL, 10); status == TL_OK && i > 0; i--) status = tl_sim_step(sim, &report, err);
    if (status == TL_OK) *hash = tl_sim_hash(sim);
    if (status == TL_OK && getenv("GOLDEN_VERBOSE")) {
        tl_cloth_view view;
        tl_sim_cloth_view(sim, tl_sim_cloth(sim, 0), &view);
        printf("%s: %d threads, %d faces, %lld contacts, %d strain rounds, %d substeps\n", row->name, threads,
               view.face_count, (long long)report.contact.contacts, report.strain.rounds, report.substeps);
    }
    tl_sim_destroy(sim);
    tl_scene_destroy(scene);
    return status;
}

// The hash of a row on every thread count. False, with a message: it failed, or threads disagree.
static bool row_hash(const golden_row *row, const char *repo, uint64_t *hash)
{
    for (size_t i = 0; i < sizeof thread_counts / sizeof *thread_counts; i++) {
        tl_error err;
        uint64_t now = 0;
        if (row_run(row, repo, thread_counts[i], &now, &err) != TL_OK) {
            printf("golden: %s on %d threads: %s\n", row->name, thread_counts[i], err.message);
            return false;
        }
        if (i == 0) *hash = now;
        if (now == *hash) continue;
        printf("golden: %s: %016" PRIx64 " on %d thread(s), %016" PRIx64 " on %d: results depend on the thread count\n",
               row->name, *hash, thread_counts[0], now, thread_counts[i]);
        return false;
    }
    return true;
}

typedef struct golden {
    char line[LINES_MAX][LINE_MAX_LENGTH];
    int32_t line_count;
    int32_t rows, moved, failed;
    bool other_libm;
} golden;

static bool file_read(const char *path, golden *g)
{
    FILE *file = fopen(path, "r");
    if (!file) return false;
    while (g->line_count < LINES_MAX && fgets(g->line[g->line_count], LINE_MAX_LENGTH, file)) g->line_count++;
    const bool all = feof(file) != 0;
    fclose(file);
    return all;
}

static bool file_write(const char *path, const golden *g)
{
    FILE *file = fopen(path, "w");
    if (!file) return false;
    for (int32_t i = 0; i < g->line_count; i++) fputs(g->line[i], file);
    return fclose(file) == 0;
}

// Puts `hash` into the third column of a line.
static void line_rewrite(char *line, uint64_t hash)
{
    char copy[LINE_MAX_LENGTH];
    golden_row row;
    memcpy(copy, line, sizeof copy);
    if (!row_read(copy, &row)) return;
    int used = snprintf(line, LINE_MAX_LENGTH, "%-16s %4s %016" PRIx64, row.name, row.steps, hash);
    if (row.scene) used += snprintf(line + used, (size_t)(LINE_MAX_LENGTH - used), " %s", row.scene);
    for (int32_t i = 0; i < row.set_count; i++)
        used += snprintf(line + used, (size_t)(LINE_MAX_LENGTH - used), " %s", row.sets[i]);
    snprintf(line + used, (size_t)(LINE_MAX_LENGTH - used), "\n");
}

static void line_run(golden *g, int32_t i, const char *repo)
{
    char copy[LINE_MAX_LENGTH];
    golden_row row;
    memcpy(copy, g->line[i], sizeof copy);
    if (!row_read(copy, &row)) return;
    uint64_t hash = 0;
    if (!row.scene) {
        hash = libm_hash();
        g->other_libm = hash != row.hash;
    } else {
        g->rows++;
        if (!row_hash(&row, repo, &hash)) {
            g->failed++;
            return;
        }
        if (hash != row.hash) {
            g->moved++;
            printf("golden: %s moved: %016" PRIx64 " recorded, %016" PRIx64 " now\n", row.name, row.hash, hash);
        }
    }
    line_rewrite(g->line[i], hash);
}

int main(int argc, char **argv)
{
    const bool record = argc == 3 && strcmp(argv[2], "--record") == 0;
    if (argc != 2 && !record) {
        fprintf(stderr, "usage: golden REPO [--record]\n");
        return 1;
    }
    static golden g;
    char path[LINE_MAX_LENGTH];
    snprintf(path, sizeof path, "%s/tests/golden/hashes.txt", argv[1]);
    if (!file_read(path, &g)) {
        fprintf(stderr, "golden: cannot read %s (at most %d lines)\n", path, LINES_MAX);
        return 1;
    }
    for (int32_t i = 0; i < g.line_count; i++) line_run(&g, i, argv[1]);
    if (record) {
        if (g.failed == 0 && !file_write(path, &g)) {
            fprintf(stderr, "golden: cannot write %s\n", path);
            return 1;
        }
        printf("golden: %d of %d hashes moved%s\n", g.moved, g.rows,
               g.failed  ? "; nothing written, see the messages above"
               : g.moved ? "; commit tests/golden/hashes.txt with the change and say in the message why bits changed"
                         : "");
        return g.failed ? 1 : 0;
    }
    if (g.moved > 0 && g.other_libm) {
        printf("golden: libm returns other bits here than where hashes were recorded: only the agreement of threads "
               "was tested\n");
        g.moved = 0;
    }
    if (g.moved > 0)
        printf("golden: %d of %d scenes give other bits than recorded. If no change of results was meant, this is a "
               "defect.\n"
               "golden: If it was meant: `make golden` records the new hashes; commit tests/golden/hashes.txt together "
               "with the change,\n"
               "golden: and say in the commit message what moved and why it is better.\n",
               g.moved, g.rows);
    else if (g.failed == 0)
        printf("golden: %d scenes on 1, 2, 3 and 8 threads, as recorded\n", g.rows);
    return g.moved > 0 || g.failed > 0 ? 1 : 0;
}
