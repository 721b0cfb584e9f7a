// Functions of a graph alone: components, order, renumbering, and the bare gather of the benchmarks.
#include "arrays.h"
#include "order.h"

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

double run_gather(Vector<const int64_t> indptr, Vector<const int32_t> indices, Matrix<const float> state,
                  int threads) {
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

Neighbours lists_of(const Vector<const int64_t>& indptr, const Vector<const int32_t>& indices,
                    const Maybe<Vector<const float>>& weights, int64_t n) {
  require(static_cast<int64_t>(indptr.size()) == n + 1, "indptr has one entry more than nodes");
  require(n == 0 || indptr.data()[n] <= static_cast<int64_t>(indices.size()), "indptr ends past indices");
  require(!weights || weights->size() == indices.size(), "one weight for each stored edge");
  Neighbours graph;
  graph.indptr = indptr.data(), graph.indices = indices.data();
  graph.weights = weights ? weights->data() : nullptr;
  return graph;
}

void run_order(Vector<const int64_t> indptr, Vector<const int32_t> indices,
               Maybe<Vector<const float>> weights, Vector<int32_t> order, Vector<uint8_t> buffer) {
  const int64_t n = static_cast<int64_t>(order.size());
  const Neighbours graph = lists_of(indptr, indices, weights, n);
  require(static_cast<int64_t>(buffer.size()) >= CommunityOrder::buffer_bytes(n, indptr.data()[n]) &&
              reinterpret_cast<uintptr_t>(buffer.data()) % alignof(double) == 0,
          "the buffer has order_bytes(nodes, edges) aligned bytes");
  nb::gil_scoped_release release;
  CommunityOrder(graph, n, buffer.data()).run(order.data(), [] {
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals()) throw nb::python_error();
  });
}

// The neighbour lists with nodes renumbered: row i of the result is row order[i], its entries in the same
// order.
void run_renumber(Vector<const int64_t> indptr, Vector<const int32_t> indices,
                  Maybe<Vector<const float>> weights, Vector<const int32_t> order, Vector<int64_t> new_indptr,
                  Vector<int32_t> new_indices, Maybe<Vector<float>> new_weights, int threads) {
  const int64_t n = static_cast<int64_t>(order.size());
  const Neighbours graph = lists_of(indptr, indices, weights, n);
  require(static_cast<int64_t>(new_indptr.size()) == n + 1 && new_indices.size() == indices.size() &&
              weights.has_value() == new_weights.has_value() &&
              (!new_weights || new_weights->size() == indices.size()),
          "the new lists are as long as the old ones");
  std::vector<int32_t> number(n, -1);
  int64_t* to = new_indptr.data();
  nb::gil_scoped_release release;
  to[0] = 0;
  for (int64_t i = 0; i < n; ++i) {
    const int32_t old = order.data()[i];
    require(old >= 0 && old < n && number[old] < 0, "order names each node once");
    number[old] = static_cast<int32_t>(i);
    to[i + 1] = to[i] + graph.indptr[old + 1] - graph.indptr[old];
  }
#pragma omp parallel for schedule(static) num_threads(std::max(1, threads))
  for (int64_t i = 0; i < n; ++i) {
    const int64_t from = graph.indptr[order.data()[i]], count = to[i + 1] - to[i];
    for (int64_t e = 0; e < count; ++e) new_indices.data()[to[i] + e] = number[graph.indices[from + e]];
    if (new_weights) std::copy_n(graph.weights + from, count, new_weights->data() + to[i]);
  }
}

}  // namespace

void bind_graph(nb::module_& m) {
  m.def("gather", &run_gather, "indptr"_a.noconvert(), "indices"_a.noconvert(), "state"_a.noconvert(),
        "threads"_a,
        "Read the rows that a hop reads, in the same order, and return a checksum: the speed limit.");
  m.def("community_order", &run_order, "indptr"_a.noconvert(), "indices"_a.noconvert(),
        "weights"_a.noconvert().none(), "order"_a.noconvert(), "buffer"_a.noconvert(),
        "Fill `order` with the nodes, communities together.");
  m.def("order_bytes", &CommunityOrder::buffer_bytes, "nodes"_a, "edges"_a,
        "Bytes of the buffer that community_order needs.");
  m.def("renumber", &run_renumber, "indptr"_a.noconvert(), "indices"_a.noconvert(),
        "weights"_a.noconvert().none(), "order"_a.noconvert(), "new_indptr"_a.noconvert(),
        "new_indices"_a.noconvert(), "new_weights"_a.noconvert().none(), "threads"_a,
        "Neighbour lists with nodes renumbered by `order`.");
  m.def("components", &run_components, "indptr"_a.noconvert(), "indices"_a.noconvert(), "label"_a.noconvert(),
        "Fill `label` with the connected component of each node; return their number.");
}

}  // namespace nafs
