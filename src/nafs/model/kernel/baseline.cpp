// The loops for any CPU of the architecture.
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

namespace nafs::baseline {
// clang-format off: each uses what the ones before it define
#include "vectors.inl"
#include "products.inl"
#include "distances.inl"
#include "spread.inl"
// clang-format on
}  // namespace nafs::baseline
