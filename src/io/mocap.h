// io/mocap.h: BVH motion capture files.
#pragma once
#include "body/retarget.h"

/// Into `out`, which the caller frees with tl_mocap_free, also after a failure. TL_BAD_INPUT names path and line.
tl_status tl_mocap_parse(const tl_allocator *alloc, const char *path, const char *text, size_t size, tl_mocap *out,
                         tl_error *err);

/// As one more clip of a character, named like the file. `bones`: "from=to" pairs of joint names.
tl_status tl_mocap_put_on(const char *path, const char *text, size_t size, const char *const *bones, int32_t bone_count,
                          tl_character *c, tl_error *err);
