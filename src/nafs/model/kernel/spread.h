// How a change of the graph spreads through the kept states; see nafs/model/spread.py.
//
// Symbols as in hop.h. Kept states hold z = P^k D~^-r x of all hops k = 1..K: states[i][k - 1][g * f + c].
#pragma once

#include <cstdint>
#include <vector>

#include "hop.h"

namespace nafs {

// Neighbour lists of which some rows were rewritten: those that start past the end of `base` are in `tail`.
// Each list is ascending.
struct Lists {
  const int64_t* starts = nullptr;
  const int64_t* counts = nullptr;
  const int32_t* base = nullptr;
  const int32_t* tail = nullptr;
  const float* base_weights = nullptr;  // null: every edge weighs 1
  const float* tail_weights = nullptr;
  int64_t base_size = 0;

  const int32_t* row(int64_t i) const {
    return starts[i] < base_size ? base + starts[i] : tail + (starts[i] - base_size);
  }
  const float* weights(int64_t i) const {
    if (!base_weights) return nullptr;
    return starts[i] < base_size ? base_weights + starts[i] : tail_weights + (starts[i] - base_size);
  }
};

// What decides whether a difference is followed, or dropped because it would not show in the embedding.
struct Limits {
  const float* effect = nullptr;   // [n][groups] what a difference of z shows, by its values and the weights
  int64_t effect_stride = 1;       // of `effect`
  const float* largest = nullptr;  // [n] largest value of the node's embedding
  float tolerance = 0.0f;          // share of `largest` that may be dropped at a node in total
  bool average = true;       // the r's are averaged; otherwise the one with the largest difference counts
  float* dropped = nullptr;  // [n] what was dropped at each node so far
  int64_t stride = 1;        // of `dropped`
};

// Which nodes the differences of some nodes reach, except nodes where the differences are dropped.
struct Reach {
  int64_t nodes = 0, groups = 1, count = 0;  // `count` sources
  int64_t always = 0;                        // nodes that are reached in any case
  Lists readers;                             // row j: the nodes whose rows read j
  Lists reads;                               // row i: the nodes that row i reads
  const int32_t* rows = nullptr;             // [count] the sources
  const float* sizes = nullptr;              // [count][groups] largest difference of z
  const float* inverse_degree = nullptr;     // [n] 1 / d~
  const int32_t* first = nullptr;            // [always] these nodes
  const uint8_t* forced = nullptr;           // [n] whether a node is one of them
  Limits limits;
  float spare = 0.0f;  // tolerance that a node has besides if nothing was dropped around it one hop before
  float own = 0.0f;    // how much of that goes for each unit that was dropped at the node itself
  int threads = 1;
};

// Rows and the sources that reach each of them: those of row r are from begins[r] to begins[r + 1].
struct Reached {
  std::vector<int32_t> rows;
  std::vector<int64_t> begins;
  std::vector<int32_t> sources;
  std::vector<float> weights;  // of the edges; empty: every edge weighs 1
};

// What changed edges add at one hop: P z of the hop before over the new lists, less z as it was.
struct Rewired {
  int64_t groups = 1, features = 0, hops = 0, hop = 0, count = 0;  // z of `hop` is read
  Lists lists;
  const int32_t* rows = nullptr;          // [count] nodes with changed edges
  const float* inverse_degree = nullptr;  // [n]
  const float* states = nullptr;
  const float* x = nullptr;           // [n][features], of hop 0
  const float* scale = nullptr;       // [n][groups]
  const int32_t* position = nullptr;  // [n] row in `before`; -1: as now
  const float* before = nullptr;      // [..][groups * features] z of hop 0 as it was
  float* out = nullptr;               // [count][groups * features]
  int threads = 1;
};

// Where the differences of z at one hop come from: those at the previous hop, and changed edges.
struct Sources {
  int64_t groups = 1, features = 0;
  const int64_t* begins = nullptr;        // [rows + 1] the sources of each row
  const int32_t* sources = nullptr;       // [..]
  const float* weights = nullptr;         // [..] of the edges to them; null: all 1
  const int32_t* places = nullptr;        // [sources] row in `before`
  const float* peaks = nullptr;           // [sources] the largest value of that row
  const float* before = nullptr;          // [..][groups * features]
  const uint16_t* halves = nullptr;       // [..][groups * features] the same in 16 bits; null: not there
  const float* units = nullptr;           // [..] what rows of `halves` are multiplied by
  const float* inverse_degree = nullptr;  // [n]
};

struct Differences {
  Sources from;
  int64_t count = 0, always = 0;  // the first `always` rows are followed in any case
  const int32_t* rows = nullptr;  // [count] nodes to compute
  const float* edges = nullptr;   // [always][groups * features] what changed edges add
  Limits limits;
  float* out = nullptr;         // [count][groups * features]
  uint16_t* halves = nullptr;   // [count][groups * features] the same in 16 bits, divided by
  float* units = nullptr;       // [count] a power of two
  float* sizes = nullptr;       // [count][groups] the largest value of each
  float* peaks = nullptr;       // [count] the largest of these
  uint8_t* followed = nullptr;  // [count]
  int threads = 1;
};

// Compute the differences at the last hop; add all differences to the kept states, and compute the embeddings
// that follow from them.
struct Apply {
  int64_t groups = 1, features = 0, hops = 0, count = 0;
  const int32_t* rows = nullptr;          // [count]
  const int32_t* where = nullptr;         // [count][hops - 1] row in differences[k]; -1: none
  std::vector<const float*> differences;  // of all hops but the last, [..][groups * features]
  Sources last;                           // of the last hop
  const int32_t* reached = nullptr;       // [count] row in the sources of the last hop; -1: none
  const int32_t* extra = nullptr;         // [count] row in `edges`; -1: none
  const float* edges = nullptr;           // [..][groups * features] what changed edges add at the last hop
  Limits limits;
  const uint8_t* renewed = nullptr;  // [count] whether the node's own features may differ
  const float* x = nullptr;          // [n][features]
  const float* scale = nullptr;      // [n][groups] d~^r
  Weighting weighting = Weighting::softmax;
  float floor = 0.0f;
  bool maximum = false;        // `largest` refers to the maximum over the r's
  float* states = nullptr;     // [n][hops][groups * features]
  float* weights = nullptr;    // [n][hops + 1][groups] before they are normalised; null: without distances
  float* embedding = nullptr;  // [n][features] where the r's are averaged, otherwise [n][groups * features]
  float* largest = nullptr;    // [n]
  float* effect = nullptr;     // [n][hops][groups]
  uint8_t* touched = nullptr;  // [count] rows that were not dropped
  int threads = 1;
};

// Keep the state of one hop of a full run, and how much it weighs.
struct Pack {
  int64_t begin = 0, end = 0, groups = 1, features = 0, hops = 0, hop = 0;  // hop 0 has no state
  int64_t first = 0, all_groups = 1;  // these groups are first, first + 1, ... of all
  const float* state = nullptr;
  int64_t stride = 0;
  float unit = 1.0f;  // factor of the state
  float* states = nullptr;
  const float* distances = nullptr;  // [n][groups]; null: weights without distances
  Weighting weighting = Weighting::softmax;
  float floor = 0.0f;
  float* weights = nullptr;  // [n][hops + 1][all_groups]
  float* norms = nullptr;    // [n][hops][all_groups] |z|
  int threads = 1;
};

struct SpreadKernels {
  Reached (*reach)(const Reach&);
  void (*rewired)(const Rewired&);
  void (*differences)(const Differences&);
  void (*apply)(const Apply&);
  void (*pack)(const Pack&);
};

namespace baseline {
extern const SpreadKernels spread_kernels;
}
namespace v3 {
extern const SpreadKernels spread_kernels;
}

}  // namespace nafs
