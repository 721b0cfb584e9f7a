// The over-smoothing distances: their names and what each one reads. distances.inl computes them;
// smoothing/distances.py holds everything else that is known about a distance.
#pragma once

namespace nafs {

// Python sees the same names: module.cpp exports every entry of this list.
#define NAFS_DISTANCES(entry) entry(none) entry(cosine) entry(euclidean) entry(stationary_cosine)

#define NAFS_ENTRY(name) name,
enum class Distance : int { NAFS_DISTANCES(NAFS_ENTRY) };
#undef NAFS_ENTRY

struct Needs {
  bool features = false;  // the node's own features and their norms
  bool scale = false;     // d~^r
  bool centres = false;   // the centres of the components and their norms
};

constexpr Needs needs_of(Distance distance) {
  Needs needs;
  needs.features = distance == Distance::cosine;
  needs.scale = distance == Distance::euclidean;
  needs.centres = distance == Distance::stationary_cosine;
  return needs;
}

}  // namespace nafs
