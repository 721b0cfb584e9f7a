// The loops. Compiled once per instruction set (baseline.cpp, v3.cpp), each in its own namespace.
//
// Bits must not depend on the number of threads, on how many r share a row, nor on where a buffer
// starts. So: one thread computes a row, in the order of the neighbour list; and every reduction runs
// over explicit lanes that are counted from the first feature of its r. No fast-math.

constexpr int64_t kChunk = 64;          // rows handed to a thread at a time
constexpr int64_t kBatch = 2;           // rows whose distances are computed together
constexpr int64_t kFeaturesAhead = 8;   // rows of x in scattered order are prefetched this far ahead
constexpr int64_t kBatchFloats = 2048;  // ... as long as they fit in the first-level cache

// Buffers of one thread: `batch` rows of z, how each enters the sum (keep and weight, at the previous hop
// where that is owed, and at this one), and a row of hop 0.
struct Batch {
  int64_t padded, rows, floats;
  explicit Batch(const Hop& hop)
      : padded((hop.features * hop.groups + 15) / 16 * 16),
        rows(std::max<int64_t>(1, std::min(kBatch, kBatchFloats / padded))),
        floats((padded + (4 * hop.groups + 15) / 16 * 16) * rows + padded) {}
  float* opening(float* buffer) const { return buffer + floats - padded; }
};

// The distance of row z of one hop: measured into `parts`, or turned into how the row enters the sum.
inline void weigh_row(const Hop& hop, int64_t i, int64_t g, const float* z, double* parts, const double* sums,
                      float* step) {
  const int64_t at = i * hop.groups + g;
  float d = 0.0f;
  if (sums) {
    d = distance(hop, i, g, {sums[2 * at], sums[2 * at + 1]});
  } else if (hop.distance != Distance::none) {
    const Parts own = parts_of(hop, i, g, z);
    if (parts) {
      parts[2 * at] = own.dot, parts[2 * at + 1] = own.square;
      return;
    }
    d = distance(hop, i, g, own);
  }
  if (hop.distances) hop.distances[at] = d;
  if (hop.weighting != Weighting::last) weigh(hop, at, d, &step[0], &step[1]);
}

// Row i of this hop's state.
template <typename State>
inline void state_row(const Hop& hop, int64_t i, float* z) {
  if (!hop.state)
    first_row(hop, i, z);
  else if (hop.graph.weights)
    gather_row<true, State>(hop, i, z);
  else
    gather_row<false, State>(hop, i, z);
}

// Start the sum of row i with hop 0, whose state is computed again in z.
inline void open_row(const Hop& zero, int64_t i, float* z) {
  first_row(zero, i, z);
  for (int64_t g = 0; g < zero.groups; ++g) {
    float step[2];
    weigh_row(zero, i, g, z + g * zero.features, nullptr, nullptr, step);
    accumulate(z + g * zero.features, step[0], step[1], zero.sum + i * zero.sum_stride + g * zero.features,
               zero.features);
  }
}

template <typename State>
void hop_batch(const Hop& hop, const Hop& zero, const Batch& batch, int64_t top, int64_t bottom,
               float* buffer) {
  const int64_t width = hop.features * hop.groups;
  float* steps = buffer + batch.padded * batch.rows;
  const bool sums_up = hop.weighting != Weighting::last && !hop.postpone && !hop.parts;
  const bool reads_features = needs_of(hop.distance).features && !hop.sums && hop.x.rows && !hop.postpone;
  const bool far = hop.node && bottom > hop.copied;  // rows of x come from anywhere
  // Where rows are whole vectors and go through the cache anyway, z is computed in its final place.
  const bool direct =
      hop.computed || (hop.next && !hop.half && !hop.stream && (width + 7) / 8 * 8 <= hop.columns);
  const auto row_of = [&](int64_t i) {
    return direct ? static_cast<float*>(hop.next) + i * hop.stride : buffer + (i - top) * batch.padded;
  };
  const auto row_before = [&](int64_t i) { return static_cast<const float*>(hop.state) + i * hop.stride; };

  for (int64_t i = top; i < bottom; ++i) {
    float* z = row_of(i);
    if (reads_features && far && i + kFeaturesAhead < hop.end)
      prefetch_row(hop.x_row(i + kFeaturesAhead), hop.features * 4);
    if (!hop.computed) state_row<State>(hop, i, z);
    // Read only once per hop: locality 0 keeps them from pushing the state out of the cache.
    if (sums_up) prefetch_row<0>(hop.sum + i * hop.sum_stride, width * 4);
    if (reads_features && !far) prefetch_row<0>(hop.x_row(i), hop.features * 4);
  }
  for (int64_t i = top; !hop.postpone && i < bottom; ++i) {
    if (hop.opening) open_row(zero, i, batch.opening(buffer));
    for (int64_t g = 0; g < hop.groups; ++g) {
      float* step = steps + 4 * ((i - top) * hop.groups + g);
      const int64_t column = g * hop.features;
      if (hop.owing) weigh_row(hop, i, g, row_before(i) + column, hop.parts_before, hop.sums_before, step);
      weigh_row(hop, i, g, row_of(i) + column, hop.parts, hop.sums, step + 2);
    }
  }
  for (int64_t i = top; i < bottom; ++i) {
    const float* z = row_of(i);
    for (int64_t g = 0; sums_up && g < hop.groups; ++g) {
      const float* step = steps + 4 * ((i - top) * hop.groups + g);
      const int64_t column = g * hop.features;
      float* sum = hop.sum + i * hop.sum_stride + column;
      if (hop.owing)
        accumulate(row_before(i) + column, step, z + column, step + 2, sum, hop.features);
      else
        accumulate(z + column, step[2], step[3], sum, hop.features);
    }
    if (hop.next && !direct) store_row(z, static_cast<State*>(hop.next) + i * hop.stride, width, hop.stream);
  }
}

template <typename State>
void hop_rows(const Hop& hop) {
  const Batch batch(hop);
  Hop zero = hop;
  zero.state = nullptr;
  const int64_t chunks = (hop.end - hop.begin + kChunk - 1) / kChunk;
  float* buffers = static_cast<float*>(std::aligned_alloc(64, sizeof(float) * batch.floats * hop.threads));
  if (!buffers) throw std::bad_alloc();
#pragma omp parallel num_threads(hop.threads)
  {
    float* buffer = buffers + batch.floats * thread_number();
#pragma omp for schedule(dynamic)
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      const int64_t begin = hop.begin + chunk * kChunk, end = std::min(begin + kChunk, hop.end);
      for (int64_t top = begin; top < end; top += batch.rows)
        hop_batch<State>(hop, zero, batch, top, std::min(top + batch.rows, end), buffer);
    }
#if defined(__SSE__)
    _mm_sfence();
#endif
  }
  std::free(buffers);
}

void hop(const Hop& hop) {
  if (hop.half)
    hop_rows<uint16_t>(hop);
  else
    hop_rows<float>(hop);
}

inline float value_of(float stored) {
  return stored;
}
inline float value_of(uint16_t stored) {
  return widen(stored);
}

template <typename State>
inline void finish_row(const Finish& pass, const State* __restrict from, int64_t i, int64_t g) {
  const int64_t at = i * pass.groups + g, f = pass.features;
  const float weight = pass.total ? (pass.total[at] == 0.0f ? pass.fallback : pass.total[at]) : 1.0f;
  const float scale = pass.scale[at] * pass.factor, share = scale / weight;
  const Centres& to = pass.centres;
  const float* centre = to.rows ? to.rows + to.component[i] * to.stride + g * f : nullptr;
  float* __restrict out =
      pass.out + (pass.node ? pass.node[i] : i) * pass.out_stride + g * pass.out_group_stride;
  const auto combine = [&](auto&& merge) {
    if (centre)
      for (int64_t c = 0; c < f; ++c) out[c] = merge(out[c], value_of(from[c]) * share + centre[c] * scale);
    else
      for (int64_t c = 0; c < f; ++c) out[c] = merge(out[c], value_of(from[c]) * share);
  };
  if (pass.ensemble == Ensemble::write || (pass.fresh && g == 0))
    combine([](float, float value) { return value; });
  else if (pass.ensemble == Ensemble::add)
    combine([](float sum, float value) { return sum + value; });
  else
    combine([](float largest, float value) { return largest < value ? value : largest; });
}

template <typename State>
void finish_rows(const Finish& pass, const State* source) {
#pragma omp parallel for schedule(static) num_threads(pass.threads)
  for (int64_t i = pass.begin; i < pass.end; ++i)
    for (int64_t g = 0; g < pass.groups; ++g)
      finish_row(pass, source + i * pass.stride + g * pass.features, i, g);
}

void finish(const Finish& pass) {
  if (pass.sum)
    finish_rows(pass, pass.sum);
  else if (pass.half)
    finish_rows(pass, static_cast<const uint16_t*>(pass.state));
  else
    finish_rows(pass, static_cast<const float*>(pass.state));
}

double gather(const Hop& hop) {
  const float* state = static_cast<const float*>(hop.state);
  const int64_t width = hop.features * hop.groups;
  const int64_t chunks = (hop.end - hop.begin + kChunk - 1) / kChunk;
  double seen = 0.0;
#pragma omp parallel for schedule(dynamic) num_threads(hop.threads) reduction(+ : seen)
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    const int64_t begin = hop.begin + chunk * kChunk;
    const int64_t end = std::min(begin + kChunk, hop.end);
    Float8 lanes[4] = {};
    const auto read = [&](const float* row) {
      int64_t c = 0;
      for (; c + 32 <= width; c += 32)
        for (int l = 0; l < 4; ++l) lanes[l] += load8(row + c + 8 * l);
      for (; c < width; ++c) seen += row[c];
    };
    for (int64_t i = begin; i < end; ++i) {
      read(state + i * hop.stride);
      for (int64_t e = hop.graph.indptr[i]; e < hop.graph.indptr[i + 1]; ++e) {
        if (e + kAhead < hop.edges)
          prefetch_row(state + hop.graph.indices[e + kAhead] * hop.stride, width * 4);
        read(state + hop.graph.indices[e] * hop.stride);
      }
    }
    const Float8 all = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    for (int l = 0; l < 8; ++l) seen += all[l];
  }
  return seen;
}

const Kernels kernels = {&hop, &cached, &finish, &gather};
