// The running sum over hops, weighted by the distances: sum <- keep * sum + weight * z.

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
    *weight = d > hop.floor ? d : 0.0f;
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
inline void accumulate(const float* __restrict before, const float* step_before, const float* __restrict z,
                       const float* step, float* __restrict sum, int64_t width) {
  if (step_before[0] != 1.0f || step[0] != 1.0f) {
    accumulate(before, step_before[0], step_before[1], sum, width);
    accumulate(z, step[0], step[1], sum, width);
    return;
  }
  for (int64_t c = 0; c < width; ++c) {
    float s = sum[c];
    s += step_before[1] * before[c];
    s += step[1] * z[c];
    sum[c] = s;
  }
}
