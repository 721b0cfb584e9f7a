// OpenMP, or one thread where the compiler has none.
#pragma once

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace nafs {

#if defined(_OPENMP)
constexpr bool kOpenMP = true;
inline int thread_number() {
  return omp_get_thread_num();
}
inline int team_size() {
  return omp_get_num_threads();
}
inline int max_threads() {
  return omp_get_max_threads();
}
// LLVM's runtime survives fork() by itself, and pausing it would also end the threads of other callers.
inline void release_threads() {
#if !defined(__clang__)
  omp_pause_resource_all(omp_pause_hard);
#endif
}
#else
constexpr bool kOpenMP = false;
inline int thread_number() {
  return 0;
}
inline int team_size() {
  return 1;
}
inline int max_threads() {
  return 1;
}
inline void release_threads() {}
#endif

}  // namespace nafs
