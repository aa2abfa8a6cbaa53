// run/folder.c: the layout of a run's folder.

#include "run/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

static tl_status path_of(const char *dir, const char *folder, int64_t frame, const char *name, char out[TL_PATH_MAX],
                         tl_error *err)
{
    const int n = snprintf(out, TL_PATH_MAX, "%s/%s/%06lld_%s.obj", dir, folder, (long long)frame, name);
    return n > 0 && n < TL_PATH_MAX ? TL_OK : tl_fail(err, TL_IO, "path too long: %.200s...", dir);
}

tl_status tl_frame_path(const char *dir, int64_t frame, const char *cloth, char out[TL_PATH_MAX], tl_error *err)
{
    return path_of(dir, "frames", frame, cloth, out, err);
}

tl_status tl_obstacle_path(const char *dir, int64_t frame, const char *name, char out[TL_PATH_MAX], tl_error *err)
{
    return path_of(dir, "obstacles", frame, name, out, err);
}

bool tl_frame_name_parse(const char *name, int64_t *frame, char cloth[64])
{
    const size_t n = strlen(name);
    if (n < 12 || n > 7 + 63 + 4 || name[6] != '_' || strcmp(name + n - 4, ".obj") != 0) return false;
    *frame = 0;
    for (int i = 0; i < 6; i++) {
        if (name[i] < '0' || name[i] > '9') return false;
        *frame = 10 * *frame + (name[i] - '0');
    }
    memcpy(cloth, name + 7, n - 11);
    cloth[n - 11] = 0;
    return true;
}

static tl_status visit_folder(const char *dir, const char *name, tl_frame_visit visit, void *user, tl_error *err)
{
    char path[TL_PATH_MAX];
    TL_TRY(tl_path_join(dir, name, path, err));
    DIR *folder = opendir(path);
    if (!folder && errno == ENOENT) return TL_OK;
    if (!folder) return tl_fail(err, TL_IO, "%s: cannot read the folder: %s", path, strerror(errno));
    for (struct dirent *entry; (entry = readdir(folder));) {
        int64_t frame;
        char cloth[64];
        if (tl_frame_name_parse(entry->d_name, &frame, cloth) && !visit(user, frame, cloth)) break;
    }
    closedir(folder);
    return TL_OK;
}

tl_status tl_frames_visit(const char *dir, tl_frame_visit visit, void *user, tl_error *err)
{
    return visit_folder(dir, "frames", visit, user, err);
}

tl_status tl_obstacles_visit(const char *dir, tl_frame_visit visit, void *user, tl_error *err)
{
    return visit_folder(dir, "obstacles", visit, user, err);
}
