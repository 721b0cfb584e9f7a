// The loops for x86-64-v3 (AVX2, FMA, F16C): compiled with those flags, called only where they exist.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "hop.h"
#include "threads.h"

#if defined(__SSE__)
#include <immintrin.h>
#endif

namespace nafs::v3 {
// clang-format off: each file uses definitions of those before it
#include "vectors.inl"
#include "gather.inl"
#include "products.inl"
#include "distances.inl"
#include "weigh.inl"
#include "cached.inl"
#include "rows.inl"
// clang-format on
}  // namespace nafs::v3
