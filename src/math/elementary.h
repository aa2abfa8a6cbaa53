// math/elementary.h: sine, logarithm and the like with the same bits on every machine.
//
// What libm returns differs in the last bit from one library to the next (and between processors of one library), and a
// simulation carries that on until states have nothing in common. These are made of +, -, *, / and sqrt alone, whose
// results IEEE 754 fixes, so native and WebAssembly builds agree. sqrt, fma, floor, rint, fmod, frexp and ldexp are
// exact in every libm and are used as they are. Errors are below 2 units in the last place, of tl_acos 3
// (test_elementary).
#pragma once

/// x beyond 1e6 is first taken modulo 2 pi as a double, which costs about |x| * 4e-17 of the angle. NAN for infinities.
double tl_sin(double x);
double tl_cos(double x);

double tl_atan(double x);
double tl_atan2(double y, double x);  ///< as atan2, signs of zero and infinities included
double tl_acos(double x);             ///< NAN beyond [-1, 1]

double tl_ln(double x);    ///< -INFINITY at 0, NAN below
double tl_log2(double x);  ///< exact at powers of 2
double tl_exp2(double x);  ///< exact at integers

double tl_hypot(double x, double y);  ///< sqrt(x^2 + y^2) where that neither overflows nor underflows
