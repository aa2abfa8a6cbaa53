// io/other_format.h: names the files that are given as OBJ but are something else.
#pragma once
#include <stddef.h>

/// "a glTF file", "an STL file", .. by the first bytes, else by the ending of the path; NULL: it may well be an OBJ.
const char *tl_other_format(const char *path, const char *data, size_t size);
