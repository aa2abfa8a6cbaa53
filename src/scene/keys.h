// scene/keys.h: tables of keys: one source of truth for reading, unknown keys, defaults and the JSON Schema.
//
// A table lists the keys of one kind of object. Reading fills a struct (at `offset`), complains about what is
// unknown, missing or out of range, and writes the defaults back into the document, in the table's order: after
// reading, the document is the fully resolved one.
#pragma once
#include "io/json.h"

typedef enum tl_key_type {
    TL_KEY_REAL,    ///< double
    TL_KEY_INT,     ///< int64_t
    TL_KEY_TEXT,    ///< const char *, borrowed from the document
    TL_KEY_COLOR,   ///< const char *, borrowed: "#rrggbb" (sRGB)
    TL_KEY_WORD,    ///< int32_t: place in `words`
    TL_KEY_VEC2,    ///< tl_vec2
    TL_KEY_VEC3,    ///< tl_vec3
    TL_KEY_VEC4,    ///< double[4]
    TL_KEY_BOOL,    ///< int32_t
    TL_KEY_OBJECT,  ///< a struct of its own, by `table`
    // The rest is checked for its JSON type and left to the reader, which finds it with tl_node_key.
    TL_KEY_LIST,    ///< list with at least `min` entries, each as `item` says
    TL_KEY_MAP,     ///< object with free names, each value as `item` says
    TL_KEY_ONE_OF,  ///< one of the `item`s, told apart by their JSON type
} tl_key_type;

enum {
    TL_KEY_REQUIRED = 1,  ///< no default, must be there
    TL_KEY_OPTIONAL = 2,  ///< no default, may be absent: reals then read NAN, texts NULL, words -1, others stay zero
    TL_KEY_OPEN_MIN = 4,  ///< > min instead of >= min
    TL_KEY_OPEN_MAX = 8,  ///< < max instead of <= max
    TL_KEY_LATER = 16,    ///< reserved for a coming version: not in the schema, its own message
};

typedef struct tl_key_table tl_key_table;

typedef struct tl_key_def {
    const char *name;
    tl_key_type type;
    unsigned flags;
    size_t offset;              ///< in the struct to fill
    double min, max;            ///< of numbers and components; both 0: within +-TL_KEY_LIMIT
    double number[4];           ///< default of numbers and vectors
    const char *text;           ///< default of texts and words; of maps without item: the schema that describes them
    const char *const *words;   ///< ends with NULL; last those that are read as another: "old=new"
    const tl_key_table *table;  ///< of an object
    const struct tl_key_def *item;  ///< of lists and maps: one; of ONE_OF: several, ended by a NULL doc
    const char *unit, *doc;         ///< doc: one sentence, required
} tl_key_def;

#define TL_KEY_LIMIT 1e9  // a length, speed or anything else beyond this is a slip of the pen

struct tl_key_table {
    const char *title;
    const tl_key_def *keys;  ///< ends with a NULL name
};

/// Reads the object at `node` into the struct at `out`.
tl_status tl_table_read(const tl_node *node, const tl_key_table *table, void *out, tl_error *err);

/// Puts the members into the table's order, for readers that add some later. False: no memory.
bool tl_table_order(json_t *object, const tl_key_table *table);

/// Where else in a scene a key of this name belongs, "'air.wind' or 'x.y'"; false: nowhere, or `here` is no part of a
/// scene.
bool tl_key_elsewhere(const char *name, const tl_key_table *here, char *out, size_t size);
/// The word that begins or ends with `name` and an underscore between (density: density_scale); NULL: none.
const char *tl_key_with_word(const char *name, const char *const *words);

/// One value as `key` says, into `out` (may be NULL for lists, maps and ONE_OF).
tl_status tl_key_read(const tl_node *node, const tl_key_def *key, void *out, tl_error *err);

/// The table as a JSON Schema object; a new reference, NULL when memory runs out.
json_t *tl_table_schema(const tl_key_table *table);
