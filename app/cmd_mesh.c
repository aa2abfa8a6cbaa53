// app/cmd_mesh.c: `toile mesh`: panels of a sewing pattern as triangles.

#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "toile/pattern.h"

typedef struct mesh_options {
    const char *method, *cells, *panel, *out, *svg, *report;
    double edge;
    bool json, quiet;
} mesh_options;

static int make(const app_command *self, const mesh_options *o, const tl_pattern *pattern,
                const tl_pattern_mesh_def *def)
{
    tl_error err = {0};
    tl_pattern_mesh mesh;
    const double start = app_now();
    tl_status status = tl_pattern_mesh_make(NULL, pattern, def, &mesh, &err);
    const double seconds = app_now() - start;
    if (status != TL_OK)
        return app_fail(self, o->json, status == TL_BAD_ARG ? APP_USAGE : app_exit_of(status, APP_INPUT), &err);
    if (status == TL_OK) status = tl_pattern_mesh_save(pattern, &mesh, o->out, &err);
    if (status == TL_OK && o->svg) status = tl_pattern_mesh_draw(pattern, &mesh, o->svg, &err);
    if (status == TL_OK && o->report) status = tl_pattern_mesh_describe(pattern, &mesh, o->report, &err);
    if (status == TL_OK && o->json) {
        printf("{\"command\": \"mesh\", \"exit_code\": 0, \"written\": ");
        app_json_text(stdout, o->out);
        printf(", \"method\": \"%s\", \"panels\": %d, \"vertices\": %d, \"faces\": %d, \"pairs\": %d, \"seconds\": "
               "%.6f}\n",
               tl_panel_method_name(def->method), mesh.panel_count, mesh.vert_count, mesh.face_count, mesh.pair_count,
               seconds);
    } else if (status == TL_OK && !o->quiet) {
        for (int32_t i = 0; i < mesh.panel_count; i++) {
            const tl_panel_mesh *p = &mesh.panels[i];
            printf("%-24s %6d faces, smallest angle %5.1f degrees", tl_pattern_panel(pattern, p->panel)->name,
                   p->face_count, p->angle_min_deg);
            if (p->area_ratio > 0)
                printf(", areas of quads 1 : %.2f%s", p->area_ratio, p->repaired ? ", unfolded" : "");
            printf("\n");
        }
        printf("%s: %d panels, %d vertices, %d faces, %d pairs of seams, %.3f s\n", o->out, mesh.panel_count,
               mesh.vert_count, mesh.face_count, mesh.pair_count, seconds);
    }
    tl_pattern_mesh_free(&mesh);
    return status == TL_OK ? APP_OK : app_fail(self, o->json, app_exit_of(status, APP_INPUT), &err);
}

// "20x30" -> 20, 30.
static bool read_cells(const char *text, int32_t *u, int32_t *v)
{
    const char *x = strchr(text, 'x');
    char first[16];
    if (!x || x - text >= (long)sizeof first) return false;
    memcpy(first, text, (size_t)(x - text));
    first[x - text] = 0;
    return app_read_int(first, 1, 10000, u) && app_read_int(x + 1, 1, 10000, v);
}

static int load_and_make(const app_command *self, const mesh_options *o, const char *path)
{
    tl_pattern_mesh_def def = tl_pattern_mesh_def_default();
    if (o->edge > 0) def.edge = o->edge;
    const char *names[8];
    int32_t count = 0, method = -1;
    for (; tl_panel_method_name((tl_panel_method)count); count++) {
        names[count] = tl_panel_method_name((tl_panel_method)count);
        if (o->method && strcmp(names[count], o->method) == 0) method = count;
    }
    if (o->method && method < 0) {
        const char *near = app_nearest(o->method, names, count);
        return app_usage(self, "--method %s is not known (delaunay, tfi, length, diagonal, strips or equal-area%s%s)",
                         o->method, near ? "; did you mean " : "", near ? near : "");
    }
    if (method >= 0) def.method = (tl_panel_method)method;
    if (o->cells && !read_cells(o->cells, &def.cells_u, &def.cells_v))
        return app_usage(self, "--cells %s, must be UxV with numbers from 1 to 10000, e.g. 20x30", o->cells);
    if (o->cells && o->edge > 0) return app_usage(self, "give --edge or --cells, not both");
    if (o->cells && def.method == TL_PANEL_DELAUNAY)
        return app_usage(self, "--cells is for grids: give --method tfi, length, diagonal, strips or equal-area");
    const char *written[] = {o->out, o->svg, o->report};
    for (int i = 0; i < 3; i++)
        if (app_same_file(written[i], path))
            return app_usage(self, "%s would overwrite the pattern it is made from: give another name", written[i]);
    tl_error err = {0};
    tl_pattern *pattern = NULL;
    if (tl_pattern_load(path, &pattern, &err) != TL_OK)
        return app_fail(self, o->json, app_exit_of(err.status, APP_INPUT), &err);
    for (int32_t i = 0; !o->json && !o->quiet && i < tl_pattern_note_count(pattern); i++)
        app_say("warning: %s", tl_pattern_note(pattern, i));
    int code = APP_OK;
    if (o->panel) {
        def.panel = tl_pattern_find_panel(pattern, o->panel);
        if (def.panel < 0)
            code = app_usage(self, "--panel %s is no panel of %s (toile info lists them)", o->panel, path);
    }
    if (code == APP_OK) code = make(self, o, pattern, &def);
    tl_pattern_destroy(pattern);
    return code;
}

static int mesh(const app_command *self, int argc, char **argv, app_list *words)
{
    mesh_options o = {0};
    const app_option options[] = {
        {"out", 'o', APP_TEXT, &o.out, 0, 0, "FILE",
         "the mesh, .obj; pairs of seams go to FILE.seams.json (without .obj)"},
        {"method", 0, APP_TEXT, &o.method, 0, 0, "M",
         "delaunay, tfi, length, diagonal, strips or equal-area. Default delaunay"},
        {"edge", 0, APP_REAL, &o.edge, 1e-5, 10, "M", "wanted edge length in metres. Default 0.02"},
        {"cells", 0, APP_TEXT, &o.cells, 0, 0, "UxV", "of grids: so many quads in place of --edge"},
        {"panel", 0, APP_TEXT, &o.panel, 0, 0, "NAME", "that panel alone"},
        {"svg", 0, APP_TEXT, &o.svg, 0, 0, "FILE", "draw the triangles"},
        {"report", 0, APP_TEXT, &o.report, 0, 0, "FILE", "figures of each panel as JSON"},
        {"quiet", 'q', APP_FLAG, &o.quiet, 0, 0, NULL, "no summary"},
        {"json", 0, APP_FLAG, &o.json, 0, 0, NULL, "the summary as one JSON object on stdout"},
    };
    int code;
    if (!app_parse(self, options, sizeof options / sizeof *options, argc, argv, words, &code)) return code;
    if (words->count != 1) return app_usage(self, "give one pattern: .json, .svg or .dxf");
    if (!o.out) return app_usage(self, "say where to: -o OUT.obj");
    return load_and_make(self, &o, words->item[0]);
}

int app_mesh(const app_command *self, int argc, char **argv) { return app_with_words(self, argc, argv, mesh); }
