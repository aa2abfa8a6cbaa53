// dress/place_parts.c: which part of the body each panel belongs to.

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "dress/place_impl.h"
#include "math/vec3.h"

#define TUBE_APART 0.3  // of a panel's size between two edges that are sewn together around something
enum { ROUNDS = 8 };

static tl_vec2 end_of(const tl_placer *p, int32_t seam, int side, int end)
{
    return p->sample[seam][side][end ? TL_PLACE_SAMPLES - 1 : 0];
}

// Its own edges are sewn together, and not as a dart's legs, which meet in a point.
static bool is_tube(const tl_placer *p, int32_t panel)
{
    const tl_part *part = &p->part[panel];
    const double size = tl_norm2(tl_sub2(part->high, part->low));
    for (int32_t s = 0; s < p->seam_count; s++) {
        const tl_seam *seam = tl_pattern_seam(p->pattern, s);
        if (seam->side[0].panel != panel || seam->side[1].panel != panel) continue;
        const double first = tl_norm2(tl_sub2(end_of(p, s, 0, 0), end_of(p, s, 1, 0))),
                     last = tl_norm2(tl_sub2(end_of(p, s, 0, 1), end_of(p, s, 1, 1)));
        if (fmin(first, last) > TUBE_APART * size) return true;
    }
    return false;
}

// The region that most of the length of a panel's seams leads to; with the panel at the longest of them.
static tl_worn next_to(const tl_placer *p, int32_t panel, int32_t *nearest)
{
    double length[TL_WORN_PATCH + 1] = {0}, longest = 0;
    *nearest = -1;
    for (int32_t s = 0; s < p->seam_count; s++) {
        const tl_seam *seam = tl_pattern_seam(p->pattern, s);
        for (int k = 0; k < 2; k++) {
            const int32_t other = seam->side[1 - k].panel;
            if (seam->side[k].panel != panel || other == panel) continue;
            const tl_worn region = p->part[other].words.region;
            if (region == TL_WORN_UNKNOWN || region == TL_WORN_PATCH) continue;
            length[region] += p->weight[s];
            if (p->weight[s] > longest) longest = p->weight[s], *nearest = other;
        }
    }
    int best = TL_WORN_UNKNOWN;
    for (int r = 1; r < TL_WORN_PATCH; r++)
        if (length[r] > length[best]) best = r;
    return (tl_worn)best;
}

// A pattern that is called "pants" tells what its "front" is; where anything has sleeves, the rest is a torso.
static tl_worn region_by_garment(const tl_placer *p)
{
    const tl_panel_words name = tl_words_of(tl_pattern_name(p->pattern));
    const tl_worn own = name.region;
    if (own == TL_WORN_LEG || own == TL_WORN_HIPS || own == TL_WORN_TORSO) return own;
    for (int32_t i = 0; i < p->count; i++) {
        const tl_worn r = p->part[i].words.region;
        if (r == TL_WORN_ARM || r == TL_WORN_NECK || r == TL_WORN_HEAD) return TL_WORN_TORSO;
    }
    return TL_WORN_UNKNOWN;
}

static void find_regions(tl_placer *p)
{
    const tl_worn garment = region_by_garment(p);
    for (int32_t i = 0; i < p->count; i++) {
        tl_panel_words *w = &p->part[i].words;
        if (w->region == TL_WORN_UNKNOWN && (w->face != 0 || w->side != 0)) w->region = garment;
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int32_t i = 0; i < p->count; i++) {
            int32_t nearest;
            if (p->part[i].words.region != TL_WORN_UNKNOWN) continue;
            const tl_worn r = next_to(p, i, &nearest);
            if (r != TL_WORN_UNKNOWN) p->part[i].words.region = r;
        }
    for (int32_t i = 0; i < p->count; i++)
        if (p->part[i].words.region == TL_WORN_UNKNOWN) p->part[i].words.region = garment;
}

// Length of the seams of a panel with panels of its own region that lie on a face, or on a side.
static double sewn_to(const tl_placer *p, int32_t panel, int face, int side)
{
    double length = 0;
    for (int32_t s = 0; s < p->seam_count; s++) {
        const tl_seam *seam = tl_pattern_seam(p->pattern, s);
        for (int k = 0; k < 2; k++) {
            const int32_t other = seam->side[1 - k].panel;
            if (seam->side[k].panel != panel || other == panel) continue;
            const tl_panel_words *w = &p->part[other].words;
            if ((face == 0 || w->face == face) && (side == 0 || w->side == side)) length += p->weight[s];
        }
    }
    return length;
}

static double area_of(const tl_placer *p, int32_t i) { return fabs(tl_pattern_panel(p->pattern, i)->area); }

// What is sewn to a front and says nothing else is a back. Where nothing says anything the largest panel is the front.
static void find_faces(tl_placer *p)
{
    for (int round = 0; round < ROUNDS; round++)
        for (int32_t i = 0; i < p->count; i++) {
            tl_panel_words *w = &p->part[i].words;
            const bool sided = w->region == TL_WORN_HEAD || w->region == TL_WORN_PATCH;
            if (w->face != 0 || sided || p->part[i].tube) continue;
            const double front = sewn_to(p, i, 1, 0), back = sewn_to(p, i, -1, 0);
            if (front > 0 && back > 0) continue;  // beside both, or around
            if (front > 0 || back > 0) w->face = front > 0 ? -1 : 1;
        }
    for (int r = TL_WORN_TORSO; r <= TL_WORN_ARM; r++) {
        int32_t largest = -1;
        bool any = false;
        for (int32_t i = 0; i < p->count; i++) {
            if ((int)p->part[i].words.region != r) continue;
            any = any || p->part[i].words.face != 0 || p->part[i].tube;
            if (p->part[i].words.side == 0 && (largest < 0 || area_of(p, i) > area_of(p, largest))) largest = i;
        }
        if (any || largest < 0) continue;
        p->part[largest].words.face = 1;
        for (int32_t i = 0; i < p->count; i++)
            if (i != largest && (int)p->part[i].words.region == r && p->part[i].words.face == 0 &&
                p->part[i].words.side == 0)
                p->part[i].words.face = -1;
    }
}

// Legs, sleeves and hoods are left or right: by what they are sewn to, else one of each.
static void find_sides(tl_placer *p)
{
    for (int round = 0; round < 3; round++)
        for (int32_t i = 0; i < p->count; i++) {
            tl_panel_words *w = &p->part[i].words;
            if (w->side != 0 || (w->region != TL_WORN_ARM && w->region != TL_WORN_LEG && w->region != TL_WORN_HEAD))
                continue;
            const double left = sewn_to(p, i, 0, 1), right = sewn_to(p, i, 0, -1);
            if (left != right) w->side = left > right ? 1 : -1;
        }
    for (int32_t i = 0; i < p->count; i++) {
        tl_panel_words *w = &p->part[i].words;
        if (w->side != 0 || (w->region != TL_WORN_ARM && w->region != TL_WORN_LEG && w->region != TL_WORN_HEAD))
            continue;
        bool left_taken = false;
        for (int32_t k = 0; k < p->count; k++)
            left_taken = left_taken || (k != i && p->part[k].words.region == w->region &&
                                        p->part[k].words.face == w->face && p->part[k].words.side == 1);
        w->side = left_taken ? -1 : 1;
    }
}

tl_status tl_place_find_parts(tl_placer *p, tl_error *err)
{
    for (int32_t i = 0; i < p->count; i++) {
        const tl_panel *panel = tl_pattern_panel(p->pattern, i);
        tl_part *part = &p->part[i];
        part->words = tl_panel_words_of(panel);
        part->fixed = panel->placed != 0 && !p->all, part->mirrored = panel->area < 0, part->on = -1;
        part->tube = is_tube(p, i);
    }
    find_regions(p);
    find_faces(p);
    find_sides(p);
    for (int32_t i = 0; i < p->count; i++) {
        tl_part *part = &p->part[i];
        const tl_worn r = part->words.region;
        const tl_worn beside = next_to(p, i, &part->on);
        if (r == TL_WORN_PATCH && part->on < 0 && !part->fixed)
            return tl_fail(err, TL_BAD_INPUT, "panel '%.60s' cannot be placed: it is sewn to nothing that has a place",
                           tl_pattern_panel(p->pattern, i)->name);
        if (r != TL_WORN_PATCH) part->on = -1;
        if (r != TL_WORN_UNKNOWN || part->fixed) continue;
        return tl_fail(err, TL_BAD_INPUT,
                       "panel '%.60s' cannot be placed: neither its name or label, nor the pattern's name%s says where "
                       "it is worn: call it front, back, sleeve, skirt, pants, hood, collar, waistband or pocket (with "
                       "left or right), or give it a placement (docs/patterns.md)",
                       tl_pattern_panel(p->pattern, i)->name,
                       beside == TL_WORN_UNKNOWN ? ", nor what it is sewn to," : "");
    }
    return TL_OK;
}
