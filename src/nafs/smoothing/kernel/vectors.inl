// Eight floats at a time, and state rows that are stored as float32 or binary16.

constexpr int64_t kPrefetchBytes = 1024;  // of a row that is read front to back; hardware does the rest

typedef float Float8 __attribute__((vector_size(32)));
typedef float Float8Loose __attribute__((vector_size(32), aligned(4), may_alias));

template <int locality = 3>
inline void prefetch_row(const void* row, int64_t bytes) {
  const char* line = static_cast<const char*>(row);
  const int64_t reach = std::min(bytes, kPrefetchBytes);
  for (int64_t b = 0; b < reach; b += 64) __builtin_prefetch(line + b, 0, locality);
}

inline float widen(uint16_t h) {
  const uint32_t magnitude = static_cast<uint32_t>(h & 0x7fffu) << 13;
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
  float value;
  std::memcpy(&value, &magnitude, 4);
  value *= 0x1p112f;
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  bits |= sign;
  std::memcpy(&value, &bits, 4);
  return value;
}

inline uint16_t narrow(float value) {  // |value| <= 2: the caller scales the state
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  bits &= 0x7fffffffu;
  std::memcpy(&value, &bits, 4);
  value *= 0x1p-112f;
  std::memcpy(&bits, &value, 4);
  bits += 0x0fffu + ((bits >> 13) & 1u);
  return static_cast<uint16_t>(sign | (bits >> 13));
}

inline Float8 load8(const float* from) {
  return *reinterpret_cast<const Float8Loose*>(from);
}

inline Float8 load8(const uint16_t* from) {
#if defined(__F16C__)
  return (Float8)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)from));
#else
  Float8 lanes;
  for (int l = 0; l < 8; ++l) lanes[l] = widen(from[l]);
  return lanes;
#endif
}

inline void store8(float* to, Float8 lanes) {
  std::memcpy(to, &lanes, sizeof lanes);
}

template <typename State>
inline Float8 load_part(const State* from, int64_t count) {
  State part[8] = {};
  for (int64_t l = 0; l < count; ++l) part[l] = from[l];
  return load8(part);
}

inline void store_row(const float* __restrict from, float* __restrict to, int64_t width, bool stream) {
  int64_t c = 0;
#if defined(__AVX__)
  if (stream)
    for (; c + 8 <= width; c += 8) _mm256_stream_ps(to + c, _mm256_load_ps(from + c));
#elif defined(__SSE__)
  if (stream)
    for (; c + 4 <= width; c += 4) _mm_stream_ps(to + c, _mm_load_ps(from + c));
#endif
  (void)stream;
  for (; c < width; ++c) to[c] = from[c];
}

inline void store_row(const float* __restrict from, uint16_t* __restrict to, int64_t width, bool stream) {
  int64_t c = 0;
#if defined(__F16C__)
  if (stream)
    for (; c + 8 <= width; c += 8)
      _mm_stream_si128((__m128i*)(to + c),
                       _mm256_cvtps_ph(_mm256_load_ps(from + c), _MM_FROUND_TO_NEAREST_INT));
  else
    for (; c + 8 <= width; c += 8)
      _mm_storeu_si128((__m128i*)(to + c),
                       _mm256_cvtps_ph(_mm256_load_ps(from + c), _MM_FROUND_TO_NEAREST_INT));
#endif
  (void)stream;
  for (; c < width; ++c) to[c] = narrow(from[c]);
}
