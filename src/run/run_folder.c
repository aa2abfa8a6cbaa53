// run/run_folder.c: the folder of a run: its lock, what is in it before, its scene.
//
// The lock is a file with an advisory lock (flock), which the system gives up with the process, however it ends. So a
// lock file that a killed run left behind does not stand in the way. Its text is for people.

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/log.h"
#include "run/folder.h"
#include "run/run_impl.h"

tl_status tl_run_path(const tl_runner *run, const char *name, char out[TL_PATH_MAX], tl_error *err)
{
    return tl_path_join(run->def->out_dir, name, out, err);
}

// ---- lock -------------------------------------------------------------------------------------------------

static tl_status fail_locked(const tl_runner *run, int fd, tl_error *err)
{
    char text[200] = "";
    const ssize_t n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    text[strcspn(text, "\n")] = 0;
    return tl_fail(err, TL_BAD_INPUT,
                   "%.500s: another run writes into this folder%s%s (wait until it ends, or choose another --out)",
                   run->def->out_dir, text[0] ? ": " : "", text);
}

// Opens and locks the file. Neither a lock nor an error: it was removed in between, try again.
static void try_lock(tl_runner *run, const char *path, tl_status *status, tl_error *err)
{
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    *status = TL_OK;
    if (fd < 0) {
        *status = tl_fail(err, TL_IO, "%s: cannot write: %s (check the permissions, or choose another folder)", path,
                          strerror(errno));
        return;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        const int code = errno;
        if (code == EWOULDBLOCK) {
            *status = fail_locked(run, fd, err);
            close(fd);
            return;
        }
        // A file system without locks: better a run than none.
        tl_log_write(run->def->log, TL_LOG_WARNING,
                     "%s: cannot lock the folder: %s (do not start a second run into it)", run->def->out_dir,
                     strerror(code));
    }
    struct stat mine, there;
    if (fstat(fd, &mine) == 0 && stat(path, &there) == 0 && mine.st_ino == there.st_ino &&
        mine.st_dev == there.st_dev) {
        run->lock = fd;
        return;
    }
    close(fd);
}

tl_status tl_run_lock(tl_runner *run, tl_error *err)
{
    enum { TRIES = 100 };
    char path[TL_PATH_MAX], host[64] = "", text[160];
    run->lock = -1;
    run->made_folder = tl_path_look(run->def->out_dir) == TL_PATH_NONE;
    TL_TRY(tl_run_path(run, "run.lock", path, err));
    tl_status status = tl_make_dirs(run->def->out_dir, err);
    if (status != TL_OK && err) {
        const tl_error inner = *err;
        return tl_fail(err, status, "%.300s cannot be used: %.600s", run->def->out_dir, inner.message);
    }
    TL_TRY(status);
    for (int i = 0; run->lock < 0 && status == TL_OK; i++) {
        if (i == TRIES) return tl_fail(err, TL_IO, "%s: cannot lock: it is removed again and again", path);
        try_lock(run, path, &status, err);
    }
    TL_TRY(status);
    gethostname(host, sizeof host - 1);
    const int n = snprintf(text, sizeof text, "process %ld on %s\n", (long)getpid(), host);
    if (ftruncate(run->lock, 0) != 0 || pwrite(run->lock, text, (size_t)n, 0) != n) {
        // a full disk: the lock holds without its text
    }
    return TL_OK;
}

void tl_run_unlock(tl_runner *run)
{
    char path[TL_PATH_MAX];
    if (run->lock < 0) return;
    if (tl_run_path(run, "run.lock", path, NULL) == TL_OK) unlink(path);
    close(run->lock);
    run->lock = -1;
    if (run->made_folder && !run->writing) rmdir(run->def->out_dir);  // stays unless it is empty
}

// ---- what was there before --------------------------------------------------------------------------------

static bool stop_at_first(void *user, int64_t frame, const char *cloth)
{
    (void)frame, (void)cloth;
    *(bool *)user = true;
    return false;
}

typedef struct removal {
    const tl_runner *run;
    tl_error *err;
} removal;

static bool remove_frame(void *user, int64_t frame, const char *cloth)
{
    const removal *rm = user;
    char path[TL_PATH_MAX];
    for (int32_t i = 0; i < rm->run->scene->cloth_count; i++)
        if (strcmp(rm->run->scene->cloths[i].name, cloth) == 0 &&
            tl_frame_path(rm->run->def->out_dir, frame, cloth, path, rm->err) == TL_OK)
            unlink(path);
    return true;
}

static bool remove_obstacle(void *user, int64_t frame, const char *name)
{
    const removal *rm = user;
    char path[TL_PATH_MAX];
    for (int32_t i = 0; i < rm->run->scene->obstacle_count; i++)
        if (strcmp(rm->run->scene->obstacles[i].name, name) == 0 &&
            tl_obstacle_path(rm->run->def->out_dir, frame, name, path, rm->err) == TL_OK)
            unlink(path);
    return true;
}

static bool holds(const tl_runner *run, const char *name)
{
    char path[TL_PATH_MAX];
    return tl_run_path(run, name, path, NULL) == TL_OK && tl_path_look(path) != TL_PATH_NONE;
}

tl_status tl_run_clear(const tl_runner *run, tl_error *err)
{
    const char *dir = run->def->out_dir;
    bool frames = false;
    TL_TRY(tl_frames_visit(dir, stop_at_first, &frames, err));
    const bool scene_there = holds(run, "scene.json"), stats_there = holds(run, "stats.jsonl");
    if (!frames && !scene_there) return TL_OK;
    const bool replace = run->def->replace;
    if (!frames && !stats_there && !replace)
        return tl_fail(err, TL_BAD_INPUT,
                       "%s: holds a scene.json that is not from a run, and a run would write over it "
                       "(choose another --out)",
                       dir);
    char path[TL_PATH_MAX];
    TL_TRY(tl_run_path(run, "scene.json", path, err));
    tl_scene *old = NULL;
    const tl_scene_def def = {.path = path, .max_faces = TL_SCENE_MAX_FACES};
    const bool same =
        scene_there && tl_scene_read(&run->alloc, &def, &old, NULL) == TL_OK && old->hash == run->scene->hash;
    char name[128] = "";
    if (old) snprintf(name, sizeof name, " (%.100s)", old->name);
    tl_scene_destroy(old);
    if (!same && !replace)
        return tl_fail(err, TL_BAD_INPUT,
                       "%s: holds frames of another scene%s, or of this one before it was changed "
                       "(choose another --out, or remove the folder)",
                       dir, name);
    if (!replace)
        tl_log_write(run->def->log, TL_LOG_WARNING,
                     "%s: starting over (it held a run of this scene; --resume would have gone "
                     "on with it)",
                     dir);
    removal rm = {run, err};
    TL_TRY(tl_frames_visit(dir, remove_frame, &rm, err));
    TL_TRY(tl_obstacles_visit(dir, remove_obstacle, &rm, err));
    const char *const own[] = {"stats.jsonl", "steps.csv", "checkpoint.bin"};
    for (int i = 0; i < 3; i++)
        if (tl_run_path(run, own[i], path, NULL) == TL_OK) unlink(path);
    return TL_OK;
}

tl_status tl_run_write_scene(tl_runner *run, tl_error *err)
{
    char path[TL_PATH_MAX];
    run->text.size = 0;
    TL_TRY(tl_scene_json_for_folder(run->scene, (int32_t)run->frames, TL_RUN_MESHES, &run->text, err));
    TL_TRY(tl_run_path(run, "scene.json", path, err));
    return tl_file_write(path, run->text.data, run->text.size, true, err);
}
