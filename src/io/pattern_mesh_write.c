// io/pattern_mesh_write.c: meshes of panels: OBJ with groups and loose edges, seam pairs and figures as JSON, a
// picture.

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/pattern_io.h"

static void json_text(tl_buf *b, const char *value)
{
    json_t *string = json_string(value);
    char *quoted = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
    if (quoted)
        tl_buf_text(b, quoted);
    else
        b->failed = true;
    free(quoted);
    json_decref(string);
}

static void vertex_line(tl_buf *b, const char *word, const double *x, int count)
{
    tl_buf_text(b, word);
    for (int i = 0; i < count; i++) {
        tl_buf_text(b, " ");
        tl_buf_double(b, x[i]);
    }
    tl_buf_text(b, "\n");
}

// A name as one word of OBJ.
static void group_name(tl_buf *b, const char *name)
{
    tl_buf_text(b, "g ");
    for (const char *p = name; *p; p++) tl_buf_add(b, *p == ' ' || *p == '\t' || *p == '#' || *p == '\\' ? "_" : p, 1);
    tl_buf_text(b, "\n");
}

void tl_pattern_mesh_obj(tl_buf *b, const tl_pattern *pattern, const tl_pattern_mesh *m)
{
    tl_buf_text(b, "# panels of a sewing pattern by Toile: metres, y up; vt on the cloth in metres, warp along v; l: "
                   "sewn together\n");
    for (int32_t i = 0; i < m->vert_count; i++)
        vertex_line(b, "v", (const double[]){m->pos[i].x, m->pos[i].y, m->pos[i].z}, 3);
    for (int32_t i = 0; i < m->vert_count; i++) vertex_line(b, "vt", (const double[]){m->uv[i].x, m->uv[i].y}, 2);
    for (int32_t p = 0; p < m->panel_count; p++) {
        const tl_panel_mesh *q = &m->panels[p];
        group_name(b, tl_pattern_panel(pattern, q->panel)->name);
        for (int32_t f = q->face; f < q->face + q->face_count; f++) {
            const int32_t *t = m->face[f];
            tl_buf_printf(b, "f %d/%d %d/%d %d/%d\n", t[0] + 1, t[0] + 1, t[1] + 1, t[1] + 1, t[2] + 1, t[2] + 1);
        }
    }
    if (m->pair_count > 0) tl_buf_text(b, "g seams\n");
    for (int32_t i = 0; i < m->pair_count; i++) tl_buf_printf(b, "l %d %d\n", m->pairs[i].a + 1, m->pairs[i].b + 1);
}

static int32_t seam_end(const tl_pattern_mesh *m, int32_t first)
{
    int32_t i = first;
    while (i < m->pair_count && m->pairs[i].seam == m->pairs[first].seam) i++;
    return i;
}

static const char *seam_label(const tl_pattern *pattern, int32_t seam)
{
    const tl_seam *s = tl_pattern_seam(pattern, seam);
    return s ? s->label : "dart";
}

void tl_pattern_mesh_seams(tl_buf *b, const tl_pattern *pattern, const tl_pattern_mesh *m)
{
    tl_buf_text(b, "{\n  \"format\": \"toile-mesh-seams-1\",\n  \"panels\": [");
    for (int32_t p = 0; p < m->panel_count; p++) {
        const tl_panel_mesh *q = &m->panels[p];
        tl_buf_text(b, p > 0 ? ",\n    {\"name\": " : "\n    {\"name\": ");
        json_text(b, tl_pattern_panel(pattern, q->panel)->name);
        tl_buf_printf(b, ", \"first_vertex\": %d, \"vertices\": %d, \"first_face\": %d, \"faces\": %d}", q->vert,
                      q->vert_count, q->face, q->face_count);
    }
    tl_buf_text(b, "\n  ],\n  \"seams\": [");
    for (int32_t i = 0; i < m->pair_count;) {
        const int32_t end = seam_end(m, i);
        tl_buf_printf(b, "%s\n    {\"seam\": %d, \"label\": ", i > 0 ? "," : "", m->pairs[i].seam);
        json_text(b, seam_label(pattern, m->pairs[i].seam));
        tl_buf_text(b, ", \"pairs\": [");
        for (int32_t k = i; k < end; k++)
            tl_buf_printf(b, "%s[%d, %d]", k > i ? ", " : "", m->pairs[k].a, m->pairs[k].b);
        tl_buf_text(b, "]}");
        i = end;
    }
    tl_buf_text(b, "\n  ]\n}\n");
}

void tl_pattern_mesh_report(tl_buf *b, const tl_pattern *pattern, const tl_pattern_mesh *m)
{
    tl_buf_printf(b, "{\n  \"vertices\": %d,\n  \"faces\": %d,\n  \"pairs\": %d,\n  \"panels\": [", m->vert_count,
                  m->face_count, m->pair_count);
    for (int32_t p = 0; p < m->panel_count; p++) {
        const tl_panel_mesh *q = &m->panels[p];
        tl_buf_text(b, p > 0 ? ",\n    {\"name\": " : "\n    {\"name\": ");
        json_text(b, tl_pattern_panel(pattern, q->panel)->name);
        tl_buf_printf(b, ", \"vertices\": %d, \"faces\": %d, \"area\": ", q->vert_count, q->face_count);
        tl_buf_double(b, q->area);
        tl_buf_text(b, ", \"outline_area\": ");
        tl_buf_double(b, fabs(tl_pattern_panel(pattern, q->panel)->area));
        tl_buf_printf(b, ", \"angle_min_deg\": %.6g", q->angle_min_deg);
        if (q->area_ratio > 0)
            tl_buf_printf(b, ", \"quad_area_ratio\": %.6g, \"quad_area_cv\": %.6g, \"repaired\": %s", q->area_ratio,
                          q->area_cv, q->repaired ? "true" : "false");
        tl_buf_text(b, "}");
    }
    tl_buf_text(b, "\n  ],\n  \"seams\": [");
    for (int32_t i = 0; i < m->pair_count;) {
        const int32_t end = seam_end(m, i);
        tl_buf_printf(b, "%s\n    {\"seam\": %d, \"pairs\": %d}", i > 0 ? "," : "", m->pairs[i].seam, end - i);
        i = end;
    }
    tl_buf_text(b, "\n  ]\n}\n");
}

// --- picture ---------------------------------------------------------------------------------------------------

void tl_svg_mesh_write(tl_buf *b, const tl_pattern *pattern, const tl_pattern_mesh *m)
{
    double width = 0, height = 0, font = 0;
    const int32_t panels = tl_pattern_panel_count(pattern);
    tl_vec2 *move = TL_ALLOC(&m->alloc, tl_vec2, panels);
    if (!move || !tl_svg_layout(pattern, move, &width, &height, &font)) {
        b->failed = true;
        if (move) TL_FREE(&m->alloc, move, panels);
        return;
    }
    tl_buf_printf(
        b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.3fmm\" height=\"%.3fmm\" viewBox=\"0 0 %.3f %.3f\">\n",
        width, height, width, height);
    tl_buf_text(b, "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
    for (int32_t p = 0; p < m->panel_count; p++) {
        const tl_panel_mesh *q = &m->panels[p];
        const tl_vec2 d = move[q->panel];
        tl_buf_text(b, "<path fill=\"#f2efe6\" stroke=\"#505050\" stroke-width=\"0.3\" stroke-linejoin=\"round\" d=\"");
        for (int32_t f = q->face; f < q->face + q->face_count; f++)
            for (int k = 0; k < 3; k++) {
                const tl_vec2 x = m->at[m->face[f][k]];
                tl_buf_printf(b, "%s%.2f %.2f%s", k ? "L" : "M", 1000 * x.x + d.x, d.y - 1000 * x.y, k == 2 ? "Z" : "");
            }
        tl_buf_text(b, "\"/>\n");
    }
    int32_t panel = 0;
    for (int32_t i = 0; i < 2 * m->pair_count; i++) {
        const tl_seam_pair *s = &m->pairs[i / 2];
        const int32_t v = i & 1 ? s->b : s->a;
        for (panel = 0; panel + 1 < m->panel_count && v >= m->panels[panel].vert + m->panels[panel].vert_count;)
            panel++;
        const tl_vec2 d = move[m->panels[panel].panel], x = m->at[v];
        char colour[8];
        tl_svg_seam_colour(s->seam, colour);
        tl_buf_printf(b, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"1.6\" fill=\"%s\"/>\n", 1000 * x.x + d.x,
                      d.y - 1000 * x.y, colour);
    }
    tl_buf_text(b, "</svg>\n");
    TL_FREE(&m->alloc, move, panels);
}
