// tests/fuzz/fuzz_pattern_svg.c: any bytes as a pattern file .svg.

#include "fuzz_pattern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return fuzz_pattern("p.svg", data, size); }
