// base/timer.h: seconds from a monotonic clock and of the processor, for reports only; no result may depend on it.
#pragma once

double tl_now(void);

/// Processor time of the process: what other work on the machine takes does not count.
double tl_processor_seconds(void);
