// bench/bench_scenes_look.c: two frames beside each other: outlines, folds, place; whatever their meshes are.

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_fidelity_stats.h"
#include "bench_scenes.h"

enum { RASTER = 1024 };

/// All cloths of a frame as one surface; a node is a node of the file.
typedef struct surface {
    tl_vec3 *pos;
    int32_t *self, (*face)[3];
    int32_t node_count, node_cap, face_count, face_cap;
} surface;

static void surface_free(surface *s)
{
    free(s->pos), free(s->self), free(s->face);
    *s = (surface){0};
}

static bool grow(void **items, int32_t *cap, int32_t count, size_t size)
{
    if (count <= *cap) return true;
    const int32_t more = count > 2 * *cap ? count : 2 * *cap;
    void *larger = realloc(*items, (size_t)more * size);
    if (!larger) return false;
    *items = larger, *cap = more;
    return true;
}

// Lines `v` and `f` of a frame of ours; faces are triangles.
static bool read_obj(const char *path, surface *s)
{
    FILE *file = fopen(path, "r");
    if (!file) return false;
    const int32_t first = s->node_count;
    char line[512];
    bool ok = true;
    while (ok && fgets(line, sizeof line, file)) {
        tl_vec3 x;
        int32_t n[3];
        if (sscanf(line, "v %lf %lf %lf", &x.x, &x.y, &x.z) == 3) {
            ok = grow((void **)&s->pos, &s->node_cap, s->node_count + 1, sizeof *s->pos);
            if (ok) s->pos[s->node_count++] = x;
        } else if (sscanf(line, "f %d%*[0-9/] %d%*[0-9/] %d", &n[0], &n[1], &n[2]) == 3 ||
                   sscanf(line, "f %d %d %d", &n[0], &n[1], &n[2]) == 3) {
            ok = grow((void **)&s->face, &s->face_cap, s->face_count + 1, sizeof *s->face);
            for (int k = 0; ok && k < 3; k++) {
                s->face[s->face_count][k] = first + n[k] - 1;
                ok = n[k] >= 1 && first + n[k] <= s->node_count;
            }
            s->face_count += ok;
        }
    }
    fclose(file);
    return ok;
}

static bool read_frame(const char *folder, int32_t frame, surface *s)
{
    char dir[4096], path[8192], prefix[32];
    snprintf(dir, sizeof dir, "%s/frames", folder);
    snprintf(prefix, sizeof prefix, "%06d_", frame);
    *s = (surface){0};
    DIR *list = opendir(dir);
    if (!list) return false;
    bool ok = true;
    for (struct dirent *item = readdir(list); ok && item; item = readdir(list)) {
        const size_t length = strlen(item->d_name);
        if (strncmp(item->d_name, prefix, strlen(prefix)) != 0 || length < 4 ||
            strcmp(item->d_name + length - 4, ".obj") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", dir, item->d_name);
        ok = read_obj(path, s);
    }
    closedir(list);
    ok = ok && s->face_count > 0;
    s->self = ok ? malloc((size_t)s->node_count * sizeof *s->self) : NULL;
    for (int32_t i = 0; s->self && i < s->node_count; i++) s->self[i] = i;
    if (!s->self) surface_free(s);
    return s->self != NULL;
}

static tl_cloth_view view_of(const surface *s)
{
    return (tl_cloth_view){.pos = s->pos,
                           .node_count = s->node_count,
                           .vert_node = s->self,
                           .vert_count = s->node_count,
                           .face = (const int32_t(*)[3])s->face,
                           .face_count = s->face_count};
}

static tl_vec3 sub(tl_vec3 a, tl_vec3 b) { return (tl_vec3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static double dot(tl_vec3 a, tl_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static tl_vec3 cross(tl_vec3 a, tl_vec3 b)
{
    return (tl_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/// A side of a face, by its nodes in order, to be matched with that of its neighbour.
typedef struct side {
    int32_t low, high, face;
} side;

static int compare_sides(const void *pa, const void *pb)
{
    const side *a = pa, *b = pb;
    if (a->low != b->low) return a->low < b->low ? -1 : 1;
    if (a->high != b->high) return a->high < b->high ? -1 : 1;
    return a->face < b->face ? -1 : a->face > b->face;
}

static tl_vec3 normal_of(const surface *s, int32_t f)
{
    const int32_t *n = s->face[f];
    return cross(sub(s->pos[n[1]], s->pos[n[0]]), sub(s->pos[n[2]], s->pos[n[0]]));
}

// Sum of |dihedral angle| x length over twice the area, and the middle of the surface.
static bool measure_folds(const surface *s, double *fold, tl_vec3 *middle)
{
    side *sides = malloc(3 * (size_t)s->face_count * sizeof *sides);
    if (!sides) return false;
    double area = 0, sum = 0;
    *middle = (tl_vec3){0, 0, 0};
    for (int32_t f = 0; f < s->face_count; f++) {
        const tl_vec3 n = normal_of(s, f);
        const double a = 0.5 * sqrt(dot(n, n));
        area += a;
        for (int k = 0; k < 3; k++) {
            const tl_vec3 x = s->pos[s->face[f][k]];
            const int32_t i = s->face[f][k], j = s->face[f][(k + 1) % 3];
            *middle = (tl_vec3){middle->x + a * x.x / 3, middle->y + a * x.y / 3, middle->z + a * x.z / 3};
            sides[3 * f + k] = (side){i < j ? i : j, i < j ? j : i, f};
        }
    }
    qsort(sides, 3 * (size_t)s->face_count, sizeof *sides, compare_sides);
    for (int32_t i = 0; i + 1 < 3 * s->face_count; i++) {
        const side *a = &sides[i], *b = &sides[i + 1];
        if (a->low != b->low || a->high != b->high) continue;
        const tl_vec3 m = normal_of(s, a->face), n = normal_of(s, b->face), c = cross(m, n);
        const tl_vec3 e = sub(s->pos[a->high], s->pos[a->low]);
        sum += atan2(sqrt(dot(c, c)), dot(m, n)) * sqrt(dot(e, e));
    }
    free(sides);
    *fold = area > 0 ? 0.5 * sum / area : 0;
    const double scale = area > 0 ? 1 / area : 0;
    *middle = (tl_vec3){middle->x * scale, middle->y * scale, middle->z * scale};
    return true;
}

static bool compare_outlines(const surface *first, const surface *second, shape_view view, double *area,
                             double *outline)
{
    tl_vec3 lo = first->pos[0], hi = lo;
    const surface *both[2] = {first, second};
    for (int k = 0; k < 2; k++)
        for (int32_t i = 0; i < both[k]->node_count; i++) {
            const tl_vec3 x = both[k]->pos[i];
            lo = (tl_vec3){fmin(lo.x, x.x), fmin(lo.y, x.y), fmin(lo.z, x.z)};
            hi = (tl_vec3){fmax(hi.x, x.x), fmax(hi.y, x.y), fmax(hi.z, x.z)};
        }
    const double width = hi.x - lo.x, height = view == SHAPE_ABOVE ? hi.z - lo.z : hi.y - lo.y;
    const double middle[2] = {0.5 * (lo.x + hi.x), view == SHAPE_ABOVE ? 0.5 * (lo.z + hi.z) : 0.5 * (lo.y + hi.y)};
    const double pixel = fmax(fmax(width, height), 1e-6) / (RASTER - 8);
    shape_mask mask[2] = {{0}, {0}};
    bool ok = true;
    for (int k = 0; k < 2 && ok; k++) {
        ok = shape_mask_make(RASTER, pixel, middle, &mask[k]);
        const tl_cloth_view cloth = view_of(both[k]);
        if (ok) shape_mask_draw(&mask[k], &cloth, view);
    }
    if (ok) {
        *area = 0.5 * (shape_mask_area(&mask[0]) + shape_mask_area(&mask[1]));
        *outline = *area > 0 ? shape_mask_difference(&mask[0], &mask[1]) / *area : 0;
    }
    shape_mask_free(&mask[0]), shape_mask_free(&mask[1]);
    return ok;
}

bool scenes_compare(const char *first, const char *second, int32_t frame, scenes_look *out)
{
    surface a = {0}, b = {0};
    *out = (scenes_look){0};
    bool ok = read_frame(first, frame, &a) && read_frame(second, frame, &b);
    tl_vec3 middle[2] = {{0, 0, 0}, {0, 0, 0}};
    for (int view = 0; ok && view < SHAPE_VIEWS; view++)
        ok = compare_outlines(&a, &b, (shape_view)view, &out->area[view], &out->outline[view]);
    ok = ok && measure_folds(&a, &out->fold[0], &middle[0]) && measure_folds(&b, &out->fold[1], &middle[1]);
    const tl_vec3 way = sub(middle[0], middle[1]);
    out->move = sqrt(dot(way, way));
    surface_free(&a), surface_free(&b);
    return ok;
}
