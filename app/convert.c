// app/convert.c: `toile convert`: a scene of ARCSim's as one of ours, a pattern from one format to another.

#include <stdlib.h>

#include "app.h"
#include "toile/pattern.h"
#include "toile/scene.h"

static void print_json(const tl_scene *scene, const char *from, const char *to)
{
    printf("{\"command\": \"convert\", \"exit_code\": 0, \"from\": ");
    app_json_text(stdout, from);
    printf(", \"to\": ");
    app_json_text(stdout, to);
    printf(", \"arcsim\": %s, \"warnings\": [", tl_scene_is_foreign(scene) ? "true" : "false");
    for (int32_t i = 0; i < tl_scene_note_count(scene); i++) {
        if (i > 0) fputs(", ", stdout);
        app_json_text(stdout, tl_scene_note(scene, i));
    }
    printf("]}\n");
}

static int convert(const app_command *self, const char *from, const char *to, const app_list *sets, bool force,
                   bool json, bool quiet)
{
    tl_error err = {0};
    tl_scene *scene = NULL;
    if (tl_scene_load(from, sets->item, sets->count, &scene, &err) != TL_OK)
        return app_fail(self, json, app_exit_of(err.status, APP_INPUT), &err);
    for (int32_t i = 0; !json && i < tl_scene_note_count(scene); i++) app_say("warning: %s", tl_scene_note(scene, i));
    const tl_status status = tl_scene_save(scene, to, force, &err);
    if (status == TL_OK && json) print_json(scene, from, to);
    if (status == TL_OK && !json && !quiet) {
        printf("scene: ");
        app_print_word(stdout, to);
        printf("\nnext:  ");
        app_print_word(stdout, app_program);
        printf(" run ");
        app_print_word(stdout, to);
        printf("\n");
    }
    tl_scene_destroy(scene);
    return status == TL_OK ? APP_OK : app_fail(self, json, app_exit_of(err.status, APP_INPUT), &err);
}

static int convert_pattern(const app_command *self, const char *from, const char *to, const app_list *turned,
                           bool force, bool json, bool quiet)
{
    tl_error err = {0};
    tl_pattern *pattern = NULL;
    if (tl_pattern_load(from, &pattern, &err) != TL_OK)
        return app_fail(self, json, app_exit_of(err.status, APP_INPUT), &err);
    for (int32_t i = 0; !json && i < tl_pattern_note_count(pattern); i++)
        app_say("warning: %s", tl_pattern_note(pattern, i));
    tl_status status = TL_OK;
    for (int32_t i = 0; status == TL_OK && i < turned->count; i++) {
        int32_t seam = -1;
        if (!app_read_int(turned->item[i], 0, 1000000, &seam)) seam = -1;
        status = tl_pattern_turn_seam(pattern, seam, &err);
    }
    FILE *there = status == TL_OK && !force ? fopen(to, "rb") : NULL;
    if (there) {
        fclose(there);
        err.status = status = TL_BAD_INPUT;
        snprintf(err.message, sizeof err.message,
                 "%s: is there already (choose another name, or overwrite it with --force)", to);
    }
    if (status == TL_OK) status = tl_pattern_save(pattern, to, &err);
    char left_out[512] = "";
    if (status == TL_OK) tl_pattern_left_out(pattern, to, left_out, sizeof left_out);
    if (left_out[0] && !json) app_say("warning: left out, this format has no place for it: %s", left_out);
    if (status == TL_OK && json) {
        printf("{\"command\": \"convert\", \"exit_code\": 0, \"from\": ");
        app_json_text(stdout, from);
        printf(", \"to\": ");
        app_json_text(stdout, to);
        printf(", \"panels\": %d, \"seams\": %d, \"warnings\": [", tl_pattern_panel_count(pattern),
               tl_pattern_seam_count(pattern));
        for (int32_t i = 0; i < tl_pattern_note_count(pattern); i++) {
            if (i > 0) fputs(", ", stdout);
            app_json_text(stdout, tl_pattern_note(pattern, i));
        }
        printf("], \"left_out\": ");
        app_json_text(stdout, left_out);
        printf("}\n");
    } else if (status == TL_OK && !quiet) {
        printf("pattern: ");
        app_print_word(stdout, to);
        printf("\n");
    }
    tl_pattern_destroy(pattern);
    return status == TL_OK ? APP_OK : app_fail(self, json, app_exit_of(err.status, APP_INPUT), &err);
}

int app_convert(const app_command *self, int argc, char **argv)
{
    bool force = false, json = false, quiet = false;
    app_list words = {0}, sets = {0}, turned = {0};
    const app_option options[] = {
        {"set", 0, APP_MANY, &sets, 0, 0, "KEY=VALUE", "replace a value, by Toile's keys; may be given again"},
        {"turn-seam", 0, APP_MANY, &turned, 0, 0, "N",
         "of a pattern: sew seam N the other way round; may be given again"},
        {"force", 'f', APP_FLAG, &force, 0, 0, NULL, "overwrite what is there"},
        {"quiet", 'q', APP_FLAG, &quiet, 0, 0, NULL, "warnings and errors only"},
        {"json", 0, APP_FLAG, &json, 0, 0, NULL, "one JSON object on stdout, with the warnings"},
    };
    int code;
    const char **texts = calloc(3 * (size_t)argc, sizeof *texts);
    if (!texts) return app_fail(self, false, APP_FAILED, &(tl_error){TL_NO_MEMORY, "out of memory"});
    words.item = texts, sets.item = texts + argc, turned.item = texts + 2 * argc;
    if (app_parse(self, options, sizeof options / sizeof *options, argc, argv, &words, &code)) {
        if (words.count != 2)
            code = app_usage(self, "give two files: the scene or pattern to read and the one to write");
        else if (tl_pattern_is(words.item[0]))
            code = convert_pattern(self, words.item[0], words.item[1], &turned, force, json, quiet);
        else
            code = convert(self, words.item[0], words.item[1], &sets, force, json, quiet);
    }
    free(texts);
    return code;
}
