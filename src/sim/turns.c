// sim/turns.c: how often a step is halved for the sake of bodies that turn.
//
// In a (sub)step nodes of bodies move along straight lines, so a body that turns by an angle is thinner by a factor
// cos(angle / 2) half-way, and inside out beyond half a turn: cloth beside it would end up inside. Steps are halved so
// that no body near cloth turns by more than TURN_MAX in a substep.

#include <math.h>

#include "math/elementary.h"
#include "sim/internal.h"

#define TURN_MAX 0.8    // [rad]: thinner by 8 % half-way
enum { SAMPLES = 16 };  // turns between them are taken to be the short way: up to eight turns in a step are seen

static double angle_between(const tl_pose *a, const tl_pose *b)
{
    const double wa = tl_cos(0.5 * a->angle), wb = tl_cos(0.5 * b->angle);  // parts of quaternions
    const tl_vec3 va = tl_mul3(tl_sin(0.5 * a->angle), a->axis), vb = tl_mul3(tl_sin(0.5 * b->angle), b->axis);
    const double dot = fabs(wa * wb + tl_dot3(va, vb));
    return dot < 1 ? 2 * tl_acos(dot) : 0;
}

static double turn_in(const sim_body *body, double begin, double dt)
{
    tl_pose last = tl_pose_at(body->motion, body->motion_count, begin);
    double sum = 0;
    for (int k = 1; k <= SAMPLES; k++) {
        const tl_pose pose = tl_pose_at(body->motion, body->motion_count, begin + dt * k / SAMPLES);
        sum += angle_between(&last, &pose);
        last = pose;
    }
    return sum;
}

/// A bounding ball.
typedef struct ball {
    tl_vec3 center;
    double radius;
} ball;

// Bounding ball of what a body sweeps while it turns about its pivot.
static ball ball_of_body(const sim_body *body, double begin, double dt)
{
    const tl_pose from = tl_pose_at(body->motion, body->motion_count, begin),
                  to = tl_pose_at(body->motion, body->motion_count, begin + dt);
    const tl_vec3 a = tl_pose_move(&from, body->pivot, body->pivot), b = tl_pose_move(&to, body->pivot, body->pivot);
    double most = 0;
    for (int32_t i = 0; i < body->key_count * body->node_count; i++)
        most = fmax(most, tl_norm3(tl_sub3(body->shape[i], body->pivot)));
    return (ball){tl_mul3(0.5, tl_add3(a, b)),
                  fmax(from.scale, to.scale) * most + 0.5 * tl_norm3(tl_sub3(b, a)) + body->thickness};
}

// Is any cloth node within its path in this step of the ball?
static bool meets_cloth(const tl_sim *sim, const ball *b, double dt)
{
    for (int32_t i = 0; i < sim->node_count; i++) {
        const double reach = b->radius + 2 * dt * tl_norm3(sim->v[i]);
        if (tl_norm3(tl_sub3(sim->x[i], b->center)) < reach) return true;
    }
    // Where faces are larger than the body, no node need be near it.
    for (int32_t f = 0; f < sim->face_count; f++) {
        const int32_t *c = sim->cloth_face[f];
        double edge = 0;
        for (int k = 0; k < 3; k++) edge = fmax(edge, tl_norm3(tl_sub3(sim->x[c[k]], sim->x[c[(k + 1) % 3]])));
        if (tl_norm3(tl_sub3(sim->x[c[0]], b->center)) < b->radius + edge) return true;
    }
    return false;
}

int sim_turn_halvings(const tl_sim *sim)
{
    int most = 0;
    for (int32_t i = 0; i < sim->body_count && sim->contacts; i++) {
        const sim_body *body = &sim->bodies[i];
        if (!body->present || !body->moves || body->motion_count == 0 || body->kind == TL_BODY_PLANE) continue;
        const double turn = turn_in(body, sim->time, sim->def.dt);
        int halvings = 0;
        while (halvings < sim->def.max_halvings && turn > TURN_MAX * (double)(1 << halvings)) halvings++;
        if (halvings <= most) continue;
        const ball b = ball_of_body(body, sim->time, sim->def.dt);
        if (meets_cloth(sim, &b, sim->def.dt)) most = halvings;
    }
    return most;
}
