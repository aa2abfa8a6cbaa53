// base/ctx.h: what every stage of a step is handed besides its data.
#pragma once
#include "base/arena.h"
#include "base/workers.h"

typedef struct tl_ctx {
    tl_arena *arena;      ///< scratch memory; whoever takes some for long marks and releases
    tl_workers *workers;  ///< NULL: the caller's thread alone
} tl_ctx;
