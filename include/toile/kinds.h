// toile/kinds.h: which kinds of every stage there are, and which of them go together (`toile info --kinds`).
#pragma once
#include "toile/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Stages of a step that have more than one kind.
typedef enum tl_stage {
    TL_STAGE_ADAPT,     ///< tl_remeshing_kind
    TL_STAGE_DYNAMICS,  ///< tl_dynamics_kind
    TL_STAGE_DETECT,    ///< tl_detection
    TL_STAGE_RESPOND,   ///< tl_response
} tl_stage;
enum { TL_STAGES = 4 };

TL_API const char *tl_stage_key(tl_stage stage);                ///< of a scene, "remeshing.kind"; NULL: no such stage
TL_API int32_t tl_kind_count(tl_stage stage);                   ///< kinds are numbered as in their enum
TL_API const char *tl_kind_name(tl_stage stage, int32_t kind);  ///< the word in scenes; NULL: no such kind
TL_API const char *tl_kind_promise(tl_stage stage, int32_t kind);  ///< one sentence; NULL: no such kind

/// One kind of every stage, by number.
typedef struct tl_kinds {
    int32_t kind[TL_STAGES];
} tl_kinds;

/// Do these go together? TL_BAD_ARG: no; the message says why, and what to take instead.
TL_API tl_status tl_kinds_check(const tl_kinds *kinds, tl_error *err);

#ifdef __cplusplus
}
#endif
