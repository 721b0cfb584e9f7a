// A panel of columns through all hops while it stays in the cache.
//
// Only distances need whole rows. A first pass over all panels measures what each adds to the distances; a
// second pass smooths again and sums up with the weights that follow from them. That is twice the work, but
// hardly touches main memory. Each thread has its own panels, or, where those would be too large for the
// cache, all threads share one panel and wait for each other after every hop.

// The rows of a panel that a thread computes.
struct Rows {
  int64_t begin, end;
};

// About the same number of neighbours for each thread.
inline Rows rows_of_thread(const Cached& job, int64_t thread, int64_t threads) {
  const int64_t* indptr = job.graph.indptr;
  const int64_t n = job.nodes, work = indptr[n] + 4 * n;  // a row takes as long as four neighbours
  const auto cut = [&](int64_t part) {
    int64_t low = 0, high = n;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (indptr[middle] + 4 * middle < work / threads * part)
        low = middle + 1;
      else
        high = middle;
    }
    return part == threads ? n : low;
  };
  return {cut(thread), cut(thread + 1)};
}

inline void wait_for_all(bool together) {
  if (together) {
#pragma omp barrier
  }
}

// Columns of the features, times the unit.
inline void load_panel(const Cached& job, int64_t panel, Rows rows, float* __restrict x) {
  const int64_t first = panel * kColumns, count = std::min(kColumns, job.features - first);
  if (!job.x.rows || count < kColumns)
    std::memset(x + rows.begin * kColumns, 0, sizeof(float) * (rows.end - rows.begin) * kColumns);
  if (job.x.rows) {
    for (int64_t i = rows.begin; i < rows.end; ++i) {
      const float* from = job.x.rows + job.node[i] * job.x.stride + first;
      for (int64_t c = 0; c < count; ++c) x[i * kColumns + c] = from[c] * job.unit;
    }
    return;
  }
  for (int64_t c = 0; c < count; ++c)
    for (int64_t e = job.x.indptr[first + c]; e < job.x.indptr[first + c + 1]; ++e) {
      const int64_t i = job.x.indices[e];
      if (i >= rows.begin && i < rows.end) x[i * kColumns + c] = job.x.values[e] * job.unit;
    }
}

inline void store_panel(const Cached& job, int64_t panel, Rows rows, const float* __restrict sum) {
  const int64_t first = panel * kColumns, count = std::min(kColumns, job.features - first);
  for (int64_t i = rows.begin; i < rows.end; ++i) {
    const float share = job.share[i];
    const float* __restrict from = sum + i * kColumns;
    float* __restrict out = job.out + job.node[i] * job.out_stride + first;
    if (job.ensemble == Ensemble::write || job.fresh)
      for (int64_t c = 0; c < count; ++c) out[c] = from[c] * share;
    else if (job.ensemble == Ensemble::add)
      for (int64_t c = 0; c < count; ++c) out[c] += from[c] * share;
    else
      for (int64_t c = 0; c < count; ++c) out[c] = std::max(out[c], from[c] * share);
  }
}

constexpr int kVectors = kColumns / 8;

inline void add_parts(const Float8* z, const float* x, float* parts) {
  Float8 dot = {}, square = {};
  for (int v = 0; v < kVectors; ++v) dot += z[v] * load8(x + 8 * v), square += z[v] * z[v];
  parts[0] += lane_sum<float>(dot), parts[1] += lane_sum<float>(square);
}

template <bool weighted, bool together>
void cached_panel(const Cached& job, int64_t panel, Rows rows, float* buffer) {
  const int64_t n = job.nodes;
  float *state = buffer, *next = state + n * kColumns, *x = next + n * kColumns, *sum = x;
  float* parts = job.parts ? job.parts + panel % job.slots * (job.hops + 1) * n * 2 : nullptr;
  Float8 z[kVectors];
  load_panel(job, panel, rows, x);
  for (int64_t i = rows.begin; i < rows.end; ++i) {
    for (int v = 0; v < kVectors; ++v) {
      z[v] = load8(x + i * kColumns + 8 * v) * job.unscale[i];
      store8(state + i * kColumns + 8 * v, z[v]);
    }
    if (parts)
      add_parts(z, x + i * kColumns, parts + 2 * i);
    else
      for (int v = 0; v < kVectors; ++v) store8(sum + i * kColumns + 8 * v, z[v] * job.weights[i]);
  }
  Hop hop;
  hop.graph = job.graph, hop.stride = kColumns, hop.edges = job.graph.indptr[n];
  wait_for_all(together);
  bool owing = false;  // as in hop_batch: two hops enter the sum at once
  for (int64_t k = 1; k <= job.hops; ++k, std::swap(state, next)) {
    const float* now = parts ? nullptr : job.weights + k * n;
    const bool postpone = !owing && k < job.hops;
    hop.state = state;
    for (int64_t i = rows.begin; i < rows.end; ++i) {
      gather_lanes<kVectors, weighted, false, float, together>(hop, i, 0, 8, z);
      for (int v = 0; v < kVectors; ++v) store8(next + i * kColumns + 8 * v, z[v]);
      if (parts)
        add_parts(z, x + i * kColumns, parts + 2 * (k * n + i));
      else if (!postpone)
        for (int v = 0; v < kVectors; ++v) {
          float* to = sum + i * kColumns + 8 * v;
          Float8 total = load8(to);
          if (owing) total += load8(state + i * kColumns + 8 * v) * now[i - n];  // the previous hop's weight
          store8(to, total + z[v] * now[i]);
        }
    }
    owing = postpone;
    wait_for_all(together);
  }
  if (!parts) store_panel(job, panel, rows, sum);
}

template <bool weighted>
void cached_panels(const Cached& job) {
  if (job.together) {
#pragma omp parallel num_threads(job.threads)
    {
      const Rows rows = rows_of_thread(job, thread_number(), team_size());
      for (int64_t panel = job.begin; panel < job.end; ++panel)
        cached_panel<weighted, true>(job, panel, rows, job.buffers);
    }
    return;
  }
#pragma omp parallel for schedule(dynamic) num_threads(job.threads)
  for (int64_t slot = 0; slot < job.slots; ++slot) {
    float* buffer = job.buffers + 3 * job.nodes * kColumns * thread_number();
    for (int64_t panel = job.begin; panel < job.end; ++panel)
      if (panel % job.slots == slot) cached_panel<weighted, false>(job, panel, {0, job.nodes}, buffer);
  }
}

void cached(const Cached& job) {
  if (job.graph.weights)
    cached_panels<true>(job);
  else
    cached_panels<false>(job);
}
