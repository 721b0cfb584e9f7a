// Loops of spread.h. Each row is computed by one thread in a fixed order.

// How much of a difference shows in the embedding, from its size for each r.
inline float shown(const Limits& limits, int64_t i, const float* sizes, int64_t groups) {
  float size = 0.0f;
  const float* effect = limits.effect + i * limits.effect_stride;
  for (int64_t g = 0; g < groups; ++g) {
    const float part = sizes[g] * effect[g];
    size = limits.average ? size + part : std::max(size, part);
  }
  return limits.average ? size / groups : size;
}

// Whether a difference is followed; if not, it is counted as dropped.
inline bool is_followed(const Limits& limits, int64_t i, float size, float spare = 0.0f) {
  float& dropped = limits.dropped[i * limits.stride];
  if (dropped + size > (limits.tolerance + spare) * limits.largest[i]) return size > 0.0f;
  dropped += size;
  return false;
}

// A source and a node that it reaches.
struct Pair {
  int32_t node, source;
  float weight;
};

constexpr int kBlockBits = 13;  // the sums of 8,192 nodes stay in the cache
constexpr int64_t kBlock = int64_t{1} << kBlockBits;
constexpr int64_t kNear = 16;  // nodes ahead that are prefetched

// All pairs by blocks of nodes: those of block b are from begins[b] to begins[b + 1], in the order of
// sources.
inline std::unique_ptr<Pair[]> find_pairs(const Reach& job, std::vector<int64_t>& begins) {
  const int64_t blocks = (job.nodes + kBlock - 1) >> kBlockBits;
  const auto each = [&](int part, const auto& meet) {
    const int64_t end = job.count * (part + 1) / job.threads;
    for (int64_t s = job.count * part / job.threads; s < end; ++s) {
      if (s + 8 < end) {
        __builtin_prefetch(job.readers.starts + job.rows[s + 8]);
        __builtin_prefetch(job.readers.counts + job.rows[s + 8]);
      }
      if (s + 4 < end) __builtin_prefetch(job.readers.row(job.rows[s + 4]));
      const int64_t j = job.rows[s], count = job.readers.counts[j];
      const int32_t* readers = job.readers.row(j);
      const float* weights = job.readers.weights(j);
      meet(static_cast<int32_t>(j), s, 1.0f);
      for (int64_t e = 0; e < count; ++e) meet(readers[e], s, weights ? weights[e] : 1.0f);
    }
  };
  std::vector<std::vector<int64_t>> places(job.threads, std::vector<int64_t>(blocks));
#pragma omp parallel for schedule(static, 1) num_threads(job.threads)
  for (int part = 0; part < job.threads; ++part)
    each(part, [&](int32_t i, int64_t, float) { ++places[part][i >> kBlockBits]; });
  begins.assign(blocks + 1, 0);
  for (int64_t b = 0; b < blocks; ++b) {
    begins[b + 1] = begins[b];
    for (auto& counts : places) std::swap(counts[b], begins[b + 1]), begins[b + 1] += counts[b];
  }
  std::unique_ptr<Pair[]> pairs(new Pair[begins[blocks]]);  // not filled with zeros
#pragma omp parallel for schedule(static, 1) num_threads(job.threads)
  for (int part = 0; part < job.threads; ++part)
    each(part, [&](int32_t i, int64_t s, float weight) {
      pairs[places[part][i >> kBlockBits]++] = {i, static_cast<int32_t>(s), weight};
    });
  return pairs;
}

// The share of each node's largest value that was dropped one hop before.
inline std::unique_ptr<float[]> dropped_before(const Reach& job) {
  const Limits& limits = job.limits;
  std::unique_ptr<float[]> shares(new float[job.nodes]);
#pragma omp parallel for schedule(static) num_threads(job.threads)
  for (int64_t i = 0; i < job.nodes; ++i)
    shares[i] = limits.largest[i] > 0.0f ? limits.dropped[i * limits.stride - 1] / limits.largest[i] : 0.0f;
  return shares;
}

// Count what a node left at the hop before as dropped, since another node relied on that. Several threads may
// do this to a node, and write the same value.
inline void use_up(const Reach& job, int64_t i) {
  float& dropped = job.limits.dropped[i * job.limits.stride - 1];
  const float most = job.spare / (1.0f + job.own) * job.limits.largest[i];
  float so_far;
#pragma omp atomic read
  so_far = dropped;
  if (so_far >= most) return;
#pragma omp atomic write
  dropped = most;
}

// Whether a difference at a node is followed. The tolerance allows for neighbours that all dropped as much as
// they may one hop before. Where it is exceeded, what they did drop counts instead, which is mostly less.
inline bool is_followed(const Reach& job, int64_t i, float size, const float* before) {
  const Limits& limits = job.limits;
  if (!is_followed(limits, i, size)) return false;
  const float dropped = limits.dropped[i * limits.stride] + size;
  if (!before || dropped > (limits.tolerance + job.spare) * limits.largest[i]) return size > 0.0f;
  const int32_t* neighbours = job.reads.row(i);
  const float* weights = job.reads.weights(i);
  float around = before[i];
  for (int64_t e = 0; e < job.reads.counts[i]; ++e)
    around += weights ? weights[e] * before[neighbours[e]] : before[neighbours[e]];
  const float left = job.spare - job.own * before[i] - job.inverse_degree[i] * around;
  if (is_followed(limits, i, size, std::max(0.0f, left))) return true;
  use_up(job, i);
  for (int64_t e = 0; e < job.reads.counts[i]; ++e) use_up(job, neighbours[e]);
  return false;
}

// The nodes of one block that are reached, each with its sources.
inline Reached reach_block(const Reach& job, const std::vector<float>& sizes, int64_t line,
                           const float* before, int64_t block, const Pair* begin, const Pair* end,
                           std::vector<float>& sums) {
  const int64_t first = block * kBlock, count = std::min(kBlock, job.nodes - first);
  sums.assign(count * line, 0.0f);
  std::vector<int32_t> met(count, 0);  // number of sources, then the place of the next one
  for (const Pair* pair = begin; pair < end; ++pair) {
    float* sum = sums.data() + (pair->node - first) * line;
    const float* from = sizes.data() + pair->source * line;
    for (int64_t c = 0; c < line; c += 8) store8(sum + c, load8(sum + c) + pair->weight * load8(from + c));
    ++met[pair->node - first];
  }
  Reached chosen;
  int32_t place = 0;
  for (int64_t i = first; i < first + count; ++i) {
    if (i + kNear < first + count && met[i + kNear - first])
      __builtin_prefetch(job.limits.effect + (i + kNear) * job.limits.effect_stride);
    int32_t& count_or_place = met[i - first];
    const float* sum = sums.data() + (i - first) * line;
    const bool follow =
        count_or_place &&
        (job.forced[i] ||
         is_followed(job, i, job.inverse_degree[i] * shown(job.limits, i, sum, job.groups), before));
    if (follow) {
      chosen.rows.push_back(static_cast<int32_t>(i)), chosen.begins.push_back(place);
      std::swap(place, count_or_place), place += count_or_place;
    } else {
      count_or_place = -1;
    }
  }
  chosen.begins.push_back(place);
  chosen.sources.resize(place);
  if (job.readers.base_weights) chosen.weights.resize(place);
  for (const Pair* pair = begin; pair < end; ++pair) {
    int32_t& next = met[pair->node - first];
    if (next < 0) continue;
    if (job.readers.base_weights) chosen.weights[next] = pair->weight;
    chosen.sources[next++] = pair->source;
  }
  return chosen;
}

// The rows of all blocks, those that are reached in any case first.
inline Reached joined(const Reach& job, const std::vector<Reached>& blocks) {
  struct From {
    const Reached* part;
    int64_t row;
  };
  std::vector<From> from;
  size_t count = job.always;
  for (const Reached& part : blocks) count += part.rows.size();
  Reached all;
  from.reserve(count), all.rows.reserve(count), all.begins.reserve(count + 1), all.begins.push_back(0);
  const auto add = [&](int32_t i, const Reached& part, int64_t row, int64_t terms) {
    from.push_back({&part, row}), all.rows.push_back(i), all.begins.push_back(all.begins.back() + terms);
  };
  for (int64_t f = 0; f < job.always; ++f) {
    const int32_t i = job.first[f];
    const Reached& part = blocks[i >> kBlockBits];
    const int64_t row = std::lower_bound(part.rows.begin(), part.rows.end(), i) - part.rows.begin();
    const bool met = row < static_cast<int64_t>(part.rows.size()) && part.rows[row] == i;
    add(i, part, row, met ? part.begins[row + 1] - part.begins[row] : 0);
  }
  for (const Reached& part : blocks)
    for (size_t r = 0; r < part.rows.size(); ++r)
      if (!job.forced[part.rows[r]]) add(part.rows[r], part, r, part.begins[r + 1] - part.begins[r]);
  all.sources.resize(all.begins.back());
  if (job.readers.base_weights) all.weights.resize(all.begins.back());
#pragma omp parallel for schedule(static) num_threads(job.threads)
  for (int64_t r = 0; r < static_cast<int64_t>(from.size()); ++r) {
    const int64_t terms = all.begins[r + 1] - all.begins[r];
    if (!terms) continue;
    const Reached& part = *from[r].part;
    const int64_t begin = part.begins[from[r].row];
    std::copy_n(part.sources.data() + begin, terms, all.sources.data() + all.begins[r]);
    if (!part.weights.empty())
      std::copy_n(part.weights.data() + begin, terms, all.weights.data() + all.begins[r]);
  }
  return all;
}

inline Reached reach(const Reach& job) {
  const int64_t groups = job.groups, line = (groups + 7) / 8 * 8;
  std::vector<float> sizes(job.count * line, 0.0f);
  for (int64_t s = 0; s < job.count; ++s)
    std::copy_n(job.sizes + s * groups, groups, sizes.data() + s * line);
  std::vector<int64_t> begins;
  const std::unique_ptr<Pair[]> pairs = find_pairs(job, begins);
  const int64_t blocks = static_cast<int64_t>(begins.size()) - 1;
  std::vector<Reached> chosen(blocks);
  const std::unique_ptr<float[]> before = job.spare > 0.0f ? dropped_before(job) : nullptr;
#pragma omp parallel num_threads(job.threads)
  {
    std::vector<float> sums;
#pragma omp for schedule(dynamic)
    for (int64_t b = 0; b < blocks; ++b)
      if (begins[b] < begins[b + 1])
        chosen[b] = reach_block(job, sizes, line, before.get(), b, pairs.get() + begins[b],
                                pairs.get() + begins[b + 1], sums);
  }
  return joined(job, chosen);
}

inline void rewired(const Rewired& job) {
  const int64_t f = job.features, width = job.groups * f;
#pragma omp parallel num_threads(job.threads)
  {
    std::vector<double> sum(width);
#pragma omp for schedule(dynamic, 1)
    for (int64_t r = 0; r < job.count; ++r) {
      const int64_t i = job.rows[r], count = job.lists.counts[i];
      const int32_t* neighbours = job.lists.row(i);
      const float* weights = job.lists.weights(i);
      std::fill(sum.begin(), sum.end(), 0.0);
      const auto add = [&](int64_t j, float weight) {
        const float* z = nullptr;
        if (job.hop > 0)
          z = job.states + (j * job.hops + job.hop - 1) * width;
        else if (job.position[j] >= 0)
          z = job.before + job.position[j] * width;
        if (z) {
          for (int64_t c = 0; c < width; ++c) sum[c] += static_cast<double>(weight * z[c]);
          return;
        }
        for (int64_t g = 0; g < job.groups; ++g) {
          const float factor = weight / job.scale[j * job.groups + g];
          for (int64_t c = 0; c < f; ++c) sum[g * f + c] += static_cast<double>(factor * job.x[j * f + c]);
        }
      };
      add(i, 1.0f);
      for (int64_t e = 0; e < count; ++e) add(neighbours[e], weights ? weights[e] : 1.0f);
      const float* old = job.states + (i * job.hops + job.hop) * width;
      float* out = job.out + r * width;
      const double share = job.inverse_degree[i];
      for (int64_t c = 0; c < width; ++c) out[c] = static_cast<float>(sum[c] * share - old[c]);
    }
  }
}

// The largest magnitude of a row. Magnitudes are ordered like their bits, and every compiler vectorises a
// maximum of integers; because of NaN, only some vectorise one of floats.
inline float largest_of(const float* row, int64_t count) {
  int32_t largest = 0;
  for (int64_t c = 0; c < count; ++c) {
    int32_t bits;
    std::memcpy(&bits, row + c, sizeof bits);
    largest = std::max(largest, bits & 0x7fffffff);
  }
  float value;
  std::memcpy(&value, &largest, sizeof value);
  return value;
}

template <typename Value>
struct Term {
  const Value* row;
  float factor;
};

// Differences to add up; those that are small enough are read in 16 bits, which takes half the time.
struct Terms {
  std::vector<Term<float>> whole;
  std::vector<Term<uint16_t>> half;
};

constexpr int64_t kChunk = 32;  // rows handed to a thread at a time
constexpr int64_t kSoon = 8;    // rows ahead that are prefetched

// Prefetch what decides about a row that is computed soon.
inline void prefetch_limits(const Sources& from, const Limits& limits, const int32_t* rows, int64_t left) {
  if (left <= kSoon) return;
  const int64_t i = rows[kSoon];
  __builtin_prefetch(from.inverse_degree + i);
  __builtin_prefetch(limits.effect + i * limits.effect_stride);
  __builtin_prefetch(limits.largest + i);
  __builtin_prefetch(limits.dropped + i * limits.stride, 1);
}

// The differences that reach a node from its neighbours and itself, without those that are too small to
// matter, which most are; returns a bound on the effect of what was left out or rounded.
inline float collect(const Sources& from, const Limits& limits, int64_t i, int64_t r, Terms& terms) {
  constexpr float kSmall = 0.1f, kAll = 0.2f;  // shares of what may be dropped: by one difference, by all
  constexpr float kHalf = 16.0f, kRounding = 0x1p-12f;  // where 16 bits suffice, and their rounding error
  constexpr size_t kFetched = 6;  // rows that are prefetched here; the sum prefetches the others
  const int64_t groups = from.groups, width = groups * from.features;
  const float share = from.inverse_degree[i], most = limits.tolerance * limits.largest[i];
  const float allowed = std::min(kAll * most, most - limits.dropped[i * limits.stride]);
  float effect = 0.0f, lost = 0.0f;
  for (int64_t g = 0; g < groups; ++g) {
    const float part = limits.effect[i * limits.effect_stride + g];
    effect = limits.average ? effect + part : std::max(effect, part);
  }
  if (limits.average) effect /= groups;
  terms.whole.clear(), terms.half.clear();
  const auto fetch = [&](const auto* values, size_t place) {
    if (place < kFetched)
      for (int64_t c = 0; c < width; c += 64 / sizeof *values) __builtin_prefetch(values + c);
  };
  for (int64_t e = from.begins[r]; e < from.begins[r + 1]; ++e) {
    const int64_t source = from.sources[e], row = from.places[source];
    const float factor = from.weights ? from.weights[e] * share : share;
    const float size = from.peaks[source] * factor * effect;
    if (size <= kSmall * most && lost + size <= allowed) {
      lost += size;
    } else if (from.halves && size <= kHalf * most && lost + kRounding * size <= allowed) {
      lost += kRounding * size;
      const uint16_t* values = from.halves + row * width;
      fetch(values, terms.half.size());
      terms.half.push_back({values, factor * from.units[row]});
    } else {
      const float* values = from.before + row * width;
      fetch(values, terms.whole.size());
      terms.whole.push_back({values, factor});
    }
  }
  return lost;
}

template <int V, typename Value>
inline void add_terms(const std::vector<Term<Value>>& terms, int64_t column, Float8* sum) {
  constexpr size_t kAhead = 4;
  for (size_t t = 0; t < terms.size(); ++t) {
    if (t + kAhead < terms.size())
      for (size_t b = 0; b < V * 8 * sizeof(Value); b += 64)
        __builtin_prefetch(reinterpret_cast<const char*>(terms[t + kAhead].row + column) + b);
    const Value* row = terms[t].row + column;
    for (int v = 0; v < V; ++v) sum[v] += terms[t].factor * load8(row + 8 * v);
  }
}

template <int V>
inline void add_tile(const Terms& terms, int64_t column, const float* start, float* out) {
  Float8 sum[V];
  for (int v = 0; v < V; ++v) sum[v] = start ? load8(start + column + 8 * v) : Float8{};
  add_terms<V>(terms.whole, column, sum);
  add_terms<V>(terms.half, column, sum);
  for (int v = 0; v < V; ++v) store8(out + column + 8 * v, sum[v]);
}

// out <- start + the sum of the terms; a start of null is zero.
inline void add_up(const Terms& terms, int64_t width, const float* start, float* out) {
  int64_t c = 0;
  for (; c + 96 <= width; c += 96) add_tile<12>(terms, c, start, out);
  for (; c + 64 <= width; c += 64) add_tile<8>(terms, c, start, out);
  for (; c + 8 <= width; c += 8) add_tile<1>(terms, c, start, out);
  for (; c < width; ++c) {
    float sum = start ? start[c] : 0.0f;
    for (const auto& term : terms.whole) sum += term.factor * term.row[c];
    for (const auto& term : terms.half) sum += term.factor * widen(term.row[c]);
    out[c] = sum;
  }
}

// A row in 16 bits; returns the power of two that it was divided by.
inline float halve(const float* row, int64_t width, float largest, uint16_t* out) {
  if (!(largest > 0x1p-100f)) {
    std::fill(out, out + width, uint16_t{0});
    return 0.0f;
  }
  const float unit = std::exp2(static_cast<float>(std::ilogb(largest))), inverse = 1.0f / unit;
  int64_t c = 0;
#if defined(__F16C__)
  for (; c + 8 <= width; c += 8)
    _mm_storeu_si128((__m128i*)(out + c),
                     _mm256_cvtps_ph((__m256)(load8(row + c) * inverse), _MM_FROUND_TO_NEAREST_INT));
#endif
  for (; c < width; ++c) out[c] = narrow(row[c] * inverse);
  return unit;
}

// Whether a difference is followed; if so, its error is counted as dropped.
inline bool settle(const Limits& limits, int64_t i, float size, float lost, bool always) {
  if (!always && !is_followed(limits, i, size + lost)) return false;
  limits.dropped[i * limits.stride] += lost;
  return true;
}

inline void differences(const Differences& job) {
  const int64_t groups = job.from.groups, f = job.from.features, width = groups * f;
  const int64_t chunks = (job.count + kChunk - 1) / kChunk;
#pragma omp parallel num_threads(job.threads)
  {
    Terms terms, next;
    float lost = 0.0f, next_lost = 0.0f;
    const auto prepare = [&](int64_t r) {
      prefetch_limits(job.from, job.limits, job.rows + r, job.count - r);
      next_lost = collect(job.from, job.limits, job.rows[r], r, next);
    };
#pragma omp for schedule(dynamic)
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      const int64_t begin = chunk * kChunk, end = std::min(begin + kChunk, job.count);
      prepare(begin);
      for (int64_t r = begin; r < end; ++r) {
        std::swap(terms, next), lost = next_lost;
        if (r + 1 < end) prepare(r + 1);
        const int64_t i = job.rows[r];
        float* row = job.out + r * width;
        float* sizes = job.sizes + r * groups;
        add_up(terms, width, r < job.always ? job.edges + r * width : nullptr, row);
        for (int64_t g = 0; g < groups; ++g) sizes[g] = largest_of(row + g * f, f);
        job.peaks[r] = *std::max_element(sizes, sizes + groups);
        job.followed[r] = settle(job.limits, i, shown(job.limits, i, sizes, groups), lost, r < job.always);
        if (job.followed[r]) job.units[r] = halve(row, width, job.peaks[r], job.halves + r * width);
      }
    }
  }
}

// D of one hop: the cosine of z with the node's own features; also finds |z|.
inline float cosine(const float* __restrict x, const float* __restrict z, int64_t f, float norm,
                    float* length) {
  float quick_dot, quick_square;
  dot_and_square(z, x, f, &quick_dot, &quick_square);
  *length = std::sqrt(quick_square);
  if (within_range(norm) && within_range(*length))
    return static_cast<float>(cosine_of(quick_dot, quick_square, norm));
  double dot, square;
  dot_and_square(z, x, f, &dot, &square);
  *length = static_cast<float>(std::sqrt(square));
  return static_cast<float>(cosine_of(dot, square, norm));
}

// How much a hop weighs by its distance, before weights are normalised.
inline float weight_of(Weighting weighting, float floor, float distance) {
  if (weighting == Weighting::softmax) return std::exp(distance);
  return distance > floor ? distance : 0.0f;
}

// A row that is about to be applied: its differences at each hop, those of the last one not added up yet.
struct Pending {
  std::vector<const float*> added;
  Terms terms;
  float lost = 0.0f;
  bool reached = false, changed = false;
};

// The arrays of one thread.
struct Row {
  std::vector<float> last, sizes, shares, out, lengths, distances, kept;
  std::vector<float> before, total, total_before;  // weights before the change, and sums over the hops
  Pending now, next;

  Row(int64_t hops, int64_t groups, int64_t f)
      : last(groups * f),
        sizes(groups),
        shares(groups * (hops + 1)),
        out(groups * f),
        lengths(groups * hops),
        distances(groups * hops),
        kept(groups),
        before(groups * (hops + 1)),
        total(groups),
        total_before(groups) {
    now.added.resize(hops), next.added.resize(hops);
  }
};

// The sums of a node's weights over the hops, for each r.
inline void add_weights(const float* weights, int64_t hops, int64_t groups, float* total) {
  std::fill(total, total + groups, 0.0f);
  for (int64_t k = 0; k <= hops; ++k)
    for (int64_t g = 0; g < groups; ++g) total[g] += weights[k * groups + g];
}

// Add the differences to the states of a row, and weigh the hops that they change.
inline void change_states(const Apply& job, int64_t r, Row& row) {
  const int64_t i = job.rows[r], f = job.features, groups = job.groups, width = groups * f;
  const float* x = job.x + i * f;
  const float norm = job.weights ? static_cast<float>(std::sqrt(square_of(x, f))) : 0.0f;
  float* weights = job.weights ? job.weights + i * (job.hops + 1) * groups : nullptr;
  const bool renewed = job.renewed[r];
  const auto weigh = [&](float distance) { return weight_of(job.weighting, job.floor, distance); };
  if (weights) std::copy_n(weights, (job.hops + 1) * groups, row.before.data());
  if (weights && renewed) std::fill(weights, weights + groups, weigh(norm > 0.0f ? 1.0f : 0.0f));
  for (int64_t k = 0; k < job.hops; ++k) {
    float* __restrict state = job.states + (i * job.hops + k) * width;
    const float* __restrict difference = row.now.added[k];
    if (difference)
      for (int64_t c = 0; c < width; ++c) state[c] += difference[c];
    if (weights && (difference || renewed))
      for (int64_t g = 0; g < groups; ++g) {
        float& distance = row.distances[k * groups + g];
        distance = cosine(x, state + g * f, f, norm, &row.lengths[k * groups + g]);
        weights[(k + 1) * groups + g] = weigh(distance);
      }
  }
  if (!weights) return;
  add_weights(row.before.data(), job.hops, groups, row.total_before.data());
  add_weights(weights, job.hops, groups, row.total.data());
}

// What each hop of each r adds to the embedding, per value of z; for hop 0 per value of x.
inline void find_shares(const Apply& job, int64_t i, Row& row) {
  const int64_t hops = job.hops + 1, groups = job.groups;
  const float* weights = job.weights ? job.weights + i * hops * groups : nullptr;
  const float part = job.limits.average ? 1.0f / groups : 1.0f;
  const float* __restrict scale = job.scale + i * groups;
  float* __restrict shares = row.shares.data();
  if (job.weighting == Weighting::last) {
    std::fill(row.shares.begin(), row.shares.end(), 0.0f);
    for (int64_t g = 0; g < groups; ++g)
      shares[(hops - 1) * groups + g] = part * (hops > 1 ? scale[g] : 1.0f);
    return;
  }
  for (int64_t g = 0; g < groups; ++g) {
    const bool weighed = weights && row.total[g] > 0.0f;
    const float unit = part / (weighed ? row.total[g] : hops), scaled = unit * scale[g];
    shares[g] = weighed ? unit * weights[g] : unit;
    for (int64_t k = 1; k < hops; ++k)
      shares[k * groups + g] = weighed ? scaled * weights[k * groups + g] : scaled;
  }
}

// How much of the old embedding stays for each r when weights change: hops without a difference lose or gain
// the same share. Where the r's are averaged, they need one factor; how much it is off is counted as dropped.
// False if that is too much, and the embedding has to be computed from all states.
inline bool find_kept(const Apply& job, int64_t i, Row& row) {
  constexpr float kOff = 0.15f;  // share of what may be dropped
  const int64_t groups = job.groups;
  std::fill(row.kept.begin(), row.kept.end(), 1.0f);
  if (!job.weights) return true;
  float mean = 0.0f, off = 0.0f;
  for (int64_t g = 0; g < groups; ++g) {
    if (!(row.total_before[g] > 0.0f && row.total[g] > 0.0f)) return false;
    row.kept[g] = row.total_before[g] / row.total[g];
    mean += row.kept[g] / groups;
  }
  if (!job.limits.average) return true;
  for (int64_t g = 0; g < groups; ++g) off += std::fabs(row.kept[g] - mean) / groups, row.kept[g] = mean;
  const float largest = job.largest[i], lost = off * largest * (job.hops + 1);
  const float most = job.limits.tolerance * largest;
  float& dropped = job.limits.dropped[i * job.limits.stride];
  if (lost > kOff * most || dropped + lost > most) return false;
  dropped += lost;
  return true;
}

// The embedding of a row from the one before and the hops that changed.
inline void change_embedding(const Apply& job, int64_t i, Row& row) {
  const int64_t f = job.features, groups = job.groups, width = groups * f;
  const bool average = job.limits.average;
  const float* __restrict old = job.embedding + i * (average ? f : width);
  find_shares(job, i, row);
  for (int64_t g = 0; g < (average ? 1 : groups); ++g)
    for (int64_t c = 0; c < f; ++c) row.out[g * f + c] = row.kept[g] * old[g * f + c];
  for (int64_t k = 0; k < job.hops; ++k) {
    const float* difference = row.now.added[k];
    if (!difference) continue;
    for (int64_t g = 0; g < groups; ++g) {
      const float share = row.shares[(k + 1) * groups + g];
      float before = share;  // what is kept of the share before
      if (job.weights) {
        const float part = (average ? 1.0f / groups : 1.0f) * job.scale[i * groups + g];
        before = part * row.kept[g] * row.before[(k + 1) * groups + g] / row.total_before[g];
      }
      const float* __restrict z = job.states + (i * job.hops + k) * width + g * f;
      const float* __restrict d = difference + g * f;
      float* __restrict out = row.out.data() + (average ? 0 : g * f);
      const float shift = share - before;
      for (int64_t c = 0; c < f; ++c) out[c] += shift * z[c] + before * d[c];
    }
  }
}

// The embedding of a row from its states.
inline void embed_row(const Apply& job, int64_t i, Row& row) {
  const int64_t f = job.features, groups = job.groups, width = groups * f;
  const bool average = job.limits.average;
  const float* __restrict x = job.x + i * f;
  float* shares = row.shares.data();
  find_shares(job, i, row);
  for (int64_t g = 0; average && g + 1 < groups; ++g) shares[groups - 1] += shares[g], shares[g] = 0.0f;
  for (int64_t g = average ? groups - 1 : 0; g < groups; ++g) {
    float* __restrict out = row.out.data() + (average ? 0 : g * f);
    for (int64_t c = 0; c < f; ++c) out[c] = shares[g] * x[c];
  }
  for (int64_t k = job.weighting == Weighting::last ? std::max<int64_t>(0, job.hops - 1) : 0; k < job.hops;
       ++k)
    for (int64_t g = 0; g < groups; ++g) {
      const float* __restrict z = job.states + (i * job.hops + k) * width + g * f;
      float* __restrict out = row.out.data() + (average ? 0 : g * f);
      const float share = shares[(k + 1) * groups + g];
      for (int64_t c = 0; c < f; ++c) out[c] += share * z[c];
    }
}

// Keep the embedding of a row, its largest value, and what later differences of the changed hops would show.
inline void finish_row(const Apply& job, int64_t r, Row& row) {
  constexpr float kMost = 1e30f;
  const int64_t i = job.rows[r], f = job.features, groups = job.groups, hops = job.hops;
  const int64_t columns = job.limits.average ? f : groups * f;
  std::copy_n(row.out.data(), columns, job.embedding + i * columns);
  if (job.maximum)
    for (int64_t g = 1; g < groups; ++g)
      for (int64_t c = 0; c < f; ++c) row.out[c] = std::max(row.out[c], row.out[g * f + c]);
  job.largest[i] = largest_of(row.out.data(), job.maximum ? f : columns);
  for (int64_t k = 0; k < hops; ++k) {
    if (!row.now.added[k] && !job.renewed[r]) continue;
    for (int64_t g = 0; g < groups; ++g) {
      float effect = job.scale[i * groups + g];
      if (job.weights) {
        const float* weights = job.weights + i * (hops + 1) * groups;
        const float distance = row.distances[k * groups + g], length = row.lengths[k * groups + g];
        const float slope = job.weighting == Weighting::softmax ? weights[(k + 1) * groups + g] : 1.0f;
        const float sine = std::sqrt(std::max(0.0f, 1.0f - distance * distance));
        effect += (hops + 1) * slope * sine * job.largest[i] / (row.total[g] * length);
      }
      job.effect[(i * hops + k) * groups + g] = effect < kMost ? effect : kMost;  // also for 0 / 0
    }
  }
}

// Prefetch everything that applying the differences of a row needs, besides those of the last hop.
inline void prefetch_kept(const Apply& job, int64_t r) {
  const int64_t i = job.rows[r], hops = job.hops, width = job.groups * job.features;
  const int32_t* where = job.where + r * std::max<int64_t>(0, hops - 1);
  for (int64_t k = 0; k < hops; ++k) {
    const bool added = k + 1 < hops ? where[k] >= 0 : job.reached[r] >= 0;
    if (!(job.renewed[r] || added)) continue;
    const float* state = job.states + (i * hops + k) * width;
    for (int64_t c = 0; c < width; c += 16) __builtin_prefetch(state + c, 1);
    if (k + 1 < hops && added) prefetch_row(job.differences[k] + where[k] * width, width * 4);
  }
  const int64_t columns = job.limits.average ? job.features : width;
  for (int64_t c = 0; c < columns; c += 16) __builtin_prefetch(job.embedding + i * columns + c, 1);
  prefetch_row(job.x + i * job.features, job.features * 4);
  prefetch_row(job.scale + i * job.groups, job.groups * 4);
  if (job.weights) prefetch_row(job.weights + i * (hops + 1) * job.groups, (hops + 1) * job.groups * 4);
}

// Find the differences of a row.
inline void prepare(const Apply& job, int64_t r, Pending& row) {
  constexpr int64_t kAhead = 2;
  const int64_t i = job.rows[r], hops = job.hops, width = job.groups * job.features;
  row.changed = job.renewed[r];
  row.reached = hops && job.reached[r] >= 0;
  const int32_t* where = job.where + r * std::max<int64_t>(0, hops - 1);
  for (int64_t k = 0; k + 1 < hops; ++k) {
    row.added[k] = where[k] < 0 ? nullptr : job.differences[k] + where[k] * width;
    row.changed |= where[k] >= 0;
  }
  if (hops) prefetch_limits(job.last, job.limits, job.rows + r, job.count - r);
  row.lost = row.reached ? collect(job.last, job.limits, i, job.reached[r], row.terms) : 0.0f;
  if (r + kAhead < job.count) prefetch_kept(job, r + kAhead);
}

// Add up the differences of the last hop, and decide whether they are followed.
inline void finish_last(const Apply& job, int64_t r, Row& row) {
  const int64_t i = job.rows[r], f = job.features, groups = job.groups;
  Pending& now = row.now;
  add_up(now.terms, groups * f, job.extra[r] < 0 ? nullptr : job.edges + job.extra[r] * groups * f,
         row.last.data());
  now.added[job.hops - 1] = row.last.data();
  for (int64_t g = 0; g < groups; ++g) row.sizes[g] = largest_of(row.last.data() + g * f, f);
  now.changed = settle(job.limits, i, shown(job.limits, i, row.sizes.data(), groups), now.lost, now.changed);
}

inline void apply(const Apply& job) {
  const int64_t hops = job.hops, chunks = (job.count + kChunk - 1) / kChunk;
#pragma omp parallel num_threads(job.threads)
  {
    Row row(hops, job.groups, job.features);
#pragma omp for schedule(dynamic)
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      const int64_t begin = chunk * kChunk, end = std::min(begin + kChunk, job.count);
      prepare(job, begin, row.next);
      for (int64_t r = begin; r < end; ++r) {
        std::swap(row.now, row.next);
        if (r + 1 < end) prepare(job, r + 1, row.next);
        if (hops) row.now.added[hops - 1] = nullptr;
        if (row.now.reached) finish_last(job, r, row);
        job.touched[r] = row.now.changed;
        if (!row.now.changed) continue;
        const int64_t i = job.rows[r];
        change_states(job, r, row);
        if (!job.renewed[r] && find_kept(job, i, row))
          change_embedding(job, i, row);
        else
          embed_row(job, i, row);
        finish_row(job, r, row);
      }
    }
  }
}

inline void pack(const Pack& job) {
  const int64_t width = job.groups * job.features;
#pragma omp parallel for schedule(static) num_threads(job.threads)
  for (int64_t i = job.begin; i < job.end; ++i) {
    if (job.hop > 0) {
      const float* __restrict from = job.state + i * job.stride;
      float* __restrict to =
          job.states + ((i * job.hops + job.hop - 1) * job.all_groups + job.first) * job.features;
      for (int64_t c = 0; c < width; ++c) to[c] = from[c] * job.unit;
      float* norms = job.norms + (i * job.hops + job.hop - 1) * job.all_groups + job.first;
      for (int64_t g = 0; job.weights && g < job.groups; ++g)
        norms[g] = static_cast<float>(std::sqrt(square_of(to + g * job.features, job.features)));
    }
    if (!job.weights) continue;
    float* weights = job.weights + (i * (job.hops + 1) + job.hop) * job.all_groups + job.first;
    for (int64_t g = 0; g < job.groups; ++g)
      weights[g] = weight_of(job.weighting, job.floor, job.distances[i * job.groups + g]);
  }
}

const SpreadKernels spread_kernels = {&reach, &rewired, &differences, &apply, &pack};
