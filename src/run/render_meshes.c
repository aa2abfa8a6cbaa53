// run/render_meshes.c: tl_render_image: a picture of meshes in memory.

#include <string.h>

#include "base/alloc.h"
#include "base/def.h"
#include "base/fail.h"
#include "run/render_frame.h"

static tl_status copy_mesh(const tl_allocator *alloc, const tl_render_mesh *from, int32_t index, tl_show_mesh *to,
                           tl_error *err)
{
    const bool woven = from->uv && from->face_uv;
    for (int32_t f = 0; f < from->face_count; f++)
        for (int c = 0; c < 3; c++)
            if (from->face[f][c] < 0 || from->face[f][c] >= from->pos_count ||
                (woven && (from->face_uv[f][c] < 0 || from->face_uv[f][c] >= from->uv_count)))
                return tl_fail(err, TL_BAD_ARG, "mesh %d, face %d: corner %d is out of range", index, f, c);
    TL_TRY(tl_show_mesh_init(alloc, from->pos_count, woven ? from->uv_count : 0, from->face_count, to, err));
    memcpy(to->obj.pos, from->pos, (size_t)from->pos_count * sizeof *from->pos);
    memcpy(to->face_node, from->face, (size_t)from->face_count * sizeof *from->face);
    if (woven) {
        memcpy(to->obj.uv, from->uv, (size_t)from->uv_count * sizeof *from->uv);
        memcpy(to->obj.face, from->face_uv, (size_t)from->face_count * sizeof *from->face_uv);
    }
    to->woven = woven;
    to->obstacle = from->look != TL_LOOK_CLOTH;
    return TL_OK;
}

static void give_look(tl_style *style, tl_show_mesh *mesh, const tl_render_mesh *from, int32_t index)
{
    // names tie meshes to looks: "#0", "#1", ...
    mesh->name[0] = '#', mesh->name[1] = (char)('0' + index / 10), mesh->name[2] = (char)('0' + index % 10);
    tl_named_look *look = &style->looks[style->look_count++];
    *look = (tl_named_look){
        .kind = from->look, .has_kind = true, .has_colour = from->colour != 0, .colour = tl_rgb_hex(from->colour)};
    memcpy(look->name, mesh->name, sizeof look->name);
}

tl_status tl_render_image(const tl_render_def *given, const tl_render_mesh *meshes, int32_t mesh_count, uint8_t *rgb,
                          tl_error *err)
{
    TL_DEF_COMPLETE(tl_render_def, complete, given, err);
    const tl_render_def *def = &complete;
    if (mesh_count < 0 || mesh_count > TL_MAX_LOOKS)
        return tl_fail(err, TL_BAD_ARG, "render: %d meshes, at most %d", mesh_count, TL_MAX_LOOKS);
    if (def->width < 1 || def->height < 1)
        return tl_fail(err, TL_BAD_ARG, "render: picture of %d x %d", def->width, def->height);
    const tl_allocator alloc = tl_allocator_default();
    tl_workers *workers;
    tl_style style = {0};
    tl_show_frame frame = {0};
    TL_TRY(tl_workers_create(&alloc, def->threads, &workers, err));
    frame.meshes = TL_CALLOC(&alloc, tl_show_mesh, mesh_count > 0 ? mesh_count : 1);
    tl_status status = frame.meshes ? TL_OK : tl_fail_memory(err, "meshes to draw");
    for (int pass = 0; pass < 2; pass++) {  // cloths first
        for (int32_t i = 0; i < mesh_count && status == TL_OK; i++) {
            if ((meshes[i].look != TL_LOOK_CLOTH) != (pass == 1)) continue;
            tl_show_mesh *m = &frame.meshes[frame.mesh_count];
            status = copy_mesh(&alloc, &meshes[i], i, m, err);
            if (status != TL_OK) break;
            give_look(&style, m, &meshes[i], i);
            frame.mesh_count++;
            if (pass == 0) frame.cloth_count++, frame.cloth_faces += m->obj.face_count;
        }
    }
    tl_survey survey;
    tl_survey_init(&survey, def, &style, (tl_vec3){0, 1, 0}, def->width, def->height);
    if (status == TL_OK) status = tl_survey_add(&survey, def, &frame, NULL, 0, &alloc, workers, err);
    if (status == TL_OK) {
        tl_shot shot;
        tl_frame_report report;
        tl_image image = {def->width, def->height, rgb};
        tl_shot_init(&shot, def, &survey);
        const tl_picture picture = {.def = def,
                                    .shot = &shot,
                                    .style = &style,
                                    .frame = &frame,
                                    .legend = true,
                                    .alloc = &alloc,
                                    .workers = workers};
        status = tl_frame_draw(&picture, &image, &report, err);
    }
    // tl_show_frame_free expects an array of exactly mesh_count; ours was made for all of them
    for (int32_t i = 0; i < frame.mesh_count; i++) {
        TL_FREE(&alloc, frame.meshes[i].face_node, frame.meshes[i].obj.face_count);
        tl_obj_free(&frame.meshes[i].obj);
    }
    TL_FREE(&alloc, frame.meshes, mesh_count > 0 ? mesh_count : 1);
    tl_workers_destroy(workers);
    return status;
}
