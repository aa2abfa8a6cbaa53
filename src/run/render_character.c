// run/render_character.c: a character as something to draw: its first clip at 30 frames a second, or its rest pose.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/log.h"
#include "io/character_load.h"
#include "io/mesh_file.h"
#include "run/render_source.h"

enum { FPS = 30, MAX_FRAMES = 100000 };

bool tl_source_is_character(const char *path)
{
    static const char *const endings[] = {".glb", ".gltf", ".ply", ".stl"};
    for (int i = 0; i < 4; i++)
        if (tl_path_ends(path, endings[i])) return true;
    return false;
}

tl_status tl_source_open_character(tl_source *s, tl_error *err)
{
    tl_character_def def = tl_character_def_default();
    def.file = s->path;
    TL_TRY(tl_character_read(&s->alloc, NULL, &def, &s->character, NULL, err));
    const tl_character_facts *facts = tl_character_facts_of(s->character);
    for (int32_t i = 0; i < facts->note_count; i++)
        tl_log_write(s->log, TL_LOG_WARNING, "%s: %s", s->path, facts->note[i]);
    const double seconds = tl_character_clip_seconds(s->character, 0);
    const int32_t count = 1 + (int32_t)fmin(floor(seconds * FPS + 1e-6), MAX_FRAMES);
    s->kind = TL_SOURCE_CHARACTER;
    s->frames = TL_ALLOC(&s->alloc, int64_t, count);
    if (!s->frames) return tl_fail_memory(err, "the list of frames");
    s->frame_count = s->frame_cap = count;
    for (int32_t i = 0; i < count; i++) s->frames[i] = i;
    s->fps = FPS;
    return TL_OK;
}

tl_status tl_source_load_character(const tl_source *s, tl_show_frame *out, tl_error *err)
{
    const tl_character *c = s->character;
    tl_playback play = tl_playback_default();
    if (tl_character_clip_count(c) > 0) play.clip = 0;
    out->meshes = TL_CALLOC(&s->alloc, tl_show_mesh, 1);
    if (!out->meshes) return tl_fail_memory(err, "a frame");
    tl_show_mesh *m = out->meshes;
    const int32_t faces = tl_character_face_count(c);
    tl_status status = tl_show_mesh_init(&s->alloc, tl_character_vert_count(c), 0, faces, m, err);
    if (status == TL_OK) {
        out->mesh_count = 1;
        snprintf(m->name, sizeof m->name, "%.63s", s->title);
        m->solid = true;
        out->cloth_count = 1, out->cloth_faces = faces;
        memcpy(m->obj.face, tl_character_faces(c), (size_t)faces * sizeof *m->obj.face);
        memcpy(m->face_node, m->obj.face, (size_t)faces * sizeof *m->face_node);
        status = tl_character_pose(c, &play, (double)out->frame / FPS, m->obj.pos, err);
    }
    if (status != TL_OK) tl_show_frame_free(&s->alloc, out);
    return status;
}
