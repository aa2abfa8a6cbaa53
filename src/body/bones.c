// body/bones.c: what a joint is, by its name: sides and bones as the usual rigs call them.

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "body/retarget.h"

typedef struct bone_word {
    const char *word;
    tl_bone bone;
} bone_word;

// In this order: the first word that is in the name counts, so special ones stand before general ones.
static const bone_word words[] = {
    {"neck", TL_BONE_NECK},
    {"thumb", TL_BONE_NONE},
    {"index", TL_BONE_NONE},
    {"middle", TL_BONE_NONE},
    {"pinky", TL_BONE_NONE},
    {"little", TL_BONE_NONE},
    {"finger", TL_BONE_NONE},
    {"ring", TL_BONE_NONE},
    {"twist", TL_BONE_NONE},
    {"eye", TL_BONE_NONE},
    {"jaw", TL_BONE_NONE},
    {"nub", TL_BONE_NONE},
    {"hipjoint", TL_BONE_NONE},
    {"headtop", TL_BONE_NONE},
    {"breast", TL_BONE_NONE},
    {"hipcenter", TL_BONE_HIPS},
    {"spinebase", TL_BONE_HIPS},
    {"spineshoulder", TL_BONE_SPINE},
    {"shouldercenter", TL_BONE_SPINE},
    {"forearm", TL_BONE_FOREARM},
    {"lowerarm", TL_BONE_FOREARM},
    {"lowarm", TL_BONE_FOREARM},
    {"elbow", TL_BONE_FOREARM},
    {"radius", TL_BONE_FOREARM},
    {"hand", TL_BONE_HAND},
    {"wrist", TL_BONE_HAND},
    {"upperarm", TL_BONE_UPPER_ARM},
    {"uparm", TL_BONE_UPPER_ARM},
    {"shldr", TL_BONE_UPPER_ARM},
    {"humerus", TL_BONE_UPPER_ARM},
    {"collar", TL_BONE_COLLAR},
    {"clavicle", TL_BONE_COLLAR},
    {"scapula", TL_BONE_COLLAR},
    {"shoulder", TL_BONE_COLLAR},
    {"upleg", TL_BONE_THIGH},
    {"upperleg", TL_BONE_THIGH},
    {"thigh", TL_BONE_THIGH},
    {"femur", TL_BONE_THIGH},
    {"lowerleg", TL_BONE_SHIN},
    {"lowleg", TL_BONE_SHIN},
    {"knee", TL_BONE_SHIN},
    {"shin", TL_BONE_SHIN},
    {"calf", TL_BONE_SHIN},
    {"tibia", TL_BONE_SHIN},
    {"toe", TL_BONE_TOE},
    {"ball", TL_BONE_TOE},
    {"foot", TL_BONE_FOOT},
    {"ankle", TL_BONE_FOOT},
    {"hips", TL_BONE_HIPS},
    {"pelvis", TL_BONE_HIPS},
    {"spine", TL_BONE_SPINE},
    {"chest", TL_BONE_SPINE},
    {"abdomen", TL_BONE_SPINE},
    {"torso", TL_BONE_SPINE},
    {"thorax", TL_BONE_SPINE},
    {"lowerback", TL_BONE_SPINE},
    {"upperback", TL_BONE_SPINE},
    {"waist", TL_BONE_SPINE},
    {"head", TL_BONE_HEAD},
    {"arm", TL_BONE_UPPER_ARM},
    {"leg", TL_BONE_SHIN},
    {"hip", TL_BONE_HIPS},
    {NULL, TL_BONE_NONE},
};

static void cut_out(char *text, const char *part)
{
    char *at = strstr(text, part);
    if (at) memmove(at, at + strlen(part), strlen(at + strlen(part)) + 1);
}

// A letter of its own: "arm_L", "L.arm", "LArm", "lArm", "ArmL".
static int side_by_letter(const char *name)
{
    const size_t n = strlen(name);
    for (size_t i = 0; i < n; i++) {
        const char c = (char)tolower((unsigned char)name[i]);
        if (c != 'l' && c != 'r') continue;
        const bool starts = i == 0 || strchr("_. -", name[i - 1]), ends = i + 1 == n || strchr("_. -", name[i + 1]);
        const bool before_word = i == 0 && n > 1 && isupper((unsigned char)name[1]);
        const bool behind_word =
            i + 1 == n && i > 0 && isupper((unsigned char)name[i]) && islower((unsigned char)name[i - 1]);
        if ((starts && ends) || before_word || behind_word) return c == 'l' ? 1 : 2;
    }
    return 0;
}

// "lfemur", "rradius": one letter and then a word that is a bone.
static int side_by_prefix(const char *text)
{
    if (*text != 'l' && *text != 'r') return 0;
    for (const bone_word *w = words; w->word; w++)
        if (strncmp(text + 1, w->word, strlen(w->word)) == 0) return *text == 'l' ? 1 : 2;
    return 0;
}

// "L5", "T12": vertebrae, as Xsens has them.
static bool is_vertebra(const char *name)
{
    return (*name == 'L' || *name == 'T') && name[1] && strspn(name + 1, "0123456789") == strlen(name + 1);
}

tl_bone tl_bone_of(const char *name, int *side)
{
    char text[TL_RIG_NAME];
    const char *colon = strrchr(name, ':');  // "mixamorig:Hips"
    if (colon) name = colon + 1;
    size_t n = 0;
    for (const char *p = name; *p && n + 1 < sizeof text; p++)
        if (isalpha((unsigned char)*p)) text[n++] = (char)tolower((unsigned char)*p);
    text[n] = 0;
    *side = strstr(text, "left") ? 1 : strstr(text, "right") ? 2 : side_by_letter(name);
    if (*side == 0) *side = side_by_prefix(text);
    cut_out(text, "left"), cut_out(text, "right"), cut_out(text, "mixamorig"), cut_out(text, "armature");
    if (is_vertebra(name)) return TL_BONE_SPINE;
    if (strcmp(text, "headend") == 0 || strcmp(text, "end") == 0) return TL_BONE_NONE;
    for (const bone_word *w = words; w->word; w++)
        if (strstr(text, w->word))  // the hip of one side is where the thigh begins
            return *side && strcmp(w->word, "hip") == 0 ? TL_BONE_THIGH : w->bone;
    return TL_BONE_NONE;
}
