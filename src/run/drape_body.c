// run/drape_body.c: what dressing wants to know of the body: where its parts are, and what is sewn around which.

#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/log.h"
#include "dress/openings.h"
#include "dress/place.h"
#include "run/drape_impl.h"

tl_status tl_drape_find_figure(tl_draper *d, tl_error *err)
{
    const tl_character *c = d->character;
    tl_error why = {0};
    d->has_figure = tl_figure_find(&d->alloc, d->body, tl_character_vert_count(c), tl_character_faces(c),
                                   tl_character_face_count(c), &d->figure, &why) == TL_OK;
    if (!d->has_figure) {
        tl_log_write(d->def->log, TL_LOG_WARNING, "%s: %s: what is sewn around which part is not looked at",
                     d->def->body, why.message);
        return TL_OK;
    }
    TL_TRY(tl_figure_use_rig(&d->alloc, c, &d->figure, err));
    const tl_figure *f = &d->figure;
    tl_log_write(d->def->log, TL_LOG_DEBUG,
                 "body: crotch %.3f, hip %.3f, waist %.3f, shoulders %.3f, neck %.3f, top %.3f m", f->crotch, f->hip,
                 f->waist, f->shoulders, f->neck, f->high.y);
    for (int l = 0; l < TL_LIMBS; l++) {
        const tl_limb_line *line = &f->limb[l];
        if (line->count > 0)
            tl_log_write(d->def->log, TL_LOG_DEBUG, "%s from %.3f %.3f %.3f to %.3f %.3f %.3f, radius %.3f m",
                         tl_limb_name((tl_limb)l), line->at[0].x, line->at[0].y, line->at[0].z,
                         line->at[line->count - 1].x, line->at[line->count - 1].y, line->at[line->count - 1].z,
                         line->radius);
    }
    return TL_OK;
}

// Cloth around the trunk less the trunk, at chest, waist and hips.
static tl_status measure_ease(tl_draper *d, tl_error *err)
{
    const tl_garment *g = &d->garment[d->index];
    const tl_figure *f = &d->figure;
    tl_drape_fit *fit = &d->report->garment[d->index].fit;
    const double armpit = f->has_arms ? fmin(f->limb[TL_LIMB_LEFT_ARM].at[0].y, f->limb[TL_LIMB_RIGHT_ARM].at[0].y)
                                      : f->shoulders - 0.06 * (f->high.y - f->low.y);
    const double y[3] = {armpit - 0.03 * (f->high.y - f->low.y), f->waist, f->hip};
    double *const ease[3] = {&fit->chest_ease, &fit->waist_ease, &fit->hip_ease};
    int32_t(*face)[3] = tl_alloc_bytes(&d->alloc, (size_t)g->face_count, sizeof *face);
    if (!face) return tl_fail_memory(err, "the fit");
    for (int32_t t = 0; t < g->face_count; t++)
        for (int k = 0; k < 3; k++) face[t][k] = g->vert_node[g->face[t][k]];
    for (int i = 0; i < 3; i++) {
        const double cloth = tl_figure_girth(&d->alloc, f, g->pos, (const int32_t(*)[3])face, g->face_count, y[i]);
        const double body = tl_figure_girth(&d->alloc, f, d->body, tl_character_faces(d->character),
                                            tl_character_face_count(d->character), y[i]);
        *ease[i] = cloth > 0.9 * body ? cloth - body : 0;
    }
    TL_FREE(&d->alloc, face, g->face_count);
    return TL_OK;
}

tl_status tl_drape_check_sewing(tl_draper *d, tl_error *err)
{
    tl_drape_garment *r = &d->report->garment[d->index];
    tl_opening list[TL_OPENINGS];
    r->sewn_wrong[0] = 0, r->openings = 0;
    if (!d->has_figure) return TL_OK;
    TL_TRY(measure_ease(d, err));
    TL_TRY(tl_garment_openings(&d->garment[d->index], &d->figure, list, TL_OPENINGS, &r->openings, err));
    for (int32_t i = 0; i < r->openings; i++)
        tl_log_write(d->def->log, TL_LOG_DEBUG,
                     "opening %.3f m around head %d, arms %d %d, legs %d %d at %.2f %.2f %.2f", list[i].length,
                     list[i].turns[0], list[i].turns[1], list[i].turns[2], list[i].turns[3], list[i].turns[4],
                     list[i].middle.x, list[i].middle.y, list[i].middle.z);
    if (tl_openings_fault(list, r->openings, &d->figure, d->pattern[d->index], r->sewn_wrong, sizeof r->sewn_wrong))
        tl_log_write(d->def->log, TL_LOG_WARNING, "%s: %s", r->name, r->sewn_wrong);
    return TL_OK;
}

tl_status tl_drape_place(tl_draper *d, tl_error *err)
{
    tl_pattern *pattern = d->pattern[d->index];
    const char *file = d->def->patterns[d->index];
    int32_t missing = -1;
    for (int32_t i = tl_pattern_panel_count(pattern); i-- > 0;)
        if (!tl_pattern_panel(pattern, i)->placed) missing = i;
    if (missing < 0 && !d->place_all) return TL_OK;
    if (!d->has_figure)
        return tl_fail(err, TL_BAD_INPUT,
                       "%.400s: panel '%.60s' has no place in space, and the parts of the body were not found: give it "
                       "a placement around the body (docs/patterns.md)",
                       file, tl_pattern_panel(pattern, missing < 0 ? 0 : missing)->name);
    tl_place_report r;
    tl_error why = {0};
    const tl_status status = tl_pattern_place(&d->alloc, pattern, &d->figure, d->place_all, &r, &why);
    if (status != TL_OK) return tl_fail(err, status, "%.400s: %.560s", file, why.message);
    TL_TRY(tl_pattern_check(pattern, err));
    d->report->garment[d->index].placed = r.placed;
    tl_log_write(d->def->log, TL_LOG_INFO,
                 "%s: %d of %d panels placed by what they are, %d of them bent around; seams %.2f m apart",
                 d->report->garment[d->index].name, r.placed, tl_pattern_panel_count(pattern), r.wrapped,
                 r.seam_distance);
    for (int32_t i = 0; i < tl_pattern_panel_count(pattern); i++) {
        const tl_panel *p = tl_pattern_panel(pattern, i);
        const tl_placement *q = &p->placement;
        tl_log_write(d->def->log, TL_LOG_DEBUG, "panel %s at %.2f %.2f %.2f turned %.0f %.0f %.0f bend %.2f", p->name,
                     q->origin.x, q->origin.y, q->origin.z, q->rotation_deg.x, q->rotation_deg.y, q->rotation_deg.z,
                     q->bend);
    }
    char name[96], path[TL_PATH_MAX];
    snprintf(name, sizeof name, "%.63s.placed.json", d->report->garment[d->index].name);
    TL_TRY(tl_path_join(d->def->out_dir, name, path, err));
    return tl_pattern_save(pattern, path, err);  // to look at, to change, to drape again
}
