// Dot products and squares over explicit lanes, so that their bits never depend on the caller.

// Upper half on lower half, three times.
template <typename Real, typename Lanes>
inline Real lane_sum(const Lanes& lanes) {
  typedef Real Four __attribute__((vector_size(4 * sizeof(Real))));
  typedef Real Two __attribute__((vector_size(2 * sizeof(Real))));
  Four low, high;
  std::memcpy(&low, &lanes, sizeof low);
  std::memcpy(&high, reinterpret_cast<const char*>(&lanes) + sizeof low, sizeof high);
  low += high;
  Two left, right;
  std::memcpy(&left, &low, sizeof left);
  std::memcpy(&right, reinterpret_cast<const char*>(&low) + sizeof left, sizeof right);
  left += right;
  return left[0] + left[1];
}

template <typename Real>
inline void dot_and_square(const float* __restrict a, const float* __restrict b, int64_t width, Real* dot,
                           Real* square) {
  typedef Real Lanes __attribute__((vector_size(8 * sizeof(Real))));
  const auto load = [](const float* from) {
    Lanes lanes;
    for (int l = 0; l < 8; ++l) lanes[l] = from[l];
    return lanes;
  };
  Lanes d0 = {}, d1 = {}, s0 = {}, s1 = {};
  const auto step = [&](const float* u, const float* v) {
    const Lanes u0 = load(u), u1 = load(u + 8);
    d0 += u0 * load(v), d1 += u1 * load(v + 8);
    s0 += u0 * u0, s1 += u1 * u1;
  };
  int64_t c = 0;
  for (; c + 16 <= width; c += 16) step(a + c, b + c);
  if (c < width) {
    float u[16] = {}, v[16] = {};
    for (int64_t l = 0; c + l < width; ++l) u[l] = a[c + l], v[l] = b[c + l];
    step(u, v);
  }
  *dot = lane_sum<Real>(d0 + d1), *square = lane_sum<Real>(s0 + s1);
}

// float32 lanes are exact enough unless the squares leave float32's range.
inline bool within_range(double size) {
  return size > 1e-12 && size < 1e12;
}

inline double square_of(const float* z, int64_t width) {
  float dot, quick;
  dot_and_square(z, z, width, &dot, &quick);
  if (within_range(std::sqrt(quick))) return quick;
  double exact;
  dot_and_square(z, z, width, &exact, &exact);
  return exact;
}
