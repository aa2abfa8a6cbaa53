// adapt/mend.c: what an operation takes from the momentum of the cloth, its own nodes get back.
//
// Masses are lumped from faces, so an operation changes how much mass moves with which velocity. The difference in linear and
// angular momentum of the faces concerned is shared by their nodes as impulses a + b x r, the smallest that make it up; they wait in
// an attribute until the pass is over and masses are final.

#include "adapt/remesh_impl.h"

#include "base/alloc.h"
#include "base/fail.h"

static double third_of_mass(const remesher *r, int32_t f)
{
    return r->def->density[r->mesh->face_label[f]] * tl_mesh_face_area_uv(r->mesh, f) / 3;
}

motion remesh_motion(const remesher *r, const ids *faces, tl_vec3 about)
{
    motion m = {{0, 0, 0}, {0, 0, 0}, about};
    for (int32_t i = 0; i < faces->count; i++) {
        const double mass = third_of_mass(r, faces->item[i]);
        for (int k = 0; k < 3; k++) {
            const int32_t n = tl_face_node(r->mesh, faces->item[i], k);
            const tl_vec3 p = tl_mul3(mass, r->mesh->vel[n]);
            m.linear = tl_add3(m.linear, p);
            m.angular = tl_add3(m.angular, tl_cross3(tl_sub3(r->mesh->pos[n], about), p));
        }
    }
    return m;
}

enum { MOST_NODES = 64 };

// Free nodes of the faces, each once.
static int list_nodes(const remesher *r, const ids *faces, int32_t node[MOST_NODES])
{
    int count = 0;
    for (int32_t i = 0; i < faces->count; i++)
        for (int k = 0; k < 3; k++) {
            const int32_t n = tl_face_node(r->mesh, faces->item[i], k);
            int j = 0;
            while (j < count && node[j] != n) j++;
            if (j == count && count < MOST_NODES && !remesh_held(r, n) && !remesh_listed(r, n)) node[count++] = n;
        }
    return count;
}

// Solves (sum over nodes of |r|^2 1 - r r^T) b = torque; zero if the nodes lie on one line.
static tl_vec3 turn(const tl_vec3 *place, int count, tl_vec3 torque)
{
    double xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0;
    for (int i = 0; i < count; i++) {
        const tl_vec3 p = place[i];
        xx += p.y * p.y + p.z * p.z, yy += p.x * p.x + p.z * p.z, zz += p.x * p.x + p.y * p.y;
        xy -= p.x * p.y, xz -= p.x * p.z, yz -= p.y * p.z;
    }
    const tl_vec3 c0 = {xx, xy, xz}, c1 = {xy, yy, yz}, c2 = {xz, yz, zz};
    const double det = tl_dot3(c0, tl_cross3(c1, c2)), size = xx + yy + zz;
    if (!(det > 1e-6 * size * size * size)) return (tl_vec3){0, 0, 0};
    return tl_mul3(1 / det, (tl_vec3){tl_dot3(torque, tl_cross3(c1, c2)), tl_dot3(c0, tl_cross3(torque, c2)),
                                      tl_dot3(c0, tl_cross3(c1, torque))});
}

void remesh_owe(remesher *r, const ids *faces, const motion *before)
{
    const motion after = remesh_motion(r, faces, before->about);
    const tl_vec3 linear = tl_sub3(before->linear, after.linear), angular = tl_sub3(before->angular, after.angular);
    int32_t node[MOST_NODES];
    tl_vec3 place[MOST_NODES], centre = {0, 0, 0};
    const int count = list_nodes(r, faces, node);
    if (count == 0) return;
    for (int i = 0; i < count; i++) centre = tl_madd3(centre, 1.0 / count, r->mesh->pos[node[i]]);
    for (int i = 0; i < count; i++) place[i] = tl_sub3(r->mesh->pos[node[i]], centre);
    const tl_vec3 a = tl_mul3(1.0 / count, linear);
    const tl_vec3 b = turn(place, count, tl_sub3(angular, tl_cross3(tl_sub3(centre, before->about), linear)));
    for (int i = 0; i < count; i++) {
        const tl_vec3 p = tl_add3(a, tl_cross3(b, place[i]));
        double *debt = remesh_debt(r, node[i]);
        debt[0] += p.x, debt[1] += p.y, debt[2] += p.z;
    }
}

tl_status remesh_measure(const remesher *r, tl_vec3 about, tl_vec3 *momentum, tl_vec3 *spin)
{
    *momentum = *spin = (tl_vec3){0, 0, 0};
    for (int32_t f = 0; f < r->mesh->slots[TL_FACES].count; f++) {
        if (!tl_alive(r->mesh, TL_FACES, f)) continue;
        const motion m = remesh_motion(r, &(ids){&f, 1, 1}, about);
        *momentum = tl_add3(*momentum, m.linear), *spin = tl_add3(*spin, m.angular);
    }
    return TL_OK;
}

tl_status remesh_pay(remesher *r, tl_error *err)
{
    tl_mesh *mesh = r->mesh;
    const int32_t count = mesh->slots[TL_NODES].count;
    double *mass = TL_CALLOC(&mesh->alloc, double, count);
    if (!mass) return tl_fail_memory(err, "remeshing");
    for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++)
        if (tl_alive(mesh, TL_FACES, f))
            for (int k = 0; k < 3; k++) mass[tl_face_node(mesh, f, k)] += third_of_mass(r, f);
    for (int32_t n = 0; n < count; n++) {
        if (!tl_alive(mesh, TL_NODES, n)) continue;
        double *debt = remesh_debt(r, n);
        if (!remesh_held(r, n) && !remesh_listed(r, n) && mass[n] > 0)
            mesh->vel[n] = tl_madd3(mesh->vel[n], 1 / mass[n], (tl_vec3){debt[0], debt[1], debt[2]});
        debt[0] = debt[1] = debt[2] = 0;
    }
    TL_FREE(&mesh->alloc, mass, count);
    return TL_OK;
}
