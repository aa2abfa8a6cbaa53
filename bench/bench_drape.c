// bench/bench_drape.c: `toile bench drape`: whole clips of a body in garments, from the patterns on.
//
// Every case is a `toile drape`: seconds until the garments are at rest, seconds a frame of the motion, peak memory,
// crossings by the exact test in every saved frame, nodes between parts of the body, and how far the garments slip:
// the upper tenth of a garment is bound to the skin that it rests near, and followed.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "toile/drape.h"

enum { PATH_SIZE = 1024, MOST_PATTERNS = 3, LOOK_EVERY = 10 };
#define UPPER 0.1      // of a garment's height, below its top
#define NEAR 0.02      // [m] from the skin: what is bound
#define SLIP_MAX 0.08  // [m] that 95 of 100 bound nodes must keep to, or the garment has come off

typedef struct drape_case {
    const char *name, *clip;
    const char *pattern[MOST_PATTERNS];  // below scenes/patterns, the innermost first
} drape_case;

static const drape_case cases[] = {
    {"walk", "walk", {"dress"}},
    {"dance", "dance_pirouette", {"dress"}},
    {"jump", "jump_balance", {"trousers", "tshirt"}},
};
enum { CASE_COUNT = sizeof cases / sizeof *cases };

const char *bench_drape_case(int32_t index) { return index >= 0 && index < CASE_COUNT ? cases[index].name : NULL; }

bench_drape_def bench_drape_default(void)
{
    return (bench_drape_def){.quality = TL_DRAPE_DRAFT, .frames = -1, .threads = 1, .out = stdout};
}

// ---- slip ---------------------------------------------------------------------------------------------------

typedef struct points {
    tl_vec3 *x;
    int32_t count, cap;
} points;

// Lines `v` of a frame.
static bool read_points(const char *dir, const char *folder, int32_t frame, const char *name, points *p)
{
    char path[2 * PATH_SIZE], line[256];
    snprintf(path, sizeof path, "%s/%s/%06d_%s.obj", dir, folder, frame, name);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    p->count = 0;
    bool ok = true;
    while (ok && fgets(line, sizeof line, file)) {
        tl_vec3 x;
        if (sscanf(line, "v %lf %lf %lf", &x.x, &x.y, &x.z) != 3) continue;
        if (p->count == p->cap) {
            const int32_t cap = p->cap > 0 ? 2 * p->cap : 4096;
            tl_vec3 *more = realloc(p->x, (size_t)cap * sizeof *more);
            if ((ok = more != NULL)) p->x = more, p->cap = cap;
        }
        if (ok) p->x[p->count++] = x;
    }
    fclose(file);
    return ok;
}

static double apart(tl_vec3 a, tl_vec3 b) { return hypot(hypot(a.x - b.x, a.y - b.y), a.z - b.z); }

/// Node of the cloth, vertex of the skin, their distance at rest.
typedef struct bond {
    int32_t node, vert;
    double rest;
} bond;

static int32_t bind(const points *cloth, const points *skin, bond *out)
{
    double low = INFINITY, high = -INFINITY;
    int32_t n = 0;
    for (int32_t i = 0; i < cloth->count; i++) low = fmin(low, cloth->x[i].y), high = fmax(high, cloth->x[i].y);
    for (int32_t i = 0; i < cloth->count; i++) {
        if (cloth->x[i].y < high - UPPER * (high - low)) continue;
        bond b = {i, 0, INFINITY};
        for (int32_t v = 0; v < skin->count; v++) {
            const double d = apart(cloth->x[i], skin->x[v]);
            if (d < b.rest) b.rest = d, b.vert = v;
        }
        if (b.rest < NEAR) out[n++] = b;
    }
    return n;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// What 95 of 100 bound nodes keep to, at the worst of the frames looked at [m]; NaN: nothing is near the skin.
static double slip_of(const char *dir, const char *name, int32_t last)
{
    points cloth = {0}, skin = {0};
    bond *bonds = NULL;
    double *slips = NULL, worst = (double)NAN;
    int32_t n = 0;
    if (read_points(dir, "frames", 0, name, &cloth) && read_points(dir, "obstacles", 0, "body", &skin)) {
        bonds = malloc((size_t)cloth.count * sizeof *bonds), slips = malloc((size_t)cloth.count * sizeof *slips);
        n = bonds && slips ? bind(&cloth, &skin, bonds) : 0;
    }
    for (int32_t f = 0; n > 0 && f < last;) {
        f = f + LOOK_EVERY < last ? f + LOOK_EVERY : last;
        if (!read_points(dir, "frames", f, name, &cloth) || !read_points(dir, "obstacles", f, "body", &skin)) break;
        for (int32_t k = 0; k < n; k++)
            slips[k] = fmax(0, apart(cloth.x[bonds[k].node], skin.x[bonds[k].vert]) - bonds[k].rest);
        qsort(slips, (size_t)n, sizeof *slips, by_size);
        worst = fmax(isnan(worst) ? 0 : worst, slips[(int64_t)n * 95 / 100]);
    }
    free(cloth.x), free(skin.x), free(bonds), free(slips);
    return worst;
}

// ---- a case -------------------------------------------------------------------------------------------------

typedef struct drape_result {
    tl_drape_report report;
    double rest_cpu, frame_cpu, frame_seconds, peak, slip;
    int32_t frames;
} drape_result;

typedef struct drape_clock {
    double begin, run;  // processor time; `run` < 0: the motion has not begun
} drape_clock;

static void watch(void *user, int32_t garment, tl_drape_stage stage, double part)
{
    (void)garment, (void)part;
    drape_clock *c = user;
    if (stage == TL_DRAPE_RUN && c->run < 0) c->run = bench_cpu();
}

static tl_status run_case(const bench_drape_def *def, const drape_case *c, const char *dir, drape_result *r,
                          tl_error *err)
{
    char body[PATH_SIZE], path[MOST_PATTERNS][PATH_SIZE];
    const char *patterns[MOST_PATTERNS];
    tl_drape_def drape = tl_drape_def_default();
    for (; drape.pattern_count < MOST_PATTERNS && c->pattern[drape.pattern_count]; drape.pattern_count++) {
        const int32_t k = drape.pattern_count;
        snprintf(path[k], PATH_SIZE, "%s/scenes/patterns/%s.json", def->data, c->pattern[k]);
        patterns[k] = path[k];
    }
    snprintf(body, sizeof body, "%s/scenes/walk/body.glb", def->data);
    drape_clock clock = {bench_cpu(), -1};
    drape.patterns = patterns, drape.body = body, drape.clip = c->clip, drape.quality = (tl_drape_quality)def->quality;
    drape.edge = def->edge, drape.frames = def->frames, drape.threads = def->threads, drape.out_dir = dir;
    drape.no_fit = 1, drape.progress = watch, drape.user = &clock;
    const double mark = bench_rss_mark();
    const tl_status status = tl_drape(&drape, &r->report, err);
    if (status != TL_OK) return status;
    const double end = bench_cpu();
    r->peak = bench_rss_growth(mark) + mark;
    r->frames = r->report.run.last_frame - r->report.run.first_frame;  // of this call: some may have been there
    r->rest_cpu = clock.run - clock.begin;
    r->frame_cpu = r->frames > 0 ? (end - clock.run) / r->frames : (double)NAN;
    r->frame_seconds = r->frames > 0 ? r->report.run.seconds / r->frames : (double)NAN;
    r->slip = 0;
    for (int32_t i = 0; i < r->report.count; i++) {
        const double slip = slip_of(dir, r->report.garment[i].name, r->report.run.last_frame);
        if (!(slip <= r->slip)) r->slip = slip;
    }
    return TL_OK;
}

static bool is_broken(const drape_result *r)
{
    for (int32_t i = 0; i < r->report.count; i++)
        if (r->report.garment[i].crossings > 0 || *r->report.garment[i].fault) return true;
    return r->report.run.intersections > 0 || r->slip > SLIP_MAX;
}

static void print_head(FILE *out)
{
    fprintf(out, "%-8s %-26s %7s %9s %7s %9s %9s %8s %10s %8s %15s %8s  %s\n", "case", "garments", "faces", "rest cpu",
            "frames", "s/frame", "cpu/frame", "peak MB", "crossings", "pinched", "strain 99 %", "slip mm", "");
}

static void print_row(FILE *out, const drape_case *c, const drape_result *r)
{
    char names[64] = "", rest[16] = "-";
    size_t n = 0;
    for (int32_t i = 0; i < r->report.count && n < sizeof names; i++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", i ? ", " : "", r->report.garment[i].name);
    const tl_run_report *run = &r->report.run;
    if (r->report.resumed == 0) snprintf(rest, sizeof rest, "%.1f", r->rest_cpu);
    fprintf(out, "%-8s %-26s %7lld %9s %7d %9.3f %9.3f %8.0f %10lld %8lld %+6.1f to %+5.1f %8.0f  %s\n", c->name, names,
            (long long)run->faces, rest, r->frames, r->frame_seconds, r->frame_cpu, r->peak / 1e6,
            (long long)run->intersections, (long long)run->pinched, 100 * run->strain_min_99, 100 * run->strain_max_99,
            1e3 * r->slip, is_broken(r) ? "look at it" : "");
    for (int32_t i = 0; i < r->report.count; i++)
        if (*r->report.garment[i].fault)
            fprintf(out, "         %s: %s\n", r->report.garment[i].name, r->report.garment[i].fault);
    fflush(out);
}

static const char CSV_HEAD[] = "date,case,faces,rest_cpu,frames,seconds,cpu,peak_bytes,crossings,pinched,strain_min_99,"
                               "strain_max_99,slip,state_hash\n";

static tl_status append_row(const bench_drape_def *def, const drape_case *c, const drape_result *r, tl_error *err)
{
    if (!def->csv) return TL_OK;
    char date[16];
    bench_today(date, sizeof date);
    FILE *file = bench_csv_open(def->csv, CSV_HEAD);
    const tl_run_report *run = &r->report.run;
    if (file)
        fprintf(file, "%s,%s,%lld,%.2f,%d,%.4f,%.4f,%.0f,%lld,%lld,%.4f,%.4f,%.4f,%016llx\n", date, c->name,
                (long long)run->faces, r->rest_cpu, r->frames, r->frame_seconds, r->frame_cpu, r->peak,
                (long long)run->intersections, (long long)run->pinched, run->strain_min_99, run->strain_max_99, r->slip,
                (unsigned long long)run->state_hash);
    return bench_csv_close(file, def->csv, err);
}

static bool is_wanted(const bench_drape_def *def, const char *name)
{
    for (int32_t i = 0; i < def->name_count; i++)
        if (strcmp(def->names[i], name) == 0) return true;
    return def->name_count == 0;
}

tl_status bench_drape(const bench_drape_def *def, int32_t *faults, tl_error *err)
{
    *faults = 0;
    fprintf(def->out,
            "seconds of wall clock and processor on %d threads; rest: from the patterns to garments at rest\n",
            def->threads);
    print_head(def->out);
    for (int32_t i = 0; i < CASE_COUNT; i++) {
        if (!is_wanted(def, cases[i].name)) continue;
        char dir[PATH_SIZE];
        drape_result r = {0};
        snprintf(dir, sizeof dir, "%s/%s", def->keep, cases[i].name);
        const tl_status status = run_case(def, &cases[i], dir, &r, err);
        if (status != TL_OK) return status;
        print_row(def->out, &cases[i], &r);
        *faults += is_broken(&r);
        const tl_status saved = append_row(def, &cases[i], &r, err);
        if (saved != TL_OK) return saved;
    }
    fprintf(def->out, "frames and fit: %s/CASE\n", def->keep);
    return TL_OK;
}
