// run/fit_page.c: the fit as a page: pictures from three sides, shaded and with strain in colours, and figures; the
// figures as JSON for programs, in the units of drape.json.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "io/file.h"
#include "io/json.h"
#include "io/text.h"
#include "run/fit.h"
#include "toile/render.h"

static const char *const views[] = {"front", "left", "back"};
static const struct {
    const char *name, *title;
    tl_render_mode mode;
} looks[] = {{"shaded", "at rest", TL_RENDER_SHADED},
             {"tension", "tension of the cloth, in N/m", TL_RENDER_STRESS},
             {"room", "room: where the next surface is near", TL_RENDER_CONTACT}};
enum { VIEWS = 3, LOOKS = 3, WIDTH = 420, HEIGHT = 620 };
#define ROOM_MM 30.0  // beyond it there is plenty

static tl_status draw(const tl_fit_page_def *page, tl_error *err)
{
    const char *dir = page->dir;
    char folder[TL_PATH_MAX];
    TL_TRY(tl_path_join(dir, "fit", folder, err));
    TL_TRY(tl_make_dirs(folder, err));
    for (int l = 0; l < LOOKS; l++)
        for (int v = 0; v < VIEWS; v++) {
            char name[64], path[TL_PATH_MAX];
            snprintf(name, sizeof name, "fit/%s-%s.png", looks[l].name, views[v]);
            TL_TRY(tl_path_join(dir, name, path, err));
            tl_render_def def = tl_render_def_default();
            def.source = dir, def.out = path, def.mode = looks[l].mode;
            def.first = def.last = 0, def.width = WIDTH, def.height = HEIGHT, def.samples = 9;
            def.no_ground = 1, def.threads = page->threads, def.cancelled = page->cancelled, def.user = page->user;
            if (looks[l].mode == TL_RENDER_CONTACT) def.range_hi = ROOM_MM;
            tl_camera_parse(views[v], &def.camera);
            TL_TRY(tl_render_run(&def, NULL, err));
        }
    return TL_OK;
}

// Names are letters, digits, '-' and '_'; panels may be called anything.
static void put_text(tl_buf *b, const char *text)
{
    for (; *text; text++) switch (*text) {
        case '<': tl_buf_text(b, "&lt;"); break;
        case '&': tl_buf_text(b, "&amp;"); break;
        default: tl_buf_add(b, text, 1);
        }
}

static void row(tl_buf *b, const char *what, const char *format, double x, double y, double z)
{
    tl_buf_printf(b, "<tr><td>%s</td>", what);
    const double value[3] = {x, y, z};
    for (int i = 0; i < 3; i++) {
        tl_buf_text(b, "<td>");
        if (value[i] == value[i]) tl_buf_printf(b, format, value[i]);
        tl_buf_text(b, "</td>");
    }
    tl_buf_text(b, "</tr>\n");
}

static void put_garment(tl_buf *b, const tl_drape_garment *g)
{
    const double none = (double)NAN;
    const tl_drape_fit *f = &g->fit;
    tl_buf_printf(b, "<h2>%s</h2>\n<p>%d panels, %d seams, %d faces. ", g->name, g->panels, g->seams, g->faces);
    if (*g->fault) {
        tl_buf_text(b, "<b>Look at it: ");
        put_text(b, g->fault);
        tl_buf_text(b, ".</b>");
    }
    tl_buf_text(b, "</p>\n<table>\n<tr><th></th><th>mean</th><th>95 % of the area below</th><th>largest</th></tr>\n");
    row(b, "tension of the cloth [N/m]", "%.1f", f->tension_mean, f->tension_95, f->tension_max);
    row(b, "pressure on the body where it touches [kPa]", "%.2f", f->pressure_mean, f->pressure_95, f->pressure_max);
    row(b, "room to the body [mm]", "%.0f", 1e3 * f->room_mean, 1e3 * f->room_95, none);
    row(b, "ease: girth of cloth less body at chest, waist, hips [cm]", "%+.1f",
        f->chest_ease != 0 ? 100 * f->chest_ease : none, f->waist_ease != 0 ? 100 * f->waist_ease : none,
        f->hip_ease != 0 ? 100 * f->hip_ease : none);
    row(b, "part of the cloth that presses on the body [%]", "%.0f", 100 * f->touching, none, none);
    row(b, "strain [%], smallest and largest", "%+.1f", 100 * g->strain_min, 100 * g->strain_max_99,
        100 * g->strain_max);
    row(b, "widest seam before it was welded [mm]", "%.1f", none, none, 1e3 * g->gap);
    tl_buf_text(b, "</table>\n");
}

static void put_pictures(tl_buf *b, const char *folder, int look)
{
    tl_buf_text(b, "<p>");
    for (int v = 0; v < VIEWS; v++)
        tl_buf_printf(b, "<img src=\"%sfit/%s-%s.png\" alt=\"%s, %s\">\n", folder, looks[look].name, views[v], views[v],
                      looks[look].title);
    tl_buf_text(b, "</p>\n");
}

// Two bodies stand side by side, in pictures as in figures.
static void put_all(tl_buf *b, const tl_fit_page_def *def)
{
    const int bodies = def->report[1] ? 2 : 1;
    for (int l = 0; l < LOOKS; l++) {
        tl_buf_printf(b, "<h3>%s</h3>\n<div class=\"two\">", looks[l].title);
        for (int i = 0; i < bodies; i++) {
            tl_buf_text(b, "<div>");
            put_pictures(b, i ? "beside/" : "", l);
            tl_buf_text(b, "</div>");
        }
        tl_buf_text(b, "</div>\n");
    }
    tl_buf_text(b, "<div class=\"two\">");
    for (int i = 0; i < bodies; i++) {
        tl_buf_text(b, "<div><p>On ");
        put_text(b, def->body[i]);
        tl_buf_text(b, "</p>\n");
        for (int32_t k = 0; k < def->report[i]->count; k++) put_garment(b, &def->report[i]->garment[k]);
        tl_buf_text(b, "</div>");
    }
    tl_buf_text(b, "</div>\n");
}

// ---- fit.json -----------------------------------------------------------------------------------------------

// What was not measured is null, and so is an ease of 0: the cloth does not go around the body there.
static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *ease(double value) { return value != 0 ? number(value) : json_null(); }

static json_t *garment_json(const tl_drape_garment *g)
{
    const tl_drape_fit *f = &g->fit;
    json_t *tension = json_pack("{so so so}", "mean", number(f->tension_mean), "95", number(f->tension_95), "max",
                                number(f->tension_max));
    json_t *pressure = json_pack("{so so so so}", "mean", number(f->pressure_mean), "95", number(f->pressure_95), "max",
                                 number(f->pressure_max), "touching", number(f->touching));
    json_t *room = json_pack("{so so}", "mean", number(f->room_mean), "95", number(f->room_95));
    json_t *eases =
        json_pack("{so so so}", "chest", ease(f->chest_ease), "waist", ease(f->waist_ease), "hips", ease(f->hip_ease));
    json_t *strain = json_pack("{so so so so}", "min", number(g->strain_min), "max", number(g->strain_max), "min_99",
                               number(g->strain_min_99), "max_99", number(g->strain_max_99));
    json_t *seam = json_pack("{so s[ss] si}", "gap", number(g->gap), "panels", g->gap_panel[0], g->gap_panel[1],
                             "left_open", g->left_open);
    return json_pack("{ss ss so so so so so so}", "name", g->name, "fault", g->fault, "tension", tension, "pressure",
                     pressure, "room", room, "ease", eases, "strain", strain, "widest_seam", seam);
}

static json_t *body_json(const char *body, const char *pictures, const tl_drape_report *report)
{
    json_t *list = json_array();
    for (int32_t i = 0; list && i < report->count; i++)
        if (json_array_append_new(list, garment_json(&report->garment[i])) != 0) return json_decref(list), NULL;
    return list ? json_pack("{ss ss so}", "body", body, "pictures", pictures, "garments", list) : NULL;
}

static tl_status write_figures(const tl_fit_page_def *def, tl_error *err)
{
    char path[TL_PATH_MAX];
    TL_TRY(tl_path_join(def->dir, "fit.json", path, err));
    json_t *bodies = json_array();
    bool ok = bodies;
    for (int i = 0; ok && i < 2 && def->report[i]; i++)
        ok = json_array_append_new(bodies, body_json(def->body[i], i ? "beside/fit" : "fit", def->report[i])) == 0;
    json_t *all = ok ? json_pack("{sO}", "bodies", bodies) : NULL;
    json_decref(bodies);
    if (!all) return tl_fail_memory(err, "figures of fit");
    tl_buf b;
    tl_buf_init(&b, def->alloc);
    tl_json_write(&b, all), tl_buf_text(&b, "\n");
    json_decref(all);
    tl_status status = tl_buf_end(&b, "figures of fit", err);
    if (status == TL_OK) status = tl_file_write(path, b.data, b.size, false, err);
    tl_buf_free(&b);
    return status;
}

tl_status tl_fit_page(const tl_fit_page_def *def, tl_error *err)
{
    char path[TL_PATH_MAX];
    TL_TRY(write_figures(def, err));
    TL_TRY(tl_path_join(def->dir, "fit.html", path, err));
    TL_TRY(draw(def, err));
    tl_buf b;
    tl_buf_init(&b, def->alloc);
    tl_buf_text(&b, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Fit</title><style>\n"
                    "body{font:15px/1.5 sans-serif;max-width:96rem;margin:2rem auto;padding:0 1rem;color:#222}\n"
                    "img{width:32%;max-width:420px}td,th{padding:.15rem 1rem .15rem 0;text-align:right}\n"
                    ".two{display:flex;gap:1rem}.two>div{flex:1}\n"
                    "td:first-child{text-align:left}</style></head><body>\n<h1>Fit</h1>\n");
    put_all(&b, def);
    tl_buf_text(&b, "</body></html>\n");
    tl_status status = tl_buf_end(&b, "a page", err);
    if (status == TL_OK) status = tl_file_write(path, b.data, b.size, false, err);
    tl_buf_free(&b);
    return status;
}
