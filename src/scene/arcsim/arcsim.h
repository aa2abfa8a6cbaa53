// scene/arcsim/arcsim.h: scene files of ARCSim (0.2.1, 0.3.1), read unchanged by turning them into scenes of ours
// (docs/arcsim.md).
#pragma once
#include "io/json.h"
#include "io/notes.h"

/// Has the document the keys of an ARCSim scene rather than of ours?
bool tl_arcsim_is(const json_t *root);

/// The same, with TL_BAD_INPUT for a document that may be either: as many keys of one kind as of the other.
tl_status tl_arcsim_detect(const tl_node *root, bool *out, tl_error *err);

/// Replaces the ARCSim scene in `doc`, read from `path`, by ours. z up becomes y up: (x, y, z) is (x, z, -y). `reader`
/// NULL: from disk. `notes` gets one warning for every key that has no effect here. Messages name file, line, key and
/// value of the old file.
tl_status tl_arcsim_translate(const tl_allocator *alloc, const tl_reader *reader, const char *path, tl_json_doc *doc,
                              tl_notes *notes, tl_error *err);
