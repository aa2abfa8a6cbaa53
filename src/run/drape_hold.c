// run/drape_hold.c: what holds a garment to the body but friction: ties by label, the rim of trousers and skirts,
// bands.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/log.h"
#include "dress/mark.h"
#include "run/drape_impl.h"

#define RIM_DEPTH 0.08  // [m] of the rim below its top
#define WORN 0.78       // of the height of the body: what reaches higher hangs from the shoulders

tl_status tl_drape_read_holds(tl_draper *d, tl_error *err)
{
    const tl_drape_def *def = d->def;
    if (def->hold_count < 0 || def->hold_count > TL_DRAPE_HOLDS || (def->hold_count > 0 && !def->holds))
        return tl_fail(err, TL_BAD_ARG, "%d holds, must be 0 to %d", def->hold_count, TL_DRAPE_HOLDS);
    d->hold_count = 0;
    for (int32_t i = 0; i < def->hold_count; i++) {
        const tl_drape_hold *h = &def->holds[i];
        if (!h->label || !*h->label || !(h->stiffness >= 0) || !isfinite(h->stiffness) || !(h->elastic >= 0) ||
            !isfinite(h->elastic) || (h->stiffness == 0 && h->elastic == 0))
            return tl_fail(err, TL_BAD_ARG,
                           "hold %d ('%.60s'): stiffness %g N/m^2 and elastic %g, must be >= 0, and one above", i,
                           h->label ? h->label : "", h->stiffness, h->elastic);
        d->hold[d->hold_count++] = (tl_dress_hold){i + 1, h->stiffness, h->elastic};
    }
    if (def->no_hold) return TL_OK;
    d->hold[d->hold_count++] = (tl_dress_hold){TL_DRAPE_RIM, TL_DRAPE_HOLD, 0};
    d->hold[d->hold_count++] = (tl_dress_hold){TL_DRAPE_STRAPLESS, TL_DRAPE_HOLD, 0};
    return TL_OK;
}

tl_status tl_drape_mark_labels(tl_draper *d, const tl_pattern_mesh *mesh, tl_error *err)
{
    tl_garment *g = &d->garment[d->index];
    const tl_pattern *pattern = d->pattern[d->index];
    if (!d->def->no_hold) tl_garment_mark_label(g, pattern, mesh, "strapless_top", TL_DRAPE_STRAPLESS);
    for (int32_t i = 0; i < d->def->hold_count; i++) {
        const char *word = d->def->holds[i].label;
        if (tl_garment_mark_label(g, pattern, mesh, word, i + 1) > 0 || d->def->pattern_count > 1) continue;
        char list[300] = "";
        size_t n = 0;
        for (int32_t p = 0; p < tl_pattern_panel_count(pattern); p++) {
            const tl_panel *panel = tl_pattern_panel(pattern, p);
            for (int32_t e = 0; e < panel->edge_count; e++)
                if (*panel->edges[e].label && !strstr(list, panel->edges[e].label) && n + 70 < sizeof list)
                    n += (size_t)snprintf(list + n, sizeof list - n, " '%.60s'", panel->edges[e].label);
        }
        return tl_fail(err, TL_BAD_INPUT, "%.400s: no edge has '%.60s' in its label: it has%s",
                       d->def->patterns[d->index], word, n > 0 ? list : " no labels");
    }
    return TL_OK;
}

// What lies on the shoulders stays by itself.
tl_status tl_drape_mark_rim(tl_draper *d, tl_error *err)
{
    tl_garment *g = &d->garment[d->index];
    if (d->def->no_hold) return TL_OK;
    double low = (double)INFINITY, high = -(double)INFINITY, top = -(double)INFINITY, rim;
    for (int32_t i = 0; i < tl_character_vert_count(d->character); i++)
        low = fmin(low, d->body[i].y), high = fmax(high, d->body[i].y);
    for (int32_t n = 0; n < g->node_count; n++) top = fmax(top, g->pos[n].y);
    if (top > low + WORN * (high - low)) return TL_OK;
    int32_t count;
    TL_TRY(tl_garment_mark_rim(g, RIM_DEPTH, TL_DRAPE_RIM, &count, &rim, err));
    tl_log_write(d->def->log, TL_LOG_INFO, "%s: %d nodes of the rim at %.3g m are held by the body",
                 d->report->garment[d->index].name, count, rim);
    return TL_OK;
}
