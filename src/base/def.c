// base/def.c: definitions of programs that are older than the library are completed with defaults.

#include "base/def.h"

#include <stdint.h>
#include <string.h>

#include "base/fail.h"

void tl_def_init(void *def, size_t size, const void *defaults, size_t full_size)
{
    const uint32_t stored = (uint32_t)(size < full_size ? size : full_size);
    memcpy(def, defaults, stored);
    memcpy(def, &stored, sizeof stored);
}

tl_status tl_def_complete(const void *given, void *full, size_t full_size, const char *start_from, tl_error *err)
{
    if (!given) return tl_fail(err, TL_BAD_ARG, "the definition is NULL, start from %s()", start_from);
    uint32_t size;
    memcpy(&size, given, sizeof size);
    if (size < sizeof size || size % sizeof size != 0)
        return tl_fail(err, TL_BAD_ARG, "struct_size %u is none of ours, start from %s()", size, start_from);
    if (size > full_size)
        return tl_fail(err, TL_BAD_ARG,
                       "the program was compiled for a newer library than %s (struct_size %u, at most %zu) or did not "
                       "start from %s()",
                       tl_version(), size, full_size, start_from);
    memcpy(full, given, size);
    const uint32_t whole = (uint32_t)full_size;
    memcpy(full, &whole, sizeof whole);
    return TL_OK;
}
