// physics/strain_tensor.h: what the files of strain limits agree on for single numbers.
#pragma once

#define TINY 1e-300  // keeps divisions finite
#define FLAT 1e-6    // stretches below this count as this: what is squeezed to nothing has no direction

// With h = strain - bound + S/mu, what limits `bold` times as stiff pull with, over mu: bold (strain - bound) + S/mu.
static inline double stress_sought(double h, double s, double bold) { return h != 0 ? bold * h - (bold - 1) * s : 0; }
