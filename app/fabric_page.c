// app/fabric_page.c: the report on a fabric: HTML with SVG, pictures as data within it.

#include "fabric_page.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "toile/show.h"

// Bands of cusick_drape/targets.csv and tensile/targets.csv of st-tech/ppf-contact-solver, commit f23b356.
static const fabric_band bands[] = {
    {"silk", 20, 40, 500, "Matsudaira & Yang 2003 (doi:10.1177/004051750307300309); Hu et al. 2020; Wang et al. 2011"},
    {"flag-nylon", 20, 40, 1000, "woven synthetic, limp class (ISO 9073-9, light template); Penava et al. 2014"},
    {"cotton", 60, 76, 5500, "Gan, Ly & Steven 1991 (doi:10.1080/00405009108658741): 68.4 %; Zhang 2019"},
    {"wool", 40, 70, 2000, "worsted suitings, mid class; FAST and SiroFAST E100"},
    {"leather", 47, 70, 13000, "Memon et al. 2021 (Materials 14-16-4553); Efendioglu 2025 (ISO 3376)"},
    {"denim", 70, 90, 10000,
     "heavy twill, highest class of the drape literature; Wang et al. 2011; Miguel et al. 2012"},
};

const fabric_band *fabric_band_of(const char *name)
{
    for (size_t i = 0; i < sizeof bands / sizeof *bands; i++)
        if (strcmp(bands[i].fabric, name) == 0) return &bands[i];
    return NULL;
}

double fabric_mean_drape(const fabric_report *r)
{
    const int32_t from = r->rotations > 0 ? r->resolutions : 0,
                  count = r->rotations > 0 ? r->rotations : r->resolutions;
    double sum = 0;
    for (int32_t i = 0; i < count; i++) sum += r->drape[from + i].coefficient;
    return 100 * sum / count;
}

double fabric_drape_spread(const fabric_report *r, bool rotations)
{
    const int32_t from = rotations ? r->resolutions : 0, count = rotations ? r->rotations : r->resolutions;
    double low = INFINITY, high = -INFINITY;
    for (int32_t i = from; i < from + count; i++)
        low = fmin(low, r->drape[i].coefficient), high = fmax(high, r->drape[i].coefficient);
    return count > 0 ? 100 * (high - low) : 0;
}

static void text(FILE *to, const char *s)
{
    for (; *s; s++) switch (*s) {
        case '&': fputs("&amp;", to); break;
        case '<': fputs("&lt;", to); break;
        case '>': fputs("&gt;", to); break;
        case '"': fputs("&quot;", to); break;
        default: putc(*s, to);
        }
}

// ---- plots ------------------------------------------------------------------------------------------------

typedef struct plot {
    double x0, x1, y0, y1;  // what the axes show
    bool same_scale;
    const char *x_title, *y_title;
} plot;

enum { PLOT_W = 420, PLOT_H = 260, PLOT_LEFT = 58, PLOT_BOTTOM = 40, PLOT_TOP = 12, PLOT_RIGHT = 12 };

static double plot_x(const plot *p, double x)
{
    return PLOT_LEFT + (x - p->x0) / (p->x1 - p->x0) * (PLOT_W - PLOT_LEFT - PLOT_RIGHT);
}

static double plot_y(const plot *p, double y)
{
    return PLOT_H - PLOT_BOTTOM - (y - p->y0) / (p->y1 - p->y0) * (PLOT_H - PLOT_BOTTOM - PLOT_TOP);
}

// A round step that gives four to eight marks.
static double step_of(double range)
{
    const double raw = range / 5, ten = pow(10, floor(log10(raw)));
    return ten * (raw / ten < 1.5 ? 1 : raw / ten < 3.5 ? 2 : raw / ten < 7.5 ? 5 : 10);
}

static void plot_begin(FILE *to, plot *p)
{
    if (p->same_scale) {  // a picture of a shape: both axes alike, the wider range decides
        const double across = (p->x1 - p->x0) / (PLOT_W - PLOT_LEFT - PLOT_RIGHT),
                     up = (p->y1 - p->y0) / (PLOT_H - PLOT_BOTTOM - PLOT_TOP), unit = fmax(across, up);
        p->x0 = 0.5 * (p->x0 + p->x1 - unit * (PLOT_W - PLOT_LEFT - PLOT_RIGHT));
        p->x1 = p->x0 + unit * (PLOT_W - PLOT_LEFT - PLOT_RIGHT),
        p->y0 = p->y1 - unit * (PLOT_H - PLOT_BOTTOM - PLOT_TOP);
    }
    fprintf(to, "<svg viewBox=\"0 0 %d %d\" width=\"%d\">\n", PLOT_W, PLOT_H, PLOT_W);
    const double sx = step_of(p->x1 - p->x0), sy = step_of(p->y1 - p->y0);
    for (double x = ceil(p->x0 / sx) * sx; x <= p->x1 + 1e-9 * sx; x += sx)
        fprintf(to, "<path class=\"g\" d=\"M%.1f %dV%d\"/><text x=\"%.1f\" y=\"%d\" class=\"m\">%.6g</text>\n",
                plot_x(p, x), PLOT_TOP, PLOT_H - PLOT_BOTTOM, plot_x(p, x), PLOT_H - PLOT_BOTTOM + 14,
                fabs(x) < 1e-9 * sx ? 0 : x);
    for (double y = ceil(p->y0 / sy) * sy; y <= p->y1 + 1e-9 * sy; y += sy)
        fprintf(to, "<path class=\"g\" d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" class=\"e\">%.6g</text>\n",
                PLOT_LEFT, plot_y(p, y), PLOT_W - PLOT_RIGHT, PLOT_LEFT - 5, plot_y(p, y) + 3.5,
                fabs(y) < 1e-9 * sy ? 0 : y);
    fprintf(to, "<text x=\"%d\" y=\"%d\" class=\"m\">%s</text>\n", (PLOT_W + PLOT_LEFT) / 2, PLOT_H - 8, p->x_title);
    fprintf(to, "<text transform=\"translate(13 %d) rotate(-90)\" class=\"m\">%s</text>\n", (PLOT_H - PLOT_BOTTOM) / 2,
            p->y_title);
}

static void plot_line(FILE *to, const plot *p, const double *x, const double *y, int32_t count, const char *colour,
                      const char *name, int32_t row)
{
    fprintf(to, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\" d=\"", colour);
    for (int32_t i = 0; i < count; i++) fprintf(to, "%c%.2f %.2f", i ? 'L' : 'M', plot_x(p, x[i]), plot_y(p, y[i]));
    fprintf(to, "\"/><text x=\"%d\" y=\"%d\" class=\"e\" style=\"fill:%s\">%s</text>\n", PLOT_W - PLOT_RIGHT - 6,
            PLOT_H - PLOT_BOTTOM - 8 - 14 * row, colour, name);
}

static const char *const colours[] = {"#b5413a", "#3a68b5", "#4a9060"};

static void plot_curves(FILE *to, const fabric_report *r)
{
    static const char *const names[] = {"warp", "weft", "45 degrees"};
    double strain[LAB_POINTS], sine[LAB_POINTS], most = 0, most_shear = 0;
    for (int i = 0; i < LAB_POINTS; i++) {
        strain[i] = 100 * r->pull_most * i / (LAB_POINTS - 1), sine[i] = r->shear_most * i / (LAB_POINTS - 1);
        for (int k = 0; k < 3; k++) most = fmax(most, r->pull[k][i]);
        most_shear = fmax(most_shear, r->shear[i]);
    }
    plot p = {0, 100 * r->pull_most, 0, most > 0 ? 1.05 * most : 1, false, "strain [%]", "force per width [N/m]"};
    fprintf(to, "<figure>");
    plot_begin(to, &p);
    for (int k = 0; k < 3; k++) plot_line(to, &p, strain, r->pull[k], LAB_POINTS, colours[k], names[k], k);
    fprintf(to, "</svg><figcaption>Tension, sides free to draw in</figcaption></figure>\n");
    plot q = {0,
              r->shear_most,
              0,
              most_shear > 0 ? 1.05 * most_shear : 1,
              false,
              "sine of the shear angle",
              "moment per area [N/m]"};
    fprintf(to, "<figure>");
    plot_begin(to, &q);
    plot_line(to, &q, sine, r->shear, LAB_POINTS, colours[0], "shear", 0);
    fprintf(to, "</svg><figcaption>Shear, yarns of fixed length</figcaption></figure>\n");
}

static void plot_strips(FILE *to, const fabric_report *r)
{
    static const char *const names[] = {"warp", "weft"};
    double wide = 0, deep = 0, x[2][LAB_POINTS], z[2][LAB_POINTS], hx[2][62], hz[2][62];
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < LAB_POINTS; i++) {
            x[k][i] = 1e3 * r->cantilever[k].shape[i][0], z[k][i] = -1e3 * r->cantilever[k].shape[i][1];
            wide = fmax(wide, x[k][i]), deep = fmin(deep, z[k][i]);
        }
    plot p = {0, 1.1 * wide, 1.1 * deep, 0, true, "mm", "mm"};
    fprintf(to, "<figure>");
    plot_begin(to, &p);
    for (int k = 0; k < 2; k++) plot_line(to, &p, x[k], z[k], LAB_POINTS, colours[k], names[k], k);
    fprintf(to,
            "</svg><figcaption>Cantilever (ASTM D1388): strips whose tips meet 41.5 degrees</figcaption></figure>\n");
    double left = INFINITY, right = -INFINITY;
    deep = 0;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < r->heart[k].points; i++) {
            hx[k][i] = 1e3 * r->heart[k].shape[i][0], hz[k][i] = -1e3 * r->heart[k].shape[i][1];
            left = fmin(left, hx[k][i]), right = fmax(right, hx[k][i]), deep = fmin(deep, hz[k][i]);
        }
    plot q = {left - 5, right + 5, 1.05 * deep, 40, true, "mm", "mm"};
    fprintf(to, "<figure>");
    plot_begin(to, &q);
    for (int k = 0; k < 2; k++) plot_line(to, &q, hx[k], hz[k], r->heart[k].points, colours[k], names[k], k);
    fprintf(to, "</svg><figcaption>Heart loop: strips of 30 cm, ends in one grip</figcaption></figure>\n");
}

// ---- the page ---------------------------------------------------------------------------------------------

// The bytes of a file as data of a page.
static void base64(FILE *to, const uint8_t *data, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        const uint32_t v = (uint32_t)data[i] << 16 | (i + 1 < size ? (uint32_t)data[i + 1] << 8 : 0) |
                           (i + 2 < size ? data[i + 2] : 0);
        putc(digits[v >> 18], to), putc(digits[v >> 12 & 63], to);
        putc(i + 1 < size ? digits[v >> 6 & 63] : '=', to), putc(i + 2 < size ? digits[v & 63] : '=', to);
    }
}

static tl_status picture(FILE *to, const char *path, const uint8_t *rgb, tl_error *err)
{
    char name[4200];
    snprintf(name, sizeof name, "%s.part.png", path);
    const tl_status status = tl_show_save_png(name, rgb, LAB_PICTURE, LAB_PICTURE, err);
    if (status != TL_OK) return status;
    FILE *from = fopen(name, "rb");
    uint8_t *data = malloc(4 * LAB_PICTURE * LAB_PICTURE);
    const size_t size = from && data ? fread(data, 1, 4 * LAB_PICTURE * LAB_PICTURE, from) : 0;
    if (from) fclose(from);
    unlink(name);
    fputs("<img width=\"180\" src=\"data:image/png;base64,", to);
    base64(to, data, size);
    fputs("\">", to);
    free(data);
    return TL_OK;
}

static tl_status drapes(FILE *to, const fabric_report *r, const char *path, tl_error *err)
{
    fprintf(to,
            "<h2>Drape (Cusick; BS 5058, ISO 9073-9)</h2>\n<p>Disc of 30 cm on a support of 18 cm, held by contact "
            "alone; the table sinks away.</p>\n<table><tr><th>coefficient, mean<th>published<th>over "
            "resolutions<th>over rotations</tr><tr><td>%.1f %%<td>",
            fabric_mean_drape(r));
    if (r->band)
        fprintf(to, "%.0f to %.0f %%%s", r->band->drape_low, r->band->drape_high,
                fabric_mean_drape(r) >= r->band->drape_low && fabric_mean_drape(r) <= r->band->drape_high
                    ? ""
                    : ": <b>outside</b>");
    else
        fprintf(to, "no band known");
    fprintf(to, "<td>spread %.1f points<td>", fabric_drape_spread(r, false));
    if (r->rotations > 1)
        fprintf(to, "spread %.1f points</tr></table>\n", fabric_drape_spread(r, true));
    else
        fprintf(to, "</tr></table>\n");
    fprintf(to, "<table><tr><th>warp on the mesh<th>edge<th>faces<th>coefficient<th>folds<th>speed at the end</tr>\n");
    for (int32_t i = 0; i < r->resolutions + r->rotations; i++)
        fprintf(to, "<tr><td>%g&deg;<td>%.1f mm<td>%d<td>%.1f %%<td>%d<td>%.2g mm/s</tr>\n", r->drape[i].warp_deg,
                1e3 * r->drape[i].edge, r->drape[i].faces, 100 * r->drape[i].coefficient, r->drape[i].folds,
                1e3 * r->drape[i].speed);
    fprintf(to, "</table>\n<p>");
    for (int32_t i = 0; i < r->resolutions + r->rotations; i++)
        if (r->picture[i]) {
            const tl_status status = picture(to, path, r->picture[i], err);
            if (status != TL_OK) return status;
        }
    fprintf(to, "</p>\n");
    return TL_OK;
}

static void facts(FILE *to, const fabric_report *r)
{
    const tl_material *m = r->material;
    fprintf(to,
            "<table><tr><th>weight<th>thickness<th>rigidity warp / weft<th>stretch warp / weft<th>shear</tr>"
            "<tr><td>%.0f g/m&sup2;<td>%.2f mm<td>%.3g / %.3g &micro;N m<td>%.4g / %.4g N/m<td>%.4g N/m</tr></table>\n",
            1e3 * m->density, 1e3 * m->thickness, 1e6 * lab_rigidity(m, 0), 1e6 * lab_rigidity(m, 1), m->stretch[0][0],
            m->stretch[0][2], m->stretch[0][3]);
    if (r->band) {
        fprintf(to, "<p>Published: drape %.0f to %.0f %%, tensile stiffness about %.0f N/m. ", r->band->drape_low,
                r->band->drape_high, r->band->stiffness);
        text(to, r->band->source);
        fprintf(to, "; as read by st-tech/ppf-contact-solver (commit f23b356, Apache-2.0).</p>\n");
    }
}

static tl_status page(FILE *to, const fabric_report *r, const char *path, tl_error *err)
{
    fprintf(to, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>");
    text(to, r->name);
    fprintf(to,
            "</title>\n<style>body{font:15px/1.5 sans-serif;max-width:900px;margin:2em auto;padding:0 1em;color:#222}"
            "table{border-collapse:collapse;margin:1em 0}th,td{border-bottom:1px solid #ddd;padding:.25em 1em .25em "
            "0;text-align:left}th{font-weight:600}figure{display:inline-block;margin:0 1em 1em 0}figcaption{color:#555}"
            "svg text{font:11px sans-serif;fill:#444}svg .m{text-anchor:middle}svg .e{text-anchor:end}svg "
            ".g{stroke:#e4e4e4}</style></head><body>\n<h1>");
    text(to, r->name);
    fprintf(to, "</h1>\n<p>Simulated tests of <code>");
    text(to, r->file);
    fprintf(to, "</code>, toile %s.</p>\n", tl_version());
    facts(to, r);
    if (r->resolutions > 0) {
        const tl_status status = drapes(to, r, path, err);
        if (status != TL_OK) return status;
    }
    fprintf(to,
            "<h2>Bending</h2>\n<table><tr><th><th>overhang<th>by the elastica<th>difference<th>bending length<th>heart "
            "loop, depth</tr>\n");
    for (int k = 0; k < 2; k++) {
        const lab_cantilever *c = &r->cantilever[k];
        fprintf(to, "<tr><td>%s<td>%.2f mm<td>%.2f mm<td>%+.2f %%<td>%.2f mm<td>%.1f mm</tr>\n", k ? "weft" : "warp",
                1e3 * c->overhang, 1e3 * c->elastica, 100 * (c->overhang / c->elastica - 1), 500 * c->overhang,
                1e3 * r->heart[k].depth);
    }
    fprintf(to, "</table>\n");
    plot_strips(to, r);
    fprintf(to, "<h2>Tension and shear</h2>\n");
    plot_curves(to, r);
    fprintf(to, "</body></html>\n");
    return TL_OK;
}

static tl_status cannot(const char *path, tl_error *err)
{
    err->status = TL_IO;
    snprintf(err->message, sizeof err->message, "%s: cannot be written (%s)", path, strerror(errno));
    return TL_IO;
}

tl_status fabric_page_try(const char *path, tl_error *err)
{
    char part[4200];
    snprintf(part, sizeof part, "%s.part", path);
    FILE *to = fopen(part, "w");
    if (!to) return cannot(path, err);
    fclose(to);
    unlink(part);
    return TL_OK;
}

tl_status fabric_page_write(const fabric_report *r, const char *path, tl_error *err)
{
    char part[4200];
    snprintf(part, sizeof part, "%s.part", path);
    FILE *to = fopen(part, "w");
    tl_status status = to ? page(to, r, path, err) : TL_IO;
    if (to && (ferror(to) | fclose(to)) != 0 && status == TL_OK) status = TL_IO;
    if (status == TL_OK && rename(part, path) != 0) status = TL_IO;
    if (status == TL_IO) cannot(path, err);
    if (status != TL_OK) unlink(part);
    return status;
}
