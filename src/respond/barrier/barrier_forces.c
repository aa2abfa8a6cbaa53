// respond/barrier/barrier_forces.c: energy, gradient and Hessian of contact and friction (barrier_law.h).
//
// The distance of a pair is d = |sum w_i x_i| with weights w that do not change to first order, so d d/dx_i = w_i n.
// The Hessian keeps the part that is positive, w_i w_j (E'' n n^T + friction): a 3x3 matrix per pair and the weights.
// Blocks between nodes of one feature have their place in the matrix, as those nodes are neighbours in the mesh; blocks
// across the gap, and all of hard contacts, are kept beside it (barrier_blocks.c).
//
// During a line search, load, normal, weights and the factor for nearly parallel edges are kept from the last assembly:
// friction is not conservative, but for a given load it has a potential.

#include <math.h>

#include "base/fail.h"
#include "respond/contact_impl.h"
#include "respond/barrier/barrier_law.h"

enum { PAIRS_PER_CHUNK = 512, NODES_PER_CHUNK = 256 };

/// Tangential displacement of the features in this step, with bodies and handles taken to have arrived.
static tl_vec3 slid(const tl_contacts *c, const pair *p, const double weight[4], const tl_vec3 *x)
{
    tl_vec3 u = {0, 0, 0};
    if (p->kind == PAIR_PLANE) {
        const tl_vec3 *a = c->step.plane_begin + 2 * p->body, *b = c->step.plane_end + 2 * p->body;
        const double scale = 1 / (c->step.gamma * c->step.dt);
        u = tl_sub3(x[p->node[0]], c->step.x_hat[p->node[0]]);
        return tl_madd3(u, -scale, tl_sub3(b[0], a[0]));
    }
    for (int k = 0; k < 4; k++) {
        const int32_t i = p->node[k];
        tl_vec3 d;
        if (i >= c->node_count) {
            const int32_t j = i - c->node_count;
            d = tl_mul3(1 / (c->step.gamma * c->step.dt), tl_sub3(c->step.body_end[j], c->step.body_begin[j]));
        } else if (c->step.fixed[i]) {
            d = tl_sub3(c->step.target[i], c->step.x_hat[i]);
        } else {
            d = tl_sub3(x[i], c->step.x_hat[i]);
        }
        u = tl_madd3(u, weight[k], d);
    }
    return u;
}

static tl_vec3 across(tl_vec3 u, tl_vec3 n) { return tl_madd3(u, -tl_dot3(u, n), n); }

void contact_add_square(double s[6], double a, tl_vec3 u)
{
    s[0] += a * u.x * u.x, s[1] += a * u.y * u.y, s[2] += a * u.z * u.z;
    s[3] += a * u.y * u.z, s[4] += a * u.x * u.z, s[5] += a * u.x * u.y;
}

// Frozen pairs: a linear spring from the thickness down through zero and beyond, so that it also pushes back from
// behind.
static double law_energy(const tl_contacts *c, double g)
{
    if (c->zones.frozen) return g < 1 ? 0.5 * (1 - g) * (1 - g) : 0;
    return tl_contact_energy(g > 0 ? g : 0);
}
static double law_pressure(const tl_contacts *c, double g)
{
    return c->zones.frozen ? fmax(1 - g, 0) : tl_contact_pressure(g);
}
static double law_stiffness(const tl_contacts *c, double g)
{
    return c->zones.frozen ? g < 1 : tl_contact_stiffness(g);
}

/// Is a contact too stiff for its blocks to go into a matrix in single precision? Rounding takes up to 6e-8 of an
/// entry, three entries a row, and a node has some tens of such blocks; all of that has to stay well below its inertia,
/// else the matrix may become indefinite.

bool contact_needs_double(const tl_contacts *c, const pair *p, const double weight[4], const double stiff[6])
{
    const double most = fmax(stiff[0], fmax(stiff[1], stiff[2])), inertia = c->step.gamma * c->step.gamma;
    for (int a = 0; a < pair_nodes(p); a++)
        for (int b = a + 1; b < pair_nodes(p); b++) {
            if (!contact_one_feature(p, a, b) || !contact_is_free(c, p->node[a]) || !contact_is_free(c, p->node[b]))
                continue;
            const double mass = fmin(c->step.mass[p->node[a]], c->step.mass[p->node[b]]);
            if (fabs(weight[a] * weight[b]) * most > c->policy.barrier.double_from * mass * inertia) return true;
        }
    return false;
}

/// Limits the stiffness to a multiple of the inertia of the lightest node: double precision has 16 digits, and the rest
/// of the matrix needs some of them. Only reached at about a thousandth of the thickness, where a softer law opens the
/// gap faster. Returns the scale.

static double soften(const tl_contacts *c, contact *ct)
{
    double mass = (double)INFINITY;
    for (int k = 0; k < pair_nodes(&ct->pair); k++)
        if (contact_is_free(c, ct->pair.node[k])) mass = fmin(mass, c->step.mass[ct->pair.node[k]]);
    const double most = fmax(ct->stiff[0], fmax(ct->stiff[1], ct->stiff[2])),
                 limit = c->policy.barrier.stiffness_max * c->step.gamma * c->step.gamma * mass;
    if (!(most > limit)) return 1;
    for (int k = 0; k < 6; k++) ct->stiff[k] *= limit / most;
    ct->friction_excess *= limit / most;
    return limit / most;
}

static void make_contact(const tl_contacts *c, const pair *p, const proximity *near, double soft, contact *out)
{
    const double g = near->distance / p->thickness, force = soft * c->pressure * p->area;
    out->pair = *p;
    out->reverses = false;
    out->sliding = (tl_vec3){0, 0, 0}, out->friction_excess = 0;
    for (int k = 0; k < 4; k++) out->weight[k] = near->weight[k];
    out->normal = near->normal;
    out->load = force * law_pressure(c, g);
    for (int k = 0; k < 6; k++) out->stiff[k] = 0;
    contact_add_square(out->stiff, force * law_stiffness(c, g) / p->thickness, out->normal);
    out->force = tl_mul3(-out->load, out->normal);
    out->friction = contact_friction(c, p);
    if (out->friction > 0) {
        const double e = c->slip_speed / c->step.gamma, most = out->friction * out->load;
        const tl_vec3 u = across(slid(c, p, out->weight, c->motion.pos), out->normal);
        const double y = tl_norm3(u), ratio = tl_friction_ratio(y, e);
        out->force = tl_madd3(out->force, most * ratio, u);
        out->stiff[0] += most * ratio, out->stiff[1] += most * ratio, out->stiff[2] += most * ratio;
        contact_add_square(out->stiff, -most * ratio, out->normal);
        out->sliding = u;
        if (y > 0) {
            out->friction_excess = most * (ratio - tl_friction_curve(y, e));
            contact_add_square(out->stiff, -out->friction_excess / (y * y), u);
        }
    }
    const double softer = soften(c, out);
    out->distance = near->distance, out->scale = force, out->extra_stiffness = 0;
    out->normal_stiffness = softer * force * law_stiffness(c, g) / p->thickness;
    out->needs_double = contact_needs_double(c, p, out->weight, out->stiff);
    // Bodies that still have way to go, and handles that cloth kept from their place: their further motion is known,
    // let the cloth see it coming.
    if ((c->motion.progress < 1 || p->body == TL_CLOTH) && p->kind != PAIR_PLANE) {
        tl_vec3 coming = {0, 0, 0};
        for (int k = 0; k < 4; k++)
            if (!contact_is_free(c, p->node[k]))
                coming = tl_madd3(coming, out->weight[k], contact_disp_left(c, p->node[k]));
        const double along = softer * tl_dot3(coming, out->normal) * force * law_stiffness(c, g) / p->thickness;
        out->force = tl_madd3(out->force, along, out->normal);
    }
}

typedef struct contact_job {
    tl_contacts *c;
    const int32_t *index;
} contact_job;

static void contact_chunk(void *arg, int32_t begin, int32_t end)
{
    const contact_job *job = arg;
    tl_contacts *c = job->c;
    for (int32_t i = begin; i < end; i++) {
        const int32_t index = job->index[i];
        make_contact(c, &c->cache.pair[index], &c->cache.near[index], (double)c->cache.fade[index], &c->set.contact[i]);
    }
}

tl_status contact_set_create(tl_contacts *c, tl_error *err)
{
    contact_set *k = &c->set;
    const int32_t n = c->node_count;
    for (int kind = 0; kind < CONTACT_KINDS; kind++) k->by_node[kind].start = TL_CALLOC(&c->alloc, int32_t, n + 1);
    k->blocks.row_start = TL_CALLOC(&c->alloc, int32_t, n + 1);
    k->blocks.lower_start = TL_CALLOC(&c->alloc, int32_t, n + 1);
    k->blocks.busy = TL_CALLOC(&c->alloc, uint8_t, n);
    const bool all_there = k->by_node[ACTIVE].start && k->by_node[PREDICTED].start && k->blocks.row_start &&
                           k->blocks.lower_start && k->blocks.busy;
    return all_there ? TL_OK : tl_fail_memory(err, "the contacts");
}

void contact_set_free(tl_contacts *c)
{
    contact_set *k = &c->set;
    const int32_t n = c->node_count;
    for (int kind = 0; kind < CONTACT_KINDS; kind++) {
        TL_FREE(&c->alloc, k->by_node[kind].start, n + 1);
        TL_FREE(&c->alloc, k->by_node[kind].item, k->by_node[kind].cap);
    }
    TL_FREE(&c->alloc, k->blocks.row_start, n + 1);
    TL_FREE(&c->alloc, k->blocks.lower_start, n + 1);
    TL_FREE(&c->alloc, k->blocks.busy, n);
    TL_FREE(&c->alloc, k->blocks.col, k->blocks_cap[0]);
    TL_FREE(&c->alloc, k->blocks.value, k->blocks_cap[1]);
    TL_FREE(&c->alloc, k->blocks.lower_row, k->blocks_cap[2]);
    TL_FREE(&c->alloc, k->blocks.lower_block, k->blocks_cap[3]);
    TL_FREE(&c->alloc, k->contact, k->cap);
    TL_FREE(&c->alloc, k->expected, k->expected_cap);
}

void contact_set_begin(tl_contacts *c)
{
    contact_set *k = &c->set;
    k->assemblies = 0;
    k->count = k->active_count = k->approaching_count = k->expected_count = 0;
    k->blocks_valid = k->expected_at_start = false;
    k->thinnest = (double)INFINITY;
}

tl_status contact_index_by_node(tl_contacts *c, int kind, tl_error *err)
{
    const int32_t n = c->node_count, first = kind == ACTIVE ? 0 : c->set.active_count,
                  last = kind == ACTIVE ? c->set.active_count : c->set.count;
    node_contacts *near = &c->set.by_node[kind];
    memset(near->start, 0, (size_t)(n + 1) * sizeof *near->start);
    for (int32_t i = first; i < last; i++) {
        const pair *p = &c->set.contact[i].pair;
        for (int k = 0; k < pair_nodes(p); k++)
            if (contact_is_free(c, p->node[k]) && c->set.contact[i].weight[k] != 0) near->start[p->node[k] + 1]++;
    }
    for (int32_t i = 0; i < n; i++) near->start[i + 1] += near->start[i];
    const int32_t total = near->start[n];
    if (!CONTACT_GROW(c, near->item, near->cap, total)) return tl_fail_memory(err, "the contacts");
    for (int32_t i = last - 1; i >= first; i--) {  // from the back: ends with every start at its place
        const pair *p = &c->set.contact[i].pair;
        for (int k = pair_nodes(p) - 1; k >= 0; k--)
            if (contact_is_free(c, p->node[k]) && c->set.contact[i].weight[k] != 0)
                near->item[--near->start[p->node[k] + 1]] = 4 * i + k;
    }
    for (int32_t i = 0; i < n; i++) near->start[i] = near->start[i + 1];
    near->start[n] = total;
    return TL_OK;
}

typedef struct gather_job {
    const tl_contacts *c;
    const node_contacts *near;
    tl_bsr *matrix;
    tl_vec3 *gradient;
    double sign;
} gather_job;

static double *diagonal_of(const tl_bsr *m, int32_t i)
{
    return m->diagonal ? m->diagonal[i] : m->value[m->row_start[i]];
}

static void add_block(tl_bsr *m, int32_t i, int32_t j, double scale, const double s[6])
{
    const int32_t k = tl_bsr_find(m, i, j);
    const double full[9] = {s[0], s[5], s[4], s[5], s[1], s[3], s[4], s[3], s[2]};
    if (m->single)
        for (int e = 0; e < 9; e++) m->single[k - i - 1][e] += (float)(scale * full[e]);
    else
        for (int e = 0; e < 9; e++) m->value[k][e] += scale * full[e];
}

static void gather_chunk(void *arg, int32_t begin, int32_t end)
{
    const gather_job *job = arg;
    const tl_contacts *c = job->c;
    const node_contacts *near = job->near;
    const int32_t all = near->start[c->node_count];
    for (int32_t i = begin; i < end; i++) {
        const int32_t first = near->start[i], last = near->start[i + 1];
        if (first == last) continue;
        double s[6] = {0, 0, 0, 0, 0, 0};
        tl_vec3 g = {0, 0, 0};
        for (int32_t k = first; k < last; k++) {
            CONTACT_PREFETCH(c, near, k, all);
            const contact *ct = &c->set.contact[near->item[k] / 4];
            const int a = near->item[k] % 4;
            const double w = ct->weight[a];
            g = tl_madd3(g, w, ct->force);
            const double diagonal = contact_diagonal(ct, a);
            for (int m = 0; m < 6; m++) s[m] += diagonal * ct->stiff[m];
            for (int b = 0; b < pair_nodes(&ct->pair) && job->matrix && !ct->needs_double; b++) {
                const int32_t j = ct->pair.node[b];
                if (j > i && contact_is_free(c, j) && ct->weight[b] != 0 && contact_one_feature(&ct->pair, a, b))
                    add_block(job->matrix, i, j, job->sign * w * ct->weight[b], ct->stiff);
            }
        }
        job->gradient[i] = tl_madd3(job->gradient[i], job->sign, g);
        if (!job->matrix) continue;
        for (int m = 0; m < 6; m++) s[m] *= job->sign;
        double *d = diagonal_of(job->matrix, i);
        d[0] += s[0], d[4] += s[1], d[8] += s[2];
        d[5] += s[3], d[7] += s[3], d[2] += s[4], d[6] += s[4], d[1] += s[5], d[3] += s[5];
    }
}

void contact_gather(const tl_contacts *c, int kind, double sign, tl_bsr *matrix, tl_vec3 *gradient, tl_workers *workers)
{
    tl_parallel_for(workers, c->node_count, NODES_PER_CHUNK, gather_chunk,
                    &(gather_job){c, &c->set.by_node[kind], matrix, gradient, sign});
}

tl_status tl_contacts_assemble(tl_contacts *c, const tl_vec3 *x, tl_bsr *matrix, tl_vec3 *gradient, const tl_ctx *ctx,
                               tl_error *err)
{
    TL_TRY(contact_note_active(c, err));
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    c->set.assemblies++;
    contact_start_at(c, x);
    tl_workers_charge(ctx->workers, 2 * CONTACT_COST_PAIR * c->cache.count);
    contact_measure_once(c, ctx->workers);
    int32_t count = 0;
    double nearest = 1;
    c->set.thinnest = (double)INFINITY;
    for (int32_t i = 0; i < c->cache.count; i++) {
        if (!(c->cache.near[i].distance < c->cache.pair[i].thickness && c->cache.fade[i] > 0)) continue;
        nearest = smaller(nearest, c->cache.near[i].distance / c->cache.pair[i].thickness);
        c->set.thinnest = smaller(c->set.thinnest, c->cache.pair[i].thickness);
        count++;
    }
    int32_t *index = TL_SCRATCH(ctx->arena, int32_t, count);
    tl_status status = TL_OK;
    if (!index || !CONTACT_GROW(c, c->set.contact, c->set.cap, count)) status = tl_fail_memory(err, "the contacts");
    if (status == TL_OK) {
        c->set.count = 0;
        for (int32_t i = 0; i < c->cache.count; i++)
            if (c->cache.near[i].distance < c->cache.pair[i].thickness && c->cache.fade[i] > 0)
                index[c->set.count++] = i;
        tl_parallel_for(ctx->workers, c->set.count, PAIRS_PER_CHUNK, contact_chunk, &(contact_job){c, index});
        c->report.nearest = nearest, c->report.contacts = c->set.count;
        c->set.active_count = c->set.count;
        status = contact_index_by_node(c, ACTIVE, err);
        if (status == TL_OK) status = contact_index_by_node(c, PREDICTED, err);  // none so far
        c->set.blocks_valid = false;
    }
    tl_arena_release(ctx->arena, mark);
    if (status != TL_OK) return status;
    contact_gather(c, ACTIVE, 1, matrix, gradient, ctx->workers);
    contact_pinched_assemble(c, x, matrix, gradient);
    return TL_OK;
}

// --- prediction ---

typedef struct energy_job {
    const tl_contacts *c;
    double done;
    double moved;  // no node is further than this from where it was measured
    double *sum;
} energy_job;

static void energy_chunk(void *arg, int32_t begin, int32_t end)
{
    const energy_job *job = arg;
    const tl_contacts *c = job->c;
    double sum = 0;
    for (int32_t i = begin; i < end; i++) {
        const pair *p = &c->cache.pair[i];
        if (c->cache.near[i].distance - 2 * job->moved >= p->thickness) continue;
        const double d = job->moved > 0 ? contact_distance(c, i, job->done) : c->cache.near[i].distance;
        if (d >= p->thickness) continue;
        sum += (double)c->cache.fade[i] * c->pressure * p->area * p->thickness * law_energy(c, d / p->thickness);
    }
    job->sum[begin / PAIRS_PER_CHUNK] = sum;
}

static void friction_chunk(void *arg, int32_t begin, int32_t end)
{
    const energy_job *job = arg;
    const tl_contacts *c = job->c;
    const double e = c->slip_speed / c->step.gamma;
    double sum = 0;
    for (int32_t i = begin; i < end; i++) {
        const contact *ct = &c->set.contact[i];
        const pair *p = &ct->pair;
        if (!(ct->friction > 0)) continue;
        const double y = tl_norm3(across(slid(c, p, ct->weight, c->motion.pos), ct->normal));
        sum += ct->friction * ct->load * tl_friction_energy(y, e);
    }
    job->sum[begin / PAIRS_PER_CHUNK] = sum;
}

tl_status tl_contacts_energy(tl_contacts *c, const tl_vec3 *x, double part, const tl_ctx *ctx, double *out,
                             tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    const int32_t chunks = tl_chunk_count(c->cache.count, PAIRS_PER_CHUNK),
                  more = tl_chunk_count(c->set.active_count, PAIRS_PER_CHUNK);
    tl_workers_charge(ctx->workers, CONTACT_COST_PAIR * c->cache.count);
    energy_job job = {c, c->motion.progress + part * c->motion.allowed * (1 - c->motion.progress), 0,
                      TL_SCRATCH(ctx->arena, double, chunks + more + 1)};
    if (!job.sum) return tl_fail_memory(err, "the contacts");
    contact_set_positions(c, x, part);
    double far = 0;
    for (int32_t i = 0; i < c->node_count; i++) {
        const tl_vec3 d = tl_sub3(x[i], c->cache.measured[i]);
        far = larger(far, tl_dot3(d, d));
    }
    job.moved = job.done == c->cache.measured_progress ? sqrt(far) : (double)INFINITY;
    tl_parallel_for(ctx->workers, c->cache.count, PAIRS_PER_CHUNK, energy_chunk, &job);
    *out = tl_tree_sum(job.sum, chunks);
    tl_parallel_for(ctx->workers, c->set.active_count, PAIRS_PER_CHUNK, friction_chunk, &job);
    *out += tl_tree_sum(job.sum, more) + contact_pinched_energy(c, x);
    tl_arena_release(ctx->arena, mark);
    return TL_OK;
}
