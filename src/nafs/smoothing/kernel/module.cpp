// Python's view of the loops: arrays in, pointers out. Shapes are checked here so that a wrong call
// raises instead of reading past a buffer; everything else is decided in Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <omp.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>

#include "hop.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <typename T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::device::cpu>;  // rows may be apart, columns are not
using State = nb::ndarray<nb::ndim<2>, nb::device::cpu>;      // float32 or float16
template <typename T>
using Maybe = std::optional<T>;

const nafs::Kernels* active = &nafs::baseline::kernels;

bool has_v3() {
#if defined(NAFS_V3)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("f16c");
#else
  return false;
#endif
}

void use(const std::string& name) {
  if (name == "baseline") {
    active = &nafs::baseline::kernels;
    return;
  }
#if defined(NAFS_V3)
  if (name == "v3" && has_v3()) {
    active = &nafs::v3::kernels;
    return;
  }
#endif
  throw std::invalid_argument("this machine cannot run the loops for '" + name + "'");
}

void require(bool condition, const char* what) {
  if (!condition) throw std::invalid_argument(std::string("kernel: ") + what);
}

template <typename M>
int64_t rows_of(const M& matrix, int64_t n, int64_t columns, const char* what) {
  require(static_cast<int64_t>(matrix.shape(0)) >= n &&
              static_cast<int64_t>(matrix.shape(1)) >= columns &&
              (matrix.shape(1) <= 1 || matrix.stride(1) == 1) &&
              (matrix.shape(0) <= 1 || matrix.stride(0) >= columns),
          what);
  return matrix.shape(0) <= 1 ? columns : matrix.stride(0);
}

bool is_half(const State& state) {
  const auto type = state.dtype();
  const bool floating = type.code == static_cast<uint8_t>(nb::dlpack::dtype_code::Float);
  require(floating && (type.bits == 16 || type.bits == 32), "a state is float32 or float16");
  return type.bits == 16;
}

nafs::Neighbours neighbours(const Vector<const int64_t>& indptr, const Vector<const int32_t>& indices,
                            const Maybe<Vector<const float>>& weights,
                            const Vector<const float>& inverse_degree) {
  const size_t n = inverse_degree.size();
  require(indptr.size() == n + 1, "indptr has one entry more than there are nodes");
  require(!weights || weights->size() == indices.size(), "one weight for each stored edge");
  require(indptr.data()[n] <= static_cast<int64_t>(indices.size()), "indptr ends past indices");
  nafs::Neighbours graph;
  graph.indptr = indptr.data();
  graph.indices = indices.data();
  graph.weights = weights ? weights->data() : nullptr;
  graph.inverse_degree = inverse_degree.data();
  return graph;
}

nafs::Features features_of(int64_t n, int64_t features, const Maybe<Matrix<const float>>& x,
                           const Maybe<Vector<const int64_t>>& indptr,
                           const Maybe<Vector<const int32_t>>& indices,
                           const Maybe<Vector<const float>>& values,
                           const Maybe<Vector<const float>>& norms) {
  nafs::Features found;
  if (x) {
    found.rows = x->data();
    found.stride = rows_of(*x, n, features, "x is n x features");
  } else if (indptr) {
    require(static_cast<int64_t>(indptr->size()) == n + 1, "x_indptr has one entry more than nodes");
    require(indices && values && indices->size() == values->size() &&
                indptr->data()[n] <= static_cast<int64_t>(values->size()),
            "x_indices and x_values are shorter than x_indptr says");
    found.indptr = indptr->data(), found.indices = indices->data(), found.values = values->data();
  }
  if (norms) {
    require(static_cast<int64_t>(norms->size()) == n, "one norm for each node");
    found.norms = norms->data();
  }
  return found;
}

nafs::Centres centres_of(int64_t n, int64_t width, const Maybe<Matrix<const float>>& centres,
                         const Maybe<Vector<const int32_t>>& component) {
  nafs::Centres found;
  if (!centres) return found;
  require(component && static_cast<int64_t>(component->size()) == n, "one component for each node");
  found.rows = centres->data();
  found.stride = rows_of(*centres, 1, width, "centres is components x (groups * features)");
  found.component = component->data();
  return found;
}

void run_hop(Vector<const int64_t> indptr, Vector<const int32_t> indices,
             Maybe<Vector<const float>> weights, Vector<const float> inverse_degree,
             int64_t features, int64_t groups, Maybe<Matrix<const float>> x,
             Maybe<Vector<const int64_t>> x_indptr, Maybe<Vector<const int32_t>> x_indices,
             Maybe<Vector<const float>> x_values, Maybe<Vector<const float>> x_norms,
             Maybe<Matrix<const float>> unscale, Maybe<Matrix<const float>> scale,
             Maybe<Matrix<const float>> centres, Maybe<Matrix<const float>> centre_norms,
             Maybe<Vector<const int32_t>> component, bool centred, Maybe<State> state,
             Maybe<State> next, Maybe<Matrix<float>> sum, Maybe<Matrix<float>> total,
             Maybe<Matrix<float>> peak, Maybe<Matrix<float>> distances,
             Maybe<Matrix<float>> pending, bool postpone, Maybe<Matrix<double>> parts,
             Maybe<Matrix<const double>> given, int distance, int weighting, bool stream,
             int64_t begin, int64_t end, int threads) {
  nafs::Hop hop;
  const int64_t n = inverse_degree.size(), width = features * groups;
  require(features > 0 && groups > 0, "features and groups are positive");
  require(0 <= begin && begin <= end && end <= n, "rows outside the graph");
  require(0 <= distance && distance <= 3 && 0 <= weighting && weighting <= 3, "unknown option");
  hop.begin = begin, hop.end = end, hop.features = features, hop.groups = groups;
  hop.graph = neighbours(indptr, indices, weights, inverse_degree);
  hop.edges = indptr.data()[n];
  hop.distance = static_cast<nafs::Distance>(distance);
  hop.weighting = static_cast<nafs::Weighting>(weighting);
  hop.threads = std::max(1, threads);

  const auto per_group = [&](const auto& matrix, const char* what) {
    if (matrix) require(rows_of(*matrix, n, groups, what) == groups || n <= 1, what);
    return matrix ? matrix->data() : nullptr;
  };
  hop.unscale = per_group(unscale, "unscale is n x groups");
  hop.scale = per_group(scale, "scale is n x groups");
  hop.total = per_group(total, "total is n x groups");
  hop.peak = per_group(peak, "peak is n x groups");
  hop.distances = per_group(distances, "distances is n x groups");

  hop.x = features_of(n, features, x, x_indptr, x_indices, x_values, x_norms);
  hop.centres = centres_of(n, width, centres, component);
  hop.centred = centred;
  if (centre_norms) {
    const int64_t count = centres ? centres->shape(0) : 0;
    require(rows_of(*centre_norms, count, groups, "centre_norms") == groups || count <= 1,
            "centre_norms is components x groups");
    hop.centres.norms = centre_norms->data();
  }
  const auto needs = [&](nafs::Distance kind, bool has, const char* what) {
    require(hop.distance != kind || has, what);
  };
  needs(nafs::Distance::cosine, (hop.x.rows || hop.x.indptr) && hop.x.norms, "a cosine needs x and x_norms");
  needs(nafs::Distance::euclidean, hop.scale, "a Euclidean distance needs scale");
  needs(nafs::Distance::stationary_cosine, hop.centres.rows && (parts || hop.centres.norms),
        "a cosine to the stationary state needs centres and centre_norms");
  const auto pairs = [&](const auto& matrix) {
    require(hop.distance != nafs::Distance::none, "parts of a distance need one");
    require(rows_of(matrix, n, 2 * groups, "parts") == 2 * groups || n <= 1, "parts are n x (2 * groups)");
    return matrix.data();
  };
  require(!parts || (!given && hop.weighting == nafs::Weighting::last), "parts are measured, not weighed");
  if (parts) hop.parts = pairs(*parts);
  if (given) hop.given = pairs(*given);

  if (state) {
    hop.half = is_half(*state);
    hop.state = state->data();
    hop.stride = rows_of(*state, n, width, "state is n x (groups * features)");
    hop.columns = state->shape(1);
  } else {
    require((hop.x.rows || hop.x.indptr) && unscale, "hop 0 needs x and unscale");
    require(!centred || hop.centres.rows, "centring needs centres");
  }
  if (next) {
    const int64_t stride = rows_of(*next, n, width, "next is n x (groups * features)");
    const bool half = is_half(*next);
    require(!state || (stride == hop.stride && half == hop.half), "state and next are laid out alike");
    require(!state || next->data() != hop.state, "next cannot overwrite state");
    hop.half = half, hop.stride = stride, hop.next = next->data();
    const int64_t columns = next->shape(1);
    hop.columns = state ? std::min(hop.columns, columns) : columns;
    const int64_t bytes = half ? 2 : 4;
    hop.stream = stream && reinterpret_cast<uintptr_t>(hop.next) % 32 == 0 && stride * bytes % 32 == 0;
  }
  if (hop.weighting != nafs::Weighting::last) {
    require(sum && hop.total, "a weighted sum needs sum and total");
    hop.sum = sum->data();
    hop.sum_stride = rows_of(*sum, n, width, "sum is n x (groups * features)");
  }
  if (pending) {
    require(hop.weighting != nafs::Weighting::last && state && !hop.half,
            "only sums of float32 states can be postponed");
    require(rows_of(*pending, n, 2 * groups, "pending") == 2 * groups || n <= 1,
            "pending is n x (2 * groups)");
    hop.pending = pending->data();
  }
  require(pending || !postpone, "postponing needs pending");
  hop.postpone = postpone;
  nb::gil_scoped_release release;
  active->hop(hop);
}

// Panels begin..end of one r through all hops: the first pass fills `parts`, the second one `out`.
void run_cached(Vector<const int64_t> indptr, Vector<const int32_t> indices, Maybe<Vector<const float>> weights,
                Vector<const float> inverse_degree, Vector<const int32_t> node, int64_t features, int64_t hops,
                Maybe<Matrix<const float>> x, Maybe<Vector<const int64_t>> x_indptr,
                Maybe<Vector<const int32_t>> x_indices, Maybe<Vector<const float>> x_values, float unit,
                Vector<const float> unscale, Vector<float> buffers, Maybe<Vector<float>> parts,
                Maybe<Matrix<const float>> hop_weights, Maybe<Vector<const float>> share,
                Maybe<Matrix<float>> out, int ensemble, bool fresh, int64_t slots, int64_t begin, int64_t end,
                int threads) {
  nafs::Cached job;
  const int64_t n = inverse_degree.size(), panels = (features + nafs::kColumns - 1) / nafs::kColumns;
  require(features > 0 && hops >= 0 && slots > 0, "features and slots are positive");
  require(0 <= begin && begin <= end && end <= panels, "panels outside the features");
  require(0 <= ensemble && ensemble <= 2, "unknown option");
  job.nodes = n, job.features = features, job.hops = hops, job.begin = begin, job.end = end;
  job.graph = neighbours(indptr, indices, weights, inverse_degree);
  require(static_cast<int64_t>(node.size()) == n && static_cast<int64_t>(unscale.size()) == n,
          "node and unscale have one entry for each node");
  job.node = node.data(), job.unscale = unscale.data(), job.unit = unit;
  if (x) {
    job.x = features_of(n, features, x, std::nullopt, std::nullopt, std::nullopt, std::nullopt);
  } else {
    require(x_indptr.has_value(), "columns need x");
    job.x = features_of(features, n, std::nullopt, x_indptr, x_indices, x_values, std::nullopt);
  }
  job.slots = slots, job.threads = static_cast<int>(std::clamp<int64_t>(threads, 1, slots));
  require(static_cast<int64_t>(buffers.size()) >= 3 * n * nafs::kColumns * job.threads, "buffers are too small");
  job.buffers = buffers.data();
  if (parts) {
    require(static_cast<int64_t>(parts->size()) == slots * (hops + 1) * n * 2, "parts");
    job.parts = parts->data();
  } else {
    require(hop_weights && share && out && static_cast<int64_t>(share->size()) == n,
            "the second pass needs weights, share and out");
    require(rows_of(*hop_weights, hops + 1, n, "weights") == n || hops == 0, "weights are (hops + 1) x n");
    job.weights = hop_weights->data(), job.share = share->data();
    job.out_stride = rows_of(*out, n, features, "out has too few columns"), job.out = out->data();
  }
  job.ensemble = static_cast<nafs::Ensemble>(ensemble), job.fresh = fresh;
  nb::gil_scoped_release release;
  active->cached(job);
}

void run_finish(State source, Maybe<Matrix<const float>> total, Matrix<const float> scale,
                Maybe<Matrix<const float>> centres, Maybe<Vector<const int32_t>> component,
                Matrix<float> out, int64_t features, int64_t groups, int64_t out_group_stride,
                int ensemble, bool fresh, float factor, float fallback, int64_t begin, int64_t end,
                int threads) {
  nafs::Finish pass;
  const int64_t n = out.shape(0), width = features * groups;
  require(features > 0 && groups > 0, "features and groups are positive");
  require(0 <= begin && begin <= end && end <= n, "rows outside the graph");
  require(0 <= ensemble && ensemble <= 2, "unknown option");
  require(out_group_stride == 0 || out_group_stride == features, "groups lie side by side");
  pass.begin = begin, pass.end = end, pass.features = features, pass.groups = groups;
  pass.half = is_half(source);
  pass.stride = rows_of(source, n, width, "source is n x (groups * features)");
  pass.state = source.data();
  pass.sum = pass.half || !total ? nullptr : static_cast<const float*>(source.data());
  const auto per_group = [&](const auto& matrix, const char* what) {
    require(rows_of(matrix, n, groups, what) == groups || n <= 1, what);
    return matrix.data();
  };
  pass.total = total ? per_group(*total, "total is n x groups") : nullptr;
  pass.scale = per_group(scale, "scale is n x groups");
  pass.centres = centres_of(n, width, centres, component);
  pass.out = out.data();
  pass.out_stride = rows_of(out, n, out_group_stride ? width : features, "out has too few columns");
  pass.out_group_stride = out_group_stride;
  pass.ensemble = static_cast<nafs::Ensemble>(ensemble);
  pass.fresh = fresh, pass.factor = factor, pass.fallback = fallback;
  pass.threads = std::max(1, threads);
  nb::gil_scoped_release release;
  active->finish(pass);
}

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
  nafs::Hop hop;
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

NB_MODULE(_kernel, m) {
  if (has_v3()) use("v3");

  const auto nothing = nb::none();
  m.def("hop", &run_hop, nb::kw_only(), "indptr"_a.noconvert(), "indices"_a.noconvert(),
        "weights"_a.noconvert().none(), "inverse_degree"_a.noconvert(), "features"_a, "groups"_a,
        "x"_a.noconvert().none() = nothing, "x_indptr"_a.noconvert().none() = nothing,
        "x_indices"_a.noconvert().none() = nothing, "x_values"_a.noconvert().none() = nothing,
        "x_norms"_a.noconvert().none() = nothing, "unscale"_a.noconvert().none() = nothing,
        "scale"_a.noconvert().none() = nothing, "centres"_a.noconvert().none() = nothing,
        "centre_norms"_a.noconvert().none() = nothing, "component"_a.noconvert().none() = nothing,
        "centred"_a = false, "state"_a.noconvert().none() = nothing,
        "next"_a.noconvert().none() = nothing, "sum"_a.noconvert().none() = nothing,
        "total"_a.noconvert().none() = nothing, "peak"_a.noconvert().none() = nothing,
        "distances"_a.noconvert().none() = nothing, "pending"_a.noconvert().none() = nothing,
        "postpone"_a = false, "parts"_a.noconvert().none() = nothing,
        "given"_a.noconvert().none() = nothing, "distance"_a, "weighting"_a, "stream"_a,
        "begin"_a, "end"_a, "threads"_a,
        "Compute rows begin..end of one hop and add them to the running weighted sum.");
  m.attr("COLUMNS") = nafs::kColumns;
  m.def("cached", &run_cached, nb::kw_only(), "indptr"_a.noconvert(), "indices"_a.noconvert(),
        "weights"_a.noconvert().none(), "inverse_degree"_a.noconvert(), "node"_a.noconvert(), "features"_a,
        "hops"_a, "x"_a.noconvert().none() = nothing, "x_indptr"_a.noconvert().none() = nothing,
        "x_indices"_a.noconvert().none() = nothing, "x_values"_a.noconvert().none() = nothing, "unit"_a,
        "unscale"_a.noconvert(), "buffers"_a.noconvert(), "parts"_a.noconvert().none() = nothing,
        "hop_weights"_a.noconvert().none() = nothing, "share"_a.noconvert().none() = nothing,
        "out"_a.noconvert().none() = nothing, "ensemble"_a = 0, "fresh"_a = true, "slots"_a, "begin"_a,
        "end"_a, "threads"_a,
        "Smooth panels begin..end of the columns over all hops: measure distances, or fill `out`.");
  m.def("finish", &run_finish, nb::kw_only(), "source"_a.noconvert(),
        "total"_a.noconvert().none() = nothing, "scale"_a.noconvert(),
        "centres"_a.noconvert().none() = nothing, "component"_a.noconvert().none() = nothing,
        "out"_a.noconvert(), "features"_a, "groups"_a, "out_group_stride"_a, "ensemble"_a, "fresh"_a,
        "factor"_a, "fallback"_a, "begin"_a, "end"_a, "threads"_a,
        "Turn rows begin..end of the running sum into the embedding and combine them into `out`.");
  m.def("gather", &run_gather, "indptr"_a.noconvert(), "indices"_a.noconvert(),
        "state"_a.noconvert(), "threads"_a,
        "Read the rows that a hop reads, in the same order, and return a checksum: the speed limit.");
  m.def("components", &run_components, "indptr"_a.noconvert(), "indices"_a.noconvert(),
        "label"_a.noconvert(), "Fill `label` with the connected component of each node; return their number.");
  m.def("use", &use, "name"_a, "Choose the loops: 'baseline' or 'v3'. For tests.");
  m.def("in_use", [] { return active == &nafs::baseline::kernels ? "baseline" : "v3"; },
        "The instruction set in use: 'baseline' or 'v3'.");
  m.def("max_threads", &omp_get_max_threads, "Threads that OpenMP would use now.");
  m.def("release_threads", [] { omp_pause_resource_all(omp_pause_hard); },
        "Let OpenMP's idle threads go, so that nothing is left behind and fork() stays safe.");
}
