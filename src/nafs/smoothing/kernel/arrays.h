// Converts Python's arrays for the loops. Shapes are checked here, so that a wrong call raises instead of
// reading past a buffer.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>

#include "hop.h"

namespace nafs {

namespace nb = nanobind;
using namespace nb::literals;

extern const Kernels* active;  // the loops in use, see module.cpp

void bind_hops(nb::module_& m);     // bind_hops.cpp
void bind_columns(nb::module_& m);  // bind_columns.cpp
void bind_graph(nb::module_& m);    // bind_graph.cpp

template <typename T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::device::cpu>;  // contiguous rows, possibly padded
using State = nb::ndarray<nb::ndim<2>, nb::device::cpu>;      // float32 or float16
template <typename T>
using Maybe = std::optional<T>;

// Keeps the arrays that a kernel is bound to alive as long as the kernel.
template <typename... Arrays>
std::shared_ptr<void> keep_alive(const Arrays&... arrays) {
  return std::make_shared<std::tuple<Arrays...>>(arrays...);
}

inline void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(std::string("kernel: ") + message);
}

template <typename M>
int64_t rows_of(const M& matrix, int64_t n, int64_t columns, const char* message) {
  require(static_cast<int64_t>(matrix.shape(0)) >= n && static_cast<int64_t>(matrix.shape(1)) >= columns &&
              (matrix.shape(1) <= 1 || matrix.stride(1) == 1) &&
              (matrix.shape(0) <= 1 || matrix.stride(0) >= columns),
          message);
  return matrix.shape(0) <= 1 ? columns : matrix.stride(0);
}

inline bool is_half(const State& state) {
  const auto type = state.dtype();
  const bool floating = type.code == static_cast<uint8_t>(nb::dlpack::dtype_code::Float);
  require(floating && (type.bits == 16 || type.bits == 32), "a state is float32 or float16");
  return type.bits == 16;
}

inline Neighbours neighbours(const Vector<const int64_t>& indptr, const Vector<const int32_t>& indices,
                             const Maybe<Vector<const float>>& weights,
                             const Vector<const float>& inverse_degree) {
  const size_t n = inverse_degree.size();
  require(indptr.size() == n + 1, "indptr has one entry more than there are nodes");
  require(!weights || weights->size() == indices.size(), "one weight for each stored edge");
  require(indptr.data()[n] <= static_cast<int64_t>(indices.size()), "indptr ends past indices");
  Neighbours graph;
  graph.indptr = indptr.data();
  graph.indices = indices.data();
  graph.weights = weights ? weights->data() : nullptr;
  graph.inverse_degree = inverse_degree.data();
  return graph;
}

inline Features features_of(int64_t n, int64_t features, const Maybe<Matrix<const float>>& x,
                            const Maybe<Vector<const int64_t>>& indptr,
                            const Maybe<Vector<const int32_t>>& indices,
                            const Maybe<Vector<const float>>& values) {
  Features result;
  if (x) {
    result.rows = x->data();
    result.stride = rows_of(*x, n, features, "x is n x features");
  } else if (indptr) {
    require(static_cast<int64_t>(indptr->size()) == n + 1, "x_indptr has one entry more than nodes");
    require(indices && values && indices->size() == values->size() &&
                indptr->data()[n] <= static_cast<int64_t>(values->size()),
            "x_indices and x_values are shorter than x_indptr says");
    result.indptr = indptr->data(), result.indices = indices->data(), result.values = values->data();
  }
  return result;
}

inline Centres centres_of(int64_t n, int64_t width, const Maybe<Matrix<const float>>& centres,
                          const Maybe<Vector<const int32_t>>& component) {
  Centres result;
  if (!centres) return result;
  require(component && static_cast<int64_t>(component->size()) == n, "one component for each node");
  result.rows = centres->data();
  result.stride = rows_of(*centres, 1, width, "centres is components x (groups * features)");
  result.component = component->data();
  return result;
}

}  // namespace nafs
