// viewer/live.c: see live.h.

#include "live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "live_impl.h"

#define HOLD 2000.0  // [N/m^2] of a rim that is held, per length of the rim, as in `toile drape`
#define EDGE 0.025   // [m] of what is sewn
#define SLACK 0.01   // [m]

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int asked_to_quit(void *user)
{
    view_live *live = user;
    pthread_mutex_lock(&live->mutex);
    const bool quit = live->quit;
    pthread_mutex_unlock(&live->mutex);
    return quit;
}

// Shows the present state: the back show is filled without the lock, then they change places.
void view_live_publish(view_live *live, const tl_sim *sim)
{
    const tl_show_surface *surfaces;
    int32_t count;
    if (tl_show_sim(live->back, sim, &surfaces, &count, NULL) != TL_OK) return;
    int64_t faces = 0;
    for (int32_t i = 0; i < count; i++) faces += surfaces[i].is_cloth ? surfaces[i].face_count : 0;
    pthread_mutex_lock(&live->mutex);
    tl_show *front = live->front;
    live->front = live->back, live->back = front;
    live->surfaces = surfaces, live->surface_count = count;
    live->version++;
    live->state.time = tl_sim_time(sim), live->state.faces = faces;
    pthread_mutex_unlock(&live->mutex);
}

// It cannot go on; the message stays. False.
static bool stopped(view_live *live, tl_status status, const tl_error *err)
{
    pthread_mutex_lock(&live->mutex);
    if (status != TL_CANCELLED) {
        live->state.failed = true;
        snprintf(live->state.message, sizeof live->state.message, "%s", err->message);
    }
    live->paused = true, live->state.running = false, live->state.sewing = 0;
    pthread_mutex_unlock(&live->mutex);
    return false;
}

// One frame: all of its steps. False: it failed or is no longer wanted.
static bool run_frame(view_live *live)
{
    const int32_t steps = tl_scene_steps_per_frame(live->scene);
    const double start = now();
    tl_stage_seconds sum = {0};
    tl_step_report r = {0};
    int32_t newton = 0;
    for (int32_t i = 0; i < steps; i++) {
        pthread_mutex_lock(&live->mutex);
        view_live_grant(live);
        pthread_mutex_unlock(&live->mutex);
        tl_error err = {0};
        const tl_status status = tl_sim_step(live->sim, &r, &err);
        if (status != TL_OK) return stopped(live, status, &err);
        sum.physics += r.seconds.physics, sum.collision += r.seconds.collision;
        sum.remesh += r.seconds.remesh, sum.strain += r.seconds.strain;
        newton += r.newton_iterations;
    }
    view_live_publish(live, live->sim);
    pthread_mutex_lock(&live->mutex);
    view_live_state *s = &live->state;
    s->frame++, s->frame_ms = 1e3 * (now() - start);
    s->physics_ms = 1e3 * sum.physics, s->collision_ms = 1e3 * sum.collision;
    s->remesh_ms = 1e3 * sum.remesh, s->strain_ms = 1e3 * sum.strain;
    s->contacts = (int32_t)r.contact.contacts, s->newton_iterations = newton;
    pthread_mutex_unlock(&live->mutex);
    return true;
}

// Waits while there is nothing to do; false: nobody wants more. `run`: not only something to change.
static bool may_go_on(view_live *live, bool *run)
{
    pthread_mutex_lock(&live->mutex);
    while (!live->quit && live->paused && !live->once && !live->other_fabric && !live->other_remeshing)
        pthread_cond_wait(&live->wake, &live->mutex);
    const bool quit = live->quit;
    *run = !live->paused || live->once;
    live->once = false;
    live->state.running = !live->paused;
    pthread_mutex_unlock(&live->mutex);
    return !quit;
}

static tl_status load(view_live *live, tl_error *err)
{
    const char *sets[MAX_SETS];
    for (int32_t i = 0; i < live->set_count; i++) sets[i] = live->sets[i];
    tl_status status = tl_scene_load(live->path, sets, live->set_count, &live->scene, err);
    if (status == TL_OK) status = tl_scene_simulate(live->scene, live->threads, NULL, NULL, &live->sim, err);
    if (status == TL_OK) status = tl_sim_start(live->sim, NULL, err);
    if (status == TL_OK) status = tl_show_create_scene(live->scene, &live->back, err);
    tl_show *front = NULL;
    if (status == TL_OK) status = tl_show_create_scene(live->scene, &front, err);
    pthread_mutex_lock(&live->mutex);
    tl_show *old = live->front;
    live->front = front, live->surfaces = NULL, live->surface_count = 0;
    if (status == TL_OK) live->state.fps = tl_scene_fps(live->scene);
    pthread_mutex_unlock(&live->mutex);
    tl_show_close(old);
    return status;
}

// What was sewn becomes the scene's cloth.
static tl_status wear(view_live *live, const tl_sewing_report *r, tl_error *err)
{
    const tl_status status = tl_sewing_save(live->sewing, live->sew.garment, err);
    if (status != TL_OK) return status;
    if (r->rim_nodes >= 2 && live->set_count + 2 <= MAX_SETS) {
        snprintf(
            live->sets[live->set_count++], SET_LENGTH,
            "handles=[{\"cloth\": \"garment\", \"label\": %d, \"body\": \"body\", \"stiffness\": %.9g, \"slack\": %g}]",
            TL_SEWING_RIM, HOLD * r->rim_length / r->rim_nodes, SLACK);
        snprintf(live->sets[live->set_count++], SET_LENGTH, "remeshing.kind=none");  // as ties want it
    }
    tl_sewing_destroy(live->sewing);
    live->sewing = NULL;
    tl_sim_destroy(live->sim);
    tl_scene_destroy(live->scene);
    live->sim = NULL, live->scene = NULL;
    tl_show_close(live->back);
    live->back = NULL;
    return load(live, err);
}

// False: it failed or nobody wants more.
static bool sew(view_live *live)
{
    tl_error err = {0};
    bool run = true;
    for (bool first = true;; first = false) {  // the panels are shown also when it starts paused
        if (!first && !may_go_on(live, &run)) return false;
        if (!run) continue;
        tl_sewing_report r;
        tl_status status = tl_sewing_step(live->sewing, &r, &err);
        if (status != TL_OK) return stopped(live, status, &err);
        view_live_publish(live, tl_sewing_sim(live->sewing));
        pthread_mutex_lock(&live->mutex);
        live->state.frame++;
        live->state.sewing = r.stage == TL_SEWING_DONE ? 0 : 1 + (int32_t)r.stage, live->state.gap = r.gap;
        live->grab = FREE;
        pthread_mutex_unlock(&live->mutex);
        if (r.stage != TL_SEWING_DONE) continue;
        status = wear(live, &r, &err);
        return status == TL_OK ? true : stopped(live, status, &err);
    }
}

static void *live_thread(void *arg)
{
    view_live *live = arg;
    bool able = !live->sewing || sew(live);
    if (able) {
        tl_sim_set_cancel(live->sim, &(tl_cancel){asked_to_quit, live});
        view_live_publish(live, live->sim);
    }
    for (bool run = true; may_go_on(live, &run);) {
        if (able) view_live_change(live);
        if (!able || !run) continue;
        const double start = now(), frame_seconds = 1 / tl_scene_fps(live->scene);
        able = run_frame(live);
        const double left = frame_seconds - (now() - start);  // not faster than the real thing
        if (left > 0) nanosleep(&(struct timespec){0, (long)(1e9 * (left < 0.5 ? left : 0.5))}, NULL);
    }
    return NULL;
}

static void destroy(view_live *live)
{
    tl_sewing_destroy(live->sewing);
    tl_pattern_destroy(live->pattern);
    tl_sim_destroy(live->sim);
    tl_scene_destroy(live->scene);
    tl_show_close(live->front);
    tl_show_close(live->back);
    pthread_mutex_destroy(&live->mutex);
    pthread_cond_destroy(&live->wake);
    free(live);
}

// The body of a scene, whatever it consists of, and the pattern: ready to be sewn.
static tl_status prepare_sewing(view_live *live, tl_error *err)
{
    tl_body_view v;
    tl_status status = tl_scene_load(live->sew.bodies, NULL, 0, &live->scene, err);
    if (status == TL_OK) status = tl_scene_simulate(live->scene, 1, NULL, NULL, &live->sim, err);
    if (status == TL_OK) status = tl_pattern_load(live->sew.pattern, &live->pattern, err);
    if (status == TL_OK) status = tl_show_create_scene(live->scene, &live->front, err);
    if (status == TL_OK) status = tl_show_create_scene(live->scene, &live->back, err);
    if (status == TL_OK) status = tl_sim_body_view(live->sim, tl_sim_body(live->sim, 0), &v);
    if (status != TL_OK) return status;
    const tl_material cloth = tl_material_default();
    tl_sewing_def def = tl_sewing_def_default();
    def.pattern = live->pattern, def.material = &cloth, def.threads = live->threads, def.edge = EDGE;
    def.body = v.pos, def.body_nodes = v.node_count, def.body_face = v.face, def.body_faces = v.face_count;
    live->state.sewing = 1;
    return tl_sewing_create(&def, &live->sewing, err);
}

tl_status view_live_start(const view_live_def *def, view_live **out, tl_error *err)
{
    *out = NULL;
    view_live *live = calloc(1, sizeof *live);
    if (!live) return TL_NO_MEMORY;
    pthread_mutex_init(&live->mutex, NULL), pthread_cond_init(&live->wake, NULL);
    live->paused = def->paused, live->threads = def->threads, live->taken = -1;
    snprintf(live->path, sizeof live->path, "%s", def->scene);
    for (int32_t i = 0; i < def->set_count && i < MAX_SETS - 2; i++)
        snprintf(live->sets[live->set_count++], SET_LENGTH, "%s", def->sets[i]);
    if (def->sew) live->sew = *def->sew;
    tl_status status = def->sew ? prepare_sewing(live, err) : load(live, err);
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, (size_t)2 << 20);
    if (status == TL_OK && pthread_create(&live->thread, &attr, live_thread, live) != 0) {
        if (err) err->status = TL_FAILED, snprintf(err->message, sizeof err->message, "no thread for the simulation");
        status = TL_FAILED;
    }
    pthread_attr_destroy(&attr);
    if (status != TL_OK) {
        destroy(live);
        return status;
    }
    *out = live;
    return TL_OK;
}

void view_live_stop(view_live *live)
{
    if (!live) return;
    pthread_mutex_lock(&live->mutex);
    live->quit = true;
    pthread_cond_broadcast(&live->wake);
    pthread_mutex_unlock(&live->mutex);
    pthread_join(live->thread, NULL);
    destroy(live);
}

// Every wish is a few fields set under the lock.
#define WISH(live, ...)                                                                                                \
    do {                                                                                                               \
        pthread_mutex_lock(&(live)->mutex);                                                                            \
        __VA_ARGS__;                                                                                                   \
        pthread_cond_broadcast(&(live)->wake);                                                                         \
        pthread_mutex_unlock(&(live)->mutex);                                                                          \
    } while (0)

void view_live_pause(view_live *live, bool paused) { WISH(live, live->paused = paused || live->state.failed); }
void view_live_step_once(view_live *live) { WISH(live, live->paused = live->once = true); }
void view_live_fabric(view_live *live, const char *path, const char *name)
{
    WISH(live, live->other_fabric = true; snprintf(live->fabric, sizeof live->fabric, "%s", path);
         snprintf(live->fabric_name, sizeof live->fabric_name, "%s", name));
}
void view_live_remeshing(view_live *live, int32_t kind)
{
    WISH(live, live->other_remeshing = true, live->remeshing = kind);
}
void view_live_wind(view_live *live, tl_vec3 wind) { WISH(live, live->wind = wind, live->wind_changed = true); }
void view_live_grab(view_live *live, tl_vec3 origin, tl_vec3 direction)
{
    WISH(live, if (live->grab == FREE) live->grab = ASKED; live->origin = origin, live->direction = direction);
}
void view_live_drag(view_live *live, tl_vec3 point) { WISH(live, live->target = point); }
void view_live_drop(view_live *live, bool pin) { WISH(live, live->dropped = true, live->pinned = pin); }
void view_live_unpin(view_live *live) { WISH(live, live->unpin = true); }

bool view_live_held(view_live *live, tl_vec3 *point)
{
    pthread_mutex_lock(&live->mutex);
    const bool held = live->grab == HELD;
    *point = live->grabbed;
    pthread_mutex_unlock(&live->mutex);
    return held;
}

bool view_live_refused(view_live *live, char *why, size_t size)
{
    pthread_mutex_lock(&live->mutex);
    snprintf(why, size, "%s", live->refused);
    live->refused[0] = 0;
    pthread_mutex_unlock(&live->mutex);
    return why[0] != 0;
}

int32_t view_live_pins(view_live *live, tl_vec3 *out, int32_t most)
{
    pthread_mutex_lock(&live->mutex);
    int32_t count = 0;
    for (; count < live->state.pins && count < most; count++)
        out[count] = live->grab == HELD && count == live->taken ? live->target : live->pins[count].at;
    pthread_mutex_unlock(&live->mutex);
    return count;
}

view_live_state view_live_look(view_live *live)
{
    pthread_mutex_lock(&live->mutex);
    const view_live_state state = live->state;
    pthread_mutex_unlock(&live->mutex);
    return state;
}

void view_live_take(view_live *live, uint64_t *version,
                    void (*use)(void *user, tl_show *show, const tl_show_surface *surfaces, int32_t count), void *user)
{
    pthread_mutex_lock(&live->mutex);
    if (live->version != *version && live->surfaces) {
        *version = live->version;
        use(user, live->front, live->surfaces, live->surface_count);
    }
    pthread_mutex_unlock(&live->mutex);
}
