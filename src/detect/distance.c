// detect/distance.c: the public face of detect/distance.h.

#include "detect/distance.h"

tl_nearest tl_nearest_vertex_face(const tl_vec3 x[4]) { return tl_nearest_vf(x[0], x[1], x[2], x[3]); }

tl_nearest tl_nearest_edge_edge(const tl_vec3 x[4]) { return tl_nearest_ee(x[0], x[1], x[2], x[3]); }
