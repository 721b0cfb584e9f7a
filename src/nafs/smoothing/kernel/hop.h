// What the loops read and write. Filled by bind_hops.cpp and bind_columns.cpp.
//
// Symbols as in docs/architecture.md: n nodes, f features, `groups` values of r side by side in one
// state row (column g*f + c is feature c under the g-th r), P = D~^-1 (A + I).
#pragma once

#include <cstdint>

#include "distances.h"

namespace nafs {

enum class Weighting : int { last, average, softmax, linear };
enum class Ensemble : int { write, add, maximum };

struct Neighbours {
  const int64_t* indptr = nullptr;
  const int32_t* indices = nullptr;
  const float* weights = nullptr;         // null: every stored edge weighs 1
  const float* inverse_degree = nullptr;  // 1 / d~_i
};

// The features, dense or as compressed sparse rows, and the Euclidean norm of each row.
struct Features {
  const float* rows = nullptr;  // null: sparse
  int64_t stride = 0;
  const int64_t* indptr = nullptr;
  const int32_t* indices = nullptr;
  const float* values = nullptr;
  const float* norms = nullptr;  // in the order of the state's rows
};

// One row per connected component, the r's side by side: the stationary state divided by d~^r.
struct Centres {
  const float* rows = nullptr;
  int64_t stride = 0;
  const int32_t* component = nullptr;
  const float* norms = nullptr;  // [components][groups]
};

struct Hop {
  int64_t begin = 0, end = 0;  // rows to compute
  int64_t features = 0;        // f
  int64_t groups = 1;
  int64_t edges = 0;  // stored edges: the bound for prefetching

  Neighbours graph;
  Features x;
  const int32_t* node = nullptr;  // row i of the state belongs to row node[i] of x; null: to row i
  // Dense rows of x for the first `copied` rows of the state, in their order: read faster than by way of
  // `node`.
  const float* copy = nullptr;
  int64_t copied = 0, copy_stride = 0;
  Centres centres;
  Distance distance = Distance::none;
  Weighting weighting = Weighting::last;
  float floor = 0.0f;  // linear weighting takes smaller distances as 0: they are rounding

  // Hop 0 fills the state from the features: z = x * unscale, less the centre if `centred`.
  const float* unscale = nullptr;  // [n][groups] d~^-r
  bool centred = false;

  const float* scale = nullptr;  // [n][groups] d~^r, for Euclidean distances
  const void* state = nullptr;   // z at hop k-1; null at hop 0
  void* next = nullptr;          // z at hop k
  bool half = false;             // state and next hold IEEE binary16
  bool stream = false;           // write next past the caches
  int64_t stride = 0;            // elements from one state row to the next
  int64_t columns = 0;           // elements of a state row that may be touched: width, or padded

  float* sum = nullptr;  // running weighted sum of hops
  int64_t sum_stride = 0;
  // A hop may leave its distances and its share of the sum to the next hop, which reads the features and the
  // sum once for both.
  bool postpone = false;   // this hop only computes its state
  bool owing = false;      // the previous hop did, so this one weighs `state` as well
  bool opening = false;    // hop 0 did, so its state is computed again from the features and weighed first
  bool computed = false;   // `next` holds the state of this hop already, which is only weighed
  float* total = nullptr;  // [n][groups] running sum of weights
  float* peak = nullptr;   // [n][groups] largest distance so far (Euclidean softmax)
  float* distances = nullptr;  // [n][groups] D_i(k), or null
  // Where these columns are a panel of a wider matrix, the distances take two passes.
  double* parts = nullptr;         // [n][groups][2] first pass: dot and square of this panel
  const double* sums = nullptr;    // [n][groups][2] second pass: dot and square over all panels
  double* parts_before = nullptr;  // the same of the previous hop, where that is owed
  const double* sums_before = nullptr;
  int threads = 1;

  int64_t own_row(int64_t i) const { return node ? node[i] : i; }
  const float* x_row(int64_t i) const {
    return i < copied ? copy + i * copy_stride : x.rows + own_row(i) * x.stride;
  }
};

// embedding = scale * (sum / total + centre), combined into `out` over the groups.
struct Finish {
  int64_t begin = 0, end = 0;
  int64_t features = 0, groups = 1;
  const float* sum = nullptr;
  const void* state = nullptr;  // used when sum is null (weighting "last")
  bool half = false;
  int64_t stride = 0;            // of sum or state
  const float* total = nullptr;  // null with weighting "last"
  float fallback = 1.0f;         // divisor where every weight was zero: the number of hops
  const float* scale = nullptr;  // [n][groups] d~^r
  float factor = 1.0f;           // 1/T for the mean
  Centres centres;               // added back where the state was centred; rows null otherwise
  Ensemble ensemble = Ensemble::write;
  bool fresh = true;              // the first group overwrites `out`
  const int32_t* node = nullptr;  // row i is written to row node[i] of out; null: to row i
  float* out = nullptr;
  int64_t out_stride = 0;
  int64_t out_group_stride = 0;  // f for concat, 0 otherwise
  int threads = 1;
};

constexpr int64_t kColumns = 32;  // of a panel

// All hops of some panels of columns, for one r; see cached.inl. Nodes may be renumbered: `node`
// has the caller's numbers.
struct Cached {
  int64_t nodes = 0, features = 0, hops = 0;
  int64_t begin = 0, end = 0;  // panels to compute
  Neighbours graph;
  const int32_t* node = nullptr;
  Features x;         // the caller's rows, or compressed sparse columns with the nodes renumbered
  float unit = 1.0f;  // factor of x
  const float* unscale = nullptr;  // [n] d~^-r
  int64_t slots = 1;               // panels p with the same p % slots are added up one after another
  float* parts = nullptr;          // [slots][hops + 1][n][2] dot and square; null: the second pass
  const float* weights = nullptr;  // [hops + 1][n]
  const float* share = nullptr;    // [n] factor of the weighted sum
  Ensemble ensemble = Ensemble::write;
  bool fresh = true;  // the first r overwrites `out`
  float* out = nullptr;
  int64_t out_stride = 0;
  bool together = false;     // all threads share one panel, each with its own rows
  float* buffers = nullptr;  // [threads][3][n][kColumns], or [3][n][kColumns] if together
  int threads = 1;
};

struct Kernels {
  void (*hop)(const Hop&);
  void (*cached)(const Cached&);
  void (*finish)(const Finish&);
  double (*gather)(const Hop&);  // for benchmarks: reads the rows that a hop reads, computes nothing
};

namespace baseline {
extern const Kernels kernels;
}
namespace v3 {
extern const Kernels kernels;
}

}  // namespace nafs
