// run/render_plot.c: stats.jsonl as diagrams over simulated time.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/alloc.h"
#include "base/def.h"
#include "base/fail.h"
#include "base/log.h"
#include "io/file.h"
#include "io/text.h"
#include "render/ticks.h"
#include "run/render_page.h"
#include "toile/render.h"

/// A number of a line, and how to find it: group (NULL: top) and key.
typedef struct column {
    const char *group, *key, *label;
    double factor;
} column;

enum {
    TIME,
    FACES,
    NODES,
    PHYSICS,
    STRAIN,
    COLLISION,
    REMESH,
    OTHER,
    KINETIC,
    STRETCH,
    BEND,
    GRAVITY,
    STRAIN_MAX,
    STRAIN_MIN,
    CONTACTS,
    INTERSECTIONS,
    NEWTON,
    FOUND_RATIO,
    COLUMNS
};

static const column COLUMN[COLUMNS] = {
    [TIME] = {NULL, "time", "time", 1},
    [FACES] = {NULL, "faces", "faces", 1},
    [NODES] = {NULL, "nodes", "nodes", 1},
    [PHYSICS] = {"seconds", "physics", "physics", 1},
    [STRAIN] = {"seconds", "strain", "strain limiting", 1},
    [COLLISION] = {"seconds", "collision", "collision", 1},
    [REMESH] = {"seconds", "remesh", "remeshing", 1},
    [OTHER] = {"seconds", "other", "other", 1},
    [KINETIC] = {"energies", "kinetic", "kinetic", 1},
    [STRETCH] = {"energies", "stretch", "stretch", 1},
    [BEND] = {"energies", "bend", "bend", 1},
    [GRAVITY] = {"energies", "gravity", "gravity (above its lowest)", 1},
    [STRAIN_MAX] = {NULL, "strain_max", "largest", 100},
    [STRAIN_MIN] = {NULL, "strain_min", "smallest", 100},
    [CONTACTS] = {NULL, "contacts", "contacts", 1},
    [INTERSECTIONS] = {NULL, "intersections", "intersections", 1},
    [NEWTON] = {NULL, "newton_iterations", "Newton iterations", 1},
    [FOUND_RATIO] = {"detection", "ratio", "found", 100},
};

typedef struct table {
    tl_allocator alloc;
    double *value[COLUMNS];
    int32_t cap[COLUMNS];
    int32_t count, damaged;
} table;

static void free_table(table *t)
{
    for (int c = 0; c < COLUMNS; c++) TL_FREE(&t->alloc, t->value[c], t->cap[c]);
}

static tl_status add_line(table *t, const char *line, size_t size, tl_error *err)
{
    json_t *object = json_loadb(line, size, 0, NULL);
    if (!json_is_object(object) || !json_is_number(json_object_get(object, "time"))) {
        t->damaged++;
        json_decref(object);
        return TL_OK;
    }
    tl_status status = TL_OK;
    for (int c = 0; c < COLUMNS && status == TL_OK; c++) {
        const json_t *group = COLUMN[c].group ? json_object_get(object, COLUMN[c].group) : object;
        const json_t *number = json_object_get(group, COLUMN[c].key);
        if (!TL_GROW(&t->alloc, t->value[c], t->cap[c], t->count + 1))
            status = tl_fail_memory(err, "statistics");
        else
            t->value[c][t->count] = json_is_number(number) ? COLUMN[c].factor * json_number_value(number) : (double)NAN;
    }
    if (status == TL_OK) t->count++;
    json_decref(object);
    return status;
}

static tl_status read_table(const char *path, table *t, tl_error *err)
{
    tl_text text;
    TL_TRY(tl_file_read(&t->alloc, path, (size_t)4 << 30, &text, err));
    tl_status status = TL_OK;
    for (const char *p = text.data, *end = text.data + text.size; p < end && status == TL_OK;) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        const size_t size = newline ? (size_t)(newline - p) : (size_t)(end - p);
        if (size > 0) status = add_line(t, p, size, err);
        p += size + (newline != NULL);
    }
    tl_text_free(&t->alloc, &text);
    if (status == TL_OK && t->count == 0)
        return tl_fail(err, TL_BAD_INPUT, "%s: no statistics in it (%d lines that are none)", path, t->damaged);
    return status;
}

static bool any_in(const table *t, int c)
{
    for (int32_t i = 0; i < t->count; i++)
        if (isfinite(t->value[c][i]) && t->value[c][i] != 0) return true;
    return false;
}

/// Where potential energy is zero is a convention: what counts is the height above its lowest value.
static void lower_to_zero(table *t, int c)
{
    double lowest = INFINITY;
    for (int32_t i = 0; i < t->count; i++)
        if (isfinite(t->value[c][i])) lowest = fmin(lowest, t->value[c][i]);
    for (int32_t i = 0; i < t->count; i++) t->value[c][i] -= lowest;
}

/// Charts and their series; only what has a value that is not zero.
typedef struct page {
    tl_chart chart[8];
    tl_series series[8][TL_PLOT_MAX_SERIES];
    int32_t count;
} page;

static void add_chart(page *p, const table *t, const char *title, tl_chart_kind kind, bool from_zero, bool log_scale,
                      const int *columns, int32_t column_count)
{
    tl_series *series = p->series[p->count];
    int32_t n = 0;
    for (int32_t i = 0; i < column_count; i++) {
        if (!any_in(t, columns[i])) continue;
        series[n++] = (tl_series){COLUMN[columns[i]].label, t->value[columns[i]], tl_plot_colour(i)};
    }
    if (n == 0) return;
    p->chart[p->count++] = (tl_chart){title, kind, series, n, from_zero, log_scale};
}

#define ADD(page, table, title, kind, zero, log_scale, ...)                                                            \
    add_chart((page), (table), (title), (kind), (zero), (log_scale), (const int[]){__VA_ARGS__},                       \
              (int32_t)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)))

static void fill_page(page *p, const table *t)
{
    ADD(p, t, "Mesh", TL_CHART_LINES, true, false, FACES, NODES);
    ADD(p, t, "Time per frame [s]", TL_CHART_STACKED, true, false, PHYSICS, STRAIN, COLLISION, REMESH, OTHER);
    ADD(p, t, "Energy [J]", TL_CHART_LINES, false, false, KINETIC, STRETCH, BEND, GRAVITY);
    ADD(p, t, "Principal strain [%]", TL_CHART_LINES, true, false, STRAIN_MAX, STRAIN_MIN);
    ADD(p, t, "Newton iterations per frame", TL_CHART_LINES, true, false, NEWTON);
    ADD(p, t, "Contacts", TL_CHART_LINES, true, false, CONTACTS, INTERSECTIONS);
    ADD(p, t, "Part of the close pairs that was found [%]", TL_CHART_LINES, true, false, FOUND_RATIO);
}

void tl_plot_def_init(tl_plot_def *def, size_t size)
{
    const tl_plot_def defaults = {.width = 860, .scale = 2};
    tl_def_init(def, size, &defaults, sizeof defaults);
}

static tl_status draw(const tl_plot_def *def, const table *t, tl_plot_report *report, tl_error *err)
{
    char title[256], subtitle[256], frames[TL_TICK_CHARS];
    char absolute[TL_PATH_MAX];
    tl_path_absolute(def->dir, absolute);
    tl_path_stem(absolute, title, sizeof title);
    double seconds = 0;
    for (int c = PHYSICS; c <= OTHER; c++)
        for (int32_t i = 0; i < t->count; i++) seconds += isfinite(t->value[c][i]) ? t->value[c][i] : 0;
    tl_tick_label(t->count, 1, frames);
    snprintf(subtitle, sizeof subtitle, "%s frames, %.3g s of wall clock", frames, seconds);
    page p = {0};
    fill_page(&p, t);
    report->charts = p.count;
    const tl_plot plot = {.title = title,
                          .subtitle = subtitle,
                          .x_title = "simulated time [s]",
                          .x = t->value[TIME],
                          .point_count = t->count,
                          .charts = p.chart,
                          .chart_count = p.count,
                          .width = def->width};
    return tl_plot_write(&plot, def->scale, def->out, &t->alloc, err);
}

tl_status tl_plot_run(const tl_plot_def *given, tl_plot_report *report, tl_error *err)
{
    TL_DEF_COMPLETE(tl_plot_def, complete, given, err);
    const tl_plot_def *def = &complete;
    tl_plot_report unused;
    if (!report) report = &unused;
    *report = (tl_plot_report){0};
    if (!def->dir || !def->out) return tl_fail(err, TL_BAD_ARG, "plot: dir and out are required");
    TL_TRY(tl_plot_check(def->out, def->width, def->scale, err));
    char path[TL_PATH_MAX];
    if (tl_path_look(def->dir) == TL_PATH_FILE)
        snprintf(path, sizeof path, "%s", def->dir);
    else
        TL_TRY(tl_path_join(def->dir, "stats.jsonl", path, err));
    table t = {.alloc = tl_allocator_default()};
    tl_status status = read_table(path, &t, err);
    report->frames = t.count, report->damaged = t.damaged;
    if (status == TL_OK && t.damaged > 0)
        tl_log_write(def->log, TL_LOG_WARNING, "%s: %d lines are no statistics; left out", path, t.damaged);
    lower_to_zero(&t, GRAVITY);
    if (t.count > 1 && t.value[TIME][0] == 0) t.value[NEWTON][0] = (double)NAN;  // the start took no step
    if (status == TL_OK) status = draw(def, &t, report, err);
    free_table(&t);
    return status;
}
