// One row of P z: the neighbours' rows added up, in the order of the neighbour list.

constexpr int64_t kAhead = 10;   // neighbours that the prefetch runs ahead of the sum
constexpr int64_t kBlock = 128;  // neighbours added in float32 before the sum moves to float64

// Columns column..column+8*V of row i, in `sum`, which stays in registers while the neighbour list is read.
// Rows are padded to whole vectors unless `ragged`: then the tile has V = 1 and `count` columns. A state that
// stays in the cache is read faster without `fetch`.
template <int V, bool weighted, bool ragged, typename State, bool fetch = true>
inline void gather_lanes(const Hop& hop, int64_t i, int64_t column, int64_t count, Float8* sum) {
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
  for (int v = 0; v < V; ++v) sum[v] = load(state + i * stride + 8 * v);  // the self-loop of A + I
  const auto add = [&](int64_t e) {
    const State* neighbour = state + indices[e] * stride;
    for (int v = 0; v < V; ++v)
      if constexpr (weighted)
        sum[v] += weights[e] * load(neighbour + 8 * v);
      else
        sum[v] += load(neighbour + 8 * v);
  };
  // Every (neighbour, tile) is prefetched once, kAhead places ahead, across row ends.
  const auto add_range = [&](int64_t from, int64_t to) {
    int64_t e = from;
    for (const int64_t end = to < calm ? to : calm; fetch && e < end; ++e) {
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
}

template <int V, bool weighted, bool ragged, typename State>
inline void gather_tile(const Hop& hop, int64_t i, int64_t column, int64_t count, float* __restrict row) {
  Float8 sum[V];
  gather_lanes<V, weighted, ragged, State>(hop, i, column, count, sum);
  for (int v = 0; v < V; ++v) store8(row + column + 8 * v, sum[v]);
}

// Row i of P z.
template <bool weighted, typename State>
inline void gather_row(const Hop& hop, int64_t i, float* __restrict row) {
  const int64_t width = hop.features * hop.groups, whole = (width + 7) / 8 * 8;
  const int64_t padded = whole <= hop.columns ? whole : width;
  int64_t c = 0;
  for (; c + 64 <= padded; c += 64) gather_tile<8, weighted, false, State>(hop, i, c, 8, row);
  if (c + 32 <= padded) gather_tile<4, weighted, false, State>(hop, i, c, 8, row), c += 32;
  if (c + 16 <= padded) gather_tile<2, weighted, false, State>(hop, i, c, 8, row), c += 16;
  if (c + 8 <= padded) gather_tile<1, weighted, false, State>(hop, i, c, 8, row), c += 8;
  if (c < width) gather_tile<1, weighted, true, State>(hop, i, c, width - c, row);
}

// Row i of the features for every r, less the component's centre where distances need that.
inline void first_row(const Hop& hop, int64_t i, float* __restrict row) {
  const int64_t f = hop.features, own = hop.own_row(i);
  for (int64_t g = 0; g < hop.groups; ++g) {
    const float unscale = hop.unscale[i * hop.groups + g];
    float* z = row + g * f;
    if (hop.x.rows) {
      const float* x = hop.x_row(i);
      for (int64_t c = 0; c < f; ++c) z[c] = x[c] * unscale;
    } else {
      for (int64_t c = 0; c < f; ++c) z[c] = 0.0f;
      for (int64_t e = hop.x.indptr[own]; e < hop.x.indptr[own + 1]; ++e)
        z[hop.x.indices[e]] = hop.x.values[e] * unscale;
    }
    if (hop.centred) {
      const float* centre = hop.centres.rows + hop.centres.component[i] * hop.centres.stride + g * f;
      for (int64_t c = 0; c < f; ++c) z[c] -= centre[c];
    }
  }
}
