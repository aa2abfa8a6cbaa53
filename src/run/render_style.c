// run/render_style.c: camera and appearance from a scene, looks by name.

#include "run/render_style.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "io/json.h"

static bool read_vec3(const json_t *list, tl_vec3 *out)
{
    if (json_array_size(list) != 3) return false;
    double v[3];
    for (size_t i = 0; i < 3; i++) {
        const json_t *number = json_array_get(list, i);
        if (!json_is_number(number)) return false;
        v[i] = json_number_value(number);
    }
    *out = (tl_vec3){v[0], v[1], v[2]};
    return true;
}

static bool read_colour(const json_t *value, tl_rgb *out)
{
    const char *text = json_string_value(value);
    if (!text || text[0] != '#' || strlen(text) != 7 || strspn(text + 1, "0123456789abcdefABCDEF") != 6) return false;
    *out = tl_rgb_hex((uint32_t)strtoul(text + 1, NULL, 16));
    return true;
}

static void read_camera(const tl_source *source, const json_t *camera, tl_style *out)
{
    if (!json_is_object(camera)) return;
    tl_camera_def c = {.fov_deg = 30};
    const json_t *fov = json_object_get(camera, "fov");
    if (json_is_number(fov)) c.fov_deg = json_number_value(fov);
    const json_t *azimuth = json_object_get(camera, "azimuth");
    if (read_vec3(json_object_get(camera, "eye"), &c.eye) && read_vec3(json_object_get(camera, "target"), &c.target)) {
        c.kind = TL_CAMERA_FIXED;
    } else if (json_is_number(azimuth)) {
        c.kind = TL_CAMERA_ANGLES;
        c.azimuth_deg = json_number_value(azimuth);
        c.elevation_deg = json_number_value(json_object_get(camera, "elevation"));
    }
    out->has_camera = c.kind != TL_CAMERA_AUTO && c.fov_deg > 0 && c.fov_deg < 170;
    out->camera = c;
    if (!out->has_camera)
        tl_log_write(source->log, TL_LOG_WARNING, "%s: camera needs eye and target, or azimuth; framing automatically",
                     source->scene_path);
}

static void read_looks(const tl_source *source, json_t *appearance, tl_style *out)
{
    static const char *const kinds[] = {"cloth", "plain", "skin"};
    const char *name;
    json_t *value;
    json_object_foreach(appearance, name, value)
    {
        if (out->look_count == TL_MAX_LOOKS) {
            tl_log_write(source->log, TL_LOG_WARNING, "%s: appearance has more than %d entries, the rest is left out",
                         source->scene_path, (int)TL_MAX_LOOKS);
            return;
        }
        tl_named_look *look = &out->looks[out->look_count++];
        *look = (tl_named_look){0};
        snprintf(look->name, sizeof look->name, "%s", name);
        const char *kind = json_string_value(json_object_get(value, "look"));
        for (int k = 0; kind && k < 3; k++)
            if (strcmp(kind, kinds[k]) == 0) look->kind = (tl_mesh_look)k, look->has_kind = true;
        if (kind && !look->has_kind)
            tl_log_write(source->log, TL_LOG_WARNING, "%s: appearance.%s.look \"%s\", must be cloth, plain or skin",
                         source->scene_path, name, kind);
        look->has_colour = read_colour(json_object_get(value, "color"), &look->colour);
        look->has_back = read_colour(json_object_get(value, "back"), &look->back);
    }
}

static double number_of(const json_t *look, const char *key)
{
    const json_t *value = json_object_get(look, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/// The look of a cloth's fabric, from a scene with every default filled in: `material` is a list of full fabrics. A
/// scene as it was written names fabrics of the library instead; then colours are those of the palette.
static void read_fabrics(const json_t *cloths, tl_style *out)
{
    static const char *const weaves[] = {"plain", "twill", "satin", "knit", "none"};  // as tl_weave_kind
    for (size_t i = 0; i < json_array_size(cloths) && out->fabric_count < TL_MAX_LOOKS; i++) {
        const json_t *cloth = json_array_get(cloths, i), *material = json_object_get(cloth, "material");
        const json_t *first = json_is_array(material) ? json_array_get(material, 0) : material;
        const json_t *look = json_object_get(first, "appearance");
        const char *name = json_string_value(json_object_get(cloth, "name"));
        if (!look || !name) continue;
        tl_fabric_look *f = &out->fabrics[out->fabric_count++];
        *f = (tl_fabric_look){0};
        snprintf(f->cloth, sizeof f->cloth, "%s", name);
        f->has_colour = read_colour(json_object_get(look, "color"), &f->colour);
        f->has_back = read_colour(json_object_get(look, "back"), &f->back);
        // layers of one fabric are told apart: the second takes a colour of the palette
        for (int32_t k = 0; k + 1 < out->fabric_count && f->has_colour; k++) {
            const tl_rgb c = out->fabrics[k].colour;
            if (out->fabrics[k].has_colour && c.x == f->colour.x && c.y == f->colour.y && c.z == f->colour.z)
                f->has_colour = f->has_back = false;
        }
        const char *weave = json_string_value(json_object_get(look, "weave"));
        for (int k = 0; weave && k < 5; k++)
            if (strcmp(weave, weaves[k]) == 0) f->weave = (tl_weave_kind)k, f->has_weave = true;
        const json_t *stretch = json_array_get(json_object_get(first, "stretch"), 0);
        f->has_stretch = json_array_size(stretch) == 4;
        for (size_t k = 0; f->has_stretch && k < 4; k++) f->stretch[k] = json_number_value(json_array_get(stretch, k));
        f->yarn = number_of(look, "yarn"), f->gloss = number_of(look, "gloss");
        f->roughness = number_of(look, "roughness"), f->sheen = number_of(look, "sheen");
        f->transmit = number_of(look, "transmit");
    }
}

const double *tl_style_stretch(const tl_style *style, const char *cloth)
{
    for (int32_t i = 0; style && i < style->fabric_count; i++)
        if (strcmp(style->fabrics[i].cloth, cloth) == 0 && style->fabrics[i].has_stretch)
            return style->fabrics[i].stretch;
    return NULL;
}

static void wear(const tl_fabric_look *f, tl_look *look)
{
    if (f->has_back) look->back = f->back;
    if (f->has_weave) look->weave_kind = f->weave;
    if (f->weave == TL_WEAVE_NONE) look->weave = 0;
    if (!isnan(f->yarn)) look->yarn = (float)f->yarn;
    if (!isnan(f->gloss)) look->gloss = (float)f->gloss;
    if (!isnan(f->roughness)) look->roughness = (float)f->roughness;
    if (!isnan(f->sheen)) look->sheen = (float)f->sheen;
    if (!isnan(f->transmit)) look->transmit = (float)f->transmit;
}

static void read_style(const tl_source *source, const json_t *root, tl_style *out)
{
    read_camera(source, json_object_get(root, "camera"), out);
    read_looks(source, json_object_get(root, "appearance"), out);
    read_fabrics(json_object_get(root, "cloths"), out);
}

void tl_style_read(const tl_source *source, tl_style *out)
{
    *out = (tl_style){0};
    if (!source->scene_path[0]) return;
    tl_json_doc *doc;
    if (tl_json_load(&source->alloc, &(tl_json_def){.path = source->scene_path, .includes = true}, &doc, NULL) != TL_OK)
        return;  // told when the source was opened
    read_style(source, tl_json_root(doc).value, out);
    tl_json_destroy(doc);
}

void tl_style_read_text(const tl_source *source, const char *json, tl_style *out)
{
    *out = (tl_style){0};
    json_t *root = json_loads(json, 0, NULL);
    read_style(source, root, out);
    json_decref(root);
}

static bool human(const char *name)
{
    static const char *const words[] = {"body", "human", "skin", "person", "woman", "female", "mannequin", "avatar"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasestr(name, words[i])) return true;
    return false;
}

tl_look tl_style_look(const tl_style *style, const tl_show_mesh *mesh, int32_t cloth_index)
{
    const tl_named_look *given = NULL;
    for (int32_t i = 0; style && i < style->look_count; i++)
        if (strcmp(style->looks[i].name, mesh->name) == 0) given = &style->looks[i];
    const bool body = mesh->obstacle || mesh->solid;
    tl_mesh_look kind = !body ? TL_LOOK_CLOTH : human(mesh->name) ? TL_LOOK_SKIN : TL_LOOK_PLAIN;
    if (given && given->has_kind) kind = given->kind;
    const tl_fabric_look *fabric = NULL;
    for (int32_t i = 0; style && !body && i < style->fabric_count; i++)
        if (strcmp(style->fabrics[i].cloth, mesh->name) == 0) fabric = &style->fabrics[i];
    tl_rgb colour = body ? tl_rgb_hex(0xc9c5bd) : tl_palette(cloth_index);
    if (fabric && fabric->has_colour) colour = fabric->colour;
    if (given && given->has_colour) colour = given->colour;
    tl_look look = kind == TL_LOOK_CLOTH   ? tl_look_cloth(colour)
                   : kind == TL_LOOK_PLAIN ? tl_look_plain(colour)
                                           : tl_look_skin();
    if (fabric && kind == TL_LOOK_CLOTH) wear(fabric, &look);
    if (kind == TL_LOOK_SKIN && given && given->has_colour) look.front = look.back = colour;
    if (given && given->has_back) look.back = given->back;
    return look;
}

int tl_camera_parse(const char *text, tl_camera_def *out)
{
    static const struct {
        const char *name;
        double azimuth, elevation;
    } views[] = {{"front", 0, 5},  {"back", 180, 5}, {"left", -90, 5},
                 {"right", 90, 5}, {"top", 0, 89.9}, {"corner", 30, 15}};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        if (strcmp(text, views[i].name) != 0) continue;
        *out = (tl_camera_def){.kind = TL_CAMERA_ANGLES,
                               .azimuth_deg = views[i].azimuth,
                               .elevation_deg = views[i].elevation,
                               .fov_deg = 30};
        return true;
    }
    double v[7];
    int n = 0;
    for (const char *p = text; n < 7; n++) {
        const char *end = tl_parse_double(p, p + strlen(p), &v[n]);
        if (!end || !isfinite(v[n])) return false;
        if (*end == 0) {
            n++;
            break;
        }
        if (*end != ',') return false;
        p = end + 1;
        if (n == 6) return false;
    }
    if (n == 2) {
        *out = (tl_camera_def){.kind = TL_CAMERA_ANGLES, .azimuth_deg = v[0], .elevation_deg = v[1], .fov_deg = 30};
        return fabs(v[1]) <= 90;
    }
    if (n != 6 && n != 7) return false;
    *out = (tl_camera_def){.kind = TL_CAMERA_FIXED,
                           .eye = {v[0], v[1], v[2]},
                           .target = {v[3], v[4], v[5]},
                           .fov_deg = n == 7 ? v[6] : 30};
    return out->fov_deg > 0 && out->fov_deg < 170;
}
