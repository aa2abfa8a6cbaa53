// scene/arcsim/arcsim_world.c: handles and obstacles of ARCSim scenes.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "scene/arcsim/arcsim_impl.h"

// ---- handles ----------------------------------------------------------------------------------------------

// start and end of what is there for a time only; false: it never is.
static bool put_times(arcsim *a, json_t *entry, double start, double end)
{
    const double from = isnan(start) ? 0 : fmax(0, start);
    if (!isnan(end) && !(end > from)) return false;
    if (from > 0) arc_put(a, entry, "start", json_real(fmin(from, TL_KEY_LIMIT)));
    if (end < TL_KEY_LIMIT) arc_put(a, entry, "end", json_real(end));
    return from < TL_KEY_LIMIT;
}

static tl_status put_nodes(arcsim *a, const tl_node *node, const tl_arc_handle *f, json_t *entry)
{
    tl_node nodes = tl_node_key(node, "nodes");
    const tl_node label = tl_node_key(node, "label");
    if (!nodes.value) nodes = tl_node_key(node, "vertices");
    if (json_array_size(nodes.value) > 0) {
        json_t *list = json_array();
        arc_put(a, entry, "nodes", list);
        for (size_t i = 0; i < json_array_size(nodes.value); i++) {
            const tl_node n = tl_node_at(&nodes, i);
            int64_t index;
            TL_TRY(tl_key_read(&n, &tl_node_index_key, &index, a->err));
            arc_append(a, list, json_integer(index));
        }
        return TL_OK;
    }
    if (!label.value) return tl_node_fail(node, false, a->err, "selects nothing (give nodes or label)");
    if (f->label < 1) return tl_node_fail(&label, true, a->err, "must be >= 1, a label of nodes (nl lines)");
    arc_put(a, entry, "label", json_integer(f->label));
    return TL_OK;
}

// The loop winds once around its ellipse along `u`.
static tl_status put_ellipse(arcsim *a, const tl_node *node, const tl_arc_handle *f, json_t *entry)
{
    static const char *const needed[] = {"circumference", "u", "center", "axis0", "axis1"};
    for (int i = 0; i < 5; i++)
        if (!json_object_get(node->value, needed[i]))
            return tl_node_fail(node, false, a->err, "is a circle and lacks '%s'", needed[i]);
    const double x = f->u.x / f->circumference, y = f->u.y / f->circumference;
    if (!(fabs(x) < TL_KEY_LIMIT && fabs(y) < TL_KEY_LIMIT)) {
        const tl_node bad = tl_node_key(node, "circumference");
        return tl_node_fail(&bad, true, a->err, "is too small");
    }
    arc_put(a, entry, "ellipse",
            json_pack("{s:o,s:o,s:o,s:[f,f]}", "center", arc_vec3(arc_up(f->center)), "axis0",
                      arc_vec3(arc_up(f->axis0)), "axis1", arc_vec3(arc_up(f->axis1)), "turns", x, y));
    return TL_OK;
}

static tl_status read_handle(arcsim *a, const tl_node *node, json_t *out)
{
    tl_arc_handle f = {.motion = -1};
    TL_TRY(arc_read(a, node, &tl_arc_handle_table, &f));
    const tl_node type = tl_node_key(node, "type"), cloth = tl_node_key(node, "cloth");
    const bool circle = strcmp(f.type, "circle") == 0;
    const size_t cloths = json_array_size(json_object_get(a->out, "cloths"));
    if ((uint64_t)f.cloth >= cloths)
        return tl_node_fail(&cloth, true, a->err, "must be in [0, %zu], a place in cloths", cloths - 1);
    if (strcmp(f.type, "node") != 0 && !circle) {
        const char *why =
            strcmp(f.type, "glue") == 0 ? "not supported (sew the nodes together in the mesh)" : "not known";
        arc_note(a, f.type, &type, "\"%.40s\": handles of this kind are %s, and left out", f.type, why);
        return TL_OK;
    }
    json_t *entry = json_object();
    arc_append(a, out, entry);
    arc_put(a, entry, "cloth", json_integer(f.cloth));
    TL_TRY(put_nodes(a, node, &f, entry));
    if (circle) TL_TRY(put_ellipse(a, node, &f, entry));
    if (f.fade_time > 0) {
        arc_put(a, entry, "fade", json_real(f.fade_time));
        arc_put(a, entry, "stiffness", json_real(a->file.magic.handle_stiffness));
    }
    if (!put_times(a, entry, f.start_time, f.end_time)) {
        arc_note(a, "", node, "never holds (end_time is not after start_time), and is left out");
        json_array_remove(out, json_array_size(out) - 1);
        return TL_OK;
    }
    return arc_put_motion(a, node, f.motion, entry);
}

tl_status arc_read_handles(arcsim *a, const tl_node *root)
{
    const tl_node list = tl_node_key(root, "handles");
    json_t *out = json_array();
    arc_put(a, a->out, "handles", out);
    bool fades = false;
    for (size_t i = 0; i < json_array_size(list.value); i++) {
        const tl_node node = tl_node_at(&list, i);
        TL_TRY(read_handle(a, &node, out));
        fades = fades || json_number_value(json_object_get(node.value, "fade_time")) > 0;
    }
    if (!a->stiffness_given || fades) return TL_OK;
    const tl_node magic = tl_node_key(root, "magic"), stiffness = tl_node_key(&magic, "handle_stiffness");
    arc_note(a, "handle_stiffness", &stiffness,
             "has no effect: handles hold their nodes exactly, only those with a fade_time let go by springs");
    return TL_OK;
}

// ---- obstacles --------------------------------------------------------------------------------------------

static json_t *add_obstacle(arcsim *a, json_t *out, const char *path, const tl_transform_file *transform)
{
    json_t *entry = json_object();
    arc_append(a, out, entry);
    arc_put(a, entry, "mesh", json_string(path));
    arc_put(a, entry, "transform", arc_transform(transform));
    arc_put(a, entry, "friction", json_real(a->file.obs_friction));
    return entry;
}

static tl_status read_obstacle(arcsim *a, const tl_node *node, json_t *out)
{
    tl_arc_obstacle f = {.motion = -1};
    TL_TRY(arc_read(a, node, &tl_arc_obstacle_table, &f));
    TL_TRY(arc_check_rotation(node, &f.transform, a->err));
    const tl_node mesh = tl_node_key(node, "mesh");
    char path[TL_PATH_MAX];
    TL_TRY(arc_find(a, &mesh, path));
    json_t *entry = add_obstacle(a, out, path, &f.transform);
    if (!put_times(a, entry, f.start_time, f.end_time)) {
        arc_note(a, "", node, "is never there (end_time is not after start_time), and is left out");
        json_array_remove(out, json_array_size(out) - 1);
        return TL_OK;
    }
    return arc_put_motion(a, node, f.motion, entry);
}

// The one number of a name such as body%04d.obj, filled in; false: there is none.
static bool numbered(const char *pattern, int number, char *out, size_t size)
{
    const char *at = strchr(pattern, '%');
    int width = 0;
    if (!at) return false;
    const char *p = at + 1;
    const bool zeros = *p == '0';
    while (*p >= '0' && *p <= '9' && width < 20) width = 10 * width + (*p++ - '0');
    if (*p != 'd' || width > 12 || strchr(p + 1, '%')) return false;
    const int n = zeros ? snprintf(out, size, "%.*s%0*d%s", (int)(at - pattern), pattern, width, number, p + 1)
                        : snprintf(out, size, "%.*s%*d%s", (int)(at - pattern), pattern, width, number, p + 1);
    return n >= 0 && n < (int)size;
}

// Part i moves with motion i.
static tl_status read_parts(arcsim *a, const tl_node *node, json_t *out)
{
    enum { MOST = 10000 };
    char name[TL_PATH_MAX], path[TL_PATH_MAX];
    const tl_transform_file identity = {.scale = 1};
    int count = 0;
    for (; count < MOST; count++) {
        if (!numbered(json_string_value(node->value), count, name, sizeof name))
            return tl_node_fail(node, true, a->err, "must have one number, as in \"body/%%04d.obj\"");
        if (!arc_find_name(a, name, path)) break;
        TL_TRY(arc_check_path(a, node, path));
        json_t *entry = add_obstacle(a, out, path, &identity);
        if ((size_t)count < json_array_size(a->motions)) TL_TRY(arc_put_motion(a, node, count, entry));
    }
    if (count == 0)
        return tl_node_fail(node, true, a->err,
                            "%.200s is not there (looked for in the folder of the scene, in those above it and in the "
                            "current folder)",
                            name);
    const int motions = (int)json_array_size(a->motions);
    if (motions != count && motions > 0)
        arc_note(a, "parts", node, "has %d parts for %d motions: part i moves with motion i, the rest stands still",
                 count, motions);
    return TL_OK;
}

tl_status arc_read_obstacles(arcsim *a, const tl_node *root)
{
    const tl_node list = tl_node_key(root, "obstacles");
    json_t *out = json_array();
    arc_put(a, a->out, "obstacles", out);
    if (json_is_string(list.value)) return read_parts(a, &list, out);
    for (size_t i = 0; i < json_array_size(list.value); i++) {
        const tl_node node = tl_node_at(&list, i);
        TL_TRY(read_obstacle(a, &node, out));
    }
    return TL_OK;
}
