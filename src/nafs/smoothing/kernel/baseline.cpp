// The loops for any CPU of the architecture.
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

namespace nafs::baseline {
// clang-format off: each file uses definitions of those before it
#include "vectors.inl"
#include "gather.inl"
#include "products.inl"
#include "distances.inl"
#include "weigh.inl"
#include "cached.inl"
#include "rows.inl"
// clang-format on
}  // namespace nafs::baseline
