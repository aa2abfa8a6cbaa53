// io/render_style.c: camera and appearance from a scene, looks by name.

#include "io/render_style.h"

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
    if (!text || text[0] != '#' || strlen(text) != 7 || strspn(text + 1, "0123456789abcdefABCDEF") != 6)
        return false;
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
    if (read_vec3(json_object_get(camera, "eye"), &c.eye) &&
        read_vec3(json_object_get(camera, "target"), &c.target)) {
        c.kind = TL_CAMERA_FIXED;
    } else if (json_is_number(azimuth)) {
        c.kind = TL_CAMERA_ANGLES;
        c.azimuth_deg = json_number_value(azimuth);
        c.elevation_deg = json_number_value(json_object_get(camera, "elevation"));
    }
    out->has_camera = c.kind != TL_CAMERA_AUTO && c.fov_deg > 0 && c.fov_deg < 170;
    out->camera = c;
    if (!out->has_camera)
        tl_log_write(source->log, TL_LOG_WARNING,
                     "%s: camera needs eye and target, or azimuth; framing automatically",
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
            tl_log_write(source->log, TL_LOG_WARNING,
                         "%s: appearance.%s.look \"%s\", must be cloth, plain or skin", source->scene_path,
                         name, kind);
        look->has_colour = read_colour(json_object_get(value, "color"), &look->colour);
        look->has_back = read_colour(json_object_get(value, "back"), &look->back);
    }
}

void tl_style_read(const tl_source *source, tl_style *out)
{
    *out = (tl_style){0};
    if (!source->scene_path[0]) return;
    tl_json_doc *doc;
    if (tl_json_load(&source->alloc, &(tl_json_def){.path = source->scene_path, .includes = true}, &doc,
                     NULL) != TL_OK)
        return; // told when the source was opened
    const json_t *root = tl_json_root(doc).value;
    read_camera(source, json_object_get(root, "camera"), out);
    read_looks(source, json_object_get(root, "appearance"), out);
    tl_json_destroy(doc);
}

static bool human(const char *name)
{
    static const char *const words[] = {"body",  "human",  "skin",      "person",
                                        "woman", "female", "mannequin", "avatar"};
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
    tl_rgb colour = body ? tl_rgb_hex(0xc9c5bd) : tl_palette(cloth_index);
    if (given && given->has_colour) colour = given->colour;
    tl_look look = kind == TL_LOOK_CLOTH   ? tl_look_cloth(colour)
                   : kind == TL_LOOK_PLAIN ? tl_look_plain(colour)
                                           : tl_look_skin();
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
        *out = (tl_camera_def){
            .kind = TL_CAMERA_ANGLES, .azimuth_deg = v[0], .elevation_deg = v[1], .fov_deg = 30};
        return fabs(v[1]) <= 90;
    }
    if (n != 6 && n != 7) return false;
    *out = (tl_camera_def){.kind = TL_CAMERA_FIXED,
                           .eye = {v[0], v[1], v[2]},
                           .target = {v[3], v[4], v[5]},
                           .fov_deg = n == 7 ? v[6] : 30};
    return out->fov_deg > 0 && out->fov_deg < 170;
}
