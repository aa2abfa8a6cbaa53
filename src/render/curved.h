// render/curved.h: faces as pieces of a curved surface, so that outlines of coarse meshes are round close up.
#pragma once
#include "render/stage.h"

enum { TL_CURVED_PARTS = 4, TL_CURVED_POINTS = 15, TL_CURVED_TRIS = 16 };

/// A face cut into TL_CURVED_TRIS triangles.
typedef struct tl_curved {
    tl_vec3f pos[TL_CURVED_POINTS];
    tl_vec2f bary[TL_CURVED_POINTS];  ///< weights of the face's second and third corner
} tl_curved;
extern const uint8_t tl_curved_tri[TL_CURVED_TRIS][3];  ///< into its points

/// Whether the edge from a to b, whose ends have normals na and nb, departs by more than `least` from a straight line.
/// The answer is the same from both ends.
bool tl_edge_curved(tl_vec3f a, tl_vec3f b, tl_vec3f na, tl_vec3f nb, float least);

/// Cuts a face with corners `p`, normals `n` that all faces around a position share, and `curved[i]` for the edge from
/// corner i to the next. `id` are numbers of the positions: an edge gets the same bits from both of its faces.
void tl_curved_face(const tl_vec3f p[3], const tl_vec3f n[3], const int32_t id[3], const bool curved[3],
                    tl_curved *out);
