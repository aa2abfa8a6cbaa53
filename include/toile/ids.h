// toile/ids.h: what a simulation and the things in it are named by. An id goes stale safely: one whose thing is gone is
// refused with TL_BAD_ARG, also when its place has been taken by another.
#pragma once
#include "toile/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tl_sim tl_sim;  // opaque, owns everything inside
typedef struct tl_cloth_id {
    uint32_t slot, gen;
} tl_cloth_id;  // by value, {0, 0} is no cloth
typedef struct tl_body_id {
    uint32_t slot, gen;
} tl_body_id;  // by value, {0, 0} is no body (toile/body.h)
typedef struct tl_handle_id {
    uint32_t slot, gen;
} tl_handle_id;  // by value, {0, 0} is no handle (toile/handle.h)

#ifdef __cplusplus
}
#endif
