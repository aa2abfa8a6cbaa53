// tests/fuzz/fuzz_recording.c: any bytes as a recording, every frame of it read; hashes of header and index are put
// right so that what is behind them gets its share.
//
// Compiled with TL_MAKE_SEED it is a program that writes the seeds into the folder given.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *file = malloc(size ? size : 1);
    if (size) memcpy(file, data, size);
    tl_recording_mend(file, size);
    tl_recording *r;
    tl_error err;
    if (tl_recording_open_memory("r.toile", file, size, &r, &err) == TL_OK) {
        const tl_recording_facts facts = tl_recording_facts_of(r);
        double sum = 0;
        for (int32_t f = 0; f < facts.frames && f < 8; f++)
            for (int32_t s = 0; s < facts.surfaces && s < 8; s++) {
                tl_recording_view v;
                if (tl_recording_frame(r, f, s, &v, &err) != TL_OK || !v.present) continue;
                for (int32_t i = 0; i < v.face_count; i++)
                    for (int k = 0; k < 3; k++) sum += v.pos[v.vert_node[v.face[i][k]]].x;
                if (v.uv && v.vert_count > 0) sum += v.uv[v.vert_count - 1].y;
            }
        volatile double keep = sum;
        (void)keep;
        tl_recording_close(r);
    }
    free(file);
    return 0;
}

#ifdef TL_MAKE_SEED
int main(int argc, char **argv)
{
    if (argc < 2) return 1;
    const tl_allocator alloc = tl_allocator_default();
    for (int stored = 0; stored < 2; stored++) {
        tl_error err;
        tl_recorder *rec;
        const tl_recorder_def def = {25, 1, 0, 0, 1e-6, stored};
        if (tl_recorder_create(&alloc, &def, &rec, &err) != TL_OK) return 1;
        tl_recorder_surface(rec, "cloth", false, 1);
        tl_recorder_surface(rec, "body", true, 0);
        tl_vec3 pos[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
        tl_vec2 uv[3] = {{0, 0}, {1, 0}, {0, 1}};
        int32_t node[3] = {0, 1, 2}, face[1][3] = {{0, 1, 2}}, label[1] = {2};
        const float strain[3] = {0, 0.1f, 0.2f};
        const tl_obj mesh = {.node_count = 3,
                             .vert_count = 3,
                             .face_count = 1,
                             .pos = pos,
                             .uv = uv,
                             .vert_node = node,
                             .face = face,
                             .face_label = label};
        for (int f = 0; f < 2; f++) {
            if (tl_recorder_add(rec, 0, &(tl_frame_points){&mesh, pos, pos, {strain}}, &err) != TL_OK) return 1;
            if (f && tl_recorder_add(rec, 1, &(tl_frame_points){.mesh = &mesh, .pos = pos}, &err) != TL_OK) return 1;
            tl_recorder_next(rec, &err);
        }
        tl_buf file;
        if (tl_recorder_finish(rec, &file, &err) != TL_OK) return 1;
        char path[512];
        snprintf(path, sizeof path, "%s/%s.toile", argv[1], stored ? "stored" : "packed");
        FILE *to = fopen(path, "wb");
        if (!to || fwrite(file.data, 1, file.size, to) != file.size || fclose(to) != 0) return 1;
        tl_buf_free(&file);
        tl_recorder_destroy(rec);
    }
    return 0;
}
#endif
