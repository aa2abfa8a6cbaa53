// detect/detect.h: which features of surfaces are near each other, by one of several methods.
//
// A detector is made for one surface, told where its nodes are, and asked for the close pairs within it or between it
// and another of the same kind. Kinds differ in cost and in whether they may miss a pair; responders that promise that
// nothing passes through refuse those that may. Order of calls in a step: fit (each surface), find (each pair of them).
#pragma once
#include "detect/bvh/bvh.h"
#include "toile/collide.h"

/// What the two features of a pair are.
typedef enum tl_close_kind {
    TL_CLOSE_VF,  ///< node `a` of the first surface, face `b` of the second (or of the same)
    TL_CLOSE_FV,  ///< node `a` of the second, face `b` of the first; between two surfaces only
    TL_CLOSE_EE,  ///< edge `a` of the first, edge `b` of the second; a < b within one surface
} tl_close_kind;

/// Two features without a common node that are nearer than the reach, and where (toile/collide.h).
typedef struct tl_close {
    int32_t kind, a, b;
    tl_nearest near;
} tl_close;

/// A list that a detector fills; kept from step to step. Sorted by (kind, a, b), each pair once.
typedef struct tl_close_list {
    tl_allocator alloc;
    tl_close *items;
    int32_t count, cap;
} tl_close_list;
void tl_close_init(tl_close_list *list, tl_allocator alloc);
void tl_close_free(tl_close_list *list);
tl_status tl_close_sort(tl_close_list *list, tl_arena *scratch, tl_error *err);

/// Are two items the same pair of features? Their order, negative: the first comes first.
int tl_close_order(const tl_close *p, const tl_close *q);

/// Nodes of a pair, numbered as each surface does: those of the first feature before those of the second, as the
/// weights are. `first` and `second` are the surfaces (the same pointer within one); bit k of the result is set if
/// node k belongs to the second.
int tl_close_nodes(const tl_surface *first, const tl_surface *second, int32_t kind, int32_t a, int32_t b,
                   int32_t node[4]);

typedef struct tl_detect_def {
    int32_t k;           ///< 6, 14, 18 or 26 planes of a volume (k-dop, combined). Default 18.
    int32_t arity;       ///< children of a volume: 2, 4 or 8. Default 4.
    int32_t leaf_faces;  ///< at most in a leaf, 1 to 64; 0: 1 (k-dop), 8 (combined). Default 0.
    int32_t culling;     ///< 1: smooth parts of a surface are not tested against themselves. Default 1.
    double skin;         ///< lazy update: nodes move this part of the reach before volumes follow, >= 0. Default 0.5.
    int32_t new_pairs;   ///< random pairs that are tried each time (stochastic, combined). Default 100.
    double discard;      ///< an active pair beyond this many reaches is dropped, >= 1. Default 2.
    double ratio;        ///< part of all close pairs that new_pairs is steered towards, 0..1; 0: any.
    int64_t most_tests;  ///< .. with no more distance tests each time than this. 0: no bound. Default 0.
                         ///< With neither, new_pairs stays.
    uint64_t seed;       ///< of the random pairs. Default 1.
} tl_detect_def;
tl_detect_def tl_detect_def_default(void);

/// What detection took, summed over calls until the caller clears it.
typedef struct tl_detect_report {
    int64_t fitted, volumes;  ///< volumes that were fitted anew, and those there are
    int64_t volume_tests;     ///< two volumes compared
    int64_t tests;            ///< distances of two features, or of their representative points
    int64_t found;            ///< close pairs
    int64_t new_pairs;        ///< random pairs that were tried
    int64_t again, fresh;     ///< of what those led to: already known; new
    double fit_seconds, overlap_seconds, test_seconds;  ///< of the processor
} tl_detect_report;

/// What is asked of a pair of surfaces.
typedef struct tl_detect_ask {
    double reach;   ///< features nearer than this are close [m], > 0
    int32_t slot;   ///< which pair of surfaces this is, 0, 1, ..: methods that remember keep one memory for each
    uint64_t step;  ///< number of the step, for random numbers
} tl_detect_ask;

/// What a detector is handed.
typedef struct tl_detect_ctx {
    tl_arena *arena;
    tl_workers *workers;  ///< NULL: the caller's thread alone
    tl_detect_report *report;
} tl_detect_ctx;

/// One const instance per kind.
typedef struct tl_detector {
    const char *name;
    const char *promise;  ///< what it finds, one sentence
    bool complete;        ///< false: may miss pairs
    bool continuous;      ///< fit takes paths (x1), and find reports what comes within reach on them
    /// `corner`: where the corners of every face were in a state that never changes (at rest); what is built once is
    /// built from it, so that a run that goes on from a saved state has the same tree. NULL: none, from `x`.
    tl_status (*create)(const tl_allocator *alloc, const tl_detect_def *def, const tl_surface *surface,
                        const tl_vec3 *x, const tl_vec3 (*corner)[3], void **self, tl_error *err);
    /// Nodes are at x0, or (x1 not NULL) go straight from there to x1. Borrowed until the next fit.
    tl_status (*fit)(void *self, const tl_vec3 *x0, const tl_vec3 *x1, double reach, const tl_detect_ctx *ctx,
                     tl_error *err);
    /// Close pairs within `self` (other NULL), or between it and `other` of the same kind.
    tl_status (*find)(void *self, void *other, const tl_detect_ask *ask, const tl_detect_ctx *ctx, tl_close_list *out,
                      tl_error *err);
    void (*forget)(void *self);  ///< what was reused from step to step, but for `memory`: an epoch begins
    void (*destroy)(void *self);
} tl_detector;

extern const tl_detector tl_detector_full;        ///< trees of boxes, everything found: our own
extern const tl_detector tl_detector_kdop;        ///< Kimmerle 2005, sec. 2.2.1, 2.3.2
extern const tl_detector tl_detector_stochastic;  ///< Kimmerle 2005, sec. 2.3.1
extern const tl_detector tl_detector_combined;    ///< Kimmerle 2005, sec. 2.3.2: random pairs from overlapping leaves

/// What stochastic kinds remember of a pair of surfaces: part of the state of a simulation. Others have none.
typedef struct tl_active {
    int32_t kind, a, b;
} tl_active;
typedef struct tl_active_list {
    tl_active *items;
    int32_t count, cap;
    int32_t new_pairs;   ///< the controller's choice for the next step
    double again, hits;  ///< what it goes by: decaying counts of hits that were known, and of all
} tl_active_list;
tl_active_list *tl_detector_memory(const tl_detector *kind, void *self, int32_t slot, tl_error *err);  ///< or NULL
tl_status tl_detector_remember(const tl_detector *kind, void *self, int32_t slot, const tl_active_list *list,
                               tl_error *err);

/// How many of the pairs in `all` are in `some`; both sorted.
int32_t tl_close_common(const tl_close_list *all, const tl_close_list *some);
