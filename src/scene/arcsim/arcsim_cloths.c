// scene/arcsim/arcsim_cloths.c: cloths of ARCSim scenes: meshes, fabrics with their factors, strain limits, the sizing
// field.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "scene/arcsim/arcsim_impl.h"
#include "scene/material_io.h"
#include "scene/material_keys.h"

#define NO_LIMIT 1e9       // of the sizing field: a term that is off
#define LOOSE_STRETCH 1e6  // a limit on stretch that nothing reaches

// ---- fabrics ----------------------------------------------------------------------------------------------

static bool is_measured(const json_t *root)
{
    return json_object_get(root, "stretching") && !json_object_get(root, "kind");
}

static tl_status open_fabric(arcsim *a, const tl_node *data, tl_material *out)
{
    char path[TL_PATH_MAX], stem[64];
    TL_TRY(arc_find(a, data, path));
    tl_path_stem(path, stem, sizeof stem);
    tl_json_doc *doc;
    TL_TRY(tl_json_load(a->alloc, &(tl_json_def){.path = path, .reader = a->reader, .is_loose = is_measured}, &doc,
                        a->err));
    const tl_node root = tl_json_root(doc);
    if (is_measured(root.value)) arc_strip(a, &root, &tl_material_wang_table);
    const tl_status status = tl_material_read(&root, false, stem, out, NULL, a->err);
    tl_json_destroy(doc);
    return status;
}

// A number as exact as it need be for a person to read.
static json_t *fabric_json(const tl_material *m, const tl_arc_material *f)
{
    char source[TL_PATH_MAX / 8];
    snprintf(source, sizeof source, "ARCSim's %.200s, density x %g, stretching x %g, bending x %g", f->data,
             f->density_mult * f->thicken, f->stretching_mult * f->thicken, f->bending_mult * f->thicken);
    return tl_material_json(m, source);
}

static tl_status read_material(arcsim *a, const tl_node *node, json_t *list, tl_arc_material *f)
{
    if (json_is_object(node->value) && arc_disabled(a, ARC_PLASTICITY)) {
        json_object_del(node->value, "yield_curv");
        json_object_del(node->value, "weakening");
    }
    TL_TRY(arc_read(a, node, &tl_arc_material_table, f));
    const tl_node data = tl_node_key(node, "data");
    tl_material m;
    TL_TRY(open_fabric(a, &data, &m));
    m.density *= f->density_mult * f->thicken;
    for (int k = 0; k < 24; k++) m.stretch[k / 4][k % 4] *= f->stretching_mult * f->thicken;
    for (int k = 0; k < 15; k++) m.bend[k / 5][k % 5] *= f->bending_mult * f->thicken;
    m.damping_stretch = m.damping_bend = f->damping;
    if (tl_material_check(&m, a->err) != TL_OK) return tl_node_prefix(node, a->err);
    arc_append(a, list, fabric_json(&m, f));
    return TL_OK;
}

// ---- strain limits ----------------------------------------------------------------------------------------

/// Least and largest strain of a cloth.
typedef struct limits {
    double min, max;
} limits;

static tl_status read_limits(arcsim *a, const tl_node *material, const tl_arc_material *f, limits *out)
{
    const tl_node node = tl_node_key(material, "strain_limits");
    *out = (limits){-(double)INFINITY, (double)INFINITY};
    if (!node.value || arc_disabled(a, ARC_STRAIN)) return TL_OK;
    const tl_vec2 s = f->strain_limits;
    if (!(s.x <= 1 && s.y >= 1))
        return tl_node_fail(&node, false, a->err,
                            "[%g, %g], must be stretch ratios around 1, the least first (0.95 is -5 %%)", s.x, s.y);
    if (s.x > 0) out->min = s.x - 1;
    if (s.y < LOOSE_STRETCH) out->max = s.y - 1;
    return TL_OK;
}

// Limits here belong to a cloth: where its materials differ, the widest holds for all.
static void join_limits(arcsim *a, const tl_node *material, bool first, limits own, limits *all)
{
    if (first) {
        *all = own;
        return;
    }
    if (own.min == all->min && own.max == all->max) return;
    const tl_node node = tl_node_key(material, "strain_limits");
    *all = (limits){fmin(own.min, all->min), fmax(own.max, all->max)};
    arc_note(a, "limits", node.value ? &node : material,
             "differs from that of the materials before it: a cloth has one pair of limits here, the widest holds");
}

static void put_limits(arcsim *a, json_t *cloth, limits l)
{
    if (!isfinite(l.min) && !isfinite(l.max)) return;
    json_t *out = json_object();
    if (isfinite(l.min)) arc_put(a, out, "min", json_real(l.min));
    if (isfinite(l.max)) arc_put(a, out, "max", json_real(l.max));
    arc_put(a, cloth, "strain_limits", out);
}

static tl_status read_materials(arcsim *a, const tl_node *node, json_t *cloth)
{
    const tl_node list = tl_node_key(node, "materials");
    json_t *out = json_array();
    arc_put(a, cloth, "material", out);
    limits all = {0};
    for (size_t i = 0; i < json_array_size(list.value); i++) {
        const tl_node entry = tl_node_at(&list, i);
        tl_arc_material f = {0};
        limits own;
        TL_TRY(read_material(a, &entry, out, &f));
        TL_TRY(read_limits(a, &entry, &f, &own));
        join_limits(a, &entry, i == 0, own, &all);
    }
    put_limits(a, cloth, all);
    return TL_OK;
}

// ---- the sizing field -------------------------------------------------------------------------------------

static double or_off(double value) { return isnan(value) ? NO_LIMIT : fmin(value, NO_LIMIT); }

// ARCSim's layers need room for the forces that keep them apart. Ours do not pass through each other at any thickness,
// and one that is large beside the edges hides folds and makes every face the neighbour of many: no more than this part
// of the shortest edges.
#define THICKEST 0.25

static void limit_thickness(arcsim *a, const tl_node *cloth, double size_min, json_t *entry)
{
    const double asked = a->file.magic.repulsion_thickness, most = THICKEST * size_min;
    if (!(asked > most)) return;
    arc_note(a, "thickness", cloth,
             "has edges from %g m: layers keep %g m, a quarter of that, not 'repulsion_thickness' %g m", size_min, most,
             asked);
    arc_put(a, entry, "thickness", json_real(most));
}

// The field of Narain, Pfaff & O'Brien 2013: curvature also at edges, compression relieved by curvature across it
// (docs/remeshing.md).
static tl_status read_remeshing(arcsim *a, const tl_node *cloth, json_t *entry)
{
    const tl_node node = tl_node_key(cloth, "remeshing"), size = tl_node_key(&node, "size");
    if (!node.value || arc_disabled(a, ARC_REMESHING)) {
        if (!node.value && !arc_disabled(a, ARC_REMESHING))
            arc_note(a, "fixed", cloth, "has no 'remeshing': its mesh stays as it is");
        if (node.value) {  // a slip of the pen should be told all the same
            tl_arc_remeshing unused = {0};
            TL_TRY(arc_read(a, &node, &tl_arc_remeshing_table, &unused));
        }
        arc_put(a, entry, "remeshing", json_pack("{s:s}", "kind", "none"));
        return TL_OK;
    }
    tl_arc_remeshing f = {0};
    TL_TRY(arc_read(a, &node, &tl_arc_remeshing_table, &f));
    const tl_remeshing ours = tl_remeshing_default();
    if (!size.value) {
        f.size = (tl_vec2){ours.size_min, ours.size_max};
        arc_note(a, "size", &node, "lacks 'size': %g to %g m", ours.size_min, ours.size_max);
    }
    if (!(f.size.x <= f.size.y))
        return tl_node_fail(&size, false, a->err, "[%g, %g], the shortest edge must come first", f.size.x, f.size.y);
    const double aspect = isnan(f.aspect_min) || f.aspect_min == 0 ? ours.aspect_min : f.aspect_min;
    const tl_arc_magic *magic = &a->file.magic;
    arc_put(a, entry, "remeshing",
            json_pack("{s:s,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:b,s:s}", "kind", "anisotropic", "size_min",
                      fmin(f.size.x, 1e3), "size_max", fmin(f.size.y, 1e3), "aspect_min", aspect, "curvature",
                      or_off(f.refine_angle), "velocity", or_off(f.refine_velocity), "compression",
                      or_off(f.refine_compression), "rib_stiffening", magic->rib_stiffening, "obstacle_gap",
                      fmin(magic->repulsion_thickness, 1e3), "narrowing", 0, "blend",
                      magic->combine_tensors ? "max" : "sum"));
    limit_thickness(a, cloth, fmin(f.size.x, 1e3), entry);
    return TL_OK;
}

// ---- cloths -----------------------------------------------------------------------------------------------

static void put_velocity(arcsim *a, json_t *entry, const tl_velocity_file *v)
{
    arc_put(a, entry, "velocity",
            json_pack("{s:o,s:o,s:o}", "linear", arc_vec3(arc_up(v->linear)), "angular", arc_vec3(arc_up(v->angular)),
                      "origin", arc_vec3(arc_up(v->origin))));
}

// One material without its list is taken for a list of one.
static void wrap_material(arcsim *a, const tl_node *node)
{
    json_t *one = json_object_get(node->value, "materials");
    if (json_is_object(one)) arc_put(a, node->value, "materials", json_pack("[O]", one));
}

static tl_status read_cloth(arcsim *a, const tl_node *node, json_t *entry)
{
    tl_arc_cloth f = {0};
    wrap_material(a, node);
    TL_TRY(arc_read(a, node, &tl_arc_cloth_table, &f));
    TL_TRY(arc_check_rotation(node, &f.transform, a->err));
    const tl_node mesh = tl_node_key(node, "mesh");
    char path[TL_PATH_MAX];
    TL_TRY(arc_find(a, &mesh, path));
    arc_put(a, entry, "mesh", json_string(path));
    arc_put(a, entry, "transform", arc_transform(&f.transform));
    put_velocity(a, entry, &f.velocity);
    arc_put(a, entry, "thickness", json_real(a->file.magic.repulsion_thickness));
    arc_put(a, entry, "friction_self", json_real(a->file.friction));
    TL_TRY(read_materials(a, node, entry));
    return read_remeshing(a, node, entry);
}

tl_status arc_read_cloths(arcsim *a, const tl_node *root)
{
    const tl_node list = tl_node_key(root, "cloths");
    json_t *out = json_array();
    arc_put(a, a->out, "cloths", out);
    for (size_t i = 0; i < json_array_size(list.value); i++) {
        const tl_node node = tl_node_at(&list, i);
        json_t *entry = json_object();
        arc_append(a, out, entry);
        TL_TRY(read_cloth(a, &node, entry));
    }
    return TL_OK;
}
