// What the kernel tells about a graph itself.
#include "arrays.h"

namespace nafs {

namespace {

// Connected components, numbered by their first node. `label` is a forest whose parents come first, then
// holds -1 - number for the nodes seen, then the numbers: no other memory is used.
int64_t run_components(Vector<const int64_t> indptr, Vector<const int32_t> indices, Vector<int32_t> label) {
  const int64_t n = static_cast<int64_t>(label.size());
  require(static_cast<int64_t>(indptr.size()) == n + 1, "indptr has one entry more than nodes");
  require(n == 0 || indptr.data()[n] <= static_cast<int64_t>(indices.size()), "indptr ends past indices");
  int32_t* parent = label.data();
  nb::gil_scoped_release release;
  const auto root_of = [parent](int32_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (int64_t i = 0; i < n; ++i) parent[i] = static_cast<int32_t>(i);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t e = indptr.data()[i]; e < indptr.data()[i + 1]; ++e) {
      const int32_t a = root_of(static_cast<int32_t>(i)), b = root_of(indices.data()[e]);
      if (a != b) parent[std::max(a, b)] = std::min(a, b);
    }
  int32_t count = 0;
  for (int64_t i = 0; i < n; ++i) parent[i] = parent[i] == i ? -1 - count++ : parent[parent[i]];
  for (int64_t i = 0; i < n; ++i) parent[i] = -1 - parent[i];
  return count;
}

double run_gather(Vector<const int64_t> indptr, Vector<const int32_t> indices,
                  Matrix<const float> state, int threads) {
  Hop hop;
  const int64_t n = state.shape(0);
  require(static_cast<int64_t>(indptr.size()) == n + 1, "indptr has one entry more than state rows");
  hop.end = n, hop.features = state.shape(1), hop.edges = indptr.data()[n];
  require(hop.edges <= static_cast<int64_t>(indices.size()), "indptr ends past indices");
  hop.graph.indptr = indptr.data(), hop.graph.indices = indices.data();
  hop.state = state.data();
  hop.stride = rows_of(state, n, hop.features, "state rows");
  hop.threads = std::max(1, threads);
  nb::gil_scoped_release release;
  return active->gather(hop);
}

}  // namespace

void bind_graph(nb::module_& m) {
  m.def("gather", &run_gather, "indptr"_a.noconvert(), "indices"_a.noconvert(), "state"_a.noconvert(), "threads"_a,
        "Read the rows that a hop reads, in the same order, and return a checksum: the speed limit.");
  m.def("components", &run_components, "indptr"_a.noconvert(), "indices"_a.noconvert(), "label"_a.noconvert(),
        "Fill `label` with the connected component of each node; return their number.");
}

}  // namespace nafs
