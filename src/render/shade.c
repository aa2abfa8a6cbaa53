// render/shade.c: from a hit to the light it sends to the eye.

#include "render/shade.h"

tl_look tl_look_cloth(tl_rgb colour)
{
    // the back a little lighter and greyer, as the wrong side of printed cloth
    const float grey = 0.35f * colour.x + 0.5f * colour.y + 0.15f * colour.z;
    const tl_rgb pale = tl_lerpf(colour, (tl_rgb){0.55f + 0.3f * grey, 0.53f + 0.3f * grey, 0.5f + 0.3f * grey}, 0.42f);
    return (tl_look){.front = colour,
                     .back = pale,
                     .gloss = 0.05f,
                     .roughness = 0.55f,
                     .sheen = 0.35f,
                     .transmit = 0.10f,
                     .weave = 1,
                     .yarn = 0.0011f};
}

tl_look tl_look_plain(tl_rgb colour)
{
    return (tl_look){.front = colour, .back = tl_mulf(0.6f, colour), .gloss = 0.10f, .roughness = 0.4f};
}

tl_look tl_look_skin(void)
{
    const tl_rgb skin = tl_rgb_hex(0xd3a48a);
    return (tl_look){.front = skin, .back = skin, .gloss = 0.16f, .roughness = 0.42f, .sheen = 0.08f, .skin = true};
}

// --- geometry ----------------------------------------------------------------------------------------------

/// From the flat triangle to the smooth surface that its normals suggest, on the side of `sign`: the point is
/// projected on the tangent plane of each corner and the projections are mixed (Hanika 2021, "Hacking the
/// shadow terminator"). Shadow rays that start there do not see the facets.
static tl_vec3f lift_smooth(const tl_vec3f *p, const tl_vec3f *n, float sign, tl_vec3f at, float u, float v)
{
    tl_vec3f lift[3];
    for (int c = 0; c < 3; c++) {
        const float d = sign * tl_dotf(tl_subf(at, p[c]), n[c]);
        lift[c] = tl_mulf(-tl_minf(d, 0) * sign, n[c]);
    }
    return tl_baryf(lift, u, v);
}

static tl_rgb base_colour(const tl_stage *stage, const tl_draw_def *def, const tl_meeting *m)
{
    const tl_stage_tri *t = &stage->tri[m->tri];
    const tl_draw_mesh *s = &stage->surfaces[t->surface];
    if (s->face_mark && s->face_mark[t->face]) return tl_rgb_hex(0xe01818);
    if (s->face_colour) return s->face_colour[t->face];
    if (s->face_value) return tl_scale_colour(&def->scale, (double)s->face_value[t->face]);
    if (s->node_value) {
        const float *value = s->node_value;
        const int32_t *f = s->face[t->face];
        return tl_scale_colour(&def->scale, (double)((1 - m->face_u - m->face_v) * value[f[0]] +
                                                     m->face_u * value[f[1]] + m->face_v * value[f[2]]));
    }
    return m->front ? s->look.front : s->look.back;
}

static void apply_weave(const tl_stage *stage, tl_meeting *m)
{
    const tl_stage_tri *t = &stage->tri[m->tri];
    const tl_draw_mesh *s = &stage->surfaces[t->surface];
    tl_vec3f p[3];
    // seen at a slant, a pixel covers more of the cloth
    const float covers = m->footprint / tl_maxf(0.15f, tl_dotf(m->spot.ns, m->view));
    if (s->look.weave <= 0 || !s->face_uv || covers > 1.5f * s->look.yarn) return;
    tl_vec2 q[3];
    for (int c = 0; c < 3; c++) q[c] = s->uv[s->face_uv[t->face][c]];
    for (int c = 0; c < 3; c++) p[c] = tl_to_f(s->pos[s->face[t->face][c]], stage->origin);
    const double w = 1 - (double)m->face_u - (double)m->face_v;
    const tl_vec2f uv = {(float)(w * q[0].x + (double)m->face_u * q[1].x + (double)m->face_v * q[2].x),
                         (float)(w * q[0].y + (double)m->face_u * q[1].y + (double)m->face_v * q[2].y)};
    const float a = (float)(q[1].x - q[0].x), b = (float)(q[1].y - q[0].y);
    const float c = (float)(q[2].x - q[0].x), d = (float)(q[2].y - q[0].y);
    const float det = a * d - b * c;
    if (!(fabsf(det) > 1e-20f)) return;
    const tl_vec3f e1 = tl_subf(p[1], p[0]), e2 = tl_subf(p[2], p[0]);
    const tl_vec3f du = tl_unitf(tl_mulf(1 / det, tl_subf(tl_mulf(d, e1), tl_mulf(b, e2))));
    const tl_vec3f dv = tl_unitf(tl_mulf(1 / det, tl_subf(tl_mulf(a, e2), tl_mulf(c, e1))));
    tl_weave(&s->look, uv, covers, du, dv, &m->spot.albedo, &m->normal);
}

void tl_meet(const tl_stage *stage, const tl_ray *ray, const tl_hit *hit, float pixel, bool parallel, tl_meeting *m)
{
    const tl_stage_tri *t = &stage->tri[hit->tri];
    const tl_vec3f p[3] = {stage->pos[t->vert[0]], stage->pos[t->vert[1]], stage->pos[t->vert[2]]};
    *m = (tl_meeting){.view = tl_mulf(-1, ray->dir),
                      .depth = hit->t,
                      .tri = hit->tri,
                      .surface = t->surface,
                      .u = hit->u,
                      .v = hit->v};
    m->footprint = parallel ? pixel : pixel * hit->t;
    tl_vec3f ng = tl_unitf(tl_crossf(tl_subf(p[1], p[0]), tl_subf(p[2], p[0])));
    m->front = tl_dotf(ng, m->view) >= 0;
    const float sign = m->front ? 1.0f : -1.0f;
    tl_vec3f ns = tl_unitf(tl_mulf(sign, tl_baryf(t->normal, hit->u, hit->v)));
    ng = tl_mulf(sign, ng);
    if (tl_dotf(ns, ng) <= 0) ns = ng;
    // a smooth normal that faces away from the eye would show a black rim: bend it until it just faces it
    const float facing = tl_dotf(ns, m->view);
    if (facing < 0.02f) ns = tl_unitf(tl_maddf(ns, 0.02f - facing, m->view));
    const float w = 1 - hit->u - hit->v;
    m->face_u = w * t->bary[0].x + hit->u * t->bary[1].x + hit->v * t->bary[2].x;
    m->face_v = w * t->bary[0].y + hit->u * t->bary[1].y + hit->v * t->bary[2].y;
    m->spot.pos = tl_baryf(p, hit->u, hit->v);
    m->spot.ng = ng, m->spot.ns = m->normal = ns;
}

void tl_meet_lift(const tl_stage *stage, tl_meeting *m)
{
    const tl_stage_tri *t = &stage->tri[m->tri];
    const tl_vec3f p[3] = {stage->pos[t->vert[0]], stage->pos[t->vert[1]], stage->pos[t->vert[2]]};
    const float sign = m->front ? 1.0f : -1.0f;
    // the smooth normals may point anywhere relative to the face; lift only if all three agree with it
    for (int c = 0; c < 3; c++)
        if (!(sign * tl_dotf(t->normal[c], m->spot.ng) > 0.2f)) return;
    m->spot.smooth_offset = lift_smooth(p, t->normal, sign, m->spot.pos, m->u, m->v);
    m->spot.smooth_back = lift_smooth(p, t->normal, -sign, m->spot.pos, m->u, m->v);
}

// A groove along edges that are sewn; where a pixel is wider than it, as much darker as its share.
static void apply_seams(const tl_stage *stage, tl_meeting *m)
{
    const float half = 0.0011f, depth = 0.5f;  // [m], part of the light
    const tl_draw_mesh *s = &stage->surfaces[m->surface];
    const int32_t f = stage->tri[m->tri].face;
    if (!s->face_seam || !s->face_seam[f] || !s->face_uv) return;
    const tl_vec2 a = s->uv[s->face_uv[f][0]], b = s->uv[s->face_uv[f][1]], c = s->uv[s->face_uv[f][2]];
    const tl_vec2 edge[3] = {tl_sub2(c, b), tl_sub2(a, c), tl_sub2(b, a)};
    const float area = (float)fabs(tl_cross2(edge[2], tl_sub2(c, a)));
    const float weight[3] = {1 - m->face_u - m->face_v, m->face_u, m->face_v};
    float cover = 0;
    for (int k = 0; k < 3; k++) {
        const float length = (float)tl_norm2(edge[k]);
        if (!(s->face_seam[f] >> k & 1) || !(length > 0)) continue;
        const float off = tl_maxf(weight[k], 0) * area / length, blur = tl_maxf(m->footprint, 0.3f * half);
        cover = tl_maxf(cover, tl_clampf((half - off) / blur + 0.5f, 0, 1) * tl_minf(1, 2 * half / blur));
    }
    m->spot.albedo = tl_mulf(1 - depth * cover, m->spot.albedo);
}

void tl_meet_colour(const tl_stage *stage, const tl_draw_def *def, tl_meeting *m)
{
    m->spot.albedo = base_colour(stage, def, m);
    apply_weave(stage, m);
    apply_seams(stage, m);
}

// --- light -------------------------------------------------------------------------------------------------

/// A normalised lobe about the half vector (Blinn-Phong) with Schlick's Fresnel for plastic-like coats.
static float highlight(const tl_look *look, tl_vec3f n, tl_vec3f view, tl_vec3f light)
{
    const tl_vec3f h = tl_unitf(tl_addf(view, light));
    const float r2 = look->roughness * look->roughness;
    const float power = tl_maxf(1, 2 / (r2 * r2) - 2);
    const float c = tl_dotf(n, h);
    if (c < 0.4f && power > 12) return 0;  // 0.4^12 is 2e-5: not to be seen
    const float f = 1 - tl_maxf(0, tl_dotf(h, view));
    const float fresnel = 0.25f + 0.75f * f * f * f * f * f;
    return look->gloss * fresnel * (power + 8) / 8 * powf(tl_maxf(0, c), power);
}

tl_rgb tl_shade(const tl_stage *stage, const tl_studio *studio, const tl_meeting *m, const tl_lit *lit)
{
    const tl_look *look = &stage->surfaces[m->surface].look;
    const tl_vec3f n = m->normal;
    tl_rgb diffuse = {0, 0, 0}, gloss = {0, 0, 0};
    for (int k = 0; k < TL_LAMPS; k++) {
        const tl_lamp *lamp = &studio->lamp[k];
        const float cosine = tl_dotf(n, lamp->dir), reach = lit->lamp[k];
        if (reach <= 0) continue;
        if (tl_dotf(m->spot.ng, lamp->dir) > 0 || cosine > 0) {
            const float c = tl_maxf(cosine, 0);
            tl_rgb soft = {c, c, c};
            if (look->skin) soft = (tl_rgb){powf(c, 0.78f), c, powf(c, 1.1f)};  // light creeps on under the skin
            diffuse = tl_addf(diffuse, tl_mulf(reach, tl_scalef(soft, lamp->power)));
            gloss = tl_maddf(gloss, reach * c * highlight(look, n, m->view, lamp->dir), lamp->power);
        }
        if (look->transmit > 0 && cosine < 0)
            diffuse = tl_maddf(diffuse, reach * look->transmit * -cosine, lamp->power);
    }
    const tl_rgb dome = tl_scalef(lit->dome, tl_studio_dome(studio, n));
    diffuse = tl_addf(diffuse, dome);
    const float graze = 1 - tl_maxf(0, tl_dotf(n, m->view));
    const tl_rgb fibres = tl_lerpf(m->spot.albedo, (tl_rgb){0.7f, 0.7f, 0.7f}, 0.4f);
    tl_rgb out = tl_addf(tl_scalef(m->spot.albedo, diffuse), gloss);
    out = tl_addf(
        out, tl_mulf(look->sheen * graze * graze * graze, tl_scalef(fibres, tl_addf(dome, tl_mulf(0.3f, diffuse)))));
    return tl_maddf(out, 0.25f * look->gloss * graze * graze * graze, dome);
}
