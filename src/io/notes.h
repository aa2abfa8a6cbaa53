// io/notes.h: what a reader has to say about a file that it read all the same.
#pragma once
#include <stdbool.h>

#include "toile/base.h"

enum { TL_NOTE_CHARS = 480 };

typedef struct tl_note {
    char about[64], text[TL_NOTE_CHARS];
} tl_note;

typedef struct tl_notes {
    tl_allocator alloc;
    tl_note *items;
    int32_t count, cap;
    bool failed;  ///< memory ran out: one is missing
} tl_notes;

/// One note about each subject: later ones with the same `about` are left out. "" is no subject.
void tl_notes_add(tl_notes *notes, const char *about, const char *format, ...) TL_PRINTF(3, 4);
void tl_notes_free(tl_notes *notes);
