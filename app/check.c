// app/check.c: `toile check`: looks at every frame of a run and says what is wrong with it.

#include <stdlib.h>

#include "app.h"
#include "toile/run.h"

static const double STRAIN_LIMIT_MAX = 1e6;  // beyond any meaning; keeps typing errors out

int app_check(const app_command *self, int argc, char **argv)
{
    double strain_limit = 0;
    bool json = false, quiet = false;
    const app_option options[] = {
        {"strain-limit", 0, APP_REAL, &strain_limit, 0, STRAIN_LIMIT_MAX, "X",
         "also count faces stretched by more than this fraction,\n0.1 is 10 %. Default 0: not looked at"},
        {"quiet", 'q', APP_FLAG, &quiet, 0, 0, NULL, "the exit code alone"},
        {"json", 0, APP_FLAG, &json, 0, 0, NULL, "one JSON object on stdout"},
    };
    app_list words = {0};
    int code;
    words.item = calloc((size_t)argc, sizeof *words.item);
    if (!words.item) return app_fail(self, false, APP_FAILED, &(tl_error){TL_NO_MEMORY, "out of memory"});
    const bool go_on = app_parse(self, options, sizeof options / sizeof *options, argc, argv, &words, &code);
    const int32_t count = words.count;
    const char *dir = count ? words.item[0] : NULL;
    free(words.item);
    if (!go_on) return code;
    if (count != 1) return app_usage(self, "give one folder, the --out of a run");

    tl_error err = {0};
    tl_check_report r = {0};
    if (tl_check_dir(dir, strain_limit, &r, &err) != TL_OK)
        return app_fail(self, json, app_exit_of(err.status, APP_INPUT), &err);
    code = r.findings > 0 ? APP_FINDING : APP_OK;

    const struct {
        const char *key, *words;
        int64_t count;
    } kinds[] = {
        {"missing_frames", "frames missing", r.missing_frames},
        {"unreadable", "files unreadable", r.unreadable},
        {"not_finite", "values not finite", r.not_finite},
        {"degenerate", "faces degenerate", r.degenerate},
        {"inverted", "faces inverted in material space", r.inverted},
        {"over_strain", "faces over the strain limit", r.over_strain},
    };
    const int32_t kind_count = sizeof kinds / sizeof *kinds;
    if (json) {
        printf("{\"command\": \"check\", \"exit_code\": %d, \"dir\": ", code);
        app_json_text(stdout, dir);
        printf(", \"frames\": %d, \"cloths\": %d, \"faces\": %lld", r.frames, r.cloths, (long long)r.faces);
        for (int32_t i = 0; i < kind_count; i++)
            printf(", \"%s\": %lld", kinds[i].key, (long long)kinds[i].count);
        printf(", \"strain_min\": "), app_json_real(stdout, r.strain_min);
        printf(", \"strain_max\": "), app_json_real(stdout, r.strain_max);
        printf(", \"findings\": %lld, \"first\": ", (long long)r.findings);
        app_json_text(stdout, r.first);
        printf("}\n");
    } else if (!quiet) {
        char faces[32];
        printf("%d frames, %d cloth%s, %s faces looked at, strain %+.2f %% to %+.2f %%\n", r.frames, r.cloths,
               r.cloths == 1 ? "" : "s", app_count(r.faces, faces), 100 * r.strain_min, 100 * r.strain_max);
        for (int32_t i = 0; i < kind_count; i++)
            if (kinds[i].count > 0) printf("%lld %s\n", (long long)kinds[i].count, kinds[i].words);
        if (r.findings > 0)
            printf("found %lld, the first: %s\n", (long long)r.findings, r.first);
        else
            printf("nothing wrong found\n");
    }
    return code;
}
