// body/solids.h: simple solids as closed meshes, faces counter-clockwise from outside, corners on the true surface.
//
// Facets are close to equilateral (subdivided icosahedron and octahedron rather than circles of latitude), so none is a
// sliver at a pole; flats stay within four thousandths of the radius.
#pragma once
#include "toile/base.h"

typedef struct tl_shape {
    int32_t node_count, face_count;
    tl_vec3 *pos;
    int32_t (*face)[3];
} tl_shape;
void tl_shape_free(const tl_allocator *alloc, tl_shape *shape);

tl_status tl_shape_sphere(const tl_allocator *alloc, tl_vec3 center, double radius, tl_shape *out, tl_error *err);

/// `axis` goes from one end of the core (or cap) to the other, `center` is in its middle.
tl_status tl_shape_capsule(const tl_allocator *alloc, tl_vec3 center, tl_vec3 axis, double radius, tl_shape *out,
                           tl_error *err);
tl_status tl_shape_cylinder(const tl_allocator *alloc, tl_vec3 center, tl_vec3 axis, double radius, tl_shape *out,
                            tl_error *err);

/// Twelve faces; `size` is the full one.
tl_status tl_shape_box(const tl_allocator *alloc, tl_vec3 center, tl_vec3 size, tl_shape *out, tl_error *err);
