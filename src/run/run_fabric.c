// run/run_fabric.c: what the scene of a run says of a cloth's fabric.

#include "run/run_fabric.h"

#include <jansson.h>
#include <string.h>

#include "io/file.h"
#include "io/json.h"

static double number_at(const json_t *value, size_t row, size_t column)
{
    const json_t *entry = json_array_get(value, row);
    return json_number_value(json_is_array(entry) ? json_array_get(entry, column) : entry);
}

tl_usd_fabric tl_run_fabric(const tl_allocator *alloc, const char *dir, const char *cloth)
{
    tl_usd_fabric out = {0};
    char path[TL_PATH_MAX];
    tl_json_doc *doc;
    if (tl_path_join(dir, "scene.json", path, NULL) != TL_OK) return out;
    if (tl_json_load(alloc, &(tl_json_def){.path = path}, &doc, NULL) != TL_OK) return out;
    const json_t *cloths = json_object_get(tl_json_root(doc).value, "cloths");
    for (size_t i = 0; i < json_array_size(cloths); i++) {
        const json_t *entry = json_array_get(cloths, i);
        const char *name = json_string_value(json_object_get(entry, "name"));
        const json_t *m = json_object_get(entry, "material");
        if (json_is_array(m)) m = json_array_get(m, 0);
        if (!name || strcmp(name, cloth) != 0 || !json_is_object(m)) continue;
        const char *fabric = json_string_value(json_object_get(m, "name"));
        for (size_t k = 0; fabric && fabric[k] && k + 1 < sizeof out.name; k++)  // no quotes within quotes
            out.name[k] = fabric[k] == '"' || fabric[k] == '\\' || (unsigned char)fabric[k] < 32 ? '_' : fabric[k];
        out.density = json_number_value(json_object_get(m, "density"));
        out.thickness = json_number_value(json_object_get(m, "thickness"));
        for (size_t k = 0; k < 4; k++) out.stretch[k] = number_at(json_object_get(m, "stretch"), 0, k);
        const json_t *bend = json_object_get(m, "bend");
        out.bend = (number_at(bend, 0, 0) + number_at(bend, 2, 0)) / 2;
    }
    tl_json_destroy(doc);
    return out;
}
