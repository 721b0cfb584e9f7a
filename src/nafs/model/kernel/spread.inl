// Loops of spread.h. Each row is computed by one thread in a fixed order.

// How much of a difference shows in the embedding, from its size for each r.
inline float shown(const Limits& limits, int64_t i, const float* sizes, int64_t groups) {
  float size = 0.0f;
  for (int64_t g = 0; g < groups; ++g) {
    const float part = sizes[g] * limits.scale[i * groups + g];
    size = limits.average ? size + part : std::max(size, part);
  }
  return limits.average ? size / groups : size;
}

// Whether a difference is followed; if not, it is counted as dropped.
inline bool is_followed(const Limits& limits, int64_t i, float size) {
  float& dropped = limits.dropped[i * limits.stride];
  if (dropped + size > limits.tolerance * limits.largest[i]) return size > 0.0f;
  dropped += size;
  return false;
}

inline std::vector<int32_t> reach(const Reach& job) {
  constexpr int kMostThreads = 4;  // each thread reads all lists and sums up for its own nodes
  const int64_t groups = job.groups, line = job.line;
  const int parts = std::min(job.threads, kMostThreads);
  std::vector<float> sizes(job.count * line,
                           0.0f);  // padded to whole vectors; a 1 after the r's marks sums in use
  for (int64_t s = 0; s < job.count; ++s) {
    std::copy_n(job.sizes + s * groups, groups, sizes.data() + s * line);
    sizes[s * line + groups] = 1.0f;
  }
  std::vector<std::vector<int32_t>> chosen(parts);
#pragma omp parallel for schedule(static, 1) num_threads(parts)
  for (int part = 0; part < parts; ++part) {
    const int64_t begin = job.nodes * part / parts, end = job.nodes * (part + 1) / parts;
    std::vector<int32_t> nodes;
    const auto add = [&](int64_t i, float weight, const float* from) {
      float* sum = job.sums + i * line;
      if (sum[groups] == 0.0f) nodes.push_back(static_cast<int32_t>(i));
      for (int64_t c = 0; c < line; c += 8) store8(sum + c, load8(sum + c) + weight * load8(from + c));
    };
    for (int64_t s = 0; s < job.count; ++s) {
      const int64_t j = job.rows[s], count = job.readers.counts[j];
      const int32_t* readers = job.readers.row(j);
      const float* weights = job.readers.weights(j);
      const float* from = sizes.data() + s * line;
      if (j >= begin && j < end) add(j, 1.0f, from);
      for (int64_t e = 0; e < count; ++e) {
        if (e + 8 < count) __builtin_prefetch(job.sums + readers[e + 8] * line, 1);
        if (readers[e] >= begin && readers[e] < end) add(readers[e], weights ? weights[e] : 1.0f, from);
      }
    }
    for (const int32_t i : nodes) {
      float* sum = job.sums + i * line;
      if (!job.forced[i] &&
          is_followed(job.limits, i, job.inverse_degree[i] * shown(job.limits, i, sum, groups)))
        chosen[part].push_back(i);
      std::fill(sum, sum + line, 0.0f);
    }
    std::sort(chosen[part].begin(), chosen[part].end());
  }
  std::vector<int32_t> all;
  for (const auto& part : chosen) all.insert(all.end(), part.begin(), part.end());
  return all;
}

inline float largest_of(const float* row, int64_t count) {
  float largest = 0.0f;
#pragma omp simd reduction(max : largest)
  for (int64_t c = 0; c < count; ++c) largest = std::max(largest, std::fabs(row[c]));
  return largest;
}

// Add the difference of a node to `out`, and find the largest values for each r.
inline void add_difference(const Sources& from, int64_t i, float* __restrict out, float* sizes) {
  constexpr int64_t kAhead = 4;  // rows on their way from memory while others are added
  const int64_t f = from.features, width = from.groups * f, count = from.lists.counts[i];
  const int32_t* neighbours = from.lists.row(i);
  const float* weights = from.lists.weights(i);
  const float share = from.inverse_degree[i];
  struct Term {
    int64_t row;
    float factor;
  } terms[kAhead];
  int64_t seen = 0;
  const auto add = [&](const Term& term) {
    const float* __restrict row = from.before + term.row * width;
    for (int64_t c = 0; c < width; ++c) out[c] += term.factor * row[c];
  };
  const auto meet = [&](int64_t j, float weight) {
    const int64_t row = from.position[j];
    if (row < 0) return;
    if (seen >= kAhead) add(terms[seen % kAhead]);
    prefetch_row(from.before + row * width, width * 4);
    terms[seen++ % kAhead] = {row, weight * share};
  };
  meet(i, 1.0f);
  for (int64_t e = 0; e < count; ++e) meet(neighbours[e], weights ? weights[e] : 1.0f);
  for (int64_t t = std::max<int64_t>(0, seen - kAhead); t < seen; ++t) add(terms[t % kAhead]);
  for (int64_t g = 0; g < from.groups; ++g) sizes[g] = largest_of(out + g * f, f);
}

inline void differences(const Differences& job) {
  const int64_t groups = job.from.groups, width = groups * job.from.features;
#pragma omp parallel for schedule(dynamic, 16) num_threads(job.threads)
  for (int64_t r = 0; r < job.count; ++r) {
    float* row = job.out + r * width;
    float* sizes = job.sizes + r * groups;
    if (r < job.always)
      std::copy_n(job.edges + r * width, width, row);
    else
      std::fill(row, row + width, 0.0f);
    add_difference(job.from, job.rows[r], row, sizes);
    job.followed[r] =
        r < job.always || is_followed(job.limits, job.rows[r], shown(job.limits, job.rows[r], sizes, groups));
  }
}

// D of one hop: the cosine of z with the node's own features.
inline float cosine(const float* __restrict x, const float* __restrict z, int64_t f, float norm) {
  float quick_dot, quick_square;
  dot_and_square(z, x, f, &quick_dot, &quick_square);
  if (within_range(norm) && within_range(std::sqrt(quick_square)))
    return static_cast<float>(cosine_of(quick_dot, quick_square, norm));
  double dot, square;
  dot_and_square(z, x, f, &dot, &square);
  return static_cast<float>(cosine_of(dot, square, norm));
}

inline float norm_of(const float* x, int64_t f) {
  return static_cast<float>(std::sqrt(square_of(x, f)));
}

// Weights of the hops 0..K from their distances.
inline void weigh_hops(const Apply& job, const float* distances, float* weights) {
  const int64_t hops = job.hops + 1;
  float total = 0.0f;
  for (int64_t k = 0; k < hops; ++k) {
    switch (job.weighting) {
      case Weighting::last:
        weights[k] = k == hops - 1;
        break;
      case Weighting::average:
        weights[k] = 1.0f;
        break;
      case Weighting::softmax:
        weights[k] = std::exp(distances[k]);
        break;
      case Weighting::linear:
        weights[k] = distances[k] > job.floor ? distances[k] : 0.0f;
        break;
    }
    total += weights[k];
  }
  for (int64_t k = 0; k < hops; ++k) weights[k] = total > 0.0f ? weights[k] / total : 1.0f / hops;
}

// The arrays of one thread.
struct Row {
  std::vector<float> last, sizes, old, change, distances, weights, before;
  float norm = 0.0f, norm_before = 0.0f;  // of the node's own features

  Row(int64_t hops, int64_t groups, int64_t f)
      : last(groups * f),
        sizes(groups),
        old(f * hops),
        change(f),
        distances(2 * hops + 2),
        weights(hops + 1),
        before(hops + 1) {}
};

// One r of one row: new states, and what is added to the embedding. Hops without a difference have null in
// `added`.
inline void apply_group(const Apply& job, int64_t r, int64_t g, Row& row, const float* const* added) {
  const int64_t i = job.rows[r], f = job.features, hops = job.hops, groups = job.groups;
  const int64_t earlier = job.earlier[r];
  const bool weighs = job.weighting == Weighting::softmax || job.weighting == Weighting::linear;
  const float* x = job.x + i * f;
  const float* x_before = earlier < 0 ? x : job.x_before + earlier * f;
  const float scale = job.limits.scale[i * groups + g];
  const float scale_before = earlier < 0 ? scale : job.scale_before[earlier * groups + g];
  float* distances = row.distances.data();
  float* distances_before = distances + hops + 1;
  const float norm = row.norm, norm_before = row.norm_before;
  distances[0] = norm > 0.0f, distances_before[0] = norm_before > 0.0f;
  for (int64_t k = 0; k < hops; ++k) {
    float* __restrict state = job.states + ((i * hops + k) * groups + g) * f;
    float* __restrict old = row.old.data() + k * f;
    std::copy_n(state, f, old);
    if (weighs) distances_before[k + 1] = cosine(x_before, old, f, norm_before);
    if (!added[k]) {
      if (weighs) distances[k + 1] = earlier < 0 ? distances_before[k + 1] : cosine(x, old, f, norm);
      continue;
    }
    const float* __restrict difference = added[k];
    for (int64_t c = 0; c < f; ++c) state[c] = old[c] + difference[c];
    if (weighs) distances[k + 1] = cosine(x, state, f, norm);
  }
  const bool was_there = scale_before > 0.0f;
  weigh_hops(job, distances, row.weights.data());
  weigh_hops(job, distances_before, row.before.data());
  float* __restrict change = row.change.data();
  const float before = was_there ? row.before[0] : 0.0f;
  for (int64_t c = 0; c < f; ++c) change[c] = row.weights[0] * x[c] - before * x_before[c];
  for (int64_t k = 0; k < hops; ++k) {
    const float share = scale * row.weights[k + 1];
    const float less = share - (was_there ? scale_before * row.before[k + 1] : 0.0f);
    const float* __restrict old = row.old.data() + k * f;
    for (int64_t c = 0; c < f; ++c) change[c] += less * old[c];
    if (!added[k]) continue;
    const float* __restrict difference = added[k];
    for (int64_t c = 0; c < f; ++c) change[c] += share * difference[c];
  }
}

inline void apply(const Apply& job) {
  const int64_t f = job.features, groups = job.groups, width = groups * f, hops = job.hops;
  const bool average = job.limits.average;
  const int64_t columns = average ? f : width;
  const float share = average ? 1.0f / groups : 1.0f;
#pragma omp parallel num_threads(job.threads)
  {
    Row row(hops, groups, f);
    std::vector<const float*> added(hops);
#pragma omp for schedule(dynamic, 16)
    for (int64_t r = 0; r < job.count; ++r) {
      const int64_t i = job.rows[r];
      if (r + 1 < job.count) {
        const int64_t next = job.rows[r + 1];
        for (int64_t k = 0; k < hops; ++k) prefetch_row(job.states + (next * hops + k) * width, width * 4);
        prefetch_row(job.embedding + next * columns, columns * 4);
      }
      bool changed = job.earlier[r] >= 0;
      const int32_t* where = job.where + r * std::max<int64_t>(0, hops - 1);
      for (int64_t k = 0; k + 1 < hops; ++k) changed |= where[k] >= 0;
      const bool reached = hops && job.reached[r];
      if (reached) {
        if (job.extra[r] < 0)
          std::fill(row.last.begin(), row.last.end(), 0.0f);
        else
          std::copy_n(job.edges + job.extra[r] * width, width, row.last.data());
        add_difference(job.last, i, row.last.data(), row.sizes.data());
        changed = changed || is_followed(job.limits, i, shown(job.limits, i, row.sizes.data(), groups));
      }
      job.touched[r] = changed;
      if (!changed) continue;
      float* embedding = job.embedding + i * columns;
      row.norm = norm_of(job.x + i * f, f);
      row.norm_before = job.earlier[r] < 0 ? row.norm : norm_of(job.x_before + job.earlier[r] * f, f);
      for (int64_t g = 0; g < groups; ++g) {
        for (int64_t k = 0; k + 1 < hops; ++k)
          added[k] = where[k] < 0 ? nullptr : job.differences[k] + where[k] * width + g * f;

        if (hops) added[hops - 1] = reached ? row.last.data() + g * f : nullptr;
        apply_group(job, r, g, row, added.data());
        float* __restrict to = average ? embedding : embedding + g * f;
        for (int64_t c = 0; c < f; ++c) to[c] += share * row.change[c];
      }
      if (!job.maximum) {
        job.largest[i] = largest_of(embedding, columns);
        continue;
      }
      std::copy_n(embedding, f, row.change.data());
      for (int64_t g = 1; g < groups; ++g)
        for (int64_t c = 0; c < f; ++c) row.change[c] = std::max(row.change[c], embedding[g * f + c]);
      job.largest[i] = largest_of(row.change.data(), f);
    }
  }
}

inline void pack(const Pack& job) {
  const int64_t width = job.groups * job.features;
#pragma omp parallel for schedule(static) num_threads(job.threads)
  for (int64_t i = job.begin; i < job.end; ++i) {
    const float* __restrict from = job.state + i * job.stride;
    float* __restrict to =
        job.states + ((i * job.hops + job.hop) * job.all_groups + job.first) * job.features;
    for (int64_t c = 0; c < width; ++c) to[c] = from[c] * job.unit;
  }
}

const SpreadKernels spread_kernels = {&reach, &differences, &apply, &pack};
