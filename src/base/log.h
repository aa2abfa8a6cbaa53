// base/log.h: formatted messages to the host's log hook; silent without one.
#pragma once
#include "toile/base.h"

/// `log` may be NULL, and so may its `write`.
void tl_log_write(const tl_log *log, tl_log_level level, const char *format, ...) TL_PRINTF(3, 4);
