// bench/bench_ccd.c: answers and cost of continuous collision detection against a known truth.
//
// Misses (a contact that was not found) and late times are faults and must be 0; false alarms cost time only.
// The mean is that of processor time in the best of several passes over a file on one core; the worst query
// is timed by itself, best of the passes too.

#include "bench_ccd.h"

#include <math.h>
#include <time.h>

typedef struct row {
    const char *name;
    int64_t queries, hits, misses, false_alarms, late;
    double seconds;  // of one pass
    double worst;    // seconds of the slowest query
    double early;    // longest time by which an answer came before the first contact; not a number: no times known
} row;

bench_ccd_def bench_ccd_default(void) { return (bench_ccd_def){.per_family = 20000, .passes = 5, .out = stdout}; }

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void judge(const ccd_set *set, row *r)
{
    uint32_t (*const ask)(const tl_vec3[4], const tl_vec3[4], double, double *) =
        set->edges ? tl_ccd_edge_edge : tl_ccd_vertex_face;
    r->queries += set->count;
    for (int32_t q = 0; q < set->count; q++) {
        const ccd_query *query = &set->queries[q];
        double time;
        const bool hit = ask(query->x0, query->x1, 0, &time) != 0;
        r->hits += query->hit;
        r->misses += query->hit && !hit;
        r->false_alarms += hit && !query->hit;
        if (!query->hit || isnan(query->toi) || !hit) continue;
        r->late += (long double)time > query->toi;
        if (query->first) r->early = fmax(r->early, (double)(query->toi - (long double)time));
    }
}

static void measure(const ccd_set *set, int32_t passes, row *r)
{
    uint32_t (*const ask)(const tl_vec3[4], const tl_vec3[4], double, double *) =
        set->edges ? tl_ccd_edge_edge : tl_ccd_vertex_face;
    double best = HUGE_VAL, worst = 0;
    for (int32_t pass = 0; pass < passes; pass++) {
        double time, sum = 0;
        const double start = now(CLOCK_THREAD_CPUTIME_ID);
        for (int32_t q = 0; q < set->count; q++)
            sum += ask(set->queries[q].x0, set->queries[q].x1, 0, &time) ? time : 0;
        best = fmin(best, now(CLOCK_THREAD_CPUTIME_ID) - start);
        if (sum < 0) return;  // never; keeps the calls
    }
    for (int32_t q = 0; q < set->count; q++) {
        double least = HUGE_VAL, time;
        for (int32_t pass = 0; pass < passes && least > worst; pass++) {
            const double start = now(CLOCK_MONOTONIC);  // reading the other clock takes longer than the query
            ask(set->queries[q].x0, set->queries[q].x1, 0, &time);
            least = fmin(least, now(CLOCK_MONOTONIC) - start);
        }
        worst = fmax(worst, least);
    }
    r->seconds += best;
    r->worst = fmax(r->worst, worst);
}

static void add(row *total, const row *r)
{
    total->queries += r->queries, total->hits += r->hits, total->misses += r->misses;
    total->false_alarms += r->false_alarms, total->late += r->late;
    total->seconds += r->seconds;
    total->worst = fmax(total->worst, r->worst);
    total->early = fmax(total->early, r->early);
}

static void print_row(FILE *out, const char *kind, const row *r)
{
    fprintf(out, "%-28.28s %-3s %8lld %8lld %6lld %6lld %5lld %9.3f %9.2f", r->name, kind, (long long)r->queries,
            (long long)r->hits, (long long)r->misses, (long long)r->false_alarms, (long long)r->late,
            1e6 * r->seconds / (double)(r->queries ? r->queries : 1), 1e6 * r->worst);
    if (isnan(r->early))
        fprintf(out, " %9s\n", "-");
    else
        fprintf(out, " %9.1e\n", r->early);
}

static void print_json(FILE *out, const char *kind, const row *r, bool first)
{
    fprintf(out, "%s{\"name\": \"", first ? "" : ", ");
    for (const char *c = r->name; *c; c++)
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else
            fputc((unsigned char)*c < 0x20 ? '?' : *c, out);
    fprintf(out,
            "\", \"kind\": \"%s\", \"queries\": %lld, \"hits\": %lld, \"misses\": %lld, \"false_alarms\": "
            "%lld, \"late\": %lld",
            kind, (long long)r->queries, (long long)r->hits, (long long)r->misses, (long long)r->false_alarms,
            (long long)r->late);
    fprintf(out, ", \"us_query\": %.6g, \"us_worst\": %.6g", 1e6 * r->seconds / (double)(r->queries ? r->queries : 1),
            1e6 * r->worst);
    if (isnan(r->early))
        fprintf(out, ", \"early_max\": null}");
    else
        fprintf(out, ", \"early_max\": %.6g}", r->early);
}

tl_status bench_ccd(const bench_ccd_def *def, int64_t *faults, tl_error *err)
{
    static const char *const kinds[2] = {"vf", "ee"};
    ccd_sets sets = {0};
    *faults = 0;
    const tl_status status =
        def->queries ? bench_ccd_read(def->queries, &sets, err) : bench_ccd_make(def->per_family, &sets, err);
    if (status != TL_OK) return status;
    row total[2] = {{.name = "total", .early = (double)NAN}, {.name = "total", .early = (double)NAN}};
    if (def->json) {
        char machine[128];
        bench_machine_name(machine, sizeof machine);
        fprintf(def->out,
                "{\"command\": \"bench\", \"bench\": \"ccd\", \"version\": \"%s\", \"machine\": \"%s\", "
                "\"results\": [",
                tl_version(), machine);
    } else {
        fprintf(def->out, "%-28s %-3s %8s %8s %6s %6s %5s %9s %9s %9s\n", "group", "", "queries", "hits", "misses",
                "alarms", "late", "us/query", "worst us", "early");
    }
    for (int32_t s = 0; s < sets.count; s++) {
        const int edges = sets.items[s].edges;
        row r = {.name = sets.items[s].name, .early = (double)NAN};
        judge(&sets.items[s], &r);
        measure(&sets.items[s], def->passes, &r);
        add(&total[edges], &r);
        if (def->json)
            print_json(def->out, kinds[edges], &r, s == 0);
        else
            print_row(def->out, kinds[edges], &r);
    }
    if (def->json) fprintf(def->out, "], \"total\": [");
    for (int edges = 0; edges < 2; edges++) {
        *faults += total[edges].misses + total[edges].late;
        if (def->json)
            print_json(def->out, kinds[edges], &total[edges], edges == 0);
        else
            print_row(def->out, kinds[edges], &total[edges]);
    }
    if (def->json)
        fprintf(def->out, "], \"faults\": %lld}\n", (long long)*faults);
    else
        fprintf(def->out, "misses: contacts not found; alarms: contacts reported where there is none, within rounding; "
                          "late: times after\n"
                          "the first contact; early: the most that a time came before it, as a part of the step\n");
    bench_ccd_free(&sets);
    return TL_OK;
}
