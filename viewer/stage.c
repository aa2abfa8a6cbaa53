// viewer/stage.c: see stage.h. Meshes are drawn without indices, three vertices a face, so that every face can have
// colours and barycentric coordinates of its own; 10,000 faces are 1.3 MB a frame.

#include "stage.h"

#include <epoxy/gl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shaders.h"

enum { MAX_SURFACES = 64, SHADOW_SIZE = 2048, FLOATS = 11 };  // position, normal, material place, colour

typedef struct drawn {
    GLuint array, buffer;
    int32_t corner_count;
    float back[3], gloss, roughness, sheen, weave, yarn;
    uint32_t weave_kind;
    bool two_sided, mapped, is_plane;
} drawn;

struct view_stage {
    GLuint mesh, floor, depth;                          // programs
    GLuint shadow_texture, shadow_frame, shadow_plain;  // the last reads the texture's depths as they are
    GLuint floor_array, floor_buffer;
    drawn surfaces[MAX_SURFACES];
    int32_t count;
    float *scratch;
    size_t scratch_size;
    float (*normals)[3];
    size_t normal_count;
};

static GLuint compile(GLenum kind, const char *text, tl_error *err)
{
    const GLuint shader = glCreateShader(kind);
    glShaderSource(shader, 1, &text, NULL);
    glCompileShader(shader);
    GLint ok = 0;
    glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
    if (ok) return shader;
    char log[512] = "";
    glGetShaderInfoLog(shader, sizeof log, NULL, log);
    if (err) {
        err->status = TL_FAILED;
        snprintf(err->message, sizeof err->message, "the graphics driver refuses a shader: %.400s", log);
    }
    glDeleteShader(shader);
    return 0;
}

static GLuint link_program(const char *vertex, const char *fragment, tl_error *err)
{
    const GLuint v = compile(GL_VERTEX_SHADER, vertex, err), f = v ? compile(GL_FRAGMENT_SHADER, fragment, err) : 0;
    GLuint program = 0;
    if (v && f) {
        program = glCreateProgram();
        glAttachShader(program, v), glAttachShader(program, f);
        glLinkProgram(program);
        GLint ok = 0;
        glGetProgramiv(program, GL_LINK_STATUS, &ok);
        if (!ok) {
            if (err) err->status = TL_FAILED, snprintf(err->message, sizeof err->message, "shaders do not link");
            glDeleteProgram(program);
            program = 0;
        }
    }
    if (v) glDeleteShader(v);
    if (f) glDeleteShader(f);
    return program;
}

static void make_shadow(view_stage *s)
{
    glGenTextures(1, &s->shadow_texture);
    glBindTexture(GL_TEXTURE_2D, s->shadow_texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_DEPTH_COMPONENT24, SHADOW_SIZE, SHADOW_SIZE, 0, GL_DEPTH_COMPONENT, GL_FLOAT,
                 NULL);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_FUNC, GL_LEQUAL);
    glGenSamplers(1, &s->shadow_plain);
    glSamplerParameteri(s->shadow_plain, GL_TEXTURE_COMPARE_MODE, GL_NONE);
    glSamplerParameteri(s->shadow_plain, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glSamplerParameteri(s->shadow_plain, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glSamplerParameteri(s->shadow_plain, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glSamplerParameteri(s->shadow_plain, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glGenFramebuffers(1, &s->shadow_frame);
    glBindFramebuffer(GL_FRAMEBUFFER, s->shadow_frame);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, s->shadow_texture, 0);
    glDrawBuffer(GL_NONE), glReadBuffer(GL_NONE);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

tl_status view_stage_create(view_stage **out, tl_error *err)
{
    view_stage *s = calloc(1, sizeof *s);
    *out = NULL;
    if (!s) return TL_NO_MEMORY;
    s->mesh = link_program(MESH_VERTEX, MESH_FRAGMENT, err);
    s->floor = s->mesh ? link_program(FLOOR_VERTEX, FLOOR_FRAGMENT, err) : 0;
    s->depth = s->floor ? link_program(DEPTH_VERTEX, DEPTH_FRAGMENT, err) : 0;
    if (!s->depth) {
        view_stage_destroy(s);
        return TL_FAILED;
    }
    make_shadow(s);
    glGenVertexArrays(1, &s->floor_array), glGenBuffers(1, &s->floor_buffer);
    glEnable(GL_DEPTH_TEST), glEnable(GL_MULTISAMPLE);
    *out = s;
    return TL_OK;
}

void view_stage_destroy(view_stage *s)
{
    if (!s) return;
    view_stage_keep(s, 0);
    if (s->mesh) glDeleteProgram(s->mesh);
    if (s->floor) glDeleteProgram(s->floor);
    if (s->depth) glDeleteProgram(s->depth);
    if (s->shadow_frame) glDeleteFramebuffers(1, &s->shadow_frame);
    if (s->shadow_plain) glDeleteSamplers(1, &s->shadow_plain);
    if (s->shadow_texture) glDeleteTextures(1, &s->shadow_texture);
    if (s->floor_array) glDeleteVertexArrays(1, &s->floor_array);
    if (s->floor_buffer) glDeleteBuffers(1, &s->floor_buffer);
    free(s->scratch);
    free(s->normals);
    free(s);
}

void view_stage_keep(view_stage *s, int32_t count)
{
    for (int32_t i = count; i < s->count; i++) {
        glDeleteVertexArrays(1, &s->surfaces[i].array);
        glDeleteBuffers(1, &s->surfaces[i].buffer);
        s->surfaces[i] = (drawn){0};
    }
    if (count < s->count) s->count = count;
}

// Area-weighted normals per position, as pictures of smooth cloth want them.
static void gather_normals(view_stage *s, const tl_show_surface *m)
{
    memset(s->normals, 0, (size_t)m->pos_count * sizeof *s->normals);
    for (int32_t f = 0; f < m->face_count; f++) {
        const tl_vec3 a = m->pos[m->face[f][0]], b = m->pos[m->face[f][1]], c = m->pos[m->face[f][2]];
        const double u[3] = {b.x - a.x, b.y - a.y, b.z - a.z}, v[3] = {c.x - a.x, c.y - a.y, c.z - a.z};
        const float n[3] = {(float)(u[1] * v[2] - u[2] * v[1]), (float)(u[2] * v[0] - u[0] * v[2]),
                            (float)(u[0] * v[1] - u[1] * v[0])};
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 3; i++) s->normals[m->face[f][k]][i] += n[i];
    }
}

static bool reserve(view_stage *s, size_t floats, size_t nodes)
{
    if (floats > s->scratch_size) {
        float *more = realloc(s->scratch, floats * sizeof *more);
        if (!more) return false;
        s->scratch = more, s->scratch_size = floats;
    }
    if (nodes > s->normal_count) {
        float(*more)[3] = realloc(s->normals, nodes * sizeof *more);
        if (!more) return false;
        s->normals = more, s->normal_count = nodes;
    }
    return true;
}

static void fill_corners(view_stage *s, const tl_show_surface *m, const float (*colours)[3])
{
    float *to = s->scratch;
    for (int32_t f = 0; f < m->face_count; f++)
        for (int k = 0; k < 3; k++, to += FLOATS) {
            const int32_t p = m->face[f][k];
            to[0] = (float)m->pos[p].x, to[1] = (float)m->pos[p].y, to[2] = (float)m->pos[p].z;
            memcpy(to + 3, s->normals[p], 3 * sizeof *to);
            const tl_vec2 uv = m->uv && m->face_uv ? m->uv[m->face_uv[f][k]] : (tl_vec2){0, 0};
            to[6] = (float)uv.x, to[7] = (float)uv.y;
            memcpy(to + 8, colours ? colours[3 * f + k] : m->front, 3 * sizeof *to);
        }
}

// The square that stands for an infinite plane is the floor's business.
static bool is_plane(const tl_show_surface *m)
{
    return !m->is_cloth && m->pos_count == 4 && m->face_count == 2 && m->pos[0].y == m->pos[1].y &&
           m->pos[1].y == m->pos[2].y && m->pos[2].y == m->pos[3].y;
}

tl_status view_stage_put(view_stage *s, int32_t index, const tl_show_surface *m, const float (*colours)[3],
                         tl_error *err)
{
    if (index >= MAX_SURFACES) return TL_OK;  // more would not be told apart anyway
    const size_t floats = (size_t)m->face_count * 3 * FLOATS;
    if (!reserve(s, floats, (size_t)m->pos_count)) {
        if (err)
            err->status = TL_NO_MEMORY, snprintf(err->message, sizeof err->message, "no memory for a mesh to draw");
        return TL_NO_MEMORY;
    }
    gather_normals(s, m);
    fill_corners(s, m, colours);
    drawn *d = &s->surfaces[index];
    if (index >= s->count) s->count = index + 1;
    if (!d->array) {
        glGenVertexArrays(1, &d->array), glGenBuffers(1, &d->buffer);
        glBindVertexArray(d->array), glBindBuffer(GL_ARRAY_BUFFER, d->buffer);
        static const int sizes[] = {3, 3, 2, 3};
        for (int i = 0, at = 0; i < 4; at += sizes[i++]) {
            glEnableVertexAttribArray((GLuint)i);
            glVertexAttribPointer((GLuint)i, sizes[i], GL_FLOAT, GL_FALSE, FLOATS * sizeof(float),
                                  (const void *)(sizeof(float) * (size_t)at));
        }
    }
    glBindBuffer(GL_ARRAY_BUFFER, d->buffer);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(floats * sizeof(float)), s->scratch, GL_STREAM_DRAW);
    d->corner_count = 3 * m->face_count;
    memcpy(d->back, m->back, sizeof d->back);
    d->gloss = m->gloss, d->roughness = m->roughness, d->sheen = m->sheen, d->weave = m->weave, d->yarn = m->yarn;
    d->weave_kind = m->weave_kind;
    d->two_sided = m->is_cloth, d->mapped = colours != NULL, d->is_plane = is_plane(m);
    return TL_OK;
}

static void set_vec3(GLuint program, const char *name, tl_vec3 v)
{
    glUniform3f(glGetUniformLocation(program, name), (float)v.x, (float)v.y, (float)v.z);
}

static void set_light(GLuint program, const float camera[16], const float light[16], tl_vec3 sun, tl_vec3 eye)
{
    glUseProgram(program);
    glUniformMatrix4fv(glGetUniformLocation(program, "camera"), 1, GL_FALSE, camera);
    glUniformMatrix4fv(glGetUniformLocation(program, "light"), 1, GL_FALSE, light);
    glUniform1i(glGetUniformLocation(program, "shadow"), 0);
    glUniform1i(glGetUniformLocation(program, "depths"), 1);
    set_vec3(program, "sun", sun), set_vec3(program, "eye", eye);
}

static void draw_shadow(view_stage *s, const float light[16])
{
    glBindFramebuffer(GL_FRAMEBUFFER, s->shadow_frame);
    glViewport(0, 0, SHADOW_SIZE, SHADOW_SIZE);
    glClear(GL_DEPTH_BUFFER_BIT);
    glUseProgram(s->depth);
    glUniformMatrix4fv(glGetUniformLocation(s->depth, "camera"), 1, GL_FALSE, light);
    glEnable(GL_POLYGON_OFFSET_FILL), glPolygonOffset(1.5f, 2);
    for (int32_t i = 0; i < s->count; i++) {
        if (s->surfaces[i].is_plane) continue;
        glBindVertexArray(s->surfaces[i].array);
        glDrawArrays(GL_TRIANGLES, 0, s->surfaces[i].corner_count);
    }
    glDisable(GL_POLYGON_OFFSET_FILL);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

static void draw_meshes(view_stage *s, bool wire)
{
    for (int32_t i = 0; i < s->count; i++) {
        const drawn *d = &s->surfaces[i];
        if (d->is_plane) continue;
        glUniform3fv(glGetUniformLocation(s->mesh, "back"), 1, d->back);
        glUniform1i(glGetUniformLocation(s->mesh, "two_sided"), d->two_sided);
        glUniform1i(glGetUniformLocation(s->mesh, "mapped"), d->mapped);
        glUniform1i(glGetUniformLocation(s->mesh, "wire"), wire && d->two_sided);
        glUniform1i(glGetUniformLocation(s->mesh, "weave_kind"), (GLint)d->weave_kind);
        glUniform1f(glGetUniformLocation(s->mesh, "gloss"), d->gloss);
        glUniform1f(glGetUniformLocation(s->mesh, "roughness"), d->roughness);
        glUniform1f(glGetUniformLocation(s->mesh, "sheen"), d->sheen);
        glUniform1f(glGetUniformLocation(s->mesh, "weave"), d->weave);
        glUniform1f(glGetUniformLocation(s->mesh, "yarn"), d->yarn);
        glBindVertexArray(d->array);
        glDrawArrays(GL_TRIANGLES, 0, d->corner_count);
    }
}

static void draw_floor(view_stage *s, tl_vec3 centre, double radius, double height, const float paper[3])
{
    const float r = (float)(12 * radius), y = (float)height, x = (float)centre.x, z = (float)centre.z;
    const float square[] = {x - r, y, z - r, x + r, y, z - r, x - r, y, z + r, x + r, y, z + r};
    glBindVertexArray(s->floor_array), glBindBuffer(GL_ARRAY_BUFFER, s->floor_buffer);
    glBufferData(GL_ARRAY_BUFFER, sizeof square, square, GL_STREAM_DRAW);
    glEnableVertexAttribArray(0), glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 0, NULL);
    set_vec3(s->floor, "centre", centre);
    glUniform3fv(glGetUniformLocation(s->floor, "paper"), 1, paper);
    glUniform1f(glGetUniformLocation(s->floor, "radius"), (float)radius);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

static float encode(float c) { return c <= 0.0031308f ? 12.92f * c : 1.055f * powf(c, 1 / 2.4f) - 0.055f; }

void view_stage_draw(view_stage *s, const view_camera *camera, const view_shot *shot)
{
    const tl_vec3 c = {(shot->lo.x + shot->hi.x) / 2, (shot->lo.y + shot->hi.y) / 2, (shot->lo.z + shot->hi.z) / 2};
    const double dx = shot->hi.x - shot->lo.x, dy = shot->hi.y - shot->lo.y, dz = shot->hi.z - shot->lo.z;
    const double radius = fmax(0.55 * sqrt(dx * dx + dy * dy + dz * dz), 1e-3);
    // the key light stands to the left of the camera, above
    const double a = camera->azimuth - 0.7, e = 0.95;
    const tl_vec3 sun = {cos(e) * sin(a), sin(e), cos(e) * cos(a)};
    float light[16], view[16];
    view_light_matrix(sun, c, 1.3 * radius, light);
    view_camera_matrix(camera, (double)shot->width / shot->height, view);
    draw_shadow(s, light);

    static const float light_paper[3] = {0.80f, 0.80f, 0.79f}, dark_paper[3] = {0.035f, 0.038f, 0.045f};
    const float *paper = shot->dark ? dark_paper : light_paper;
    glViewport(0, 0, shot->width, shot->height);
    glClearColor(encode(paper[0] / (1 + 0.15f * paper[0])), encode(paper[1] / (1 + 0.15f * paper[1])),
                 encode(paper[2] / (1 + 0.15f * paper[2])), 1);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glActiveTexture(GL_TEXTURE1), glBindTexture(GL_TEXTURE_2D, s->shadow_texture), glBindSampler(1, s->shadow_plain);
    glActiveTexture(GL_TEXTURE0), glBindTexture(GL_TEXTURE_2D, s->shadow_texture);
    const tl_vec3 eye = view_camera_eye(camera);
    if (shot->show_floor && eye.y > shot->floor) {
        set_light(s->floor, view, light, sun, eye);
        draw_floor(s, c, radius, shot->floor, paper);
    }
    set_light(s->mesh, view, light, sun, eye);
    draw_meshes(s, shot->wire);
}
