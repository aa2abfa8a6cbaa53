// bench/bench_fidelity_print.c: the table of `toile bench fidelity`, its verdicts, and its rows in a file.

#include <math.h>
#include <string.h>

#include "bench_fidelity.h"

#define LET_GO 170     // frame from which the sheet is free: 6.8 s (scenes/paper-sphere/common.json)
#define BAR_WORSE 1.5  // the fixed average mesh is clearly worse: so many times as far away as the anisotropic one

static const struct {
    const char *name, *unit;
} measures[MEASURE_COUNT] = {
    {"curvature", "1/m"},  {"wrinkles", "mm"},       {"area above", "cm2"},
    {"area front", "cm2"}, {"outline above", "cm2"}, {"outline front", "cm2"},
};

void fidelity_print_run(FILE *out, const fidelity_run *r)
{
    const double steps = fmax(1, (double)r->steps);
    fprintf(out, "%-14s seed %3d: %3d frames, %7.0f faces, %8.3f s of processor time a frame",
            fidelity_mesh_name(r->mesh), r->seed, r->frames, r->faces / steps, r->cpu / fmax(1, r->frames));
    if (r->crossings > 0) fprintf(out, ", %lld CROSSINGS", (long long)r->crossings);
    if (r->failed) fprintf(out, ", FAILED %s", r->why);
    int32_t missed = 0, outside = 0;
    for (int k = 0; k < BENCH_FRAMES_MAX; k++) missed += r->shape[k].missed, outside += r->shape[k].outside;
    if (missed > 0) fprintf(out, ", %d samples without a face", missed);
    if (outside > 0) fprintf(out, ", %d nodes outside of the raster", outside);
    fprintf(out, "\n");
    fflush(out);
}

// --- distances --------------------------------------------------------------------------------------------

/// Of one measure at one frame, or summed over frames.
typedef struct figures {
    double value[MESH_COUNT];     // mean over the runs of a mesh
    double distance[MESH_COUNT];  // of its runs from the fine ones: mean over pairs; of the fine ones: from each other,
                                  // the spread
    double most;                  // of the pairs of fine runs, the one furthest apart
} figures;

// Over frames first .. end - 1: means of values, distances pair by pair.
static double apart(fidelity_measure m, const fidelity_run *a, const fidelity_run *b, int32_t first, int32_t end)
{
    double sum = 0;
    for (int32_t k = first; k < end; k++) sum += fidelity_distance(m, &a->shape[k], &b->shape[k]);
    return sum / (end - first);
}

static figures compare(fidelity_measure m, const fidelity_run *runs, int32_t count, int32_t first, int32_t end)
{
    figures f = {0};
    double run_count[MESH_COUNT] = {0}, pairs[MESH_COUNT] = {0};
    for (int32_t i = 0; i < count; i++) {
        for (int32_t k = first; k < end; k++)
            f.value[runs[i].mesh] += fidelity_value(m, &runs[i].shape[k]) / (end - first);
        run_count[runs[i].mesh] += 1;
        for (int32_t j = 0; j < count && runs[j].mesh == MESH_FINE; j++) {  // fine ones are the first
            if (runs[i].mesh == MESH_FINE && j >= i) break;
            const double d = apart(m, &runs[i], &runs[j], first, end);
            f.distance[runs[i].mesh] += d, pairs[runs[i].mesh] += 1;
            if (runs[i].mesh == MESH_FINE) f.most = fmax(f.most, d);
        }
    }
    for (int k = 0; k < MESH_COUNT; k++) f.value[k] /= run_count[k], f.distance[k] /= pairs[k];
    return f;
}

static double ratio(const figures *f, int mesh) { return f->distance[mesh] / f->distance[MESH_FINE]; }

static const char *verdict(const figures *f, fidelity_mesh mesh)
{
    const bool inside = f->distance[mesh] <= f->most;
    if (mesh == MESH_FINE) return "-";
    if (mesh != MESH_AVERAGE) return inside ? "within" : "outside";
    return !inside && f->distance[mesh] >= BAR_WORSE * f->distance[MESH_THIN] ? "worse" : "not worse";
}

// --- table ------------------------------------------------------------------------------------------------

static void print_row(FILE *out, const char *frame, fidelity_measure m, const figures *f)
{
    fprintf(out, "%-5s %-13s %3s |%8.2f %7.4g %7.4g ", frame, measures[m].name, measures[m].unit, f->value[MESH_FINE],
            f->distance[MESH_FINE], f->most);
    for (int k = MESH_THIN; k < MESH_COUNT; k++)
        fprintf(out, "|%8.2f %7.4g %6.2f ", f->value[k], f->distance[k], ratio(f, k));
    fprintf(out, "\n");
}

static void print_verdicts(FILE *out, const char *when, const figures *f)
{
    int held[MESH_COUNT] = {0};
    fprintf(out, "\n%-13s %-12s %-12s %-14s\n", when, "anisotropic", "isotropic", "fixed average");
    for (int m = 0; m < MEASURE_COUNT; m++) {
        fprintf(out, "%-13s", measures[m].name);
        for (int k = MESH_THIN; k < MESH_COUNT; k++) {
            const char *text = verdict(&f[m], (fidelity_mesh)k);
            held[k] += strcmp(text, "within") == 0 || strcmp(text, "worse") == 0;
            fprintf(out, " %-12s", text);
        }
        fprintf(out, "\n");
    }
    fprintf(out, "bar: anisotropic within the spread: %d of %d; isotropic: %d; fixed average clearly worse: %d\n",
            held[MESH_THIN], MEASURE_COUNT, held[MESH_EVEN], held[MESH_AVERAGE]);
}

/// Frames that stand in one row: each alone, those before and after the sheet is let go, all.
typedef struct frame_range {
    char name[16];
    int32_t first, end;
    bool several;  // verdicts are told
} frame_range;

static int32_t list_ranges(const bench_fidelity_def *def, frame_range out[BENCH_FRAMES_MAX + 3])
{
    int32_t n = 0, split = 0;
    while (split < def->frame_count && def->frames[split] < LET_GO) split++;
    for (int32_t k = 0; k < def->frame_count; k++, n++) {
        out[n] = (frame_range){.first = k, .end = k + 1};
        snprintf(out[n].name, sizeof out[n].name, "%d", def->frames[k]);
    }
    if (split > 0 && split < def->frame_count) {
        out[n++] = (frame_range){"held", 0, split, true};
        out[n++] = (frame_range){"free", split, def->frame_count, true};
    }
    out[n++] = (frame_range){"all", 0, def->frame_count, true};
    return n;
}

void fidelity_print_table(const bench_fidelity_def *def, double scale, double smooth, const fidelity_run *runs,
                          int32_t count)
{
    FILE *out = def->out;
    figures all[3][MEASURE_COUNT];
    frame_range range[BENCH_FRAMES_MAX + 3];
    const int32_t range_count = list_ranges(def, range);
    fprintf(out, "\n%-23s |%-24s |%-23s |%-23s |%-23s\n%-5s %-13s %3s |%8s%8s%8s |%8s%8s%7s |%8s%8s%7s |%8s%8s%7s\n",
            "", " fixed fine", " anisotropic", " isotropic", " fixed average", "frame", "measure", "", "value",
            "spread", "most", "value", "dist.", "ratio", "value", "dist.", "ratio", "value", "dist.", "ratio");
    for (int32_t k = 0, wide = 0; k < range_count; wide += range[k++].several)
        for (int m = 0; m < MEASURE_COUNT; m++) {
            const figures f = compare((fidelity_measure)m, runs, count, range[k].first, range[k].end);
            print_row(out, range[k].name, (fidelity_measure)m, &f);
            if (range[k].several) all[wide][m] = f;
        }
    for (int32_t k = 0, wide = 0; k < range_count; k++)
        if (range[k].several) print_verdicts(out, range[k].name, all[wide++]);
    fprintf(out,
            "\nspread: mean distance between runs of the fine mesh, most: between the two furthest apart; dist.: mean "
            "distance to the runs of the\n"
            "fine mesh; ratio: over spread, 1 for a mesh that gives the same cloth; within: no further than most; "
            "worse: beyond most and %g times\n"
            "as far as anisotropic; held, free: before and after the sheet is let go. curvature: |H| smoothed at %g "
            "mm, distance of histograms;\n"
            "wrinkles: rms from the surface smoothed at %g mm; outline: area that one has and the other has not\n",
            BAR_WORSE, 1e3 * scale, 1e3 * smooth);
}

// --- file -------------------------------------------------------------------------------------------------

static const char csv_head[] = "date,version,machine,form,size_mm,fine_meshes,runs,others,seed,scale_mm,smooth_mm,"
                               "frame,measure,unit,mesh,faces,value,distance,"
                               "spread,spread_most,ratio,result\n";

static double mean_faces(const fidelity_run *runs, int32_t count, int mesh)
{
    double faces = 0, steps = 0;
    for (int32_t i = 0; i < count; i++)
        if ((int)runs[i].mesh == mesh) faces += runs[i].faces, steps += (double)runs[i].steps;
    return faces / fmax(1, steps);
}

// "full", or "full remeshing.curvature=0.1" with settings of adaptive meshes; commas part columns.
static void write_form(const bench_fidelity_def *def, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s", def->full ? "full" : "short");
    for (int32_t k = 0; k < def->adapt_count && used < size; k++)
        used += (size_t)snprintf(text + used, size - used, " %s", def->adapts[k]);
    for (char *c = text; *c; c++)
        if (*c == ',') *c = ';';
}

static void csv_rows(FILE *file, const bench_fidelity_def *def, double scale, double smooth, const fidelity_run *runs,
                     int32_t count, const frame_range *range)
{
    char machine[128], date[32], form[200];
    bench_machine_name(machine, sizeof machine);
    bench_today(date, sizeof date);
    write_form(def, form, sizeof form);
    for (int m = 0; m < MEASURE_COUNT; m++) {
        const figures f = compare((fidelity_measure)m, runs, count, range->first, range->end);
        for (int k = 0; k < MESH_COUNT; k++)
            fprintf(file, "%s,%s,%s,%s,%g,%s,%d,%d,%d,%g,%g,%s,%s,%s,%s,%.6g,%.6g,%.6g,%.6g,%.6g,%.4g,%s\n", date,
                    tl_version(), machine, form, 1e3 * fidelity_size(def), def->meshes ? "several" : "one", def->runs,
                    def->others, def->seed, 1e3 * scale, 1e3 * smooth, range->name, measures[m].name, measures[m].unit,
                    fidelity_mesh_name((fidelity_mesh)k), mean_faces(runs, count, k), f.value[k], f.distance[k],
                    f.distance[MESH_FINE], f.most, ratio(&f, k), verdict(&f, (fidelity_mesh)k));
    }
}

tl_status fidelity_append_csv(const bench_fidelity_def *def, double scale, double smooth, const fidelity_run *runs,
                              int32_t count, tl_error *err)
{
    FILE *file = bench_csv_open(def->csv, csv_head);
    frame_range range[BENCH_FRAMES_MAX + 3];
    const int32_t range_count = file ? list_ranges(def, range) : 0;
    for (int32_t k = 0; k < range_count; k++) csv_rows(file, def, scale, smooth, runs, count, &range[k]);
    return bench_csv_close(file, def->csv, err);
}
