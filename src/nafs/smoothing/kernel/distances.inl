// How far a row is from over-smoothing, for each distance of distances.h.

inline double cosine_of(double dot, double square, double norm) {
  return square == 0.0 || norm == 0.0 ? 0.0 : dot / (std::sqrt(square) * norm);
}

// The sums that a distance is computed from. The parts of a row's panels add up to those of the row.
struct Parts {
  double dot, square;
};

// z with the node's own features. The scale d~^r of z does not matter to a cosine.
inline Parts feature_parts(const Hop& hop, int64_t i, const float* z) {
  const Features& x = hop.x;
  if (!x.rows) {
    const int64_t own = hop.own_row(i);
    double dot = 0.0;
    for (int64_t e = x.indptr[own]; e < x.indptr[own + 1]; ++e)
      dot += static_cast<double>(z[x.indices[e]]) * x.values[e];
    return {dot, square_of(z, hop.features)};
  }
  const float* row = hop.x_row(i);
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
  // Close to the stationary state 1 - cos is tiny; in float32 it would be all rounding.
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
