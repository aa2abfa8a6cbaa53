// io/overlay.c: meshes with some faces in colour, as OBJ.

#include "io/overlay.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "io/file.h"
#include "io/text.h"
#include "math/vec3.h"

static const char *const COLOURS[] = {
    [TL_MARK_NONE] = " 0.7 0.7 0.7\n",   [TL_MARK_STRAIN] = " 0 0.7 0.2\n", [TL_MARK_INVERTED] = " 0.1 0.3 1\n",
    [TL_MARK_DEGENERATE] = " 1 0 0.8\n", [TL_MARK_PINCHED] = " 1 0.9 0\n",  [TL_MARK_BODY] = " 1 0.5 0\n",
    [TL_MARK_CLOTH] = " 1 0 0\n",
};

static void write_corner(tl_buf *buf, tl_vec3 x, int mark)
{
    tl_buf_add(buf, "v ", 2);
    tl_buf_double(buf, x.x);
    tl_buf_add(buf, " ", 1);
    tl_buf_double(buf, x.y);
    tl_buf_add(buf, " ", 1);
    tl_buf_double(buf, x.z);
    tl_buf_text(buf, COLOURS[mark]);
}

static void write_face(tl_buf *buf, int64_t a, int64_t b, int64_t c)
{
    tl_buf_add(buf, "f ", 2);
    tl_buf_int(buf, a + 1);
    tl_buf_add(buf, " ", 1);
    tl_buf_int(buf, b + 1);
    tl_buf_add(buf, " ", 1);
    tl_buf_int(buf, c + 1);
    tl_buf_add(buf, "\n", 1);
}

static bool shown(const tl_overlay_mesh *m, int32_t f)
{
    return tl_finite3(m->pos[m->face[f][0]]) && tl_finite3(m->pos[m->face[f][1]]) && tl_finite3(m->pos[m->face[f][2]]);
}

// `place` gets the number of every grey corner, in order of first use.
static void write_mesh(tl_buf *buf, const tl_overlay_mesh *m, int64_t *place, int64_t *written)
{
    tl_buf_printf(buf, "o %s\n", m->name);
    for (int32_t i = 0; i < m->node_count; i++) place[i] = -1;
    for (int pass = 0; pass < 2; pass++)  // grey first: some viewers draw in file order
        for (int32_t f = 0; f < m->face_count; f++) {
            const int32_t *c = m->face[f];
            const int mark = m->mark ? m->mark[f] : TL_MARK_NONE;
            if ((mark != TL_MARK_NONE) != pass || !shown(m, f)) continue;
            for (int k = 0; k < 3; k++) {
                if (pass == 0 && place[c[k]] >= 0) continue;
                write_corner(buf, m->pos[c[k]], mark);
                if (pass == 0) place[c[k]] = *written;
                ++*written;
            }
            if (pass == 0)
                write_face(buf, place[c[0]], place[c[1]], place[c[2]]);
            else
                write_face(buf, *written - 3, *written - 2, *written - 1);
        }
}

tl_status tl_overlay_write(const char *path, const tl_overlay_mesh *meshes, int32_t mesh_count, tl_error *err)
{
    const tl_allocator alloc = tl_allocator_default();
    int32_t most = 0;
    for (int32_t i = 0; i < mesh_count; i++) most = meshes[i].node_count > most ? meshes[i].node_count : most;
    int64_t *place = TL_ALLOC(&alloc, int64_t, most), written = 0;
    if (!place) return tl_fail_memory(err, "an overlay");
    tl_buf buf;
    tl_buf_init(&buf, &alloc);
    tl_buf_printf(&buf,
                  "# Toile %s: what is wrong, in colour. red: cloth through cloth; orange: cloth through body; yellow: "
                  "pinched; magenta: degenerate; blue: inverted; green: over the strain limit\n",
                  tl_version());
    for (int32_t i = 0; i < mesh_count; i++) write_mesh(&buf, &meshes[i], place, &written);
    tl_status status = tl_buf_end(&buf, "an overlay", err);
    if (status == TL_OK) status = tl_file_write(path, buf.data, buf.size, false, err);
    tl_buf_free(&buf);
    TL_FREE(&alloc, place, most);
    return status;
}
