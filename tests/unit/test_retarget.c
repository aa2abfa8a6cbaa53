// tests/unit/test_retarget.c: BVH files, bones by name, and motion of one skeleton on another.

#include "test_io_help.h"

#include "base/alloc.h"
#include "io/character_load.h"
#include "io/mocap.h"

static tl_status parse(const char *text, tl_mocap *out, tl_error *err)
{
    const tl_allocator alloc = tl_allocator_default();
    return tl_mocap_parse(&alloc, "m.bvh", text, strlen(text), out, err);
}

#define TREE                                                                                                           \
    "HIERARCHY\nROOT Hips\n{\n OFFSET 0 0 0\n CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation "           \
    "Yrotation\n"                                                                                                      \
    " JOINT Left Arm\n {\n  OFFSET 2 0 0\n  CHANNELS 3 Zrotation Yrotation Xrotation\n  End Site\n  {\n"               \
    "   OFFSET 3 0 0\n  }\n }\n}\n"

static void bvh_by_hand(void **state)
{
    (void)state;
    tl_error err;
    tl_mocap m;
    assert_ok(parse(TREE "MOTION\nFrames: 2\nFrame Time: 0.5\n0 1 0 0 0 0 0 0 0\n1 2 3 90 0 0 0 90 90\n", &m, &err));
    assert_int_equal(m.joint_count, 3);
    assert_string_equal(m.joint[1].name, "Left Arm");
    assert_int_equal(m.joint[2].channel_count, 0);
    assert_int_equal(m.frame_count, 2);
    tl_quat turn[3];
    tl_vec3 at[3];
    tl_mocap_pose(&m, 1, turn, at);
    // The hips turn by 90 degrees about z: the arm points up. It turns by Y after X: its x axis goes to -z.
    assert_near(at[1].x, 1, 1e-12);
    assert_near(at[1].y, 4, 1e-12);
    assert_near(at[2].x, 1, 1e-12);
    assert_near(at[2].y, 4, 1e-12);
    assert_near(at[2].z, 0, 1e-12);
    tl_mocap_pose(&m, -1, turn, at);
    assert_near(at[2].x, 5, 0);
    tl_mocap_free(&m);
}

static void check_fails(const char *text, const char *message)
{
    tl_error err;
    tl_mocap m;
    assert_fails(parse(text, &m, &err), TL_BAD_INPUT, message);
    tl_mocap_free(&m);
}

static void bad_bvh(void **state)
{
    (void)state;
    check_fails("MOTION\n", "m.bvh:1: 'MOTION': is no BVH: must begin with HIERARCHY");
    check_fails("HIERARCHY\nJOINT a\n", "m.bvh:2: 'JOINT': does not belong here");
    check_fails("HIERARCHY\nROOT a\n{\nOFFSET 0 x 0\n", "m.bvh:4: 'x': a number is expected");
    check_fails("HIERARCHY\nROOT a\n{\nCHANNELS 1 Wrotation\n",
                "m.bvh:4: 'Wrotation': must be Xposition, Yposition, Zposition, Xrotation, Yrotation or Zrotation");
    check_fails("HIERARCHY\nROOT a\n{\nMOTION\n",
                "m.bvh:4: 'MOTION': comes before the hierarchy is closed (a } is missing)");
    check_fails("HIERARCHY\nROOT a\n{\n}\n", "m.bvh:5: '': ends too early, MOTION is expected (cut short?)");
    check_fails(TREE "MOTION\nFrames: 0\n", "m.bvh:17: '0': must be at least 1 frame");
    check_fails(TREE "MOTION\nFrames: 2\nFrame Time: 0\n", "m.bvh:18: '0': frame time must be > 0 seconds");
    check_fails(TREE "MOTION\nFrames: 2000000000\nFrame Time: 1\n1\n",
                "m.bvh:18: 2000000000 frames of 9 channels are more than the file holds (cut short?)");
    check_fails(TREE "MOTION\nFrames: 1\nFrame Time: 1\n0 1 0 0 0 0 0 0 nan\n",
                "m.bvh:19: 'nan': a number is expected");
}

static void names_of_bones(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        tl_bone bone;
        int side;
    } cases[] = {{"Hips", TL_BONE_HIPS, 0},
                 {"mixamorig:LeftUpLeg", TL_BONE_THIGH, 1},
                 {"thigh_r", TL_BONE_THIGH, 2},
                 {"lThigh", TL_BONE_THIGH, 1},
                 {"L_Hip", TL_BONE_THIGH, 1},
                 {"hip", TL_BONE_HIPS, 0},
                 {"LHipJoint", TL_BONE_NONE, 1},
                 {"RightForeArm", TL_BONE_FOREARM, 2},
                 {"lowerarm_l", TL_BONE_FOREARM, 1},
                 {"upper_arm.R", TL_BONE_UPPER_ARM, 2},
                 {"LeftHandIndex1", TL_BONE_NONE, 1},
                 {"RThumb", TL_BONE_NONE, 2},
                 {"Bip01 L Calf", TL_BONE_SHIN, 1},
                 {"J_Bip_R_LowerLeg", TL_BONE_SHIN, 2},
                 {"clavicle_l", TL_BONE_COLLAR, 1},
                 {"LowerBack", TL_BONE_SPINE, 0},
                 {"ball_r", TL_BONE_TOE, 2},
                 {"HeadTop_End", TL_BONE_NONE, 0},
                 {"Neck1", TL_BONE_NECK, 0},
                 {"Hip_L", TL_BONE_THIGH, 1},
                 {"CC_Base_Hip", TL_BONE_HIPS, 0},
                 {"lfemur", TL_BONE_THIGH, 1},
                 {"rradius", TL_BONE_FOREARM, 2},
                 {"lowerback", TL_BONE_SPINE, 0},
                 {"T12", TL_BONE_SPINE, 0},
                 {"CC_Base_NeckTwist01", TL_BONE_NECK, 0},
                 {"upperarm_twist_01_l", TL_BONE_NONE, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int side = -1;
        if (tl_bone_of(cases[i].name, &side) != cases[i].bone || side != cases[i].side) {
            print_error("%s: bone %d side %d\n", cases[i].name, tl_bone_of(cases[i].name, &side), side);
            fail();
        }
    }
}

// ---- on a body ----

typedef struct walker {
    tl_character *c;
    tl_mocap m;
    tl_poser *poser;
    tl_vec3 *x, *at;
    tl_quat *turn;
} walker;

static void start(walker *w, const char *file)
{
    tl_error err;
    tl_character_def def = tl_character_def_default();
    const tl_allocator alloc = tl_allocator_default();
    def.file = file, def.motion = TL_TEST_DATA "/bodies/walk.bvh";
    assert_ok(tl_character_load(&def, &w->c, &err));
    size_t size;
    char *text = help_read(TL_TEST_DATA "/bodies/walk.bvh", &size);
    assert_ok(tl_mocap_parse(&alloc, "walk.bvh", text, size, &w->m, &err));
    free(text);
    w->poser = tl_poser_create(&alloc, w->c);
    w->x = malloc((size_t)tl_character_vert_count(w->c) * sizeof *w->x);
    w->at = malloc((size_t)w->m.joint_count * sizeof *w->at);
    w->turn = malloc((size_t)w->m.joint_count * sizeof *w->turn);
}

static void stop(walker *w)
{
    tl_character_destroy(w->c);
    tl_mocap_free(&w->m);
    tl_poser_destroy(w->poser);
    free(w->x), free(w->at), free(w->turn);
}

static tl_vec3 node_at(const walker *w, const char *name)
{
    for (int32_t i = 0; i < tl_character_node_count(w->c); i++)
        if (strcmp(tl_character_node_name(w->c, i), name) == 0) {
            const tl_affine *f = &tl_poser_frames(w->poser)[i];
            return (tl_vec3){f->m[0][3], f->m[1][3], f->m[2][3]};
        }
    fail();
    return (tl_vec3){0};
}

static tl_vec3 joint_at(const walker *w, const char *name)
{
    for (int32_t j = 0; j < w->m.joint_count; j++)
        if (strcmp(w->m.joint[j].name, name) == 0) return w->at[j];
    fail();
    return (tl_vec3){0};
}

// Arms rest in an A here and in a T there, legs straight here and spread there: limbs must point as the actor's do.
static void limbs_point_as_the_actors(void **state)
{
    (void)state;
    static const char *const limbs[][2] = {{"LeftArm", "LeftForeArm"},  {"RightArm", "RightForeArm"},
                                           {"LeftForeArm", "LeftHand"}, {"LeftUpLeg", "LeftLeg"},
                                           {"RightUpLeg", "RightLeg"},  {"RightLeg", "RightFoot"}};
    walker w;
    start(&w, TL_REPO "/scenes/walk/body.glb");
    const int32_t clip = tl_character_find_clip(w.c, "walk");
    assert_int_equal(clip, 0);  // the file's own; the motion is the last
    tl_playback play = tl_playback_default();
    play.clip = tl_character_clip_count(w.c) - 1;
    assert_near(tl_character_clip_seconds(w.c, play.clip), 59 * w.m.frame_seconds, 1e-9);  // without the T pose
    double lowest = 1e9, path = 0;
    tl_vec3 first = {0};
    for (int32_t f = 0; f < 60; f += 7) {
        tl_poser_at(w.poser, w.c, &play, f * w.m.frame_seconds, w.x);
        tl_mocap_pose(&w.m, f + 1, w.turn, w.at);
        for (size_t k = 0; k < sizeof limbs / sizeof limbs[0]; k++) {
            const tl_vec3 ours = tl_sub3(node_at(&w, limbs[k][1]), node_at(&w, limbs[k][0]));
            const tl_vec3 theirs = tl_sub3(joint_at(&w, limbs[k][1]), joint_at(&w, limbs[k][0]));
            assert_near(tl_dot3(ours, theirs) / (tl_norm3(ours) * tl_norm3(theirs)), 1, 1e-5);
        }
        if (f == 0) first = node_at(&w, "Hips");
        path = tl_norm3(tl_sub3(node_at(&w, "Hips"), first));
        lowest = fmin(lowest, fmin(node_at(&w, "LeftFoot").y, node_at(&w, "RightFoot").y));
    }
    tl_playback rest = tl_playback_default();
    tl_poser_at(w.poser, w.c, &rest, 0, w.x);
    assert_near(first.x, node_at(&w, "Hips").x, 1e-9);  // begins where it rests
    assert_near(lowest, node_at(&w, "LeftFoot").y, 0.01);
    assert_true(path > 0.3 && path < 1);  // half a second of walking
    stop(&w);
}

// Joints that are only numbered, matrices above them, z up inside: the figure still walks upright.
static void another_hierarchy_walks(void **state)
{
    (void)state;
    walker w;
    start(&w, TL_TEST_DATA "/bodies/RiggedFigure.glb");
    tl_playback play = tl_playback_default();
    play.clip = 1;
    tl_poser_at(w.poser, w.c, &play, 0.2, w.x);
    tl_mocap_pose(&w.m, 25, w.turn, w.at);
    const tl_vec3 ours = tl_sub3(node_at(&w, "leg_joint_L_2"), node_at(&w, "leg_joint_L_1"));
    const tl_vec3 theirs = tl_sub3(joint_at(&w, "LeftLeg"), joint_at(&w, "LeftUpLeg"));
    assert_near(tl_dot3(ours, theirs) / (tl_norm3(ours) * tl_norm3(theirs)), 1, 1e-5);
    stop(&w);
}

// ---- other hierarchies ----

enum { LIMB_BONES = 8, SPINES = 3 };

/// What a family of rigs calls its joints; '*' stands for the side. NULL: it has no such joint.
typedef struct rig_names {
    const char *family, *side[2];
    const char *hips, *hip_joint, *spine[SPINES], *neck, *head;
    const char *limb[LIMB_BONES];  ///< collar, upper arm, forearm, hand, thigh, shin, foot, toe
} rig_names;

static const rig_names here = {"CMU",
                               {"Left", "Right"},
                               "Hips",
                               "*HipJoint",
                               {"LowerBack", "Spine", "Spine1"},
                               "Neck",
                               "Head",
                               {"*Shoulder", "*Arm", "*ForeArm", "*Hand", "*UpLeg", "*Leg", "*Foot", "*ToeBase"}};
static const rig_names families[] = {
    {"Biovision",
     {"Left", "Right"},
     "Hips",
     NULL,
     {"Chest", "Chest2", NULL},
     "Neck",
     "Head",
     {"*Collar", "*Shoulder", "*Elbow", "*Wrist", "*Hip", "*Knee", "*Ankle", "*Toe"}},
    {"Biovision, short",
     {"Left", "Right"},
     "Hips",
     NULL,
     {"Chest", NULL, NULL},
     "Neck",
     "Head",
     {"*Collar", "*UpArm", "*LowArm", "*Hand", "*UpLeg", "*LowLeg", "*Foot", "*Toe"}},
    {"Mixamo",
     {"Left", "Right"},
     "mixamorig:Hips",
     NULL,
     {"mixamorig:Spine", "mixamorig:Spine1", "mixamorig:Spine2"},
     "mixamorig:Neck",
     "mixamorig:Head",
     {"mixamorig:*Shoulder", "mixamorig:*Arm", "mixamorig:*ForeArm", "mixamorig:*Hand", "mixamorig:*UpLeg",
      "mixamorig:*Leg", "mixamorig:*Foot", "mixamorig:*ToeBase"}},
    {"Biped",
     {"L", "R"},
     "Bip01 Pelvis",
     NULL,
     {"Bip01 Spine", "Bip01 Spine1", NULL},
     "Bip01 Neck",
     "Bip01 Head",
     {"Bip01 * Clavicle", "Bip01 * UpperArm", "Bip01 * Forearm", "Bip01 * Hand", "Bip01 * Thigh", "Bip01 * Calf",
      "Bip01 * Foot", "Bip01 * Toe0"}},
    {"Acclaim",
     {"l", "r"},
     "root",
     "*hipjoint",
     {"lowerback", "upperback", "thorax"},
     "lowerneck",
     "head",
     {"*clavicle", "*humerus", "*radius", "*wrist", "*femur", "*tibia", "*foot", "*toes"}},
    {"Rigify",
     {"L", "R"},
     "DEF-spine",
     "DEF-pelvis.*",
     {"DEF-spine.001", "DEF-spine.002", "DEF-spine.003"},
     "DEF-neck",
     "DEF-head",
     {"DEF-shoulder.*", "DEF-upper_arm.*", "DEF-forearm.*", "DEF-hand.*", "DEF-thigh.*", "DEF-shin.*", "DEF-foot.*",
      "DEF-toe.*"}},
    {"SMPL",
     {"L", "R"},
     "Pelvis",
     NULL,
     {"Spine1", "Spine2", "Spine3"},
     "Neck",
     "Head",
     {"*_Collar", "*_Shoulder", "*_Elbow", "*_Wrist", "*_Hip", "*_Knee", "*_Ankle", "*_Foot"}},
    {"VRM",
     {"L", "R"},
     "J_Bip_C_Hips",
     NULL,
     {"J_Bip_C_Spine", "J_Bip_C_Chest", "J_Bip_C_UpperChest"},
     "J_Bip_C_Neck",
     "J_Bip_C_Head",
     {"J_Bip_*_Shoulder", "J_Bip_*_UpperArm", "J_Bip_*_LowerArm", "J_Bip_*_Hand", "J_Bip_*_UpperLeg",
      "J_Bip_*_LowerLeg", "J_Bip_*_Foot", "J_Bip_*_ToeBase"}},
    {"Unreal",
     {"l", "r"},
     "pelvis",
     NULL,
     {"spine_01", "spine_02", "spine_03"},
     "neck_01",
     "head",
     {"clavicle_*", "upperarm_*", "lowerarm_*", "hand_*", "thigh_*", "calf_*", "foot_*", "ball_*"}},
    {"Kinect",
     {"Left", "Right"},
     "SpineBase",
     NULL,
     {"SpineMid", NULL, NULL},
     "Neck",
     "Head",
     {NULL, "Shoulder*", "Elbow*", "Wrist*", "Hip*", "Knee*", "Ankle*", "Foot*"}},
    {"Daz",
     {"l", "r"},
     "hip",
     NULL,
     {"abdomenLower", "chestLower", "chestUpper"},
     "neckLower",
     "head",
     {"*Collar", "*ShldrBend", "*ForearmBend", "*Hand", "*ThighBend", "*Shin", "*Foot", "*Toe"}},
    {"Xsens",
     {"Left", "Right"},
     "Pelvis",
     NULL,
     {"L5", "L3", "T8"},
     "Neck",
     "Head",
     {"*Shoulder", "*UpperArm", "*ForeArm", "*Hand", "*UpperLeg", "*LowerLeg", "*Foot", "*Toe"}},
};

static void put_side(const char *pattern, const char *side, char out[TL_RIG_NAME])
{
    const char *star = pattern ? strchr(pattern, '*') : NULL;
    snprintf(out, TL_RIG_NAME, "%.*s%s%s", star ? (int)(star - pattern) : 0, pattern ? pattern : "", star ? side : "",
             star      ? star + 1
             : pattern ? pattern
                       : "");
}

// What a family calls a joint of ours; false: it has none.
static bool name_in(const rig_names *to, const char *ours, char out[TL_RIG_NAME])
{
    out[0] = 0;
    const char *const from[] = {here.hips, here.neck, here.head}, *const same[] = {to->hips, to->neck, to->head};
    for (int k = 0; k < 3; k++)
        if (strcmp(from[k], ours) == 0) put_side(same[k], "", out);
    for (int k = 0; k < SPINES; k++)
        if (strcmp(here.spine[k], ours) == 0) put_side(to->spine[k], "", out);
    for (int s = 0; s < 2; s++)
        for (int k = -1; k < LIMB_BONES; k++) {
            char name[TL_RIG_NAME];
            put_side(k < 0 ? here.hip_joint : here.limb[k], k < 0 ? (s ? "R" : "L") : here.side[s], name);
            if (strcmp(name, ours) == 0) put_side(k < 0 ? to->hip_joint : to->limb[k], to->side[s], out);
        }
    return out[0];
}

// A motion in another family's names, without the joints that it lacks: their children hang from their parents.
static void rename_motion(tl_mocap *m, const rig_names *family)
{
    enum { MOST = 64 };
    int32_t place[MOST], parent[MOST], n = 0;
    tl_vec3 offset[MOST];
    assert_true(m->joint_count <= MOST);
    for (int32_t j = 0; j < m->joint_count; j++) {
        tl_mocap_joint joint = m->joint[j];
        char name[TL_RIG_NAME];
        parent[j] = joint.parent, offset[j] = joint.offset;
        while (parent[j] >= 0 && place[parent[j]] < 0)
            offset[j] = tl_add3(offset[j], offset[parent[j]]), parent[j] = parent[parent[j]];
        place[j] = -1;
        if (!name_in(family, joint.name, name)) continue;
        place[j] = n;
        joint.parent = parent[j] >= 0 ? place[parent[j]] : -1, joint.offset = offset[j];
        snprintf(joint.name, sizeof joint.name, "%s", name);
        m->joint[n++] = joint;
    }
    m->joint_count = n;
}

static void rename_rig(tl_character *c, const rig_names *family)
{
    for (int32_t i = 0; i < c->count[TL_RIG_NODES]; i++) {
        char name[TL_RIG_NAME];
        if (!name_in(family, c->node[i].name, name)) snprintf(name, sizeof name, "other%d", i);
        snprintf(c->node[i].name, sizeof c->node[i].name, "%s", name);
    }
}

static void check_limbs(walker *w, const rig_names *ours, const rig_names *theirs)
{
    static const int bones[][2] = {{1, 2}, {2, 3}, {4, 5}, {5, 6}};
    tl_playback play = tl_playback_default();
    play.clip = tl_character_clip_count(w->c) - 1;
    for (int32_t f = 0; f < 60; f += 29) {
        tl_poser_at(w->poser, w->c, &play, f * w->m.frame_seconds, w->x);
        tl_mocap_pose(&w->m, f + 1, w->turn, w->at);
        for (int k = 0; k < 8; k++) {
            char a[4][TL_RIG_NAME];
            for (int e = 0; e < 2; e++) {
                put_side(ours->limb[bones[k / 2][e]], ours->side[k % 2], a[e]);
                put_side(theirs->limb[bones[k / 2][e]], theirs->side[k % 2], a[2 + e]);
            }
            const tl_vec3 x = tl_sub3(node_at(w, a[1]), node_at(w, a[0]));
            const tl_vec3 y = tl_sub3(joint_at(w, a[3]), joint_at(w, a[2]));
            const double along = tl_dot3(x, y) / (tl_norm3(x) * tl_norm3(y));
            if (!(along > 1 - 1e-5)) print_error("%s to %s: %s and %s\n", theirs->family, ours->family, a[0], a[2]);
            assert_near(along, 1, 1e-5);
        }
    }
}

// No joint of the motion's spine is left out where ours has as many: a chest that turns, turns ours.
static void check_spine(const walker *w, const rig_names *ours, const rig_names *theirs)
{
    int n[2] = {0, 0};
    for (int k = 0; k < SPINES; k++) n[0] += ours->spine[k] != NULL, n[1] += theirs->spine[k] != NULL;
    const tl_character_facts *facts = tl_character_facts_of(w->c);
    for (int32_t i = 0; n[0] >= n[1] && i < facts->note_count; i++)
        for (int k = 0; k < SPINES; k++)
            if (theirs->spine[k]) assert_null(strstr(facts->note[i], theirs->spine[k]));
}

static void put_on(walker *w, const rig_names *ours, const rig_names *theirs)
{
    tl_error err;
    start(w, TL_REPO "/scenes/walk/body.glb");
    if (ours != &here) rename_rig(w->c, ours);
    if (theirs != &here) rename_motion(&w->m, theirs);
    tl_poser_destroy(w->poser);
    const tl_allocator alloc = tl_allocator_default();
    if (tl_retarget(&w->m, "again", &(tl_bone_map){NULL, 0}, w->c, &err) != TL_OK) {
        print_error("%s to %s: %s\n", theirs->family, ours->family, err.message);
        fail();
    }
    w->poser = tl_poser_create(&alloc, w->c);
    check_spine(w, ours, theirs);
}

// The same walk in the names and joints of other families moves our limbs alike, and ours moves theirs.
static void other_families_of_rigs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        const rig_names *f = &families[i];
        walker w;
        put_on(&w, &here, f);
        check_limbs(&w, &here, f);
        stop(&w);
        put_on(&w, f, &here);
        check_limbs(&w, f, &here);
        stop(&w);
        put_on(&w, f, &families[(i + 5) % (sizeof families / sizeof families[0])]);
        check_limbs(&w, f, &families[(i + 5) % (sizeof families / sizeof families[0])]);
        stop(&w);
    }
}

// A motion under one more joint that turns all of it by `degrees` about the vertical.
static void turn_motion(tl_mocap *m, double degrees)
{
    const tl_allocator alloc = tl_allocator_default();
    const int32_t n = m->joint_count, wide = m->channel_count + 1;
    tl_mocap_joint *joint = TL_CALLOC(&alloc, tl_mocap_joint, n + 1);
    double *value = TL_ALLOC(&alloc, double, wide * m->frame_count);
    for (int32_t f = 0; f < m->frame_count; f++) {
        memcpy(value + (size_t)f * (size_t)wide, m->value + (size_t)f * (size_t)(wide - 1),
               (size_t)(wide - 1) * sizeof *value);
        value[(size_t)(f + 1) * (size_t)wide - 1] = degrees;
    }
    joint[0] = (tl_mocap_joint){.name = "world", .parent = -1, .channel = wide - 1, .channel_count = 1, .axis = {4}};
    for (int32_t j = 0; j < n; j++) joint[j + 1] = m->joint[j], joint[j + 1].parent++;
    TL_FREE(&alloc, m->joint, m->joint_cap);
    TL_FREE(&alloc, m->value, m->value_cap);
    m->joint = joint, m->joint_count = m->joint_cap = n + 1;
    m->value = value, m->value_cap = wide * m->frame_count, m->channel_count = wide;
}

// An actor who begins with the back to us is turned around, path and all; one who looks a little aside is not.
static void motions_begin_as_the_body_faces(void **state)
{
    (void)state;
    static const char *const names[] = {"Hips", "LeftArm", "LeftForeArm", "RightLeg", "RightFoot", "Head"};
    tl_error err;
    tl_vec3 at[2][2][6];
    for (int turned = 0; turned < 2; turned++) {
        walker w;
        start(&w, TL_REPO "/scenes/walk/body.glb");
        const int32_t notes = tl_character_facts_of(w.c)->note_count;
        if (turned) turn_motion(&w.m, -163);
        tl_poser_destroy(w.poser);
        const tl_allocator alloc = tl_allocator_default();
        assert_ok(tl_retarget(&w.m, "again", &(tl_bone_map){NULL, 0}, w.c, &err));
        const tl_character_facts *facts = tl_character_facts_of(w.c);
        bool said = false;
        for (int32_t i = notes; i < facts->note_count; i++) said = said || strstr(facts->note[i], "degrees aside");
        assert_int_equal(said, turned);
        w.poser = tl_poser_create(&alloc, w.c);
        tl_playback play = tl_playback_default();
        play.clip = tl_character_clip_count(w.c) - 1;
        for (int k = 0; k < 2; k++) {
            tl_poser_at(w.poser, w.c, &play, k * 50 * w.m.frame_seconds, w.x);
            for (int i = 0; i < 6; i++) at[turned][k][i] = node_at(&w, names[i]);
        }
        stop(&w);
    }
    // the same but for the little that the actor looks aside, which is taken out as well
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 6; i++) {
            const tl_vec3 a = tl_sub3(at[0][k][i], at[0][0][0]), b = tl_sub3(at[1][k][i], at[1][0][0]);
            assert_near(a.y, b.y, 1e-6);
            assert_near(hypot(a.x, a.z), hypot(b.x, b.z), 1e-6);
            assert_true(tl_norm3(tl_sub3(a, b)) < 0.3 * tl_norm3(a) + 1e-6);
        }
}

static void what_does_not_fit_is_named(void **state)
{
    (void)state;
    tl_error err;
    tl_character *c;
    tl_character_def def = tl_character_def_default();
    def.file = TL_TEST_DATA "/bodies/SimpleSkin.gltf", def.motion = TL_TEST_DATA "/bodies/walk.bvh";
    assert_int_equal(tl_character_load(&def, &c, &err), TL_BAD_INPUT);
    assert_message_has(
        "walk.bvh: only 0 joints of the motion are found in the character, hips not among them (not found: "
        "Hips, LeftUpLeg");
    const char *bones[] = {"Hips=Pelvis"};
    def.file = TL_REPO "/scenes/walk/body.glb", def.bones = bones, def.bone_count = 1;
    assert_int_equal(tl_character_load(&def, &c, &err), TL_BAD_INPUT);
    assert_message_has("bones: the character has no node 'Pelvis'");
    bones[0] = "Foo=Hips";
    assert_int_equal(tl_character_load(&def, &c, &err), TL_BAD_INPUT);
    assert_message_has("bones: the motion has no joint 'Foo'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bvh_by_hand),
        cmocka_unit_test(bad_bvh),
        cmocka_unit_test(names_of_bones),
        cmocka_unit_test(limbs_point_as_the_actors),
        cmocka_unit_test(another_hierarchy_walks),
        cmocka_unit_test(other_families_of_rigs),
        cmocka_unit_test(motions_begin_as_the_body_faces),
        cmocka_unit_test(what_does_not_fit_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
