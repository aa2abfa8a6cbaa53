// tests/fuzz/fuzz_pattern_json.c: any bytes as a pattern file .json.

#include "fuzz_pattern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return fuzz_pattern("p.json", data, size); }
