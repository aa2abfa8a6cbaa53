// body/character.c: the arrays of a character: grown by readers, copied, hashed, freed; and what hosts may ask of it.

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/def.h"
#include "base/fail.h"
#include "body/character.h"

enum { MAX_ENTRIES = 400000000 };

typedef struct array_def {
    size_t pointer, size;
} array_def;
#define ARRAY(field)                                                                                                   \
    {                                                                                                                  \
        offsetof(tl_character, field), sizeof *((tl_character *)0)->field                                              \
    }
static const array_def arrays[TL_RIG_ARRAYS] = {
    ARRAY(node), ARRAY(joint),   ARRAY(vert), ARRAY(weight), ARRAY(delta),      ARRAY(morph),       ARRAY(face),
    ARRAY(clip), ARRAY(channel), ARRAY(time), ARRAY(value),  ARRAY(cache_time), ARRAY(cache_point), ARRAY(source),
};
#undef ARRAY

static void **array_of(tl_character *c, int a) { return (void **)(void *)((char *)c + arrays[a].pointer); }
static const void *bytes_of(const tl_character *c, int a)
{
    return *(void *const *)(const void *)((const char *)c + arrays[a].pointer);
}

tl_character *tl_character_create(const tl_allocator *alloc)
{
    tl_character *c = TL_CALLOC(alloc, tl_character, 1);
    if (!c) return NULL;
    c->alloc = *alloc;
    c->place = tl_affine_identity();
    c->facts.unit = 1, c->facts.up = TL_UP_Y;
    return c;
}

void tl_character_destroy(tl_character *c)
{
    if (!c) return;
    const tl_allocator alloc = c->alloc;
    for (int a = 0; a < TL_RIG_ARRAYS; a++) tl_free_bytes(&alloc, *array_of(c, a), (size_t)c->cap[a], arrays[a].size);
    TL_FREE(&alloc, c, 1);
}

void *tl_character_push(tl_character *c, tl_rig_array a, int64_t n)
{
    if (n < 0 || c->count[a] + n > MAX_ENTRIES) return NULL;
    const int64_t need = c->count[a] + n;
    if (!tl_grow_bytes(&c->alloc, array_of(c, a), &c->cap[a], need > 0 ? need : 1, arrays[a].size)) return NULL;
    char *out = (char *)*array_of(c, a) + (size_t)c->count[a] * arrays[a].size;
    memset(out, 0, (size_t)n * arrays[a].size);
    c->count[a] += (int32_t)n;
    return out;
}

tl_character *tl_character_copy(const tl_allocator *alloc, const tl_character *from)
{
    tl_character *c = tl_character_create(alloc);
    if (!c) return NULL;
    c->place = from->place, c->facts = from->facts;
    for (int a = 0; a < TL_RIG_ARRAYS; a++) {
        void *to = tl_character_push(c, (tl_rig_array)a, from->count[a]);
        if (!to) {
            tl_character_destroy(c);
            return NULL;
        }
        if (from->count[a] > 0) memcpy(to, bytes_of(from, a), (size_t)from->count[a] * arrays[a].size);
    }
    return c;
}

void tl_character_hash(const tl_character *c, tl_hash *hash)
{
    tl_hash_add(hash, c->count, sizeof c->count);
    tl_hash_add(hash, &c->place, sizeof c->place);
    for (int32_t i = 0; i < c->count[TL_RIG_CLIPS]; i++) {  // a motion is named by its file, which may be a copy
        const double clip[4] = {c->clip[i].channel, c->clip[i].channel_count, c->clip[i].begin, c->clip[i].end};
        tl_hash_add(hash, clip, sizeof clip);
    }
    for (int a = 0; a < TL_RIG_SOURCES; a++)
        if (c->count[a] > 0 && a != TL_RIG_CLIPS)
            tl_hash_add(hash, bytes_of(c, a), (size_t)c->count[a] * arrays[a].size);
}

void tl_character_transform(tl_character *c, const tl_affine *map)
{
    c->place = tl_affine_mul(map, &c->place);
    for (int32_t i = 0; i < c->count[TL_RIG_CACHE_POINTS]; i++) {
        tl_cache_point *p = &c->cache_point[i];
        const tl_vec3 x = tl_affine_point(map, (tl_vec3){(double)p->x, (double)p->y, (double)p->z});
        *p = (tl_cache_point){(float)x.x, (float)x.y, (float)x.z};
    }
}

void tl_character_note(tl_character *c, const char *format, ...)
{
    tl_character_facts *f = &c->facts;
    if (f->note_count == TL_CHARACTER_NOTES) {
        snprintf(f->note[f->note_count - 1], sizeof f->note[0], "there are more warnings");
        return;
    }
    va_list args;
    va_start(args, format);
    vsnprintf(f->note[f->note_count++], sizeof f->note[0], format, args);
    va_end(args);
}

// ---- for hosts ----

const tl_character_facts *tl_character_facts_of(const tl_character *c) { return &c->facts; }
int32_t tl_character_vert_count(const tl_character *c) { return c->count[TL_RIG_VERTS]; }
int32_t tl_character_face_count(const tl_character *c) { return c->count[TL_RIG_FACES]; }
const int32_t (*tl_character_faces(const tl_character *c))[3] { return (const int32_t(*)[3])(const void *)c->face; }
int32_t tl_character_clip_count(const tl_character *c) { return c->count[TL_RIG_CLIPS]; }

const char *tl_character_clip_name(const tl_character *c, int32_t clip)
{
    return clip >= 0 && clip < c->count[TL_RIG_CLIPS] ? c->clip[clip].name : "";
}

double tl_character_clip_seconds(const tl_character *c, int32_t clip)
{
    return clip >= 0 && clip < c->count[TL_RIG_CLIPS] ? c->clip[clip].end - c->clip[clip].begin : 0;
}

int32_t tl_character_find_clip(const tl_character *c, const char *name)
{
    for (int32_t i = 0; i < c->count[TL_RIG_CLIPS]; i++)
        if (strcmp(c->clip[i].name, name) == 0) return i;
    return -1;
}

int32_t tl_character_node_count(const tl_character *c) { return c->count[TL_RIG_NODES]; }

const char *tl_character_node_name(const tl_character *c, int32_t node)
{
    return node >= 0 && node < c->count[TL_RIG_NODES] ? c->node[node].name : "";
}

int32_t tl_character_node_parent(const tl_character *c, int32_t node)
{
    return node >= 0 && node < c->count[TL_RIG_NODES] ? c->node[node].parent : -1;
}

void tl_character_def_init(tl_character_def *def, size_t size)
{
    const tl_character_def defaults = {0};
    tl_def_init(def, size, &defaults, sizeof defaults);
}

tl_playback tl_playback_default(void) { return (tl_playback){.clip = -1, .speed = 1}; }

int32_t tl_character_vert_node(const tl_character *c, int32_t vert)
{
    if (vert < 0 || vert >= c->count[TL_RIG_VERTS]) return -1;
    const tl_rig_vert *v = &c->vert[vert];
    int32_t best = -1;
    double most = 0;
    for (int32_t i = v->weight; i < v->weight + v->weight_count; i++)
        if (c->weight[i].weight > most) most = c->weight[i].weight, best = c->joint[c->weight[i].joint].node;
    return best;
}

tl_status tl_character_pose(const tl_character *c, const tl_playback *play, double time, tl_vec3 *out, tl_error *err)
{
    if (!c || !play || !out) return tl_fail(err, TL_BAD_ARG, "character_pose: character, play or out is NULL");
    if (play->clip < -1 || play->clip >= c->count[TL_RIG_CLIPS])
        return tl_fail(err, TL_BAD_ARG, "character_pose: clip %d, there are %d (-1: rest pose)", play->clip,
                       c->count[TL_RIG_CLIPS]);
    tl_poser *poser = tl_poser_create(&c->alloc, c);
    if (!poser) return tl_fail_memory(err, "a pose");
    tl_poser_at(poser, c, play, time, out);
    tl_poser_destroy(poser);
    return TL_OK;
}
