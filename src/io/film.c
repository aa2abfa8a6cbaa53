// io/film.c: a child process that reads raw frames from a socket and writes a film.
//
// A socket rather than a pipe: writing to an encoder that has died is then an error code (MSG_NOSIGNAL) and
// not a signal that a library has no business to catch. What the encoder complains about goes to a temporary
// file.

#include "io/film.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"

extern char **environ;

struct tl_movie {
    tl_allocator alloc;
    pid_t child;
    int to_child;
    FILE *complaints;
    int32_t width, height;  // of the pictures
    int32_t even_width, even_height;
    uint8_t *padded;  // NULL if no padding is needed
    char path[TL_PATH_MAX], part[TL_PATH_MAX];
};

static const char *program(void)
{
    const char *named = getenv("FFMPEG");
    return named && named[0] ? named : "ffmpeg";
}

bool tl_movie_possible(void)
{
    char *argv[] = {(char *)(uintptr_t)program(), "-version", NULL};
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0) return false;
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child;
    const int failed = posix_spawnp(&child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed) return false;
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool is_gif(const char *path)
{
    const size_t n = strlen(path);
    return n > 4 && strcasecmp(path + n - 4, ".gif") == 0;
}

static tl_status start(tl_movie *m, double fps, tl_error *err)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return tl_fail(err, TL_IO, "%s: cannot talk to the encoder: %s", m->path, strerror(errno));
    char size[32], rate[32];
    snprintf(size, sizeof size, "%dx%d", m->even_width, m->even_height);
    snprintf(rate, sizeof rate, "%.6g", fps);
    const bool gif = is_gif(m->path);
    char *argv[40];
    int n = 0;
#define ARG(text) argv[n++] = (char *)(uintptr_t)(text)
    ARG(program()), ARG("-y"), ARG("-nostdin"), ARG("-loglevel"), ARG("error"), ARG("-f"), ARG("rawvideo");
    ARG("-pixel_format"), ARG("rgb24"), ARG("-video_size"), ARG(size), ARG("-framerate"), ARG(rate);
    ARG("-i"), ARG("pipe:0");
    if (gif) {  // ordered dither: the still parts of the picture stay still, so the file stays small
        ARG("-vf"), ARG("split[a][b];[a]palettegen=stats_mode=full[p];[b][p]paletteuse=dither=bayer:bayer_"
                        "scale=4:diff_mode=rectangle");
        ARG("-loop"), ARG("0"), ARG("-f"), ARG("gif");
    } else {
        // our bytes are sRGB; a player expects Rec. 709 in the narrow range, and must be told so
        ARG("-vf"), ARG("scale=out_color_matrix=bt709:out_range=tv:flags=accurate_rnd+full_chroma_int,format="
                        "yuv420p");
        ARG("-c:v"), ARG("libx264"), ARG("-preset"), ARG("fast"), ARG("-crf"), ARG("18");
        ARG("-color_primaries"), ARG("bt709"), ARG("-color_trc"), ARG("bt709"), ARG("-colorspace"), ARG("bt709");
        ARG("-movflags"), ARG("+faststart"), ARG("-f"), ARG("mp4");
    }
    ARG(m->part);
#undef ARG
    argv[n] = NULL;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pair[1], STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (m->complaints) posix_spawn_file_actions_adddup2(&actions, fileno(m->complaints), STDERR_FILENO);
    const int failed = posix_spawnp(&m->child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(pair[1]);
    if (failed) {
        close(pair[0]);
        return tl_fail(err, TL_IO, "%s: cannot start %s: %s", m->path, program(), strerror(failed));
    }
    m->to_child = pair[0];
    return TL_OK;
}

static void free_movie(tl_movie *m)
{
    if (m->complaints) fclose(m->complaints);
    TL_FREE(&m->alloc, m->padded, (size_t)m->even_width * (size_t)m->even_height * 3);
    const tl_allocator alloc = m->alloc;
    TL_FREE(&alloc, m, 1);
}

tl_status tl_movie_create(const tl_allocator *alloc, const char *path, int32_t width, int32_t height, double fps,
                          tl_movie **out, tl_error *err)
{
    *out = NULL;
    tl_movie *m = TL_CALLOC(alloc, tl_movie, 1);
    if (!m) return tl_fail_memory(err, "the encoder");
    m->alloc = *alloc, m->width = width, m->height = height, m->to_child = -1;
    m->even_width = width + (width & 1), m->even_height = height + (height & 1);
    const int n = snprintf(m->part, sizeof m->part, "%s.part", path);
    tl_status status = n < (int)sizeof m->part ? TL_OK : tl_fail(err, TL_BAD_INPUT, "path too long: %.200s...", path);
    snprintf(m->path, sizeof m->path, "%s", path);
    if (status == TL_OK && (m->even_width != width || m->even_height != height)) {
        m->padded = TL_ALLOC(alloc, uint8_t, (size_t)m->even_width * (size_t)m->even_height * 3);
        if (!m->padded) status = tl_fail_memory(err, "the encoder");
    }
    if (status == TL_OK) {  // find out now, not after an hour of drawing
        const int fd = open(m->part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (fd < 0)
            status = tl_fail(err, TL_IO, "%s: cannot write: %s", path, strerror(errno));
        else
            close(fd);
    }
    if (status == TL_OK) {
        m->complaints = tmpfile();
        status = start(m, fps, err);
        if (status != TL_OK) unlink(m->part);
    }
    if (status != TL_OK) {
        free_movie(m);
        return status;
    }
    *out = m;
    return TL_OK;
}

static const uint8_t *pad(tl_movie *m, const tl_image *image)
{
    for (int32_t y = 0; y < m->even_height; y++) {
        const int32_t from = y < m->height ? y : m->height - 1;
        uint8_t *row = m->padded + (size_t)y * (size_t)m->even_width * 3;
        memcpy(row, image->rgb + (size_t)from * (size_t)m->width * 3, (size_t)m->width * 3);
        if (m->even_width > m->width) memcpy(row + (size_t)m->width * 3, row + (size_t)(m->width - 1) * 3, 3);
    }
    return m->padded;
}

/// Waits for the child; its last complaint becomes the message.
static tl_status reap(tl_movie *m, tl_error *err)
{
    if (m->to_child >= 0) close(m->to_child);
    m->to_child = -1;
    int status = 0;
    while (waitpid(m->child, &status, 0) < 0 && errno == EINTR) {}
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return TL_OK;
    char line[512] = "no reason given", next[512];
    if (m->complaints) {
        rewind(m->complaints);
        while (fgets(next, sizeof next, m->complaints))
            if (next[0] != '\n') memcpy(line, next, sizeof line);
        line[strcspn(line, "\n")] = 0;
    }
    return tl_fail(err, TL_IO, "%s: %s failed: %s", m->path, program(), line);
}

tl_status tl_movie_add(tl_movie *m, const tl_image *image, tl_error *err)
{
    if (image->width != m->width || image->height != m->height)
        return tl_fail(err, TL_BAD_ARG, "film of %d x %d got a picture of %d x %d", m->width, m->height, image->width,
                       image->height);
    const uint8_t *data = m->padded ? pad(m, image) : image->rgb;
    size_t left = (size_t)m->even_width * (size_t)m->even_height * 3;
    while (left > 0) {
        const ssize_t n = send(m->to_child, data, left, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return tl_fail(err, TL_IO, "%s: the encoder stopped: %s", m->path, strerror(errno));
        data += n, left -= (size_t)n;
    }
    return TL_OK;
}

tl_status tl_movie_finish(tl_movie *m, tl_error *err)
{
    tl_status status = reap(m, err);
    if (status == TL_OK && rename(m->part, m->path) != 0)
        status = tl_fail(err, TL_IO, "%s: cannot write: %s", m->path, strerror(errno));
    if (status != TL_OK) unlink(m->part);
    free_movie(m);
    return status;
}

void tl_movie_cancel(tl_movie *m)
{
    if (!m) return;
    kill(m->child, SIGTERM);
    reap(m, NULL);
    unlink(m->part);
    free_movie(m);
}
