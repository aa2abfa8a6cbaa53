// tests/fuzz/fuzz_pattern_dxf.c: any bytes as a pattern file .dxf.

#include "fuzz_pattern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return fuzz_pattern("p.dxf", data, size); }
