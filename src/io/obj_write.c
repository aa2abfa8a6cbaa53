// io/obj_write.c: cloth and obstacle meshes as OBJ, writer. Shortest exact numbers: a frame read back has the same
// bits, and the bytes depend on the mesh alone.

#include "io/obj.h"

static bool any_nonzero(const int32_t *labels, int32_t count)
{
    for (int32_t i = 0; labels && i < count; i++)
        if (labels[i] != 0) return true;
    return false;
}

static bool any_motion(const tl_vec3 *vel, int32_t count)
{
    for (int32_t i = 0; vel && i < count; i++)
        if (vel[i].x != 0 || vel[i].y != 0 || vel[i].z != 0) return true;
    return false;
}

static void write_vec3(tl_buf *buf, const char *word, tl_vec3 a)
{
    tl_buf_text(buf, word);
    tl_buf_double(buf, a.x);
    tl_buf_add(buf, " ", 1);
    tl_buf_double(buf, a.y);
    tl_buf_add(buf, " ", 1);
    tl_buf_double(buf, a.z);
    tl_buf_add(buf, "\n", 1);
}

static void write_label(tl_buf *buf, const char *word, int32_t label)
{
    tl_buf_text(buf, word);
    tl_buf_int(buf, label);
    tl_buf_add(buf, "\n", 1);
}

void tl_obj_write(tl_buf *buf, const tl_obj_view *view)
{
    const bool labels = any_nonzero(view->node_label, view->node_count);
    const bool moving = any_motion(view->vel, view->node_count);
    const bool face_labels = any_nonzero(view->face_label, view->face_count);
    if (view->uv)
        tl_buf_printf(buf, "# Toile %s, cloth %s: %d nodes, %d vertices, %d faces\n", tl_version(),
                      view->name ? view->name : "cloth", view->node_count, view->vert_count, view->face_count);
    else
        tl_buf_printf(buf, "# Toile %s, obstacle %s: %d nodes, %d faces\n", tl_version(),
                      view->name ? view->name : "obstacle", view->node_count, view->face_count);
    if (view->units)
        tl_buf_printf(buf, "# units: %s; v world position, vt material position in m\n", view->units);
    else
        tl_buf_text(buf, view->uv
                             ? "# units: m; right-handed, y up; v world position, vt material position, both in m\n"
                             : "# units: m; right-handed, y up; v world position\n");
    for (int32_t i = 0; i < view->node_count; i++) {
        write_vec3(buf, "v ", view->pos[i]);
        if (moving) write_vec3(buf, "nv ", view->vel[i]);
        if (labels && view->node_label[i]) write_label(buf, "nl ", view->node_label[i]);
    }
    for (int32_t i = 0; i < view->pinched_count; i++) write_label(buf, "np ", view->pinched[i]);
    for (int32_t i = 0; view->uv && i < view->vert_count; i++) {
        tl_buf_add(buf, "vt ", 3);
        tl_buf_double(buf, view->uv[i].x);
        tl_buf_add(buf, " ", 1);
        tl_buf_double(buf, view->uv[i].y);
        tl_buf_add(buf, "\n", 1);
    }
    if (view->moves) tl_buf_text(buf, "nm\n");
    if (view->absent) tl_buf_text(buf, "na\n");
    for (int32_t f = 0; f < view->face_count && !view->absent; f++) {
        tl_buf_add(buf, "f", 1);
        for (int k = 0; k < 3; k++) {
            const int32_t v = view->face[f][k];
            tl_buf_add(buf, " ", 1);
            tl_buf_int(buf, (view->vert_node ? view->vert_node[v] : v) + 1);
            if (!view->uv) continue;
            tl_buf_add(buf, "/", 1);
            tl_buf_int(buf, v + 1);
        }
        tl_buf_add(buf, "\n", 1);
        if (face_labels && view->face_label[f]) write_label(buf, "fl ", view->face_label[f]);
    }
    for (int32_t i = 0; i < view->edge_count; i++) {
        tl_buf_printf(buf, "e %d %d\n", view->edge[i][0] + 1, view->edge[i][1] + 1);
        write_label(buf, "el ", view->edge_label[i]);
    }
}
