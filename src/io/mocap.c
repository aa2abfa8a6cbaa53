// io/mocap.c: BVH: a hierarchy of joints with offsets and channels, then one line of numbers for every frame.

#include "io/mocap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "io/file.h"
#include "io/text.h"

enum { MAX_JOINTS = 4096, MAX_VALUES = 200000000, WORD = 128 };

typedef struct bvh_text {
    const char *path, *at, *end;
    int64_t line;
    char word[WORD];
    tl_mocap *out;
} bvh_text;

static tl_status fail_here(const bvh_text *in, tl_error *err, const char *what)
{
    return tl_fail(err, TL_BAD_INPUT, "%.300s:%lld: '%.60s': %s", in->path, (long long)in->line, in->word, what);
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// The next word; "" at the end.
static const char *next(bvh_text *in)
{
    size_t n = 0;
    while (in->at < in->end && is_space(*in->at)) in->line += *in->at++ == '\n';
    while (in->at < in->end && !is_space(*in->at) && n + 1 < WORD) in->word[n++] = *in->at++;
    in->word[n] = 0;
    return in->word;
}

// The rest of the line as a name.
static void next_name(bvh_text *in, char out[TL_RIG_NAME])
{
    size_t n = 0;
    while (in->at < in->end && (*in->at == ' ' || *in->at == '\t')) in->at++;
    while (in->at < in->end && *in->at != '\n' && *in->at != '\r' && *in->at != '{') {
        if (n + 1 < TL_RIG_NAME) out[n++] = *in->at;
        in->at++;
    }
    while (n > 0 && is_space(out[n - 1])) n--;
    memset(out + n, 0, TL_RIG_NAME - n);
}

static tl_status next_number(bvh_text *in, double *out, tl_error *err)
{
    const char *word = next(in);
    const char *end = word + strlen(word);
    if (*word == 0) return fail_here(in, err, "ends too early, a number is expected (cut short?)");
    if (tl_parse_double(word, end, out) != end || !isfinite(*out)) return fail_here(in, err, "a number is expected");
    return TL_OK;
}

static tl_status read_offset(bvh_text *in, tl_vec3 *out, tl_error *err)
{
    TL_TRY(next_number(in, &out->x, err));
    TL_TRY(next_number(in, &out->y, err));
    return next_number(in, &out->z, err);
}

static tl_status read_channels(bvh_text *in, tl_mocap_joint *joint, tl_error *err)
{
    static const char *const names[] = {"Xposition", "Yposition", "Zposition", "Xrotation", "Yrotation", "Zrotation"};
    double count = 0;
    TL_TRY(next_number(in, &count, err));
    if (!(count >= 0 && count <= 6 && count == floor(count))) return fail_here(in, err, "a joint has 0 to 6 channels");
    joint->channel = in->out->channel_count;
    for (int k = 0; k < (int)count; k++) {
        int axis = -1;
        next(in);
        for (int a = 0; a < 6; a++)
            if (strcasecmp(in->word, names[a]) == 0) axis = a;
        if (axis < 0)
            return fail_here(in, err, "must be Xposition, Yposition, Zposition, Xrotation, Yrotation or Zrotation");
        joint->axis[joint->channel_count++] = (uint8_t)axis;
    }
    in->out->channel_count += joint->channel_count;
    return TL_OK;
}

static tl_status read_hierarchy(bvh_text *in, tl_error *err)
{
    tl_mocap *m = in->out;
    int32_t parent = -1;  // of what comes next
    bool open = false;    // a joint has its name, its { is to come
    if (strcmp(next(in), "HIERARCHY") != 0) return fail_here(in, err, "is no BVH: must begin with HIERARCHY");
    while (strcmp(next(in), "MOTION") != 0) {
        const char *word = in->word;
        tl_mocap_joint *joint = parent >= 0 ? &m->joint[parent] : NULL;
        const bool end_site = strcmp(word, "End") == 0;
        if (*word == 0) return fail_here(in, err, "ends too early, MOTION is expected (cut short?)");
        if (strcmp(word, "ROOT") == 0 || strcmp(word, "JOINT") == 0 || end_site) {
            if (open || (strcmp(word, "ROOT") == 0) != (parent < 0)) return fail_here(in, err, "does not belong here");
            if (m->joint_count == MAX_JOINTS || !TL_GROW(&m->alloc, m->joint, m->joint_cap, m->joint_count + 1))
                return fail_here(in, err, "has too many joints (4096 at most)");
            m->joint[m->joint_count] = (tl_mocap_joint){.parent = parent};
            next_name(in, m->joint[m->joint_count].name);
            if (end_site) memset(m->joint[m->joint_count].name, 0, TL_RIG_NAME);
            open = true;
        } else if (strcmp(word, "{") == 0 && open) {
            parent = m->joint_count++, open = false;
        } else if (strcmp(word, "}") == 0 && joint && !open) {
            parent = joint->parent;
        } else if (strcmp(word, "OFFSET") == 0 && joint && !open) {
            TL_TRY(read_offset(in, &joint->offset, err));
        } else if (strcmp(word, "CHANNELS") == 0 && joint && !open && joint->channel_count == 0) {
            TL_TRY(read_channels(in, joint, err));
        } else {
            return fail_here(in, err, "does not belong here");
        }
    }
    if (parent >= 0 || open) return fail_here(in, err, "comes before the hierarchy is closed (a } is missing)");
    return m->joint_count > 0 ? TL_OK : fail_here(in, err, "there is no joint before it");
}

static tl_status read_frames(bvh_text *in, tl_error *err)
{
    tl_mocap *m = in->out;
    double frames = 0;
    if (strcmp(next(in), "Frames:") != 0) return fail_here(in, err, "Frames: is expected");
    TL_TRY(next_number(in, &frames, err));
    if (!(frames >= 1 && frames < INT32_MAX && frames == floor(frames)))
        return fail_here(in, err, "must be at least 1 frame");
    if (strcmp(next(in), "Frame") != 0 || strcmp(next(in), "Time:") != 0)
        return fail_here(in, err, "Frame Time: is expected");
    TL_TRY(next_number(in, &m->frame_seconds, err));
    if (!(m->frame_seconds > 0 && m->frame_seconds < 1e6)) return fail_here(in, err, "frame time must be > 0 seconds");
    const double values = frames * m->channel_count;
    if (values > MAX_VALUES || values > (double)(in->end - in->at))  // a value takes two bytes, but for the last
        return tl_fail(err, TL_BAD_INPUT,
                       "%.300s:%lld: %.0f frames of %d channels are more than the file holds (cut short?)", in->path,
                       (long long)in->line, frames, m->channel_count);
    m->frame_count = (int32_t)frames;
    if (!TL_GROW(&m->alloc, m->value, m->value_cap, (int64_t)values + 1)) return tl_fail_memory(err, "a motion");
    for (int64_t i = 0; i < (int64_t)values; i++) TL_TRY(next_number(in, &m->value[i], err));
    return TL_OK;
}

tl_status tl_mocap_parse(const tl_allocator *alloc, const char *path, const char *text, size_t size, tl_mocap *out,
                         tl_error *err)
{
    *out = (tl_mocap){.alloc = *alloc};
    bvh_text in = {.path = path, .at = text, .end = text + size, .line = 1, .out = out};
    TL_TRY(read_hierarchy(&in, err));
    return read_frames(&in, err);
}

tl_status tl_mocap_put_on(const char *path, const char *text, size_t size, const char *const *bones, int32_t bone_count,
                          tl_character *c, tl_error *err)
{
    tl_mocap m;
    char name[TL_RIG_NAME];
    tl_path_stem(path, name, sizeof name);
    tl_status status = tl_mocap_parse(&c->alloc, path, text, size, &m, err);
    if (status == TL_OK) {
        status = tl_retarget(&m, name, &(tl_bone_map){bones, bone_count}, c, err);
        if (status == TL_BAD_INPUT && err) {
            const tl_error why = *err;
            tl_fail(err, status, "%.300s: %.600s", path, why.message);
        }
    }
    tl_mocap_free(&m);
    return status;
}
