// app/info.c: `toile info`: what a scene, fabric, pattern, mesh, checkpoint or run folder holds.

#include <string.h>

#include "app.h"
#include "toile/kinds.h"
#include "toile/pattern.h"
#include "toile/run.h"

// The next choice of kinds, counting up; false: that was the last.
static bool next_choice(tl_kinds *k)
{
    for (int s = TL_STAGES - 1; s >= 0; s--) {
        if (++k->kind[s] < tl_kind_count((tl_stage)s)) return true;
        k->kind[s] = 0;
    }
    return false;
}

static bool go_together(tl_stage a, int32_t kind_a, tl_stage b, int32_t kind_b)
{
    tl_kinds k = {{0}};
    do {
        if (k.kind[a] == kind_a && k.kind[b] == kind_b && tl_kinds_check(&k, NULL) == TL_OK) return true;
    } while (next_choice(&k));
    return false;
}

static int32_t default_of(tl_stage stage) { return stage == TL_STAGE_ADAPT ? TL_REMESHING_ANISOTROPIC : 0; }

static void to_stdout(void *user, const char *text)
{
    (void)user;
    fputs(text, stdout);
}

// Kinds of a stage as rows, those of another as columns; a mark where some choice has both.
static void print_table(tl_stage rows, tl_stage columns)
{
    printf("\n%s against %s\n%-14s", tl_stage_key(rows), tl_stage_key(columns), "");
    for (int32_t c = 0; c < tl_kind_count(columns); c++) printf("  %s", tl_kind_name(columns, c));
    printf("\n");
    for (int32_t r = 0; r < tl_kind_count(rows); r++) {
        printf("  %-12s", tl_kind_name(rows, r));
        for (int32_t c = 0; c < tl_kind_count(columns); c++) {
            const int width = c + 1 < tl_kind_count(columns) ? (int)strlen(tl_kind_name(columns, c)) : 0;
            printf("  %-*s", width, go_together(rows, r, columns, c) ? "yes" : "-");
        }
        printf("\n");
    }
}

static void print_kinds(void)
{
    for (int s = 0; s < TL_STAGES; s++) {
        printf("%s%s\n", s > 0 ? "\n" : "", tl_stage_key((tl_stage)s));
        for (int32_t k = 0; k < tl_kind_count((tl_stage)s); k++)
            printf("  %-12s  %s%s\n", tl_kind_name((tl_stage)s, k), tl_kind_promise((tl_stage)s, k),
                   k == default_of((tl_stage)s) ? " (default)" : "");
    }
    print_table(TL_STAGE_RESPOND, TL_STAGE_DETECT);
    print_table(TL_STAGE_RESPOND, TL_STAGE_DYNAMICS);
    print_table(TL_STAGE_ADAPT, TL_STAGE_DYNAMICS);
}

static void print_list(tl_stage stage)
{
    printf("\"%s\": [", tl_stage_key(stage));
    for (int32_t k = 0; k < tl_kind_count(stage); k++)
        printf("%s{\"name\": \"%s\", \"promise\": \"%s\", \"default\": %s}", k ? ", " : "", tl_kind_name(stage, k),
               tl_kind_promise(stage, k), k == default_of(stage) ? "true" : "false");
    printf("]");
}

// Every choice that goes together, as four words.
static void print_kinds_json(void)
{
    printf("{");
    for (int s = 0; s < TL_STAGES; s++) print_list((tl_stage)s), printf(", ");
    printf("\"together\": [");
    tl_kinds k = {{0}};
    for (bool first = true, more = true; more; more = next_choice(&k)) {
        if (tl_kinds_check(&k, NULL) != TL_OK) continue;
        printf("%s[", first ? "" : ", "), first = false;
        for (int s = 0; s < TL_STAGES; s++) printf("%s\"%s\"", s ? ", " : "", tl_kind_name((tl_stage)s, k.kind[s]));
        printf("]");
    }
    printf("]}\n");
}

static int info(const app_command *self, int argc, char **argv, app_list *words)
{
    bool json = false;
    bool kinds = false;
    const char *svg = NULL;
    const app_option options[] = {
        {"json", 0, APP_FLAG, &json, 0, 0, NULL, "one JSON object on stdout"},
        {"kinds", 0, APP_FLAG, &kinds, 0, 0, NULL, "no file: the kinds of every stage, and which go together"},
        {"svg", 0, APP_TEXT, &svg, 0, 0, "FILE", "draw a pattern as well: outlines, seams, notches, grain, names"},
    };
    int code;
    if (!app_parse(self, options, sizeof options / sizeof *options, argc, argv, words, &code)) return code;
    if (kinds && (words->count > 0 || svg)) return app_usage(self, "--kinds takes no file");
    if (kinds) {
        json ? print_kinds_json() : print_kinds();
        return APP_OK;
    }
    if (words->count != 1) return app_usage(self, "give one file or folder");

    if (app_same_file(svg, words->item[0]))
        return app_usage(self, "--svg %s would overwrite what it is drawn from: give another name", svg);
    tl_error err = {0};
    tl_pattern *pattern = NULL;
    if (svg && tl_pattern_load(words->item[0], &pattern, &err) != TL_OK)
        return app_fail(self, json, app_exit_of(err.status, APP_INPUT), &err);
    const bool drawn = !svg || tl_pattern_draw(pattern, svg, &err) == TL_OK;
    tl_pattern_destroy(pattern);
    if (!drawn) return app_fail(self, json, app_exit_of(err.status, APP_INPUT), &err);
    if (tl_info(words->item[0], json, to_stdout, NULL, &err) != TL_OK)
        return app_fail(self, json, app_exit_of(err.status, APP_INPUT), &err);
    return APP_OK;
}

int app_info(const app_command *self, int argc, char **argv) { return app_with_words(self, argc, argv, info); }
