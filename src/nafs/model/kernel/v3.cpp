// The loops for x86-64-v3 (AVX2, FMA, F16C): compiled with those flags, called only where they exist.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "hop.h"
#include "spread.h"

#if defined(__SSE__)
#include <immintrin.h>
#endif

namespace nafs::v3 {
// clang-format off: each uses what the ones before it define
#include "vectors.inl"
#include "products.inl"
#include "distances.inl"
#include "spread.inl"
// clang-format on
}  // namespace nafs::v3
