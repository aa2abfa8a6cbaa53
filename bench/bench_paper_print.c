// bench/bench_paper_print.c: Table 1 beside the figures of others, ratios between rows, rows for a file.

#include <math.h>
#include <string.h>

#include "bench_paper.h"

#define BAR_FINE 8.0       // fixed fine mesh over anisotropic, seconds a frame (the paper: 7.2)
#define BAR_REMESHING 3.0  // share of remeshing [%]
#define BAR_STRAIN 15.0    // share of strain limiting [%]
#define BAR_THREADS 1.5    // one thread over two, seconds a frame
#define BAR_GROWTH 1.5     // time per face and step, worst over best size

static void number(FILE *out, int width, int digits, double value)
{
    if (isfinite(value))
        fprintf(out, " %*.*f", width, digits, value);
    else
        fprintf(out, " %*s", width, "-");
}

void paper_print_head(FILE *out)
{
    fprintf(out, "%-24s %3s %7s %7s %7s %7s %8s %8s | %7s %7s %7s %7s | %7s %7s %7s\n", "", "", "faces", "mean", "", "",
            "", "cpu", "integ-", "strain", "", "remesh-", "us/face", "MB", "B/face");
    fprintf(out, "%-24s %3s %7s %7s %7s %7s %8s %8s | %7s %7s %7s %7s | %7s %7s %7s  %s\n", "scene", "thr", "in",
            "faces", "min", "max", "s/frame", "s/frame", "ration", "limits", "collis.", "ing", "step", "peak", "of max",
            "state hash");
}

static void print_figures(FILE *out, const char *name, const paper_figures *p)
{
    fprintf(out, "  %-26s", name);
    number(out, 7, 0, p->faces_in), number(out, 7, 0, p->faces);
    number(out, 7, 0, p->faces_min), number(out, 7, 0, p->faces_max);
    number(out, 8, 3, p->total), fprintf(out, " %8s |", "");
    number(out, 7, 3, p->integration), number(out, 7, 3, p->strain);
    number(out, 7, 3, p->collision), number(out, 7, 3, p->remeshing);
    fprintf(out, " |\n");
}

// Of one thread processor time counts: other work on the machine would tell against us.
static void print_ratio(FILE *out, const char *name, const paper_result *r, double faces, double seconds)
{
    fprintf(out, "  %s / ours: %.1f in s/frame (we have %.0f %% of its faces), %.1f in s/frame and face\n", name,
            seconds / paper_quiet(r), 100 * r->faces / faces, seconds / faces * r->faces / paper_quiet(r));
}

// Ours, the paper's own row, and how they compare.
void paper_print(FILE *out, const paper_result *r)
{
    char name[64];
    snprintf(name, sizeof name, "%s", r->row->name);
    if (r->size_min > 0) snprintf(name, sizeof name, "%s, %g mm", r->row->name, 1e3 * r->size_min);
    fprintf(out,
            "%-24s %3d %7lld %7.0f %7lld %7lld %8.3f %8.3f | %7.3f %7.3f %7.3f %7.3f | %7.1f %7.1f %7.0f  %016llx\n",
            name, r->threads, (long long)r->faces_in, r->faces, (long long)r->faces_min, (long long)r->faces_max,
            r->seconds, r->cpu, r->stage.physics + r->stage.other, r->stage.strain, r->stage.collision, r->stage.remesh,
            paper_us(r), 1e-6 * r->rss, r->peak / fmax(1, (double)r->faces_max), (unsigned long long)r->hash);
    fprintf(out, "  %d of %d frames, %lld steps, slowest frame %.2f s", r->frames, r->frames_asked, (long long)r->steps,
            r->worst_frame);
    fprintf(out, "; Newton %.1f a step, %lld thrown away, %lld unconverged, %lld held\n", r->newton,
            (long long)r->rejected, (long long)r->unconverged, (long long)r->held);
    fprintf(
        out,
        "  %lld crossings in %lld looks; strain limits: worst excess %.4f, at most %d faces beyond; %d pinched%s%s\n",
        (long long)r->crossings, (long long)r->looks, r->excess, r->violated, r->pinched,
        paper_broken(r) ? "  <-- BROKEN " : "", r->why);
    if (r->size_min > 0) return;
    print_figures(out, "paper (2012, 4 cores)", &r->row->paper);
    print_ratio(out, "paper", r, r->row->paper.faces, r->row->paper.total);
    if (isfinite(r->row->arcsim_seconds)) {
        fprintf(out, "  ARCSim 0.2.1, its own scene, 1 thread: %.0f faces, %.2f s/frame\n", r->row->arcsim_faces,
                r->row->arcsim_seconds);
        print_ratio(out, "ARCSim", r, r->row->arcsim_faces, r->row->arcsim_seconds);
    }
    fflush(out);
}

static const paper_result *find(const paper_result *results, int32_t count, const char *name, int32_t threads)
{
    for (int32_t i = 0; i < count; i++)
        if (strcmp(results[i].row->name, name) == 0 && results[i].threads == threads) return &results[i];
    return NULL;
}

static const char *held(bool ok) { return ok ? "held" : "missed"; }

static void print_shares(FILE *out, const paper_result *r)
{
    const double sum = r->stage.physics + r->stage.strain + r->stage.collision + r->stage.remesh + r->stage.other;
    const double remesh = 100 * r->stage.remesh / sum, strain = 100 * r->stage.strain / sum;
    fprintf(out, "%-24s %3d  remeshing %.1f %% (bar %g: %s), strain limits %.1f %% (bar %g: %s)\n", r->row->name,
            r->threads, remesh, BAR_REMESHING, held(remesh <= BAR_REMESHING), strain, BAR_STRAIN,
            held(strain <= BAR_STRAIN));
}

static void print_threads(FILE *out, const paper_result *results, int32_t count, const paper_result *r)
{
    const paper_result *one = find(results, count, r->row->name, 1);
    if (r->threads < 2 || !one) return;
    const double gain = one->seconds / r->seconds;
    fprintf(out, "%-24s %d threads are %.2f times as fast as one", r->row->name, r->threads, gain);
    if (r->threads == 2) fprintf(out, " (bar %g: %s)", BAR_THREADS, held(gain >= BAR_THREADS));
    fprintf(out, "\n");
}

void paper_print_ratios(FILE *out, const paper_result *results, int32_t count)
{
    if (count == 0) return;
    fprintf(out, "\nwithin this run:\n");
    for (int32_t i = 0; i < count; i++) print_shares(out, &results[i]);
    const int32_t threads = results[0].threads;
    const paper_result *thin = find(results, count, "sphere", threads),
                       *fine = find(results, count, "sphere-fine", threads);
    const paper_result *even = find(results, count, "sphere-isotropic", threads);
    if (thin && fine)
        fprintf(out, "fixed fine / anisotropic: %.1f in processor time a frame (paper 7.2; bar %g: %s)\n",
                fine->cpu / thin->cpu, BAR_FINE, held(fine->cpu >= BAR_FINE * thin->cpu));
    if (thin && even) fprintf(out, "isotropic / anisotropic: %.1f in faces (paper 2.7)\n", even->faces / thin->faces);
    for (int32_t i = 0; i < count; i++) print_threads(out, results, count, &results[i]);
}

void paper_print_scaling(FILE *out, const paper_result *results, int32_t count)
{
    if (count == 0) return;
    double low = INFINITY, high = 0;
    fprintf(out, "\n%-10s %11s %10s %10s %14s %10s\n", "l_min [mm]", "steps/frame", "mean faces", "max faces",
            "us/face/step", "Newton");
    for (int32_t i = 0; i < count; i++) {
        const paper_result *r = &results[i];
        if (r->threads != results[0].threads) continue;
        fprintf(out, "%-10.3g %11.0f %10.0f %10lld %14.2f %10.2f\n", 1e3 * r->size_min,
                (double)r->steps / fmax(1, r->frames), r->faces, (long long)r->faces_max, paper_us(r), r->newton);
        low = fmin(low, paper_us(r)), high = fmax(high, paper_us(r));
    }
    fprintf(out, "time per face and step varies by %.2f (bar %g: %s)\n", high / low, BAR_GROWTH,
            held(high <= BAR_GROWTH * low));
}

// --- file -------------------------------------------------------------------------------------------------

static const char csv_head[] =
    "date,version,machine,scene,form,fabrics,l_min_mm,threads,frames,steps,faces_in,faces_mean,faces_min,faces_max,"
    "s_frame,cpu_frame,s_worst,s_integration,s_strain,s_collision,s_remeshing,us_face_step,newton_step,"
    "linear_step,rejected,unconverged,held,crossings,looks,"
    "excess,violated,pinched,rss_bytes,bytes_face,paper_s_frame,paper_faces,result,state_hash\n";

static void csv_row(FILE *file, const bench_paper_def *def, const char *date, const char *machine,
                    const paper_result *r)
{
    fprintf(file, "%s,%s,%s,%s,%s,%s,%.4g,%d,%d,%lld", date, tl_version(), machine, r->row->name,
            def->full ? "full" : "short", def->fabrics ? "measured" : "own", 1e3 * r->size_min, r->threads, r->frames,
            (long long)r->steps);
    fprintf(file, ",%lld,%.6g,%lld,%lld,%.6g,%.6g,%.6g", (long long)r->faces_in, r->faces, (long long)r->faces_min,
            (long long)r->faces_max, r->seconds, r->cpu, r->worst_frame);
    fprintf(file, ",%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g", r->stage.physics + r->stage.other, r->stage.strain,
            r->stage.collision, r->stage.remesh, paper_us(r), r->newton, r->linear);
    fprintf(file, ",%lld,%lld,%lld,%lld,%lld,%.6g,%d,%d", (long long)r->rejected, (long long)r->unconverged,
            (long long)r->held, (long long)r->crossings, (long long)r->looks, r->excess, r->violated, r->pinched);
    fprintf(file, ",%.0f,%.6g,%g,%g,%s,%016llx\n", r->rss, r->peak / fmax(1, (double)r->faces_max), r->row->paper.total,
            r->row->paper.faces, paper_broken(r) ? "broken" : "fine", (unsigned long long)r->hash);
}

tl_status paper_append_csv(const bench_paper_def *def, const paper_result *r, tl_error *err)
{
    FILE *file = bench_csv_open(def->csv, csv_head);
    if (file) {
        char machine[128], date[32];
        bench_machine_name(machine, sizeof machine);
        bench_today(date, sizeof date);
        csv_row(file, def, date, machine, r);
    }
    return bench_csv_close(file, def->csv, err);
}
