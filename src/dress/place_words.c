// dress/place_words.c: words in the names of panels.

#include "dress/place_words.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { WORD_MAX = 48 };

typedef struct word {
    const char *text;
    tl_worn region;
    int side, face;
} word;

// A longer word stands before those that it begins with.
static const word words[] = {
    {"left", TL_WORN_UNKNOWN, 1, 0},  {"lft", TL_WORN_UNKNOWN, 1, 0},   {"right", TL_WORN_UNKNOWN, -1, 0},
    {"rgt", TL_WORN_UNKNOWN, -1, 0},  {"front", TL_WORN_UNKNOWN, 0, 1}, {"ft", TL_WORN_UNKNOWN, 0, 1},
    {"back", TL_WORN_UNKNOWN, 0, -1}, {"rear", TL_WORN_UNKNOWN, 0, -1}, {"bk", TL_WORN_UNKNOWN, 0, -1},
    {"sleeves", TL_WORN_ARM, 0, 0},   {"sleeve", TL_WORN_ARM, 0, 0},    {"arm", TL_WORN_ARM, 0, 0},
    {"sl", TL_WORN_ARM, 0, 0},        {"cuff", TL_WORN_ARM, 0, 0},      {"hood", TL_WORN_HEAD, 0, 0},
    {"collar", TL_WORN_NECK, 0, 0},   {"neckband", TL_WORN_NECK, 0, 0}, {"neck", TL_WORN_NECK, 0, 0},
    {"turtle", TL_WORN_NECK, 0, 0},   {"lapel", TL_WORN_NECK, 0, 0},    {"pants", TL_WORN_LEG, 0, 0},
    {"pant", TL_WORN_LEG, 0, 0},      {"trousers", TL_WORN_LEG, 0, 0},  {"trouser", TL_WORN_LEG, 0, 0},
    {"shorts", TL_WORN_LEG, 0, 0},    {"jeans", TL_WORN_LEG, 0, 0},     {"legging", TL_WORN_LEG, 0, 0},
    {"leg", TL_WORN_LEG, 0, 0},       {"skirt", TL_WORN_HIPS, 0, 0},    {"ruffle", TL_WORN_HIPS, 0, 0},
    {"flounce", TL_WORN_HIPS, 0, 0},  {"tier", TL_WORN_HIPS, 0, 0},     {"gode", TL_WORN_HIPS, 0, 0},
    {"godet", TL_WORN_HIPS, 0, 0},    {"peplum", TL_WORN_HIPS, 0, 0},   {"waistband", TL_WORN_WAIST, 0, 0},
    {"waist", TL_WORN_WAIST, 0, 0},   {"belt", TL_WORN_WAIST, 0, 0},    {"band", TL_WORN_WAIST, 0, 0},
    {"wb", TL_WORN_WAIST, 0, 0},      {"pocket", TL_WORN_PATCH, 0, 0},  {"patch", TL_WORN_PATCH, 0, 0},
    {"flap", TL_WORN_PATCH, 0, 0},    {"facing", TL_WORN_PATCH, 0, 0},  {"torso", TL_WORN_TORSO, 0, 0},
    {"bodice", TL_WORN_TORSO, 0, 0},  {"body", TL_WORN_TORSO, 0, 0},    {"shirt", TL_WORN_TORSO, 0, 0},
    {"tshirt", TL_WORN_TORSO, 0, 0},  {"tee", TL_WORN_TORSO, 0, 0},     {"top", TL_WORN_TORSO, 0, 0},
    {"blouse", TL_WORN_TORSO, 0, 0},  {"jacket", TL_WORN_TORSO, 0, 0},  {"hoody", TL_WORN_TORSO, 0, 0},
    {"hoodie", TL_WORN_TORSO, 0, 0},  {"coat", TL_WORN_TORSO, 0, 0},    {"vest", TL_WORN_TORSO, 0, 0},
    {"dress", TL_WORN_TORSO, 0, 0},   {"yoke", TL_WORN_TORSO, 0, 0},    {"bust", TL_WORN_TORSO, 0, 0},
    {"chest", TL_WORN_TORSO, 0, 0},   {"l", TL_WORN_UNKNOWN, 1, 0},     {"r", TL_WORN_UNKNOWN, -1, 0},
    {"f", TL_WORN_UNKNOWN, 0, 1},     {"b", TL_WORN_UNKNOWN, 0, -1},
};
enum { WORDS = sizeof words / sizeof *words };

static void take(tl_panel_words *out, const word *w)
{
    // the last of a garment's names for a region counts least: "wb_front" of a skirt is a band, "hood_top" a hood
    if (out->region == TL_WORN_UNKNOWN) out->region = w->region;
    if (out->side == 0) out->side = w->side;
    if (out->face == 0) out->face = w->face;
}

// All of the text as words one after another; nothing is taken unless it comes out even.
static bool split(const char *text, int depth, tl_panel_words *out)
{
    if (!*text) return true;
    for (int i = 0; i < WORDS && depth < 6; i++) {
        const size_t n = strlen(words[i].text);
        if (strncmp(text, words[i].text, n) != 0) continue;
        tl_panel_words rest = *out;
        take(&rest, &words[i]);
        if (!split(text + n, depth + 1, &rest)) continue;
        *out = rest;
        return true;
    }
    return false;
}

tl_panel_words tl_words_of(const char *name)
{
    tl_panel_words out = {TL_WORN_UNKNOWN, 0, 0};
    char text[WORD_MAX];
    for (const char *c = name; *c;) {
        size_t n = 0;
        while (*c && !isalpha((unsigned char)*c)) c++;
        for (const char *from = c; isalpha((unsigned char)*c); c++) {
            const bool hump = c > from && isupper((unsigned char)*c) && islower((unsigned char)c[-1]);
            if (hump) break;
            if (n + 1 < sizeof text) text[n++] = (char)tolower((unsigned char)*c);
        }
        text[n] = 0;
        split(text, 0, &out);
    }
    return out;
}

tl_panel_words tl_panel_words_of(const tl_panel *panel)
{
    tl_panel_words out = tl_words_of(panel->name);
    const tl_panel_words label = tl_words_of(panel->label);
    if (out.region == TL_WORN_UNKNOWN) out.region = label.region;
    return out;
}
