// io/json.h: JSON with comments, includes and command-line settings, where every value knows its file and line.
//
// jansson parses. It keeps no lines, so the texts stay in memory and a place is looked up only when an error is
// told: the path of the value is walked again in the text that it came from. Includes are merged object by object
// (later wins, lists are replaced), and settings ("a.b[0].c=value") come on top.
#pragma once
#include <jansson.h>

#include "io/file.h"
#include "io/text.h"
#include "toile/base.h"

typedef struct tl_json_doc tl_json_doc;

/// A value and the way to it. Made on the stack while a reader walks down; `up` must outlive it.
typedef struct tl_node {
    const tl_json_doc *doc;
    const struct tl_node *up;  ///< NULL: the whole document
    const char *key;           ///< name in the object above, NULL: an entry of a list
    int32_t index;             ///< place in the list above
    json_t *value;             ///< borrowed from the document; NULL: there is no such value
} tl_node;

enum { TL_JSON_MAX_BYTES = 64 << 20, TL_JSON_MAX_DEPTH = 64, TL_JSON_MAX_INCLUDES = 16 };

typedef struct tl_json_def {
    const char *path;
    const tl_reader *reader;  ///< NULL: from disk
    const char *const *sets;  ///< "path.to.key=value", value as JSON or a bare word
    int32_t set_count;
    bool includes;  ///< the key "include" names files to merge first
    /// Files of other programs may be looser: where keys stand twice the last one counts, what follows the end is left
    /// out. They are read so if this says that they are of that kind. NULL: none are.
    bool (*is_loose)(const json_t *root);
} tl_json_def;

/// Reads a document whose top is an object. Messages start "file:line: ".
tl_status tl_json_load(const tl_allocator *alloc, const tl_json_def *def, tl_json_doc **out, tl_error *err);
void tl_json_destroy(tl_json_doc *doc);  ///< NULL is fine
tl_node tl_json_root(const tl_json_doc *doc);

/// What was wrong with a file that was read all the same since it is loose; "" if nothing was.
const char *tl_json_looseness(const tl_json_doc *doc);

/// Another document in place of what was read (the reference is taken over). Places are still looked up in the files;
/// relative paths now start at the current folder.
void tl_json_replace(tl_json_doc *doc, json_t *root);

/// Settings ("path.to.key=value") on top of the document.
tl_status tl_json_set(tl_json_doc *doc, const char *const *sets, int32_t set_count, tl_error *err);

tl_node tl_node_key(const tl_node *up, const char *key);
tl_node tl_node_at(const tl_node *up, size_t index);

/// TL_BAD_INPUT "scene.json:14: cloths[0].density -0.2, must be > 0": place and path come first, then the value
/// and ", " when `show_value`, then the sentence. Values set on the command line start "--set path: ".
tl_status tl_node_fail(const tl_node *node, bool show_value, tl_error *err, const char *format, ...) TL_PRINTF(4, 5);

/// Puts the place and path of `node` in front of a message that is already in `err`; hands back its status.
tl_status tl_node_prefix(const tl_node *node, tl_error *err);

/// Place and path of `node` alone: "scene.json:14: cloths[0].density".
void tl_node_place(const tl_node *node, char *out, size_t size);

/// The folder of the file that the value was written in, for relative paths; "" for --set (current folder).
tl_status tl_node_dir(const tl_node *node, char out[TL_PATH_MAX], tl_error *err);

/// The value as indented text with exact numbers.
void tl_json_write(tl_buf *buf, const json_t *value);

/// The text with its numbers in the one style that the standard allows, appended to `out`; false: it is so already,
/// nothing appended.
bool tl_json_plain_numbers(const char *text, size_t size, tl_buf *out);

/// Blanks // and /* */ comments in place, keeping line ends, and checks the nesting; `path` is for messages.
tl_status tl_json_blank_comments(char *text, size_t size, const char *path, tl_error *err);
