// scene/scene_simulate.c: builds the simulation that a scene describes, through the public interface alone.

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/log.h"
#include "math/elementary.h"
#include "scene/scene.h"
#include "math/vec3.h"

// Rodrigues' formula; exact when there is no turn.
static tl_vec3 turned_by(const tl_transform_file *transform, tl_vec3 a)
{
    const double *r = transform->rotate;
    if (r[0] == 0) return a;
    const tl_vec3 axis = tl_unit3_or((tl_vec3){r[1], r[2], r[3]}, (tl_vec3){0, 1, 0});
    // Quarter turns are what people write: their sine and cosine are exact.
    const double quarters = r[0] / 90;
    double c, s;
    if (quarters == floor(quarters)) {
        const int q = (int)(((int64_t)quarters % 4 + 4) % 4);
        c = q == 0 ? 1 : q == 2 ? -1 : 0;
        s = q == 1 ? 1 : q == 3 ? -1 : 0;
    } else {
        const double angle = r[0] * (3.14159265358979323846 / 180);
        c = tl_cos(angle), s = tl_sin(angle);
    }
    const tl_vec3 turned = tl_madd3(tl_mul3(c, a), s, tl_cross3(axis, a));
    return tl_madd3(turned, (1 - c) * tl_dot3(axis, a), axis);
}

// The scene's remeshing, with what the cloth says of its own.
static tl_remeshing remeshing_of(const tl_scene *scene, const tl_scene_cloth *cloth)
{
    tl_remeshing_file f = scene->file.remeshing;
    const tl_remeshing_file *own = &cloth->file.remeshing;
    if (cloth->own_remeshing) {
        double *to[] = {&f.size_min,     &f.size_max,    &f.aspect_min,   &f.curvature,        &f.velocity,
                        &f.compression,  &f.hysteresis,  &f.interval,     &f.rib_stiffening,   &f.error,
                        &f.split_length, &f.join_length, &f.obstacle_gap, &f.length_per_level, &f.sag};
        const double from[] = {
            own->size_min,     own->size_max,    own->aspect_min,   own->curvature,        own->velocity,
            own->compression,  own->hysteresis,  own->interval,     own->rib_stiffening,   own->error,
            own->split_length, own->join_length, own->obstacle_gap, own->length_per_level, own->sag};
        for (size_t i = 0; i < sizeof from / sizeof from[0]; i++)
            if (!isnan(from[i])) *to[i] = from[i];
        if (own->kind >= 0) f.kind = own->kind;
        if (own->blend >= 0) f.blend = own->blend;
        if (own->edge_angles >= 0) f.edge_angles = own->edge_angles;
        if (own->narrowing >= 0) f.narrowing = own->narrowing;
        if (own->obstacles >= 0) f.obstacles = own->obstacles;
        if (own->max_faces >= 0) f.max_faces = own->max_faces;
        if (own->patience >= 0) f.patience = own->patience;
        if (own->levels >= 0) f.levels = own->levels;
        if (own->rejoin_wait >= 0) f.rejoin_wait = own->rejoin_wait;
        if (own->layers >= 0) f.layers = own->layers;
        if (own->criteria >= 0) f.criteria = own->criteria;
        if (own->masses >= 0) f.masses = own->masses;
        if (own->obstacle_levels >= 0) f.obstacle_levels = own->obstacle_levels;
        if (own->ties >= 0) f.ties = own->ties;
        if (own->always_join >= 0) f.always_join = own->always_join;
        if (own->locked >= 0) f.locked = own->locked;
    }
    return (tl_remeshing){.kind = (tl_remeshing_kind)f.kind,
                          .size_min = f.size_min,
                          .size_max = f.size_max,
                          .aspect_min = f.aspect_min,
                          .curvature = f.curvature,
                          .velocity = f.velocity,
                          .compression = f.compression,
                          .edge_angles = f.edge_angles != 0,
                          .narrowing = f.narrowing != 0,
                          .rib_stiffening = f.rib_stiffening,
                          .obstacle_gap = f.obstacle_gap,
                          .obstacles = f.obstacles != 0,
                          .blend = (tl_remeshing_blend)f.blend,
                          .hysteresis = f.hysteresis,
                          .interval = isnan(f.interval) ? 1 / scene->fps : f.interval,
                          .patience = (int32_t)f.patience,
                          .max_faces = (int32_t)f.max_faces,
                          .layers = (int32_t)f.layers,
                          .criteria = (tl_sqrt3_criteria)f.criteria,
                          .masses = (tl_masses)f.masses,
                          .error = f.error,
                          .levels = (int32_t)f.levels,
                          .rejoin_wait = (int32_t)f.rejoin_wait,
                          .obstacle_levels = (int32_t)f.obstacle_levels,
                          .ties = (tl_trees_ties)f.ties,
                          .always_join = f.always_join != 0,
                          .locked = f.locked != 0,
                          .length_per_level = f.length_per_level,
                          .sag = f.sag,
                          .split_length = f.split_length,
                          .join_length = f.join_length};
}

// A model in centimetres is a cloth of a hundred metres, whose triangles would be millions even where nothing happens.
#define ENDLESS_SIZE 10.0  // [m]
#define ENDLESS_FACES 1e5  // with edges of size_max

static tl_status refuse_endless(const tl_scene_cloth *cloth, const tl_cloth_def *def, tl_error *err)
{
    const tl_remeshing *r = &def->remeshing;
    if ((r->kind != TL_REMESHING_ANISOTROPIC && r->kind != TL_REMESHING_ISOTROPIC) || r->max_faces > 0) return TL_OK;
    tl_vec2 low = def->uv[0], high = def->uv[0];
    for (int32_t v = 0; v < def->vert_count; v++) {
        low = (tl_vec2){fmin(low.x, def->uv[v].x), fmin(low.y, def->uv[v].y)};
        high = (tl_vec2){fmax(high.x, def->uv[v].x), fmax(high.y, def->uv[v].y)};
    }
    double area = 0;
    for (int32_t f = 0; f < def->face_count; f++) {
        const int32_t *v = def->face[f];
        area += 0.5 * fabs(tl_cross2(tl_sub2(def->uv[v[1]], def->uv[v[0]]), tl_sub2(def->uv[v[2]], def->uv[v[0]])));
    }
    const double size = fmax(high.x - low.x, high.y - low.y),
                 faces = area / (0.25 * sqrt(3) * r->size_max * r->size_max);
    if (size <= ENDLESS_SIZE || faces <= ENDLESS_FACES) return TL_OK;
    const double scale = cloth->file.transform.scale;
    return tl_fail(
        err, TL_BAD_INPUT,
        "cloth %s is %.*f m large and would have %.0f triangles at least (remeshing.size_max %g m): for a model "
        "in centimetres set its transform.scale to %g, in millimetres to %g; if it is as large as that, give "
        "a larger remeshing.size_max, or remeshing.max_faces",
        cloth->name, size < 100, size, faces, r->size_max, 0.01 * scale, 0.001 * scale);
}

static double or_else(double value, double other) { return isnan(value) ? other : value; }

static tl_strain_def strain_of(const tl_strain_file *file)
{
    const double none = (double)INFINITY;
    tl_strain_def def = {file->kind == 1 ? TL_STRAIN_ALIGNED : TL_STRAIN_ISOTROPIC,
                         or_else(file->min, -none),
                         or_else(file->max, none),
                         -none,
                         none,
                         or_else(file->shear, none)};
    def.weft_min = or_else(file->weft_min, def.min), def.weft_max = or_else(file->weft_max, def.max);
    return def;
}

static tl_status add_cloth(const tl_scene *scene, const tl_scene_cloth *cloth, tl_sim *sim, tl_cloth_id *id,
                           tl_error *err)
{
    const tl_allocator *alloc = &scene->alloc;
    const tl_obj *mesh = &cloth->mesh;
    const tl_transform_file *tf = &cloth->file.transform;
    const tl_velocity_file *vf = &cloth->file.velocity;
    const size_t n = (size_t)mesh->node_count, nv = (size_t)mesh->vert_count, nm = (size_t)cloth->material_count;
    tl_vec3 *pos = TL_ALLOC(alloc, tl_vec3, n), *vel = TL_ALLOC(alloc, tl_vec3, n);
    tl_vec2 *uv = TL_ALLOC(alloc, tl_vec2, nv);
    tl_material *materials = TL_ALLOC(alloc, tl_material, nm);
    tl_status status = pos && vel && uv && materials ? TL_OK : tl_fail_memory(err, "a cloth");
    if (status == TL_OK) {
        for (size_t i = 0; i < n; i++) {
            const tl_vec3 turned = turned_by(tf, tl_mul3(tf->scale, mesh->pos[i]));
            pos[i] = tl_add3(turned, tf->translate);
            vel[i] = tl_add3(vf->linear, tl_cross3(vf->angular, tl_sub3(pos[i], vf->origin)));
            if (mesh->vel) vel[i] = tl_add3(vel[i], turned_by(tf, mesh->vel[i]));
        }
        tl_scene_unsettle(mesh, cloth->file.unevenness, (uint64_t)scene->file.seed, (int32_t)(cloth - scene->cloths),
                          pos, vel);
        for (size_t i = 0; i < nv; i++) uv[i] = tl_mul2(tf->scale, mesh->uv[i]);
        for (size_t i = 0; i < nm; i++) {
            tl_material *m = &materials[i];
            *m = cloth->materials[i];
            m->density *= cloth->file.density_scale;
            for (int k = 0; k < 24; k++) m->stretch[k / 4][k % 4] *= cloth->file.stretch_scale;
            for (int k = 0; k < 15; k++) m->bend[k / 5][k % 5] *= cloth->file.bend_scale;
            if (!isnan(cloth->file.damping_stretch)) m->damping_stretch = cloth->file.damping_stretch;
            if (!isnan(cloth->file.damping_bend)) m->damping_bend = cloth->file.damping_bend;
            if (!isnan(cloth->file.friction_bend)) m->friction_bend = cloth->file.friction_bend;
        }
        tl_cloth_def def = tl_cloth_def_default();
        def.name = cloth->name;
        def.node_count = mesh->node_count;
        def.pos = pos, def.vel = vel;
        def.vert_count = mesh->vert_count;
        def.uv = uv;
        def.vert_node = mesh->vert_node;
        def.face_count = mesh->face_count;
        def.face = (const int32_t(*)[3])mesh->face;
        def.face_label = mesh->face_label;
        def.node_label = mesh->node_label;
        def.edge_count = mesh->edge_count, def.edge = (const int32_t(*)[2])mesh->edge,
        def.edge_label = mesh->edge_label;
        def.materials = materials;
        def.material_count = cloth->material_count;
        def.rest_from_shape = cloth->file.rest_shape == 1;
        def.thickness = cloth->file.thickness;
        def.friction = cloth->file.friction;
        def.friction_self = cloth->file.friction_self;
        def.remeshing = remeshing_of(scene, cloth);
        status = refuse_endless(cloth, &def, err);
        if (cloth->limited) def.strain = strain_of(&cloth->file.strain_limits);
        if (status == TL_OK) status = tl_sim_add_cloth(sim, &def, id, err);
    }
    TL_FREE(alloc, pos, n);
    TL_FREE(alloc, vel, n);
    TL_FREE(alloc, uv, nv);
    TL_FREE(alloc, materials, nm);
    return status;
}

static tl_status add_nodes(const tl_scene_handle *handle, const int32_t *nodes, int32_t node_count, tl_cloth_id cloth,
                           tl_sim *sim, tl_error *err)
{
    tl_handle_def def = tl_handle_def_default();
    def.cloth = cloth;
    def.nodes = nodes;
    def.node_count = node_count;
    def.along_outline = handle->sides != 0;
    def.label = (int32_t)handle->file.label;
    def.use_box = handle->use_box, def.use_sphere = handle->use_sphere, def.use_uv_box = handle->use_uv_box;
    def.box_min = handle->file.box.min, def.box_max = handle->file.box.max;
    def.sphere_center = handle->file.sphere.center, def.sphere_radius = handle->file.sphere.radius;
    def.uv_min = handle->file.uv_box.min, def.uv_max = handle->file.uv_box.max;
    def.start = handle->file.start;
    if (!isnan(handle->file.end)) def.end = handle->file.end;
    def.fade = handle->file.fade, def.stiffness = handle->file.stiffness;
    const tl_ellipse_file *ellipse = &handle->file.ellipse;
    def.use_ellipse = handle->use_ellipse, def.ellipse_center = ellipse->center, def.ellipse_turns = ellipse->turns;
    def.ellipse_axis[0] = ellipse->axis0, def.ellipse_axis[1] = ellipse->axis1;
    def.pivot = handle->file.pivot;
    def.curve = (tl_curve)handle->file.curve;  // the words stand in the order of the enum
    def.keys = handle->keys;
    def.key_count = handle->key_count;
    for (int32_t i = 0; *handle->body && i < tl_sim_body_count(sim); i++)
        if (strcmp(tl_sim_body_name(sim, tl_sim_body(sim, i)), handle->body) == 0) def.body = tl_sim_body(sim, i);
    if (!isnan(handle->file.slack)) def.slack = handle->file.slack;
    if (!isnan(handle->file.elastic)) def.elastic = handle->file.elastic;
    if (!isnan(handle->file.tension)) def.tension = handle->file.tension;
    return tl_sim_add_handle(sim, &def, err);
}

// Sides become handles of their own: what remeshing puts between the ends of two sides is not held.
static tl_status add_handle(const tl_scene *scene, const tl_scene_handle *handle, tl_cloth_id cloth, tl_sim *sim,
                            tl_error *err)
{
    if (!handle->sides) return add_nodes(handle, handle->nodes, handle->node_count, cloth, sim, err);
    const tl_obj *mesh = &scene->cloths[handle->cloth].mesh;
    const tl_vec2 size = scene->cloths[handle->cloth].rectangle_size;
    int32_t *nodes = TL_ALLOC(&scene->alloc, int32_t, mesh->vert_count);
    tl_status status = nodes ? TL_OK : tl_fail_memory(err, "a handle");
    for (int w = 1; w <= 4 && status == TL_OK; w++) {  // as tl_side_words: left, right, bottom, top
        int32_t count = 0;
        for (int32_t i = 0; i < mesh->vert_count; i++) {
            const double at = w <= 2 ? mesh->uv[i].x : mesh->uv[i].y, side = w == 2 ? size.x : w == 4 ? size.y : 0;
            if (at == side) nodes[count++] = mesh->vert_node[i];
        }
        if (handle->sides >> w & 1) status = add_nodes(handle, nodes, count, cloth, sim, err);
    }
    TL_FREE(&scene->alloc, nodes, mesh->vert_count);
    return status;
}

static tl_vec3 put(const tl_transform_file *tf, tl_vec3 a)
{
    return tl_add3(turned_by(tf, tl_mul3(tf->scale, a)), tf->translate);
}

tl_vec3 tl_scene_transformed(const tl_transform_file *transform, tl_vec3 point) { return put(transform, point); }

static const int32_t box_face[12][3] = {{0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}, {0, 1, 5}, {0, 5, 4},
                                        {2, 6, 7}, {2, 7, 3}, {0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}};

// The shape with its transform. A box becomes a mesh, since it may be turned.
static void place_shape(const tl_scene_obstacle *o, tl_vec3 box[8], tl_body_def *def)
{
    const tl_obstacle_file *f = &o->file;
    const tl_transform_file *tf = &f->transform;
    const tl_rod_file *rod = o->kind == TL_BODY_CAPSULE ? &f->capsule : &f->cylinder;
    switch (o->kind) {
    case TL_BODY_PLANE: def->center = put(tf, f->plane.point), def->axis = turned_by(tf, f->plane.normal); break;
    case TL_BODY_SPHERE: def->center = put(tf, f->sphere.center), def->radius = tf->scale * f->sphere.radius; break;
    case TL_BODY_CAPSULE:
    case TL_BODY_CYLINDER:
        def->center = put(tf, tl_mul3(0.5, tl_add3(rod->from, rod->to)));
        def->axis = tl_mul3(tf->scale, turned_by(tf, tl_sub3(rod->to, rod->from)));
        def->radius = tf->scale * rod->radius;
        break;
    case TL_BODY_BOX:
        for (int i = 0; i < 8; i++)
            box[i] = put(tf, (tl_vec3){i & 1 ? f->box.max.x : f->box.min.x, i & 2 ? f->box.max.y : f->box.min.y,
                                       i & 4 ? f->box.max.z : f->box.min.z});
        def->kind = TL_BODY_MESH, def->node_count = 8, def->pos = box, def->face_count = 12, def->face = box_face;
        break;
    case TL_BODY_MESH: break;
    }
}

static tl_status add_obstacle(const tl_scene *scene, const tl_scene_obstacle *o, tl_sim *sim, tl_error *err)
{
    tl_body_def def = tl_body_def_default();
    tl_vec3 box[8];
    def.name = o->name, def.kind = o->kind;
    def.motion = o->keys, def.motion_count = o->key_count, def.pivot = o->file.pivot;
    def.curve = (tl_curve)o->file.curve;
    def.start = o->file.start;
    if (!isnan(o->file.end)) def.end = o->file.end;
    def.friction = o->file.friction, def.thickness = o->file.thickness;
    tl_body_id id;
    if (o->kind != TL_BODY_MESH) {
        place_shape(o, box, &def);
        return tl_sim_add_body(sim, &def, &id, err);
    }
    if (o->character) {
        def.character = o->character, def.playback = o->play;
        def.mittens = o->file.character.mittens ? 1 : 0, def.flesh = o->file.character.flesh ? 1 : 0;
        return tl_sim_add_body(sim, &def, &id, err);
    }
    const size_t count = (size_t)o->mesh.node_count * (size_t)(o->shapes ? o->shape_count : 1);
    tl_vec3 *pos = TL_ALLOC(&scene->alloc, tl_vec3, count);
    if (!pos) return tl_fail_memory(err, "an obstacle");
    const tl_vec3 *from = o->shapes ? o->shapes : o->mesh.pos;
    for (size_t i = 0; i < count; i++) pos[i] = put(&o->file.transform, from[i]);
    def.node_count = o->mesh.node_count, def.face_count = o->mesh.face_count,
    def.face = (const int32_t(*)[3])o->mesh.face;
    if (o->shapes)
        def.key_count = o->shape_count, def.key_time = o->times, def.key_pos = pos;
    else
        def.pos = pos;
    const tl_status status = tl_sim_add_body(sim, &def, &id, err);
    TL_FREE(&scene->alloc, pos, count);
    return status;
}

static tl_sim_def sim_def(const tl_scene *scene, int32_t threads, const tl_allocator *alloc, const tl_log *log)
{
    const tl_solver_file *solver = &scene->file.solver;
    tl_sim_def def = tl_sim_def_default();
    def.dt = 1 / (scene->fps * scene->steps_per_frame);
    def.integrator = solver->integrator == 1 ? TL_BDF2 : TL_IMPLICIT_EULER;
    def.bending = solver->bending == 1 ? TL_BEND_HINGE : TL_BEND_SHAPE;
    def.newton_iterations = (int32_t)solver->newton_iterations;
    def.newton_tolerance = solver->newton_tolerance;
    def.max_halvings = (int32_t)solver->max_halvings;
    def.effort = solver->effort;
    def.linear = (tl_linear)solver->linear;  // the words stand in the order of the enum
    def.linear_tolerance = solver->linear_tolerance;
    def.linear_iterations = (int32_t)solver->linear_iterations;
    def.gravity = scene->file.gravity;
    def.air.density = scene->file.air.density;
    def.air.drag = scene->file.air.drag;
    def.air.skin = scene->file.air.skin;
    def.air.lee = scene->file.air.lee;
    def.air.wind = scene->wind.velocity;
    def.air.keys = scene->wind_keys;
    def.air.key_count = scene->wind_key_count;
    def.air.gust = scene->wind.gust.strength;
    def.air.gust_period = scene->wind.gust.period;
    def.air.turbulence = scene->wind.turbulence.strength;
    def.air.turbulence_length = scene->wind.turbulence.length;
    const tl_collide_file *collide = &scene->file.collide;
    def.collide.bodies = collide->bodies != 0, def.collide.self = collide->self != 0;
    def.collide.combine = (tl_combine)collide->combine;  // the words stand in the order of the enums
    def.collide.on_intersection = (tl_on_intersection)collide->on_intersection;
    def.collide.detection = (tl_detection)collide->detection;
    def.collide.response = (tl_response)collide->response;
    def.collide.pressure = collide->pressure, def.collide.slip_speed = collide->slip_speed;
    def.collide.net = collide->net != 0, def.collide.measure = collide->measure != 0;
    def.collide.dop = (int32_t)collide->dop, def.collide.arity = (int32_t)collide->arity;
    def.collide.leaf_faces = (int32_t)collide->leaf_faces, def.collide.new_pairs = (int32_t)collide->new_pairs;
    def.collide.distance = collide->distance, def.collide.find_ratio = collide->find_ratio;
    def.collide.response_ratio = collide->response_ratio, def.collide.most_tests = collide->most_tests;
    const tl_dynamics_file *dynamics = &scene->file.dynamics;
    def.dynamics = (tl_dynamics_kind)dynamics->kind;  // the words stand in the order of the enums
    def.springs.method = (uint32_t)dynamics->method, def.springs.substeps = (int32_t)dynamics->substeps;
    def.springs.offset = dynamics->offset, def.springs.self_distance = dynamics->self_distance;
    def.springs.compression = dynamics->compression;
    def.springs.stiffness = dynamics->stiffness, def.springs.bend = dynamics->bend;
    def.springs.damping = dynamics->damping, def.springs.max_stretch = dynamics->max_stretch;
    def.springs.length_rounds = (int32_t)dynamics->length_rounds;
    def.springs.search = (uint32_t)dynamics->search, def.springs.friction = (uint32_t)dynamics->friction;
    def.springs.bending = (uint32_t)dynamics->bending, def.springs.level_rule = (uint32_t)dynamics->level_rule;
    def.springs.link_steps = (int32_t)dynamics->link_steps, def.springs.link_distance = dynamics->link_distance;
    def.springs.link_slide = dynamics->link_slide, def.springs.link_lift = dynamics->link_lift;
    const tl_start_file *start = &scene->file.start;
    def.start.relax = (tl_relax)start->relax, def.start.strain = start->strain;
    def.start.limit_min = start->limit_min, def.start.limit_max = start->limit_max;
    def.seed = (uint64_t)scene->file.seed;
    def.threads = threads;
    if (alloc) def.alloc = *alloc;
    if (log) def.log = *log;
    return def;
}

// The message of the simulation, with the place in the scene in front.
static tl_status place(const tl_scene *scene, const char *list_name, int32_t index, const char *origin,
                       tl_status status, tl_error *err)
{
    if (status == TL_OK || status == TL_NO_MEMORY || !err) return status;
    const tl_node root = tl_json_root(scene->doc), list = tl_node_key(&root, list_name);
    const tl_node node = tl_node_at(&list, (size_t)index);
    if (origin) {
        tl_error inner = *err;
        tl_fail(err, status, "%.255s: %s", origin, inner.message);
    }
    return tl_node_prefix(&node, err);
}

// Those that tie cloth to bodies come after the bodies.
static tl_status add_handles(const tl_scene *scene, const tl_cloth_id *ids, bool ties, tl_sim *sim, tl_error *err)
{
    for (int32_t i = 0; i < scene->handle_count; i++) {
        const tl_scene_handle *h = &scene->handles[i];
        if (ties == (*h->body != 0))
            TL_TRY(place(scene, "handles", i, NULL, add_handle(scene, h, ids[h->cloth], sim, err), err));
    }
    return TL_OK;
}

tl_status tl_scene_simulate(const tl_scene *scene, int32_t threads, const tl_allocator *alloc, const tl_log *log,
                            tl_sim **out, tl_error *err)
{
    if (!scene || !out) return tl_fail(err, TL_BAD_ARG, "scene_simulate: scene or out is NULL");
    *out = NULL;
    for (int32_t i = 0; log && i < scene->notes.count; i++)
        tl_log_write(log, TL_LOG_WARNING, "%s", scene->notes.items[i].text);
    const tl_sim_def def = sim_def(scene, threads, alloc, log);
    tl_sim *sim = NULL;
    tl_status status = tl_sim_create(&def, &sim, err);
    tl_cloth_id *ids = TL_CALLOC(&scene->alloc, tl_cloth_id, scene->cloth_count);
    if (status == TL_OK && !ids) status = tl_fail_memory(err, "cloth ids");
    for (int32_t i = 0; status == TL_OK && i < scene->cloth_count; i++)
        status = place(scene, "cloths", i, scene->cloths[i].origin,
                       add_cloth(scene, &scene->cloths[i], sim, &ids[i], err), err);
    if (status == TL_OK) status = add_handles(scene, ids, false, sim, err);
    for (int32_t i = 0; status == TL_OK && i < scene->obstacle_count; i++)
        status =
            place(scene, "obstacles", i, scene->obstacles[i].kind == TL_BODY_MESH ? scene->obstacles[i].origin : NULL,
                  add_obstacle(scene, &scene->obstacles[i], sim, err), err);
    if (status == TL_OK) status = add_handles(scene, ids, true, sim, err);
    if (status == TL_OK) status = tl_scene_set_detail(scene, sim, err);
    TL_FREE(&scene->alloc, ids, scene->cloth_count);
    if (status != TL_OK) {
        tl_sim_destroy(sim);
        return status;
    }
    *out = sim;
    return TL_OK;
}
