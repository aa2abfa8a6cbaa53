// io/notes.c: what a reader has to say about a file that it read all the same.

#include "io/notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

void tl_notes_add(tl_notes *notes, const char *about, const char *format, ...)
{
    char key[sizeof notes->items->about];
    snprintf(key, sizeof key, "%s", about);
    for (int32_t i = 0; key[0] && i < notes->count; i++)
        if (strcmp(notes->items[i].about, key) == 0) return;
    if (!TL_GROW(&notes->alloc, notes->items, notes->cap, notes->count + 1)) {
        notes->failed = true;
        return;
    }
    tl_note *note = &notes->items[notes->count++];
    memcpy(note->about, key, sizeof key);
    va_list args;
    va_start(args, format);
    vsnprintf(note->text, sizeof note->text, format, args);
    va_end(args);
}

void tl_notes_free(tl_notes *notes)
{
    TL_FREE(&notes->alloc, notes->items, notes->cap);
    notes->count = notes->cap = 0;
}
