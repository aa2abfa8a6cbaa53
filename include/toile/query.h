// toile/query.h: ask a simulation where things are: rays, nearest points, contacts.
#pragma once
#include "toile/body.h"
#include "toile/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TL_QUERY_CLOTHS = 1, TL_QUERY_BODIES = 2, TL_QUERY_ALL = 3 };

/// A point on a cloth or a body.
typedef struct tl_hit {
    tl_cloth_id cloth;  ///< {0, 0}: it is a body
    tl_body_id body;
    int32_t face;           ///< of the view
    int32_t node;           ///< of the view: the corner nearest to the point
    double barycentric[3];  ///< weights of the corners
    tl_vec3 point;          ///< [m]
    tl_vec3 normal;         ///< of the face, unit
    double distance;        ///< from the origin along the ray, or from the point asked for [m]
} tl_hit;

/// The first point that a ray meets, from either side. `mask`: TL_QUERY_. Returns 1 if there is one within `reach` [m],
/// else 0. Planes count in front of everything behind them.
TL_API int32_t tl_sim_ray(const tl_sim *sim, tl_vec3 origin, tl_vec3 direction, double reach, uint32_t mask,
                          tl_hit *out);

/// The nearest point of cloths and bodies (planes excepted) within `reach`.
TL_API int32_t tl_sim_nearest(const tl_sim *sim, tl_vec3 point, double reach, uint32_t mask, tl_hit *out);

/// A pair of features that press on each other, as the last step ended.
typedef struct tl_contact_point {
    tl_cloth_id cloth;        ///< that is pressed on
    tl_cloth_id other_cloth;  ///< by that, or
    tl_body_id body;          ///< by that; the other one is {0, 0}
    int32_t node;             ///< of `cloth`, the nearest to the point
    tl_vec3 point;            ///< on the cloth [m]
    tl_vec3 normal;           ///< unit, towards the cloth
    double gap;               ///< distance [m]
    double thickness;         ///< below which it presses [m]
    tl_vec3 force;            ///< on the cloth, friction included [N]
} tl_contact_point;

/// Fills up to `capacity` entries and returns how many there are. With the responses barrier and zones; the others keep
/// no forces, and so do springs: 0.
TL_API int32_t tl_sim_contact_points(const tl_sim *sim, tl_contact_point *out, int32_t capacity);

#ifdef __cplusplus
}
#endif
