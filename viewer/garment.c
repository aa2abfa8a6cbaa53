// viewer/garment.c: see garment.h.

#include "garment.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { POINTS = 32, LINE_MAX_EDGES = 4096 };
#define ON_SEAM 2e-3  // [m] in the material

// From a panel's plane to the material: uv = m p + t.
typedef struct to_cloth {
    double m[2][2], t[2];
} to_cloth;

struct view_garment {
    tl_pattern *pattern;
    to_cloth *map;  // per panel
    char folder[64], scene[96], bodies[96], garment_file[96], sewn[96], body[PATH_MAX];
    struct view_live_sew sew;  // these files
    tl_vec3 (*line)[2];        // edges of the sewn line that was followed
    int32_t line_count;
};

static tl_status fail(tl_error *err, tl_status status, const char *what)
{
    if (err) err->status = status, snprintf(err->message, sizeof err->message, "%s", what);
    return status;
}

static tl_vec2 map_point(const to_cloth *m, tl_vec2 p)
{
    return (tl_vec2){m->m[0][0] * p.x + m->m[0][1] * p.y + m->t[0], m->m[1][0] * p.x + m->m[1][1] * p.y + m->t[1]};
}

// The map from three vertices of a face of the panel's mesh.
static bool find_map(const tl_pattern_mesh *mesh, const tl_panel_mesh *p, to_cloth *out)
{
    for (int32_t f = p->face; f < p->face + p->face_count; f++) {
        const int32_t *c = mesh->face[f];
        const tl_vec2 a = mesh->at[c[0]], b = mesh->at[c[1]], d = mesh->at[c[2]];
        const double bx = b.x - a.x, by = b.y - a.y, dx = d.x - a.x, dy = d.y - a.y, det = bx * dy - by * dx;
        if (fabs(det) < 1e-9) continue;
        const tl_vec2 u = mesh->uv[c[0]], v = mesh->uv[c[1]], w = mesh->uv[c[2]];
        const double to[2][3] = {{u.x, v.x - u.x, w.x - u.x}, {u.y, v.y - u.y, w.y - u.y}};
        for (int k = 0; k < 2; k++) {
            out->m[k][0] = (to[k][1] * dy - to[k][2] * by) / det;
            out->m[k][1] = (to[k][2] * bx - to[k][1] * dx) / det;
            out->t[k] = to[k][0] - out->m[k][0] * a.x - out->m[k][1] * a.y;
        }
        return true;
    }
    return false;
}

static tl_status find_maps(view_garment *g, tl_error *err)
{
    tl_pattern_mesh_def def = tl_pattern_mesh_def_default();
    def.edge = 0.05;
    tl_pattern_mesh mesh;
    tl_status status = tl_pattern_mesh_make(NULL, g->pattern, &def, &mesh, err);
    if (status != TL_OK) return status;
    for (int32_t i = 0; i < mesh.panel_count && status == TL_OK; i++)
        if (!find_map(&mesh, &mesh.panels[i], &g->map[mesh.panels[i].panel]))
            status = fail(err, TL_BAD_INPUT, "a panel has no area");
    tl_pattern_mesh_free(&mesh);
    return status;
}

tl_status view_garment_create(tl_pattern *pattern, const char *body, view_garment **out, tl_error *err)
{
    *out = NULL;
    view_garment *g = calloc(1, sizeof *g);
    if (!g) return fail(err, TL_NO_MEMORY, "no memory for a garment");
    const int32_t panels = tl_pattern_panel_count(pattern);
    g->pattern = pattern;
    g->map = calloc((size_t)panels, sizeof *g->map);
    g->line = calloc(LINE_MAX_EDGES, sizeof *g->line);
    tl_status status = g->map && g->line ? find_maps(g, err) : fail(err, TL_NO_MEMORY, "no memory for a garment");
    if (status == TL_OK && !realpath(body, g->body)) {
        status = fail(err, TL_BAD_INPUT, "");
        if (err) snprintf(err->message, sizeof err->message, "%.500s: no such body", body);
    }
    for (int32_t i = 0; i < panels && status == TL_OK; i++)
        if (!tl_pattern_panel(pattern, i)->placed) {
            status = fail(err, TL_BAD_INPUT, "");
            if (err)
                snprintf(err->message, sizeof err->message,
                         "panel '%.100s' has no place around the body (\"placement\", docs/patterns.md; the pattern "
                         "editor of `toile serve` puts it there)",
                         tl_pattern_panel(pattern, i)->name);
        }
    const char *parent = getenv("TMPDIR");
    snprintf(g->folder, sizeof g->folder, "%.40s/toile-view-XXXXXX", parent && parent[0] ? parent : "/tmp");
    if (status == TL_OK && !mkdtemp(g->folder)) {
        g->folder[0] = 0;
        status = fail(err, TL_IO, "no folder could be made for the scene (TMPDIR)");
    }
    if (status != TL_OK) {
        if (g->scene[0] == 0) g->folder[0] = 0;
        view_garment_destroy(g);
        return status;
    }
    snprintf(g->scene, sizeof g->scene, "%s/scene.json", g->folder);
    snprintf(g->bodies, sizeof g->bodies, "%s/bodies.json", g->folder);
    snprintf(g->garment_file, sizeof g->garment_file, "%s/garment.json", g->folder);
    snprintf(g->sewn, sizeof g->sewn, "%s/garment.obj", g->folder);
    g->sew = (struct view_live_sew){g->garment_file, g->bodies, g->sewn};
    *out = g;
    return TL_OK;
}

void view_garment_destroy(view_garment *g)
{
    if (!g) return;
    if (g->folder[0]) unlink(g->scene), unlink(g->bodies), unlink(g->garment_file), unlink(g->sewn), rmdir(g->folder);
    free(g->map), free(g->line);
    free(g);
}

static void write_text(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') fputc('\\', to);
        fputc(*text, to);
    }
    fputc('"', to);
}

// A scene of cloths and the body; `start` says how that begins.
static tl_status write_scene(const view_garment *g, const char *path, const char *cloths, const char *start,
                             tl_error *err)
{
    FILE *to = fopen(path, "w");
    if (!to) return fail(err, TL_IO, "the scene could not be written (TMPDIR)");
    fprintf(to,
            "{\"name\": \"garment\", \"fps\": 30, \"steps_per_frame\": 2,\n \"cloths\": [%s],\n"
            " \"obstacles\": [{\"name\": \"body\", \"character\": {\"clip\": \"rest\", \"mittens\": true, "
            "\"flesh\": true, \"file\": ",
            cloths);
    write_text(to, g->body);
    fprintf(to,
            "}, \"friction\": 0.5}, {\"name\": \"floor\", \"plane\": {\"point\": [0, 0, 0], \"normal\": [0, 1, 0]}}]"
            "%s}\n",
            start);
    return fclose(to) == 0 ? TL_OK : fail(err, TL_IO, "the scene could not be written (TMPDIR)");
}

tl_status view_garment_write(view_garment *g, const char **path, const struct view_live_sew **sew, tl_error *err)
{
    tl_status status = tl_pattern_save(g->pattern, g->garment_file, err);
    if (status == TL_OK)  // a cloth that nobody sees
        status =
            write_scene(g, g->bodies, "{\"mesh\": {\"rectangle\": {\"size\": [0.1, 0.1], \"edge\": 0.1}}}", "", err);
    if (status == TL_OK)
        status = write_scene(g, g->scene,
                             "{\"name\": \"garment\", \"mesh\": \"garment.obj\", \"rest\": \"uv\", \"material\": "
                             "\"cotton\", \"thickness\": 0.001, \"friction\": 0.5, \"friction_self\": 0.3}",
                             ",\n \"collisions\": {\"on_intersection\": \"pinch\"}, \"start\": {\"relax\": \"off\"},\n"
                             " \"remeshing\": {\"size_min\": 0.025, \"size_max\": 0.12, \"max_faces\": 4000}",
                             err);
    *path = g->scene, *sew = &g->sew;
    return status;
}

// --- the sewn line -----------------------------------------------------------------------------------------

typedef struct side_line {
    tl_vec2 at[POINTS + 1];  // in the material
} side_line;

static side_line side_of(const view_garment *g, const tl_seam_side *side)
{
    side_line line;
    for (int i = 0; i <= POINTS; i++)
        line.at[i] = map_point(&g->map[side->panel], tl_seam_side_point(g->pattern, side, (double)i / POINTS));
    return line;
}

// The fraction of the side's way that a point of the material lies at, -1: not on it.
static double along(const side_line *line, tl_vec2 p)
{
    for (int i = 0; i < POINTS; i++) {
        const tl_vec2 a = line->at[i], b = line->at[i + 1];
        const double dx = b.x - a.x, dy = b.y - a.y, l = dx * dx + dy * dy;
        const double t = l > 0 ? fmin(1, fmax(0, ((p.x - a.x) * dx + (p.y - a.y) * dy) / l)) : 0;
        if (hypot(p.x - a.x - t * dx, p.y - a.y - t * dy) < ON_SEAM) return (i + t) / POINTS;
    }
    return -1;
}

static int32_t root_of(int32_t *parent, int32_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

// The panel of every point of the material, -1: of no face. What faces join is of one panel, and panels come in the
// order of the pattern, as the scene made them. False: there are not as many.
static bool panels_of(const view_garment *g, const tl_show_surface *s, int32_t uv_count, int32_t *panel)
{
    for (int32_t i = 0; i < uv_count; i++) panel[i] = -1;
    for (int32_t f = 0; f < s->face_count; f++)
        for (int c = 0; c < 3; c++) panel[s->face_uv[f][c]] = s->face_uv[f][c];
    for (int32_t f = 0; f < s->face_count; f++)
        for (int c = 1; c < 3; c++) {
            const int32_t a = root_of(panel, s->face_uv[f][0]), b = root_of(panel, s->face_uv[f][c]);
            panel[a > b ? a : b] = a < b ? a : b;
        }
    for (int32_t i = 0; i < uv_count; i++)
        if (panel[i] >= 0) panel[i] = root_of(panel, i);
    int32_t count = 0;
    for (int32_t i = 0; i < uv_count; i++)  // a root is the first point of its panel; numbered ones are below -1
        if (panel[i] >= 0) panel[i] = panel[i] == i ? -2 - count++ : panel[panel[i]];
    for (int32_t i = 0; i < uv_count; i++) panel[i] = panel[i] < -1 ? -2 - panel[i] : -1;
    return count == tl_pattern_panel_count(g->pattern);
}

// Where the points of the material lie along a side, -1: not on it.
static void places_on(const view_garment *g, const tl_show_surface *s, const tl_seam_side *side, int32_t uv_count,
                      const int32_t *panel, double *out)
{
    const side_line line = side_of(g, side);
    for (int32_t i = 0; i < uv_count; i++) out[i] = !panel || panel[i] == side->panel ? along(&line, s->uv[i]) : -1;
}

// Edges of faces on the first side whose ends lie at the same fraction of the second.
static void gather_line(view_garment *g, const tl_show_surface *s, const double *on_a, const double *on_b,
                        double *node_b)
{
    for (int32_t i = 0; i < s->pos_count; i++) node_b[i] = -1;
    for (int32_t f = 0; f < s->face_count; f++)
        for (int c = 0; c < 3; c++)
            if (on_b[s->face_uv[f][c]] >= 0) node_b[s->face[f][c]] = on_b[s->face_uv[f][c]];
    for (int32_t f = 0; f < s->face_count && g->line_count < LINE_MAX_EDGES; f++)
        for (int c = 0; c < 3; c++) {
            const int32_t d = (c + 1) % 3, a = s->face[f][c], b = s->face[f][d];
            const double ta = on_a[s->face_uv[f][c]], tb = on_a[s->face_uv[f][d]];
            if (ta < 0 || tb < 0 || fabs(ta - node_b[a]) > 0.08 || fabs(tb - node_b[b]) > 0.08) continue;
            g->line[g->line_count][0] = s->pos[a], g->line[g->line_count++][1] = s->pos[b];
            break;
        }
}

void view_garment_follow(view_garment *g, const tl_show_surface *s, int32_t seam)
{
    g->line_count = 0;
    if (seam < 0 || !s->uv || !s->face_uv) return;
    int32_t uv_count = 0;
    for (int32_t f = 0; f < s->face_count; f++)
        for (int c = 0; c < 3; c++)
            if (s->face_uv[f][c] >= uv_count) uv_count = s->face_uv[f][c] + 1;
    int32_t *panel = malloc((size_t)uv_count * sizeof *panel + 1);
    double *on = malloc((2 * (size_t)uv_count + (size_t)s->pos_count + 1) * sizeof *on);
    if (panel && on) {
        const tl_seam *k = tl_pattern_seam(g->pattern, seam);
        const bool known = panels_of(g, s, uv_count, panel);
        places_on(g, s, &k->side[0], uv_count, known ? panel : NULL, on);
        places_on(g, s, &k->side[1], uv_count, known ? panel : NULL, on + uv_count);
        gather_line(g, s, on, on + uv_count, on + 2 * uv_count);
    }
    free(panel), free(on);
}

// --- drawing over the scene --------------------------------------------------------------------------------

static void line_in_space(view_panel *panel, const float m[16], const double size[2], tl_vec3 a, tl_vec3 b,
                          double width, uint32_t rgba)
{
    double x0, y0, x1, y1;
    if (view_project(m, size[0], size[1], a, &x0, &y0) && view_project(m, size[0], size[1], b, &x1, &y1))
        view_panel_line(panel, x0, y0, x1, y1, width, rgba);
}

void view_garment_draw(const view_garment *g, view_panel *panel, const view_camera *camera, double width, double height,
                       int32_t chosen)
{
    float m[16];
    const double size[2] = {width, height};
    view_camera_matrix(camera, width / height, m);
    for (int32_t i = 0; i < g->line_count; i++)
        line_in_space(panel, m, size, g->line[i][0], g->line[i][1], 5, 0xffffffff);
    const tl_panel *p = tl_pattern_panel(g->pattern, chosen);
    for (int32_t e = 0; p && e < p->edge_count; e++)
        for (int i = 0; i < POINTS; i++)
            line_in_space(panel, m, size, tl_placement_point(&p->placement, tl_edge_point(p, e, (double)i / POINTS)),
                          tl_placement_point(&p->placement, tl_edge_point(p, e, (double)(i + 1) / POINTS)), 2.5,
                          0xffb020ff);
}

void view_garment_move(view_garment *g, int32_t panel, tl_vec3 by, double turn)
{
    const tl_panel *p = tl_pattern_panel(g->pattern, panel);
    if (!p) return;
    tl_placement q = p->placement;
    q.origin = (tl_vec3){q.origin.x + by.x, q.origin.y + by.y, q.origin.z + by.z};
    q.rotation_deg.y += turn;
    tl_pattern_set_placement(g->pattern, panel, &q, NULL);
}
