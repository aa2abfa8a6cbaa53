// base/timer.h: seconds from a monotonic clock, for reports only; no result may depend on it.
#pragma once

double tl_now(void);
