// The Python module: which loops are in use, and the threads they run on.
#include <nanobind/stl/string.h>

#include "arrays.h"
#include "threads.h"

#if defined(NAFS_V3)
#include <cpuid.h>
#endif

namespace nafs {

const Kernels* active = &baseline::kernels;

namespace {

bool has_v3() {
#if defined(NAFS_V3)
  unsigned a, b, c, d;  // not every compiler knows f16c by name
  const bool f16c = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
  return f16c && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

void use(const std::string& name) {
  if (name == "baseline") {
    active = &baseline::kernels;
    return;
  }
#if defined(NAFS_V3)
  if (name == "v3" && has_v3()) {
    active = &v3::kernels;
    return;
  }
#endif
  throw std::invalid_argument("this machine cannot run the loops for '" + name + "'");
}

}  // namespace

}  // namespace nafs

NB_MODULE(_kernel, m) {
  using namespace nanobind::literals;
  nanobind::set_leak_warnings(false);  // objects alive at exit are freed with the process
  if (nafs::has_v3()) nafs::use("v3");
  nafs::bind_hops(m);
  nafs::bind_columns(m);
  nafs::bind_graph(m);
  m.def("use", &nafs::use, "name"_a, "Choose the loops: 'baseline' or 'v3'. For tests.");
  m.def(
      "in_use", [] { return nafs::active == &nafs::baseline::kernels ? "baseline" : "v3"; },
      "The instruction set in use: 'baseline' or 'v3'.");
  m.attr("OPENMP") = nafs::kOpenMP;
  m.def("max_threads", &nafs::max_threads, "Threads that would be used now by default.");
  m.def("release_threads", &nafs::release_threads, "End idle threads, so that fork() stays safe.");
}
