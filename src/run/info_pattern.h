// run/info_pattern.h: what `toile info` says of a sewing pattern.
#pragma once
#include <jansson.h>

#include "io/text.h"
#include "toile/pattern.h"

/// As JSON; false: no memory.
bool tl_pattern_facts(const tl_pattern *pattern, json_t *facts);

/// As lines for people.
void tl_pattern_lines(const tl_pattern *pattern, tl_buf *out);
