// adapt/anisotropic/momentum.c: operations conserve the momentum of the cloth.
//
// Masses are lumped from faces, so an operation changes how much mass moves with which velocity. What is missing of the
// linear momentum of the faces concerned goes to their nodes at once, as one change of velocity a; what is then missing
// of the angular momentum goes to these nodes and those around as b x r. Both count with the whole mass of every node,
// which an attribute keeps up to date.
//
// Impulses that do not mind masses, or that wait for the end of a pass, when masses have changed, end up on whatever is
// light: in a storm of passes velocities grew by ten in every one of them. And faces alone must not take the angular
// momentum: to cut an edge halves the inertia about its middle, so what turns at the scale of faces would turn twice as
// fast after every cut.

#include "adapt/anisotropic/remesh_impl.h"
#include "adapt/anisotropic/sizing_impl.h"

static void lump(const remesher *r, int32_t f, double out[3])
{
    const double mass = r->def->density[r->mesh->face_label[f]] * tl_mesh_face_area_uv(r->mesh, f);
    tl_mesh_lump(r->mesh, f, mass, r->def->lumping, out);
}

static motion motion_of(const remesher *r, const ids *faces, tl_vec3 about, double sign)
{
    motion m = {{0, 0, 0}, {0, 0, 0}, about};
    for (int32_t i = 0; i < faces->count; i++) {
        double mass[3];
        lump(r, faces->item[i], mass);
        for (int k = 0; k < 3; k++) {
            const int32_t n = tl_face_node(r->mesh, faces->item[i], k);
            const tl_vec3 p = tl_mul3(mass[k], r->mesh->vel[n]);
            m.linear = tl_add3(m.linear, p);
            m.angular = tl_add3(m.angular, tl_cross3(tl_sub3(r->mesh->pos[n], about), p));
            *remesh_mass(r, n) += sign * mass[k];
        }
    }
    return m;
}

motion remesh_take_momentum(const remesher *r, const ids *faces, tl_vec3 about)
{
    return motion_of(r, faces, about, -1);
}

enum { MOST_NODES = 128 };

/// Free nodes of the faces, and after them those around.
typedef struct near {
    int32_t node[MOST_NODES];
    int own, count;
} near;

static void add_node(const remesher *r, near *list, int32_t n)
{
    if (r->met[n] == r->meeting) return;
    r->met[n] = r->meeting;
    if (list->count < MOST_NODES && !remesh_held(r, n) && !remesh_listed(r, n)) list->node[list->count++] = n;
}

static void add_around(const remesher *r, near *list, int32_t n)
{
    static const int8_t next[5] = {0, 1, 2, 0, 1};
    const tl_mesh *mesh = r->mesh;
    int32_t v = mesh->node_vert[n];
    do {
        for (ring walk = ring_begin(mesh, v); walk.face != TL_NONE; ring_next(mesh, &walk))
            for (int k = 1; k < 3; k++)
                add_node(r, list, mesh->vert_node[mesh->face_vert[walk.face][next[walk.corner + k]]]);
        v = mesh->vert_next[v];
    } while (v != mesh->node_vert[n]);
}

static void list_nodes(remesher *r, const ids *faces, near *list)
{
    list->count = 0;
    r->meeting++;
    for (int32_t i = 0; i < faces->count; i++)
        for (int k = 0; k < 3; k++) add_node(r, list, tl_face_node(r->mesh, faces->item[i], k));
    list->own = list->count;
    for (int i = 0; i < list->own; i++) add_around(r, list, list->node[i]);
}

/// Masses around their centre.
typedef struct body {
    tl_vec3 place[MOST_NODES], far;
    double mass[MOST_NODES];
    int count;
} body;

// least inertia to total of what can be turned about its own axis: nodes within a thousandth of one line
#define SLIM 1e-6

// Solves (sum over nodes of m (|r|^2 1 - r r^T)) b = torque. Nodes close to a line take no torque about it.
static tl_vec3 turn(const body *o, tl_vec3 torque)
{
    double xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0;
    for (int i = 0; i < o->count; i++) {
        const tl_vec3 p = o->place[i];
        const double m = o->mass[i];
        xx += m * (p.y * p.y + p.z * p.z), yy += m * (p.x * p.x + p.z * p.z), zz += m * (p.x * p.x + p.y * p.y);
        xy -= m * p.x * p.y, xz -= m * p.x * p.z, yz -= m * p.y * p.z;
    }
    for (int attempt = 0; attempt < 2; attempt++) {
        const tl_vec3 c0 = {xx, xy, xz}, c1 = {xy, yy, yz}, c2 = {xz, yz, zz};
        const double det = tl_dot3(c0, tl_cross3(c1, c2)), size = xx + yy + zz;
        if (det > SLIM * size * size * size)
            return tl_mul3(1 / det, (tl_vec3){tl_dot3(torque, tl_cross3(c1, c2)), tl_dot3(c0, tl_cross3(torque, c2)),
                                              tl_dot3(c0, tl_cross3(c1, torque))});
        const tl_vec3 t = tl_unit3_or(o->far, (tl_vec3){0, 0, 0});
        torque = tl_madd3(torque, -tl_dot3(torque, t), t);
        xx += size * t.x * t.x, yy += size * t.y * t.y, zz += size * t.z * t.z;
        xy += size * t.x * t.y, xz += size * t.x * t.z, yz += size * t.y * t.z;
    }
    return (tl_vec3){0, 0, 0};
}

/// A sum over nodes: mass, and mass times place.
typedef struct weight {
    double mass;
    tl_vec3 moment;
} weight;

static tl_vec3 centre_of(const weight *w) { return w->mass > 0 ? tl_mul3(1 / w->mass, w->moment) : w->moment; }

// Adds nodes of the list, up to `count`, seen from `about`.
static void gather(const remesher *r, const near *list, int count, tl_vec3 about, body *o, weight *sum)
{
    for (int i = o->count; i < count; i++) {
        o->mass[i] = *remesh_mass(r, list->node[i]), o->place[i] = tl_sub3(r->mesh->pos[list->node[i]], about);
        sum->moment = tl_madd3(sum->moment, o->mass[i], o->place[i]), sum->mass += o->mass[i];
    }
    o->count = count;
}

static void see_from(body *o, tl_vec3 centre)
{
    double most = 0;
    o->far = (tl_vec3){0, 0, 0};
    for (int i = 0; i < o->count; i++) {
        o->place[i] = tl_sub3(o->place[i], centre);
        const double length2 = tl_dot3(o->place[i], o->place[i]);
        if (length2 > most) most = length2, o->far = o->place[i];
    }
}

void remesh_give_momentum(remesher *r, const ids *faces, const motion *before)
{
    const motion after = motion_of(r, faces, before->about, 1);
    const tl_vec3 linear = tl_sub3(before->linear, after.linear), angular = tl_sub3(before->angular, after.angular);
    near list;
    body o;
    o.count = 0;
    weight sum = {0};
    list_nodes(r, faces, &list);
    gather(r, &list, list.own, before->about, &o, &sum);
    const tl_vec3 arm = centre_of(&sum);
    if (!(sum.mass > 0)) return;
    tl_vec3 *vel = r->mesh->vel;
    for (int i = 0; i < list.own; i++) vel[list.node[i]] = tl_madd3(vel[list.node[i]], 1 / sum.mass, linear);
    gather(r, &list, list.count, before->about, &o, &sum);
    see_from(&o, centre_of(&sum));
    const tl_vec3 b = turn(&o, tl_sub3(angular, tl_cross3(arm, linear)));
    for (int i = 0; i < list.count; i++) vel[list.node[i]] = tl_add3(vel[list.node[i]], tl_cross3(b, o.place[i]));
}

static void weigh(const remesher *r)
{
    const tl_mesh *mesh = r->mesh;
    for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++) *remesh_mass(r, n) = 0;
    for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++)
        if (tl_alive(mesh, TL_FACES, f)) {
            double mass[3];
            lump(r, f, mass);
            for (int k = 0; k < 3; k++) *remesh_mass(r, tl_face_node(mesh, f, k)) += mass[k];
        }
}

void remesh_measure(const remesher *r, tl_vec3 about, tl_vec3 *momentum, tl_vec3 *spin)
{
    const tl_mesh *mesh = r->mesh;
    weigh(r);
    *momentum = *spin = (tl_vec3){0, 0, 0};
    for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++) {
        if (!tl_alive(mesh, TL_NODES, n)) continue;
        const tl_vec3 p = tl_mul3(*remesh_mass(r, n), mesh->vel[n]);
        *momentum = tl_add3(*momentum, p), *spin = tl_add3(*spin, tl_cross3(tl_sub3(mesh->pos[n], about), p));
    }
}
