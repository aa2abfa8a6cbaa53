// sim/kinds.c: the one table of what goes with what. Kinds say what they promise and need (adapt.h, dynamics.h,
// detect.h, respond.h); rules hold those against each other. Creating a simulation, reading a scene and `toile info
// --kinds` all ask here.

#include "toile/kinds.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "sim/internal.h"

const tl_detector *sim_detector_of(tl_detection kind)
{
    static const tl_detector *const kinds[] = {
        [TL_DETECTION_FULL] = &tl_detector_full,
        [TL_DETECTION_KDOP] = &tl_detector_kdop,
        [TL_DETECTION_STOCHASTIC] = &tl_detector_stochastic,
        [TL_DETECTION_COMBINED] = &tl_detector_combined,
    };
    return (size_t)kind < sizeof kinds / sizeof kinds[0] ? kinds[kind] : NULL;
}

const char *tl_stage_key(tl_stage stage)
{
    static const char *const keys[TL_STAGES] = {"remeshing.kind", "dynamics.kind", "collisions.detection",
                                                "collisions.response"};
    return (size_t)stage < TL_STAGES ? keys[stage] : NULL;
}

const char *tl_kind_name(tl_stage stage, int32_t kind)
{
    const tl_adapter *a = stage == TL_STAGE_ADAPT ? tl_adapter_of((tl_remeshing_kind)kind) : NULL;
    const tl_dynamics *d = stage == TL_STAGE_DYNAMICS ? tl_dynamics_of((tl_dynamics_kind)kind) : NULL;
    const tl_detector *f = stage == TL_STAGE_DETECT ? sim_detector_of((tl_detection)kind) : NULL;
    const tl_responder *r = stage == TL_STAGE_RESPOND ? tl_responder_of((tl_response)kind) : NULL;
    return a ? a->name : d ? d->name : f ? f->name : r ? r->name : NULL;
}

const char *tl_kind_promise(tl_stage stage, int32_t kind)
{
    const tl_adapter *a = stage == TL_STAGE_ADAPT ? tl_adapter_of((tl_remeshing_kind)kind) : NULL;
    const tl_dynamics *d = stage == TL_STAGE_DYNAMICS ? tl_dynamics_of((tl_dynamics_kind)kind) : NULL;
    const tl_detector *f = stage == TL_STAGE_DETECT ? sim_detector_of((tl_detection)kind) : NULL;
    const tl_responder *r = stage == TL_STAGE_RESPOND ? tl_responder_of((tl_response)kind) : NULL;
    return a ? a->promise : d ? d->promise : f ? f->promise : r ? r->promise : NULL;
}

int32_t tl_kind_count(tl_stage stage)
{
    int32_t count = 0;
    while (tl_kind_name(stage, count)) count++;
    return count;
}

tl_kinds sim_kinds(const tl_sim_def *def, tl_remeshing_kind adapt)
{
    return (tl_kinds){{[TL_STAGE_ADAPT] = (int32_t)adapt,
                       [TL_STAGE_DYNAMICS] = (int32_t)def->dynamics,
                       [TL_STAGE_DETECT] = (int32_t)def->collide.detection,
                       [TL_STAGE_RESPOND] = (int32_t)def->collide.response}};
}

/// One kind of every stage.
typedef struct choice {
    tl_remeshing_kind adapter;
    const tl_dynamics *dynamics;
    const tl_detector *detector;
    const tl_responder *responder;
} choice;

static choice choice_of(const tl_kinds *kinds)
{
    const int32_t *k = kinds->kind;
    return (choice){(tl_remeshing_kind)k[TL_STAGE_ADAPT], tl_dynamics_of((tl_dynamics_kind)k[TL_STAGE_DYNAMICS]),
                    sim_detector_of((tl_detection)k[TL_STAGE_DETECT]),
                    tl_responder_of((tl_response)k[TL_STAGE_RESPOND])};
}

// ---- rules ------------------------------------------------------------------------------------------------

static bool may_miss(const choice *c) { return c->responder->no_penetration && !c->detector->complete; }
static bool searches_itself(const choice *c) { return !c->responder->detects && c->detector != &tl_detector_full; }
static bool has_no_potential(const choice *c) { return c->responder->in_potential && !c->dynamics->has_potential; }
static bool lacks_its_dynamics(const choice *c) { return c->responder->in_dynamics && !c->dynamics->own_contact; }
static bool cannot_follow(const choice *c)
{
    const bool own = c->responder->in_dynamics;  // then the dynamics keep the meshes themselves
    return c->adapter != TL_REMESHING_NONE && c->dynamics->follows && !(own && c->dynamics->follows(c->adapter));
}

/// `broken` says whether a choice breaks the rule; then kinds of `stage` and `other` do not go together because of
/// `why` (said of the kind of `stage`).
static const struct rule {
    bool (*broken)(const choice *c);
    tl_stage stage, other;
    const char *why;
} rules[] = {
    {may_miss, TL_STAGE_RESPOND, TL_STAGE_DETECT, "lets nothing pass and needs detection that misses nothing"},
    {searches_itself, TL_STAGE_RESPOND, TL_STAGE_DETECT, "searches with the trees of our own detection"},
    {has_no_potential, TL_STAGE_RESPOND, TL_STAGE_DYNAMICS, "presses within the solve of a potential"},
    {lacks_its_dynamics, TL_STAGE_RESPOND, TL_STAGE_DYNAMICS, "is part of how springs move"},
    {cannot_follow, TL_STAGE_DYNAMICS, TL_STAGE_ADAPT, "cannot follow meshes that change in this way"},
};

static const struct rule *first_broken(const tl_kinds *kinds)
{
    const choice c = choice_of(kinds);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (rules[i].broken(&c)) return &rules[i];
    return NULL;
}

// What else `stage` could be for everything to go together, as "KEY A or B"; adds nothing if there is none.
static void list_instead(const tl_kinds *kinds, tl_stage stage, char *out, size_t size)
{
    bool first = true;
    for (int32_t k = 0; k < tl_kind_count(stage); k++) {
        tl_kinds other = *kinds;
        other.kind[stage] = k;
        if (first_broken(&other)) continue;
        const size_t used = strlen(out);
        if (first)
            snprintf(out + used, size - used, "%s%s '%s'", used ? ", or " : "", tl_stage_key(stage),
                     tl_kind_name(stage, k));
        else
            snprintf(out + used, size - used, " or '%s'", tl_kind_name(stage, k));
        first = false;
    }
}

tl_status tl_kinds_check(const tl_kinds *kinds, tl_error *err)
{
    for (int s = 0; s < TL_STAGES; s++)
        if (!tl_kind_name((tl_stage)s, kinds->kind[s]))
            return tl_fail(err, TL_BAD_ARG, "%s %d is none of ours", tl_stage_key((tl_stage)s), kinds->kind[s]);
    const struct rule *rule = first_broken(kinds);
    if (!rule) return TL_OK;
    char instead[256] = "";
    list_instead(kinds, rule->other, instead, sizeof instead);
    list_instead(kinds, rule->stage, instead, sizeof instead);
    return tl_fail(err, TL_BAD_ARG, "%s '%s' does not go with %s '%s': it %s; take %s", tl_stage_key(rule->stage),
                   tl_kind_name(rule->stage, kinds->kind[rule->stage]), tl_stage_key(rule->other),
                   tl_kind_name(rule->other, kinds->kind[rule->other]), rule->why,
                   instead[0] ? instead : "both otherwise");
}
