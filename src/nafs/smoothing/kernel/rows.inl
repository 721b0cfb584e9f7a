// The loops. Compiled once per instruction set (baseline.cpp, v3.cpp) inside a namespace of its own.
//
// Bits must not depend on the number of threads, on how many r share a row, nor on where a buffer
// starts. So: one thread computes a row, in the order of the neighbour list; and every reduction runs
// over explicit lanes that are counted from the first feature of its r. No fast-math.

constexpr int64_t kAhead = 10;            // neighbours that the prefetch runs ahead of the sum
constexpr int64_t kPrefetchBytes = 1024;  // of a row that is read front to back; hardware does the rest
constexpr int64_t kBlock = 128;           // neighbours added in float32 before the sum moves to float64
constexpr int64_t kChunk = 64;            // rows handed to a thread at a time
constexpr int64_t kBatch = 4;             // rows whose distances are computed together
constexpr int64_t kBatchFloats = 2048;    // ... as long as they stay in the first-level cache
constexpr float kLinearFloor = 1e-6f;     // a smaller distance is rounding: "linear" takes it as 0

typedef float Float8 __attribute__((vector_size(32)));
typedef float Float8Loose __attribute__((vector_size(32), aligned(4), may_alias));

template <int locality = 3>
inline void prefetch_row(const void* row, int64_t bytes) {
  const char* line = static_cast<const char*>(row);
  const int64_t reach = std::min(bytes, kPrefetchBytes);
  for (int64_t b = 0; b < reach; b += 64) __builtin_prefetch(line + b, 0, locality);
}

// ---- state rows: float32 or binary16 ----------------------------------------------------------

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

inline Float8 load8(const float* from) { return *reinterpret_cast<const Float8Loose*>(from); }

inline Float8 load8(const uint16_t* from) {
#if defined(__F16C__)
  return (Float8)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)from));
#else
  Float8 lanes;
  for (int l = 0; l < 8; ++l) lanes[l] = widen(from[l]);
  return lanes;
#endif
}

template <typename State>
inline Float8 load_part(const State* from, int64_t count) {
  State part[8] = {};
  for (int64_t l = 0; l < count; ++l) part[l] = from[l];
  return load8(part);
}

inline void store_row(const float* __restrict from, float* __restrict to, int64_t width,
                      bool stream) {
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

inline void store_row(const float* __restrict from, uint16_t* __restrict to, int64_t width,
                      bool stream) {
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

// ---- one row of P z ---------------------------------------------------------------------------

// Columns column..column+8*V of row i: the sums stay in registers while the neighbour list is read.
// Rows are padded to whole vectors unless `ragged`: then the tile has V = 1 and `count` columns.
template <int V, bool weighted, bool ragged, typename State>
inline void gather_tile(const Hop& hop, int64_t i, int64_t column, int64_t count,
                        float* __restrict row) {
  const State* state = static_cast<const State*>(hop.state) + column;
  const int64_t first = hop.graph.indptr[i], last = hop.graph.indptr[i + 1];
  const int64_t stride = hop.stride, calm = hop.edges - kAhead;
  const int32_t* indices = hop.graph.indices;
  const float* weights = hop.graph.weights;
  const float inverse = hop.graph.inverse_degree[i];
  const auto load = [count](const State* from) {
    if constexpr (ragged)
      return load_part(from, count);
    else
      return load8(from);
  };
  Float8 sum[V];
  for (int v = 0; v < V; ++v) sum[v] = load(state + i * stride + 8 * v);  // the self-loop of A + I
  const auto add = [&](int64_t e) {
    const State* neighbour = state + indices[e] * stride;
    for (int v = 0; v < V; ++v)
      if constexpr (weighted)
        sum[v] += weights[e] * load(neighbour + 8 * v);
      else
        sum[v] += load(neighbour + 8 * v);
  };
  // Every (neighbour, tile) is asked for once, kAhead places before its turn, across row ends.
  const auto add_range = [&](int64_t from, int64_t to) {
    int64_t e = from;
    for (const int64_t end = to < calm ? to : calm; e < end; ++e) {
      const char* soon = reinterpret_cast<const char*>(state + indices[e + kAhead] * stride);
      for (size_t b = 0; b < V * 8 * sizeof(State); b += 64) __builtin_prefetch(soon + b);
      add(e);
    }
    for (; e < to; ++e) add(e);
  };
  if (last - first <= kBlock) {
    add_range(first, last);
    for (int v = 0; v < V; ++v) sum[v] *= inverse;
  } else {  // a hub: float32 would lose digits
    double wide[V * 8] = {};
    for (int64_t e = first; e < last; e += kBlock) {
      add_range(e, e + kBlock < last ? e + kBlock : last);
      for (int v = 0; v < V; ++v) {
        for (int l = 0; l < 8; ++l) wide[8 * v + l] += static_cast<double>(sum[v][l]);
        sum[v] = Float8{};
      }
    }
    for (int v = 0; v < V; ++v)
      for (int l = 0; l < 8; ++l) sum[v][l] = static_cast<float>(wide[8 * v + l] * inverse);
  }
  for (int v = 0; v < V; ++v) std::memcpy(row + column + 8 * v, &sum[v], sizeof sum[v]);
}

// Row i of P z.
template <bool weighted, typename State>
inline void gather_row(const Hop& hop, int64_t i, float* __restrict row) {
  const int64_t width = hop.features * hop.groups, whole = (width + 7) / 8 * 8;
  const int64_t padded = whole <= hop.stride ? whole : width;
  int64_t c = 0;
  for (; c + 64 <= padded; c += 64) gather_tile<8, weighted, false, State>(hop, i, c, 8, row);
  if (c + 32 <= padded) gather_tile<4, weighted, false, State>(hop, i, c, 8, row), c += 32;
  if (c + 16 <= padded) gather_tile<2, weighted, false, State>(hop, i, c, 8, row), c += 16;
  if (c + 8 <= padded) gather_tile<1, weighted, false, State>(hop, i, c, 8, row), c += 8;
  if (c < width) gather_tile<1, weighted, true, State>(hop, i, c, width - c, row);
}

// Row i of the features for every r, less the component's centre where distances need that.
inline void first_row(const Hop& hop, int64_t i, float* __restrict row) {
  const int64_t f = hop.features;
  for (int64_t g = 0; g < hop.groups; ++g) {
    const float unscale = hop.unscale[i * hop.groups + g];
    float* z = row + g * f;
    if (hop.x.rows) {
      const float* x = hop.x.rows + i * hop.x.stride;
      for (int64_t c = 0; c < f; ++c) z[c] = x[c] * unscale;
    } else {
      for (int64_t c = 0; c < f; ++c) z[c] = 0.0f;
      for (int64_t e = hop.x.indptr[i]; e < hop.x.indptr[i + 1]; ++e)
        z[hop.x.indices[e]] = hop.x.values[e] * unscale;
    }
    if (hop.centred) {
      const float* centre = hop.centres.rows + hop.centres.component[i] * hop.centres.stride + g * f;
      for (int64_t c = 0; c < f; ++c) z[c] -= centre[c];
    }
  }
}

// ---- distances --------------------------------------------------------------------------------

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
  d0 += d1, s0 += s1;
  Real d[8], s[8];
  std::memcpy(d, &d0, sizeof d);
  std::memcpy(s, &s0, sizeof s);
  *dot = ((d[0] + d[4]) + (d[2] + d[6])) + ((d[1] + d[5]) + (d[3] + d[7]));
  *square = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
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

// Cosine of z and the node's own features. The scale d~^r of z does not matter.
inline double feature_cosine(const Hop& hop, int64_t i, const float* z) {
  const Features& x = hop.x;
  const double norm = x.norms[i];
  if (!x.rows) {
    double dot = 0.0;
    for (int64_t e = x.indptr[i]; e < x.indptr[i + 1]; ++e)
      dot += static_cast<double>(z[x.indices[e]]) * x.values[e];
    return cosine_of(dot, square_of(z, hop.features), norm);
  }
  const float* row = x.rows + i * x.stride;
  float quick_dot, quick_square;
  dot_and_square(z, row, hop.features, &quick_dot, &quick_square);
  if (within_range(norm) && within_range(std::sqrt(quick_square)))
    return cosine_of(quick_dot, quick_square, norm);
  double dot, square;
  dot_and_square(z, row, hop.features, &dot, &square);
  return cosine_of(dot, square, norm);
}

// D_i(k) for the g-th r.
inline float distance(const Hop& hop, int64_t i, int64_t g, const float* z) {
  if (hop.distance == Distance::cosine) return static_cast<float>(feature_cosine(hop, i, z));
  if (hop.distance == Distance::euclidean)
    return static_cast<float>(std::sqrt(square_of(z, hop.features)) * hop.scale[i * hop.groups + g]);
  const Centres& to = hop.centres;
  const float* centre = to.rows + to.component[i] * to.stride + g * hop.features;
  // Close to the stationary state 1 - cos is tiny: float64, so that it is not all rounding.
  double dot, square;
  dot_and_square(z, centre, hop.features, &dot, &square);
  return static_cast<float>(1.0 - cosine_of(dot, square, to.norms[to.component[i] * hop.groups + g]));
}

// ---- the running weighted sum: sum <- keep * sum + weight * z ----------------------------------

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
    *weight = d > kLinearFloor ? d : 0.0f;
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

// ---- passes over rows -------------------------------------------------------------------------

// Buffers of one thread: `batch` rows of z, and how each enters the sum (keep, weight).
struct Batch {
  int64_t padded, rows, floats;
  explicit Batch(const Hop& hop)
      : padded((hop.features * hop.groups + 15) / 16 * 16),
        rows(std::max<int64_t>(1, std::min(kBatch, kBatchFloats / padded))),
        floats((padded + (2 * hop.groups + 15) / 16 * 16) * rows) {}
};

template <typename State>
void hop_batch(const Hop& hop, const Batch& batch, int64_t top, int64_t bottom, float* buffer) {
  const int64_t width = hop.features * hop.groups;
  float* steps = buffer + batch.padded * batch.rows;
  const bool weighs = hop.weighting != Weighting::last;
  // Where rows are whole vectors and go through the cache anyway, z is computed in its final place.
  const bool direct = hop.next && !hop.half && !hop.stream && hop.stride % 8 == 0;
  const auto row_of = [&](int64_t i) {
    return direct ? static_cast<float*>(hop.next) + i * hop.stride : buffer + (i - top) * batch.padded;
  };

  for (int64_t i = top; i < bottom; ++i) {
    float* z = row_of(i);
    if (!hop.state)
      first_row(hop, i, z);
    else if (hop.graph.weights)
      gather_row<true, State>(hop, i, z);
    else
      gather_row<false, State>(hop, i, z);
    // Read once a hop and not again: locality 0 keeps them from pushing the state out of the cache.
    if (weighs && !hop.postpone) prefetch_row<0>(hop.sum + i * hop.sum_stride, width * 4);
    if (hop.distance == Distance::cosine && hop.x.rows)
      prefetch_row<0>(hop.x.rows + i * hop.x.stride, hop.features * 4);
  }
  for (int64_t i = top; i < bottom; ++i)
    for (int64_t g = 0; g < hop.groups; ++g) {
      const int64_t at = i * hop.groups + g, local = (i - top) * hop.groups + g;
      float d = 0.0f;
      if (hop.distance != Distance::none)
        d = distance(hop, i, g, row_of(i) + g * hop.features);
      if (hop.distances) hop.distances[at] = d;
      if (!weighs) continue;
      float* step = hop.postpone ? hop.pending + 2 * at : steps + 2 * local;
      weigh(hop, at, d, &step[0], &step[1]);
    }
  for (int64_t i = top; i < bottom; ++i) {
    const float* z = row_of(i);
    for (int64_t g = 0; weighs && !hop.postpone && g < hop.groups; ++g) {
      const float* step = steps + 2 * ((i - top) * hop.groups + g);
      const int64_t column = g * hop.features;
      float* sum = hop.sum + i * hop.sum_stride + column;
      if (hop.pending)
        accumulate(static_cast<const float*>(hop.state) + i * hop.stride + column,
                   hop.pending + 2 * (i * hop.groups + g), z + column, step, sum, hop.features);
      else
        accumulate(z + column, step[0], step[1], sum, hop.features);
    }
    if (hop.next && !direct) store_row(z, static_cast<State*>(hop.next) + i * hop.stride, width, hop.stream);
  }
}

template <typename State>
void hop_rows(const Hop& hop) {
  const Batch batch(hop);
  const int64_t chunks = (hop.end - hop.begin + kChunk - 1) / kChunk;
  float* buffers =
      static_cast<float*>(std::aligned_alloc(64, sizeof(float) * batch.floats * hop.threads));
  if (!buffers) throw std::bad_alloc();
#pragma omp parallel num_threads(hop.threads)
  {
    float* buffer = buffers + batch.floats * omp_get_thread_num();
#pragma omp for schedule(dynamic)
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      const int64_t begin = hop.begin + chunk * kChunk, end = std::min(begin + kChunk, hop.end);
      for (int64_t top = begin; top < end; top += batch.rows)
        hop_batch<State>(hop, batch, top, std::min(top + batch.rows, end), buffer);
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

inline float value_of(float stored) { return stored; }
inline float value_of(uint16_t stored) { return widen(stored); }

template <typename State>
inline void finish_row(const Finish& pass, const State* __restrict from, int64_t i, int64_t g) {
  const int64_t at = i * pass.groups + g, f = pass.features;
  const float weight = pass.total ? (pass.total[at] == 0.0f ? pass.fallback : pass.total[at]) : 1.0f;
  const float scale = pass.scale[at] * pass.factor, share = scale / weight;
  const Centres& to = pass.centres;
  const float* centre = to.rows ? to.rows + to.component[i] * to.stride + g * f : nullptr;
  float* __restrict out = pass.out + i * pass.out_stride + g * pass.out_group_stride;
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

const Kernels kernels = {&hop, &finish, &gather};
