// An order of nodes in which neighbours lie close together: communities, and communities within them.
//
// Incremental aggregation after "Rabbit Order" (Arai et al., IPDPS 2016): nodes by rising degree, each merged
// into the neighbouring community that gains the most modularity. Merges form trees, and walking them depth
// first gives the order. One thread, no random numbers: the same graph has the same order everywhere.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <vector>

#include "hop.h"

namespace nafs {

class CommunityOrder {
  static constexpr int32_t kNone = -1;
  static constexpr int64_t kPause = 1 << 22;

  struct Edge {
    int32_t to;
    float weight;
  };
  struct Community {
    double strength = 0.0;  // sum of its edges' weights
    float share = 0.0f;     // edges from the current node
  };
  struct Merged {
    int64_t first = 0;  // its edges to other communities, in the pool
    int32_t count = 0;
    int32_t child = kNone, sibling = kNone;  // communities merged into it, the last one first
  };

 public:
  // Bytes of the buffer that the constructor takes. The edges of merged communities are listed again, which
  // takes about as many entries as there are edges; where it would take more, communities stay coarser.
  static int64_t buffer_bytes(int64_t nodes, int64_t edges) {
    return nodes * static_cast<int64_t>(sizeof(Community) + sizeof(Merged) + 2 * sizeof(int32_t)) + 64 +
           capacity(edges) * static_cast<int64_t>(sizeof(Edge));
  }

  // The buffer starts on a multiple of eight bytes.
  CommunityOrder(const Neighbours& graph, int64_t nodes, void* buffer)
      : graph_(graph), n_(nodes), capacity_(capacity(graph.indptr[nodes])) {
    community_ = static_cast<Community*>(buffer);
    tree_ = reinterpret_cast<Merged*>(community_ + n_);
    pool_ = reinterpret_cast<Edge*>(tree_ + n_);
    parent_ = reinterpret_cast<int32_t*>(pool_ + capacity_);
    touched_ = parent_ + n_;  // n + 1 entries
  }

  // Fills order[n]; `pause` is called every few million edges.
  template <typename Pause>
  void run(int32_t* order, Pause&& pause) {
    double total = 0.0;
    for (int64_t i = 0; i < n_; ++i) {
      parent_[i] = static_cast<int32_t>(i);
      new (&tree_[i]) Merged();
      new (&community_[i]) Community();
      total += community_[i].strength = strength_of(i);
    }
    by_degree(order);
    for (int64_t at = 0, work = 0; at < n_; ++at) {
      look_ahead(order, at);
      work += merge(order[at], total);
      if (work > kPause) work = 0, pause();
    }
    walk(order);
  }

 private:
  static int64_t capacity(int64_t edges) { return edges + edges / 2; }

  double strength_of(int64_t i) const {
    const int64_t first = graph_.indptr[i], last = graph_.indptr[i + 1];
    if (!graph_.weights) return static_cast<double>(last - first);
    double sum = 0.0;
    for (int64_t e = first; e < last; ++e) sum += graph_.weights[e];
    return sum;
  }

  // Nodes by rising degree, ties by number: a counting sort with all hubs in one bin.
  void by_degree(int32_t* order) const {
    constexpr int64_t kBins = 1 << 16;
    std::vector<int64_t> start(kBins + 1, 0);
    const auto bin = [&](int64_t i) { return std::min(graph_.indptr[i + 1] - graph_.indptr[i], kBins - 1); };
    for (int64_t i = 0; i < n_; ++i) ++start[bin(i) + 1];
    for (int64_t b = 0; b < kBins; ++b) start[b + 1] += start[b];
    for (int64_t i = 0; i < n_; ++i) order[start[bin(i)]++] = static_cast<int32_t>(i);
  }

  // Nodes are visited in scattered order, so without prefetching every access would wait for memory.
  void look_ahead(const int32_t* order, int64_t at) const {
    if (at + 24 < n_) __builtin_prefetch(graph_.indptr + order[at + 24]);
    if (at + 12 < n_) {
      const int32_t soon = order[at + 12];
      __builtin_prefetch(graph_.indices + graph_.indptr[soon]);
      __builtin_prefetch(&tree_[soon]);
    }
    if (at + 4 < n_) {
      const int64_t first = graph_.indptr[order[at + 4]], last = graph_.indptr[order[at + 4] + 1];
      for (int64_t e = first; e < std::min(last, first + 16); ++e)
        __builtin_prefetch(&parent_[graph_.indices[e]]);
      const int32_t child = tree_[order[at + 4]].child;
      if (child != kNone) __builtin_prefetch(&tree_[child]);
    }
  }

  // Two steps are nearly always enough, and a predictable branch costs nothing.
  int32_t root_of(int32_t i) {
    int32_t up = parent_[i], root = parent_[up];
    while (root != up) up = parent_[root], parent_[i] = root, i = root, root = parent_[up];
    parent_[i] = root;
    return root;
  }

  // Merges the community of v into the neighbouring one that gains most, if any; returns the edges read.
  int64_t merge(int32_t v, double total) {
    int64_t count = 0;  // communities met, including that of v
    const auto add = [&](int32_t to, float weight) {
      const int32_t root = root_of(to);
      float& share = community_[root].share;
      touched_[count] = root;
      count += share == 0.0f;
      share += weight;
    };
    int64_t work = graph_.indptr[v + 1] - graph_.indptr[v];
    for (int64_t e = graph_.indptr[v]; e < graph_.indptr[v + 1]; ++e)
      add(graph_.indices[e], graph_.weights ? graph_.weights[e] : 1.0f);
    for (int32_t c = tree_[v].child; c != kNone; c = tree_[c].sibling) {
      const Edge* edge = pool_ + tree_[c].first;
      for (int32_t e = 0; e < tree_[c].count; ++e) add(edge[e].to, edge[e].weight);
      work += tree_[c].count;
    }
    int32_t best = kNone;
    double gain = 0.0;
    const double part = community_[v].strength / total;
    for (int64_t t = 0; t < count; ++t) {
      const int32_t root = touched_[t];
      const double gained = community_[root].share - part * community_[root].strength;
      if (gained > gain && root != v) gain = gained, best = root;
    }
    const bool store = best != kNone && used_ + count <= capacity_;
    tree_[v].first = used_;
    for (int64_t t = 0; t < count; ++t) {
      const int32_t root = touched_[t];
      if (store && root != best && root != v) pool_[used_++] = {root, community_[root].share};
      community_[root].share = 0.0f;
    }
    tree_[v].count = static_cast<int32_t>(used_ - tree_[v].first);
    if (best != kNone) {
      parent_[v] = best;
      community_[best].strength += community_[v].strength;
      tree_[v].sibling = tree_[best].child, tree_[best].child = v;
    }
    return work;
  }

  // Depth first: a node, then the communities merged into it, the first one first.
  void walk(int32_t* order) {
    int64_t place = 0;
    int32_t* stack = touched_;
    for (int64_t i = 0; i < n_; ++i) {
      if (parent_[i] != static_cast<int32_t>(i)) continue;
      int64_t height = 0;
      stack[height++] = static_cast<int32_t>(i);
      while (height) {
        const int32_t v = stack[--height];
        order[place++] = v;
        for (int32_t c = tree_[v].child; c != kNone; c = tree_[c].sibling) stack[height++] = c;
      }
    }
  }

  const Neighbours& graph_;
  int64_t n_, capacity_, used_ = 0;
  Community* community_;
  Merged* tree_;
  Edge* pool_;
  int32_t *parent_, *touched_;
};

}  // namespace nafs
