// How far a row is from over-smoothing, and the running sum that weighs it by that:
// sum <- keep * sum + weight * z.

// A smaller cosine is rounding, and weighting "linear" takes it as 0. (Euclidean distances have the
// features' unit; where they are all rounding, every hop is the stationary state anyway.)
constexpr float kLinearFloor = 1e-6f;

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
inline void dot_and_square(const float* __restrict a, const float* __restrict b, int64_t width,
                           Real* dot, Real* square) {
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
inline bool within_range(double size) { return size > 1e-12 && size < 1e12; }

inline double square_of(const float* z, int64_t width) {
  float dot, quick;
  dot_and_square(z, z, width, &dot, &quick);
  if (within_range(std::sqrt(quick))) return quick;
  double exact;
  dot_and_square(z, z, width, &exact, &exact);
  return exact;
}

inline double cosine_of(double dot, double square, double norm) {
  return square == 0.0 || norm == 0.0 ? 0.0 : dot / (std::sqrt(square) * norm);
}

// What a distance is made of. Columns add up: the parts of a row's panels sum to those of the row.
struct Parts {
  double dot, square;
};

// z with the node's own features. The scale d~^r of z does not matter to a cosine.
inline Parts feature_parts(const Hop& hop, int64_t i, const float* z) {
  const Features& x = hop.x;
  if (!x.rows) {
    double dot = 0.0;
    for (int64_t e = x.indptr[i]; e < x.indptr[i + 1]; ++e)
      dot += static_cast<double>(z[x.indices[e]]) * x.values[e];
    return {dot, square_of(z, hop.features)};
  }
  const float* row = x.rows + i * x.stride;
  float quick_dot, quick_square;
  dot_and_square(z, row, hop.features, &quick_dot, &quick_square);
  if (within_range(x.norms[i]) && within_range(std::sqrt(quick_square))) return {quick_dot, quick_square};
  double dot, square;
  dot_and_square(z, row, hop.features, &dot, &square);
  return {dot, square};
}

inline Parts parts_of(const Hop& hop, int64_t i, int64_t g, const float* z) {
  if (hop.distance == Distance::cosine) return feature_parts(hop, i, z);
  if (hop.distance == Distance::euclidean) return {0.0, square_of(z, hop.features)};
  const Centres& to = hop.centres;
  // Close to the stationary state 1 - cos is tiny: float64, so that it is not all rounding.
  double dot, square;
  dot_and_square(z, to.rows + to.component[i] * to.stride + g * hop.features, hop.features, &dot, &square);
  return {dot, square};
}

// D_i(k) for the g-th r.
inline float distance(const Hop& hop, int64_t i, int64_t g, const Parts& parts) {
  if (hop.distance == Distance::cosine)
    return static_cast<float>(cosine_of(parts.dot, parts.square, hop.x.norms[i]));
  if (hop.distance == Distance::euclidean)
    return static_cast<float>(std::sqrt(parts.square) * hop.scale[i * hop.groups + g]);
  const Centres& to = hop.centres;
  const double norm = to.norms[to.component[i] * hop.groups + g];
  return static_cast<float>(1.0 - cosine_of(parts.dot, parts.square, norm));
}

inline void weigh(const Hop& hop, int64_t at, float d, float* keep, float* weight) {
  const bool first = hop.state == nullptr;
  float& total = hop.total[at];
  *keep = first ? 0.0f : 1.0f;
  if (hop.weighting == Weighting::average) {
    *weight = 1.0f;
  } else if (hop.weighting == Weighting::softmax) {
    if (hop.peak) {  // unbounded distances: keep exp() relative to the largest so far
      float& peak = hop.peak[at];
      if (first || d > peak) {
        *keep = first ? 0.0f : std::exp(peak - d);
        peak = d;
      }
      *weight = std::exp(d - peak);
    } else {
      *weight = std::exp(d);
    }
  } else {  // linear: until a distance is positive all hops count alike
    *weight = d > (hop.distance == Distance::euclidean ? 0.0f : kLinearFloor) ? d : 0.0f;
    if (!first && total == 0.0f && *weight > 0.0f) *keep = 0.0f;
    total = first ? *weight : total + *weight;
    if (total == 0.0f) *weight = 1.0f;
    return;
  }
  total = *keep * total + *weight;
}

inline void accumulate(const float* __restrict z, float keep, float weight, float* __restrict sum,
                       int64_t width) {
  if (keep == 0.0f)
    for (int64_t c = 0; c < width; ++c) sum[c] = weight * z[c];
  else if (keep == 1.0f)
    for (int64_t c = 0; c < width; ++c) sum[c] += weight * z[c];
  else
    for (int64_t c = 0; c < width; ++c) sum[c] = keep * sum[c] + weight * z[c];
}

// Two hops at once, rounded as if one after the other.
inline void accumulate(const float* __restrict before, const float* pending, const float* __restrict z,
                       const float* step, float* __restrict sum, int64_t width) {
  if (pending[0] != 1.0f || step[0] != 1.0f) {
    accumulate(before, pending[0], pending[1], sum, width);
    accumulate(z, step[0], step[1], sum, width);
    return;
  }
  for (int64_t c = 0; c < width; ++c) {
    float s = sum[c];
    s += pending[1] * before[c];
    s += step[1] * z[c];
    sum[c] = s;
  }
}
