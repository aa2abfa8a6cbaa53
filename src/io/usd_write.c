// io/usd_write.c: USD as text. Samples of one attribute stand together in the file, so each has a text of its own
// until the end.

#include "io/usd_write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

enum {
    POINTS,
    EXTENT,
    COUNTS,
    INDICES,
    ST,
    ST_INDICES,
    VELOCITIES,
    FIRST_ATTRIBUTE,
    TEXTS = FIRST_ATTRIBUTE + TL_ATTRIBUTE_COUNT
};

typedef struct surface {
    char name[64], id[72];
    bool body;
    uint32_t attributes;
    tl_usd_fabric fabric;
    tl_buf text[TEXTS];
    tl_buf first[TEXTS];
    tl_buf last[TEXTS];  ///< the sample written last: equal ones are held, not repeated
    int32_t samples[TEXTS];
    tl_buf visible;
    int64_t next;  ///< frame after the last one it was there at
    bool gaps;
} surface;

struct tl_usd {
    tl_allocator alloc;
    tl_usd_def def;
    surface *surface;
    int32_t count, cap;
};

tl_status tl_usd_create(const tl_allocator *alloc, const tl_usd_def *def, tl_usd **out, tl_error *err)
{
    tl_usd *u = *out = TL_CALLOC(alloc, tl_usd, 1);
    if (!u) return tl_fail_memory(err, "a USD file");
    u->alloc = *alloc, u->def = *def;
    return TL_OK;
}

void tl_usd_destroy(tl_usd *u)
{
    if (!u) return;
    const tl_allocator alloc = u->alloc;
    for (int32_t i = 0; i < u->count; i++) {
        for (int k = 0; k < TEXTS; k++) tl_buf_free(&u->surface[i].text[k]), tl_buf_free(&u->surface[i].last[k]);
        for (int k = 0; k < TEXTS; k++) tl_buf_free(&u->surface[i].first[k]);
        tl_buf_free(&u->surface[i].visible);
    }
    TL_FREE(&alloc, u->surface, u->cap);
    TL_FREE(&alloc, u, 1);
}

// Names of USD have letters, digits and '_'; two that come out the same get a number.
static void make_id(tl_usd *u, surface *s)
{
    size_t n = 0;
    if (s->name[0] >= '0' && s->name[0] <= '9') s->id[n++] = '_';
    for (const char *c = s->name; *c && n < 64; c++) {
        const bool ok = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
        s->id[n++] = ok ? *c : '_';
    }
    s->id[n] = 0;
    for (int32_t i = 0, number = 1; i < u->count; i++)
        if (&u->surface[i] != s && strcmp(u->surface[i].id, s->id) == 0)
            snprintf(s->id + n, sizeof s->id - n, "_%d", ++number % 10000), i = -1;
}

int32_t tl_usd_surface(tl_usd *u, const char *name, bool body, uint32_t attributes, const tl_usd_fabric *fabric)
{
    if (!TL_GROW(&u->alloc, u->surface, u->cap, u->count + 1)) return -1;
    surface *s = &u->surface[u->count];
    *s = (surface){.body = body, .attributes = attributes, .next = u->def.first};
    if (fabric) s->fabric = *fabric;
    snprintf(s->name, sizeof s->name, "%s", name);
    make_id(u, s);
    for (int k = 0; k < TEXTS; k++) tl_buf_init(&s->text[k], &u->alloc), tl_buf_init(&s->last[k], &u->alloc);
    for (int k = 0; k < TEXTS; k++) tl_buf_init(&s->first[k], &u->alloc);
    tl_buf_init(&s->visible, &u->alloc);
    return u->count++;
}

// A tenth of a micrometre is more than a float of a metre has.
static void put_length(tl_buf *buf, double x, double scale)
{
    const double step = 1e7 / scale, y = round(x * step) / step;
    tl_buf_double(buf, fabs(y) < 9e15 && isfinite(y) ? y + 0.0 : x);
}

static void put_vectors(tl_buf *buf, const tl_vec3 *x, int32_t count, double scale)
{
    tl_buf_text(buf, "[");
    for (int32_t i = 0; i < count; i++) {
        tl_buf_text(buf, i ? ", (" : "(");
        put_length(buf, x[i].x, scale), tl_buf_text(buf, ", ");
        put_length(buf, x[i].y, scale), tl_buf_text(buf, ", ");
        put_length(buf, x[i].z, scale), tl_buf_text(buf, ")");
    }
    tl_buf_text(buf, "]");
}

// The sample in `now` at `frame`, unless it is the one before.
static void sample(surface *s, int which, int64_t frame, tl_buf *now)
{
    if (s->samples[which] > 0 && now->size == s->last[which].size &&
        memcmp(now->data, s->last[which].data, now->size) == 0)
        return;
    tl_buf *text = &s->text[which];
    tl_buf_text(text, "            ");
    tl_buf_int(text, frame);
    tl_buf_text(text, ": ");
    tl_buf_add(text, now->data, now->size);
    tl_buf_text(text, ",\n");
    if (s->samples[which]++ == 0) tl_buf_add(&s->first[which], now->data, now->size);
    const tl_buf old = s->last[which];
    s->last[which] = *now, *now = old;
    text->failed |= s->last[which].failed || s->first[which].failed;
}

static void put_corners(tl_buf *buf, const tl_obj *m, bool nodes, bool body)
{
    tl_buf_text(buf, "[");
    for (int32_t f = 0; f < m->face_count; f++)
        for (int k = 0; k < 3; k++) {
            if (f + k > 0) tl_buf_text(buf, ", ");
            tl_buf_int(buf, nodes && !body ? m->vert_node[m->face[f][k]] : m->face[f][k]);
        }
    tl_buf_text(buf, "]");
}

static void add_topology(surface *s, int64_t frame, const tl_obj *m, tl_buf *now)
{
    now->size = 0;
    tl_buf_text(now, "[");
    for (int32_t f = 0; f < m->face_count; f++) tl_buf_text(now, f ? ", 3" : "3");
    tl_buf_text(now, "]");
    sample(s, COUNTS, frame, now);
    now->size = 0;
    put_corners(now, m, true, s->body);
    sample(s, INDICES, frame, now);
    if (s->body) return;
    now->size = 0;
    tl_buf_text(now, "[");
    for (int32_t v = 0; v < m->vert_count; v++) {
        tl_buf_text(now, v ? ", (" : "(");
        put_length(now, m->uv[v].x, 1), tl_buf_text(now, ", ");
        put_length(now, m->uv[v].y, 1), tl_buf_text(now, ")");
    }
    tl_buf_text(now, "]");
    sample(s, ST, frame, now);
    now->size = 0;
    put_corners(now, m, false, false);
    sample(s, ST_INDICES, frame, now);
}

tl_status tl_usd_add(tl_usd *u, int32_t index, int64_t frame, const tl_frame_points *p, tl_error *err)
{
    surface *s = &u->surface[index];
    const int32_t n = p->mesh->node_count;
    tl_buf now;
    tl_buf_init(&now, &u->alloc);
    if (frame > s->next) {
        s->gaps = true;
        tl_buf_printf(&s->visible, "            %lld: \"invisible\",\n", (long long)s->next);
    }
    if (frame > s->next || frame == u->def.first)
        tl_buf_printf(&s->visible, "            %lld: \"inherited\",\n", (long long)frame);
    s->next = frame + 1;
    put_vectors(&now, p->pos, n, u->def.scale);
    sample(s, POINTS, frame, &now);
    tl_vec3 box[2] = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int32_t i = 0; i < n; i++) {
        const tl_vec3 x = p->pos[i];
        box[0] = (tl_vec3){fmin(box[0].x, x.x), fmin(box[0].y, x.y), fmin(box[0].z, x.z)};
        box[1] = (tl_vec3){fmax(box[1].x, x.x), fmax(box[1].y, x.y), fmax(box[1].z, x.z)};
    }
    now.size = 0;
    put_vectors(&now, box, n > 0 ? 2 : 0, u->def.scale);
    sample(s, EXTENT, frame, &now);
    add_topology(s, frame, p->mesh, &now);
    if (p->vel) {
        now.size = 0;
        put_vectors(&now, p->vel, n, u->def.scale);
        sample(s, VELOCITIES, frame, &now);
    }
    for (int a = 0; a < TL_ATTRIBUTE_COUNT; a++) {
        if (!(s->attributes >> a & 1)) continue;
        now.size = 0;
        tl_buf_text(&now, "[");
        for (int32_t i = 0; i < n; i++) {
            if (i) tl_buf_text(&now, ", ");
            put_length(&now, (double)p->attribute[a][i], 1);
        }
        tl_buf_text(&now, "]");
        sample(s, FIRST_ATTRIBUTE + a, frame, &now);
    }
    tl_buf_free(&now);
    for (int k = 0; k < TEXTS; k++)
        if (s->text[k].failed) return tl_fail_memory(err, "a USD file");
    return TL_OK;
}

// ---- the file ----

// The first sample as the value for readers that know no time; time samples if there are several.
static void put_attribute(tl_buf *out, surface *s, int which, const char *type, const char *meta)
{
    if (s->samples[which] == 0) return;
    tl_buf_printf(out, "        %s = ", type);
    tl_buf_add(out, s->first[which].data, s->first[which].size);
    if (meta) tl_buf_printf(out, " (\n            %s\n        )", meta);
    tl_buf_text(out, "\n");
    if (s->samples[which] == 1) return;
    tl_buf_printf(out, "        %s.timeSamples = {\n", type);
    tl_buf_add(out, s->text[which].data, s->text[which].size);
    tl_buf_text(out, "        }\n");
}

static void put_fabric(tl_buf *out, const surface *s, double scale)
{
    const tl_usd_fabric *f = &s->fabric;
    if (!(f->density > 0)) return;
    const double thickness = f->thickness > 0 ? f->thickness : 5e-4;
    tl_buf_printf(
        out,
        "    def Material \"%s_fabric\" (\n        doc = \"Experimental: named as in the OpenUSD proposal for "
        "deformable bodies, which may still change\"\n        displayName = \"%s\"\n    )\n    {\n",
        s->id, f->name);
    const struct {
        const char *name;
        double value;
    } rows[] = {{"physics:density", f->density / thickness / (scale * scale * scale)},  // [kg/unit^3]
                {"physics:surfaceThickness", thickness * scale},
                {"physics:surfaceStretchStiffness", (f->stretch[0] + f->stretch[2]) / 2},
                {"physics:surfaceShearStiffness", f->stretch[3] / 4},  // force per width and shear angle
                {"physics:surfaceBendStiffness", f->bend * scale * scale},
                {"toile:arealDensity", f->density},
                {"toile:stretchWarp", f->stretch[0]},
                {"toile:stretchWeft", f->stretch[2]}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tl_buf_printf(out, "        custom double %s = ", rows[i].name);
        tl_buf_double(out, rows[i].value);
        tl_buf_text(out, "\n");
    }
    tl_buf_text(out, "    }\n\n");
}

static void put_surface(tl_usd *u, tl_buf *out, surface *s)
{
    static const char *const attribute_type[TL_ATTRIBUTE_COUNT] = {
        "float[] primvars:strain", "float[] primvars:tension", "float[] primvars:contact", "float[] primvars:level"};
    put_fabric(out, s, u->def.scale);
    tl_buf_printf(out, "    def Mesh \"%s\"", s->id);
    if (strcmp(s->id, s->name) != 0) tl_buf_printf(out, " (\n        displayName = \"%s\"\n    )", s->name);
    tl_buf_text(out, "\n    {\n        uniform bool doubleSided = 1\n");
    put_attribute(out, s, EXTENT, "float3[] extent", NULL);
    put_attribute(out, s, COUNTS, "int[] faceVertexCounts", NULL);
    put_attribute(out, s, INDICES, "int[] faceVertexIndices", NULL);
    put_attribute(out, s, POINTS, "point3f[] points", NULL);
    put_attribute(out, s, ST, "texCoord2f[] primvars:st", "interpolation = \"faceVarying\"");
    put_attribute(out, s, ST_INDICES, "int[] primvars:st:indices", NULL);
    for (int a = 0; a < TL_ATTRIBUTE_COUNT; a++)
        put_attribute(out, s, FIRST_ATTRIBUTE + a, attribute_type[a], "interpolation = \"vertex\"");
    put_attribute(out, s, VELOCITIES, "vector3f[] velocities", NULL);
    if (s->fabric.density > 0) tl_buf_printf(out, "        rel material:binding:physics = </World/%s_fabric>\n", s->id);
    tl_buf_text(out, "        uniform token subdivisionScheme = \"none\"\n");
    if (s->next <= u->def.last) {
        s->gaps = true;
        tl_buf_printf(&s->visible, "            %lld: \"invisible\",\n", (long long)s->next);
    }
    if (s->gaps) {
        tl_buf_text(out, "        token visibility.timeSamples = {\n");
        tl_buf_add(out, s->visible.data, s->visible.size);
        tl_buf_text(out, "        }\n");
    }
    tl_buf_text(out, "    }\n\n");
}

tl_status tl_usd_finish(tl_usd *u, tl_buf *out, tl_error *err)
{
    tl_buf_printf(out,
                  "#usda 1.0\n(\n    defaultPrim = \"World\"\n    doc = \"Toile %s\"\n    endTimeCode = %lld\n"
                  "    framesPerSecond = ",
                  tl_version(), (long long)u->def.last);
    tl_buf_double(out, u->def.fps);
    tl_buf_text(out, "\n    metersPerUnit = ");
    tl_buf_double(out, 1 / u->def.scale);
    tl_buf_printf(out, "\n    startTimeCode = %lld\n    timeCodesPerSecond = ", (long long)u->def.first);
    tl_buf_double(out, u->def.fps);
    tl_buf_printf(out, "\n    upAxis = \"%s\"\n)\n\ndef Xform \"World\"\n{\n", u->def.z_up ? "Z" : "Y");
    for (int32_t i = 0; i < u->count; i++) put_surface(u, out, &u->surface[i]);
    tl_buf_text(out, "}\n");
    return tl_buf_end(out, "a USD file", err);
}
