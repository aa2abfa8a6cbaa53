// app/info.c: `toile info`: what a scene, fabric, mesh, checkpoint or run folder holds.

#include <stdlib.h>

#include "app.h"
#include "toile/run.h"

static void to_stdout(void *user, const char *text)
{
    (void)user;
    fputs(text, stdout);
}

int app_info(const app_command *self, int argc, char **argv)
{
    bool json = false;
    const app_option options[] = {
        {"json", 0, APP_FLAG, &json, 0, 0, NULL, "one JSON object on stdout"},
    };
    app_list words = {0};
    int code;
    words.item = calloc((size_t)argc, sizeof *words.item);
    if (!words.item) return app_fail(self, false, APP_FAILED, &(tl_error){TL_NO_MEMORY, "out of memory"});
    const bool go_on = app_parse(self, options, sizeof options / sizeof *options, argc, argv, &words, &code);
    const int32_t count = words.count;
    const char *path = count ? words.item[0] : NULL;
    free(words.item);
    if (!go_on) return code;
    if (count != 1) return app_usage(self, "give one file or folder");

    tl_error err = {0};
    if (tl_info(path, json, to_stdout, NULL, &err) != TL_OK)
        return app_fail(self, json, app_exit_of(err.status, APP_INPUT), &err);
    return APP_OK;
}
