// math/simd.h: portable vectors for the hot loops of the solvers.
//
// gcc and clang vector types are lowered to whatever the machine has. Every lane does the same IEEE operations
// in the same order at any width and nothing is contracted (-ffp-contract=off), so all clones of a function give
// the same bits. Vectors never cross a function boundary: the ABI for them depends on the instruction set.
#pragma once
#include <stdlib.h>  // for __GLIBC__

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TL_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define TL_SANITIZED 1
#endif
#endif

// Function multiversioning needs ifuncs (glibc on x86), whose resolvers run before a sanitizer is ready. Only for
// static functions, and not for clang: version 14 gives the resolvers of static functions one global name each, so
// two files with a `product_chunk` do not link.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(TL_SANITIZED) && !defined(__clang__) && defined(__OPTIMIZE__)
#define TL_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define TL_CLONES
#endif

// Functions for one instruction set that we pick ourselves at run time need no ifunc.
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define TL_X86_KERNELS 1
#endif

#define TL_INLINE static inline __attribute__((always_inline))

/// Four or eight doubles, readable from any double address.
typedef double tl_v4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef float tl_float4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef double tl_v8 __attribute__((vector_size(64), aligned(8), may_alias));

#define TL_LOAD4(p) (*(const tl_v4 *)(p))
#define TL_SPLAT4(s) ((tl_v4){(s), (s), (s), (s)})
// Floats widened. Spelled out, gcc 12 makes one instruction of it; of __builtin_convertvector it makes five.
#define TL_WIDEN4(p) ((tl_v4){(double)(p)[0], (double)(p)[1], (double)(p)[2], (double)(p)[3]})
#define TL_WIDEN8(p)                                                                                                   \
    ((tl_v8){(double)(p)[0], (double)(p)[1], (double)(p)[2], (double)(p)[3], (double)(p)[4], (double)(p)[5],           \
             (double)(p)[6], (double)(p)[7]})
#define TL_LOAD8(p) (*(const tl_v8 *)(p))
#define TL_STORE8(p, v) (*(tl_v8 *)(p) = (v))
/// The sum of the lanes of a tl_v8, as a fixed tree.
#define TL_SUM8(v) ((((v)[0] + (v)[4]) + ((v)[2] + (v)[6])) + (((v)[1] + (v)[5]) + ((v)[3] + (v)[7])))
