// io/film.h: films, by handing raw pictures to the ffmpeg program.
#pragma once
#include "io/file.h"
#include "render/image.h"

typedef struct tl_movie tl_movie;

/// Whether an ffmpeg program can be started (looked up in PATH, or named by the environment variable FFMPEG).
bool tl_movie_possible(void);

/// Starts encoding into a file beside `path`; .gif gets a palette, anything else H.264. Odd sizes are padded
/// by repeating the last column and row.
tl_status tl_movie_create(const tl_allocator *alloc, const char *path, int32_t width, int32_t height, double fps,
                          tl_movie **out, tl_error *err);

/// Adds one picture of the size given.
tl_status tl_movie_add(tl_movie *movie, const tl_image *image, tl_error *err);

/// Waits for the encoder and moves the film to its place. Frees `movie` in any case.
tl_status tl_movie_finish(tl_movie *movie, tl_error *err);

/// Stops and leaves nothing behind. NULL is fine.
void tl_movie_cancel(tl_movie *movie);
