// web/wasm/shim.c: load a scene, step it, take hold of cloth and bodies, tell what a step came to.

#include "shim.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

// The pointer may jump: what it holds follows at no more than this speed [m/s].
#define CLOTH_SPEED 4.0
#define BODY_SPEED 1.5
#define GRIP_RADIUS 0.02  // [m]: nodes so near to the point that was picked are held
enum { GRIP_NODES = 256, MAX_SETS = 64 };

tlw_session tlw = {.threads = 1};

/// Threads of the simulations that are made from now on; the browser's workers for them have to be there.
TLW_API void tlw_threads(int count);
void tlw_threads(int count) { tlw.threads = count < 1 ? 1 : count; }

int tlw_said(tl_status status)
{
    if (status == TL_OK) tlw.err.message[0] = 0;
    return (int)status;
}

static void let_go(void) { tlw.grip = (tl_handle_id){0}, tlw.carried = (tl_body_id){0}; }

void tlw_close(void)
{
    if (!tlw.sewing) tl_sim_destroy(tlw.sim);
    tl_sewing_destroy(tlw.sewing);
    tl_pattern_destroy(tlw.pattern);
    tl_scene_destroy(tlw.scene);
    tlw.sim = NULL, tlw.scene = NULL, tlw.sewing = NULL, tlw.pattern = NULL;
    let_go();
}

void tlw_adopt(tl_sim *sim, tl_scene *scene, double dt)
{
    tlw_close();
    tlw.sim = sim, tlw.scene = scene, tlw.dt = dt;
    memset(&tlw.report, 0, sizeof tlw.report);
}

/// The sentence of the last call that failed.
TLW_API const char *tlw_message(void);
const char *tlw_message(void) { return tlw.err.message; }

/// Loads a scene with settings, one "path.to.key=value" a line, and builds its simulation. A session there was stays
/// if this fails.
TLW_API int tlw_load_scene(const char *path, char *sets);
int tlw_load_scene(const char *path, char *sets)
{
    const char *list[MAX_SETS];
    int32_t count = 0;
    for (char *line = strtok(sets, "\n"); line && count < MAX_SETS; line = strtok(NULL, "\n")) list[count++] = line;
    tl_scene *scene = NULL;
    tl_sim *sim = NULL;
    tl_status status = tl_scene_load(path, list, count, &scene, &tlw.err);
    if (status == TL_OK) status = tl_scene_simulate(scene, tlw.threads, NULL, NULL, &sim, &tlw.err);
    if (status == TL_OK) status = tl_sim_start(sim, NULL, &tlw.err);
    if (status != TL_OK) {
        tl_sim_destroy(sim);
        tl_scene_destroy(scene);
        return tlw_said(status);
    }
    tlw_adopt(sim, scene, 1 / (tl_scene_fps(scene) * tl_scene_steps_per_frame(scene)));
    return tlw_said(TL_OK);
}

/// Checks a scene without touching the session.
TLW_API int tlw_check_scene(const char *path, char *sets);
int tlw_check_scene(const char *path, char *sets)
{
    const char *list[MAX_SETS];
    int32_t count = 0;
    for (char *line = strtok(sets, "\n"); line && count < MAX_SETS; line = strtok(NULL, "\n")) list[count++] = line;
    tl_scene *scene = NULL;
    const tl_status status = tl_scene_load(path, list, count, &scene, &tlw.err);
    tl_scene_destroy(scene);
    return tlw_said(status);
}

/// The scene as it was read, every default filled in; "" if the session has none.
TLW_API const char *tlw_scene_json(void);
const char *tlw_scene_json(void) { return tlw.scene ? tl_scene_json(tlw.scene) : ""; }

/// Notes of the reader, one a line.
TLW_API const char *tlw_notes(void);
const char *tlw_notes(void)
{
    size_t n = 0;
    tlw.text[0] = 0;
    for (int32_t i = 0; tlw.scene && i < tl_scene_note_count(tlw.scene) && n + 2 < sizeof tlw.text; i++)
        n += (size_t)snprintf(tlw.text + n, sizeof tlw.text - n, "%s\n", tl_scene_note(tlw.scene, i));
    return tlw.text;
}

// --- holding ---------------------------------------------------------------------------------------------

// What the scene says about a body: a number of its definition, and whether it is one that can be carried about.
static bool obstacle(const char *name, const char *key, double *value)
{
    json_t *root = tlw.scene ? json_loads(tl_scene_json(tlw.scene), 0, NULL) : NULL;
    json_t *list = json_object_get(root, "obstacles");
    bool carried = false;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i);
        const char *own = json_string_value(json_object_get(o, "name"));
        if (!own || strcmp(own, name) != 0) continue;
        carried = !json_is_object(json_object_get(o, "plane")) && !json_is_object(json_object_get(o, "character"));
        const json_t *number = key ? json_object_get(o, key) : NULL;
        if (json_is_number(number)) *value = json_number_value(number);
    }
    json_decref(root);
    return carried;
}

static tl_status make_live(tl_body_id *body)
{
    tl_body_view view;
    tl_status status = tl_sim_body_view(tlw.sim, *body, &view);
    if (status != TL_OK) return status;
    char name[64];
    snprintf(name, sizeof name, "%s", tl_sim_body_name(tlw.sim, *body));
    tl_vec3 *pos = malloc((size_t)view.node_count * sizeof *pos);
    int32_t(*face)[3] = malloc((size_t)view.face_count * sizeof *face);
    if (pos && face) {
        memcpy(pos, view.pos, (size_t)view.node_count * sizeof *pos);
        memcpy(face, view.face, (size_t)view.face_count * sizeof *face);
        tl_body_def def = tl_body_def_default();
        def.name = name, def.kind = TL_BODY_MESH, def.live = 1;
        def.node_count = view.node_count, def.pos = pos;
        def.face_count = view.face_count, def.face = (const int32_t(*)[3])face;
        obstacle(name, "friction", &def.friction);
        obstacle(name, "thickness", &def.thickness);
        status = tl_body_remove(tlw.sim, *body, &tlw.err);
        if (status == TL_OK) status = tl_sim_add_body(tlw.sim, &def, body, &tlw.err);
    } else {
        status = TL_NO_MEMORY;
    }
    free(pos), free(face);
    return status;
}

static tl_status hold_cloth(const tl_hit *hit)
{
    tl_cloth_view view;
    tl_status status = tl_sim_cloth_view(tlw.sim, hit->cloth, &view);
    if (status != TL_OK) return status;
    int32_t nodes[GRIP_NODES], count = 0;
    nodes[count++] = hit->node;
    for (int32_t i = 0; i < view.node_count && count < GRIP_NODES; i++)
        if (i != hit->node && tlw_length(tlw_sub(view.pos[i], hit->point)) < GRIP_RADIUS) nodes[count++] = i;
    tl_handle_def def = tl_handle_def_default();
    def.cloth = hit->cloth, def.nodes = nodes, def.node_count = count, def.live = 1;
    status = tl_handle_create(tlw.sim, &def, &tlw.grip, &tlw.err);
    if (status == TL_OK || count == 1) return status;
    def.node_count = 1;  // a neighbour may be held already
    return tl_handle_create(tlw.sim, &def, &tlw.grip, &tlw.err);
}

TLW_API void tlw_release(void);
void tlw_release(void)
{
    if (tlw.sim && tlw.grip.gen) tl_handle_remove(tlw.sim, tlw.grip, NULL);
    let_go();
}

/// Takes hold of what a ray meets first: 0 nothing, 1 cloth, 2 a body, -1 what cannot be taken.
TLW_API int tlw_grab(double ox, double oy, double oz, double dx, double dy, double dz);
int tlw_grab(double ox, double oy, double oz, double dx, double dy, double dz)
{
    if (!tlw.sim) return 0;
    tlw_release();
    tl_hit hit;
    if (!tl_sim_ray(tlw.sim, (tl_vec3){ox, oy, oz}, (tl_vec3){dx, dy, dz}, 100, TL_QUERY_ALL, &hit)) return 0;
    tlw.now = tlw.wanted = (tl_vec3){0};
    if (hit.cloth.gen) return hold_cloth(&hit) == TL_OK ? 1 : -1;
    tl_body_id body = hit.body;
    if (!obstacle(tl_sim_body_name(tlw.sim, body), NULL, NULL)) return -1;
    if (make_live(&body) != TL_OK) return -1;
    tlw.carried = body;
    return 2;
}

/// Where what is held is to go, from where it was taken [m].
TLW_API void tlw_drag(double x, double y, double z);
void tlw_drag(double x, double y, double z)
{
    if (isfinite(x) && isfinite(y) && isfinite(z)) tlw.wanted = (tl_vec3){x, y, z};
}

// A step's way towards the pointer.
static void follow(void)
{
    if (!tlw.grip.gen && !tlw.carried.gen) return;
    const double reach = (tlw.grip.gen ? CLOTH_SPEED : BODY_SPEED) * tlw.dt;
    const tl_vec3 way = tlw_sub(tlw.wanted, tlw.now);
    const double far = tlw_length(way);
    tlw.now = far > reach ? tlw_madd(tlw.now, reach / far, way) : tlw.wanted;
    const tl_motion_key key = {.translate = tlw.now};
    if (tlw.grip.gen)
        tl_handle_set_target(tlw.sim, tlw.grip, &key, NULL);
    else
        tl_body_set_pose(tlw.sim, tlw.carried, &key, NULL);
}

// --- steps -----------------------------------------------------------------------------------------------

TLW_API int tlw_step(void);
int tlw_step(void)
{
    if (!tlw.sim) return TL_BAD_ARG;
    follow();
    return tlw_said(tl_sim_step(tlw.sim, &tlw.report, &tlw.err));
}

TLW_API int tlw_wind(double x, double y, double z);
int tlw_wind(double x, double y, double z)
{
    return tlw.sim ? tlw_said(tl_sim_set_wind(tlw.sim, (tl_vec3){x, y, z}, &tlw.err)) : 0;
}

/// All cloth is of another fabric from now on, that of a file; "": the scene's own.
TLW_API int tlw_fabric(const char *path);
int tlw_fabric(const char *path)
{
    tl_material fabric, *all = NULL;
    tl_status status = path[0] ? tl_material_load(path, &fabric, &tlw.err) : TL_OK;
    for (int32_t i = 0; status == TL_OK && tlw.sim && i < tl_sim_cloth_count(tlw.sim); i++) {
        const tl_cloth_id cloth = tl_sim_cloth(tlw.sim, i);
        const tl_material *own;
        int32_t count = 0;
        status = tl_cloth_materials(tlw.sim, cloth, &own, &count, &tlw.err);
        if (path[0] && status == TL_OK) {
            tl_material *more = realloc(all, (size_t)count * sizeof *all);
            if (!more) status = TL_NO_MEMORY;
            if (more) all = more;
            for (int32_t k = 0; more && k < count; k++) all[k] = fabric;
        }
        if (status == TL_OK) status = tl_cloth_set_materials(tlw.sim, cloth, path[0] ? all : NULL, count, &tlw.err);
    }
    free(all);
    return tlw_said(status);
}

/// The mesh of all cloth follows it by this tl_remeshing_kind and these bounds from now on; numbers that are 0 stay.
TLW_API int tlw_remeshing(int kind, double size_min, double size_max, int max_faces, int levels);
int tlw_remeshing(int kind, double size_min, double size_max, int max_faces, int levels)
{
    tl_status status = TL_OK;
    for (int32_t i = 0; status == TL_OK && tlw.sim && i < tl_sim_cloth_count(tlw.sim); i++) {
        tl_remeshing r;
        status = tl_cloth_remeshing(tlw.sim, tl_sim_cloth(tlw.sim, i), &r, &tlw.err);
        r.kind = (tl_remeshing_kind)kind;
        if (size_min > 0) r.size_min = size_min;
        if (size_max > 0) r.size_max = size_max;
        if (max_faces > 0) r.max_faces = max_faces;
        if (levels > 0) r.levels = levels;
        if (status == TL_OK) status = tl_cloth_set_remeshing(tlw.sim, tl_sim_cloth(tlw.sim, i), &r, &tlw.err);
    }
    return tlw_said(status);
}

TLW_API int tlw_gravity(double y);
int tlw_gravity(double y) { return tlw.sim ? tlw_said(tl_sim_set_gravity(tlw.sim, (tl_vec3){0, y, 0}, &tlw.err)) : 0; }

/// What the last step came to; the order is that of `reportNames` in src/worker.ts.
TLW_API const double *tlw_report(void);
const double *tlw_report(void)
{
    int64_t faces = 0, nodes = 0;
    for (int32_t i = 0, n = tlw.sim ? tl_sim_cloth_count(tlw.sim) : 0; i < n; i++) {
        tl_cloth_view view;
        if (tl_sim_cloth_view(tlw.sim, tl_sim_cloth(tlw.sim, i), &view) != TL_OK) continue;
        faces += view.face_count, nodes += view.node_count;
    }
    const tl_step_report *r = &tlw.report;
    const double numbers[] = {tlw.sim ? tl_sim_time(tlw.sim) : 0,
                              tlw.sim ? (double)tl_sim_steps(tlw.sim) : 0,
                              tlw.dt,
                              (double)faces,
                              (double)nodes,
                              1000 * r->seconds.total,
                              1000 * r->seconds.physics,
                              1000 * r->seconds.strain,
                              1000 * r->seconds.collision,
                              1000 * r->seconds.remesh,
                              r->newton_iterations,
                              r->linear_iterations,
                              (double)r->contact.contacts,
                              r->remesh.splits,
                              r->remesh.collapses,
                              tlw.sim ? (double)tl_sim_memory(tlw.sim).used : 0};
    memcpy(tlw.numbers, numbers, sizeof numbers);
    return tlw.numbers;
}

/// The hash of the state, 16 hexadecimal digits.
TLW_API const char *tlw_hash(void);
const char *tlw_hash(void)
{
    snprintf(tlw.text, sizeof tlw.text, "%016llx", tlw.sim ? (unsigned long long)tl_sim_hash(tlw.sim) : 0);
    return tlw.text;
}

/// Edges that pass through faces now, by the exact test.
TLW_API double tlw_crossings(void);
double tlw_crossings(void)
{
    tl_intersection_report report;
    if (!tlw.sim || tl_sim_intersections(tlw.sim, &report, NULL) != TL_OK) return -1;
    return (double)(report.cloth_cloth + report.cloth_body);
}
