// The Python module: kept states and their updates. Names of weightings are those of nafs.smoothing._kernel.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#if defined(NAFS_V3)
#include <cpuid.h>
#endif

#include "arrays.h"
#include "spread.h"

namespace nafs {

namespace {

template <typename T, int dimensions>
using Array = nb::ndarray<T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;

bool has_v3() {
#if defined(NAFS_V3)
  unsigned a, b, c, d;  // not every compiler knows f16c by name
  const bool f16c = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
  return f16c && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

const SpreadKernels* active_loops = &baseline::spread_kernels;

const SpreadKernels& loops() {
  return *active_loops;
}

void use(const std::string& name) {
  if (name == "baseline") {
    active_loops = &baseline::spread_kernels;
    return;
  }
#if defined(NAFS_V3)
  if (name == "v3" && has_v3()) {
    active_loops = &v3::spread_kernels;
    return;
  }
#endif
  throw std::invalid_argument("this machine cannot run the loops for '" + name + "'");
}

struct ListArrays {
  Array<const int64_t, 1> starts, counts;
  Array<const int32_t, 1> base, tail;
  Maybe<Array<const float, 1>> base_weights, tail_weights;
  Lists lists;

  ListArrays(Array<const int64_t, 1> starts_, Array<const int64_t, 1> counts_, Array<const int32_t, 1> base_,
             Array<const int32_t, 1> tail_, Maybe<Array<const float, 1>> base_weights_,
             Maybe<Array<const float, 1>> tail_weights_)
      : starts(starts_),
        counts(counts_),
        base(base_),
        tail(tail_),
        base_weights(base_weights_),
        tail_weights(tail_weights_) {
    require(starts.size() == counts.size(), "a start and a count for each row");
    require(
        base_weights.has_value() == tail_weights.has_value() &&
            (!base_weights || (base_weights->size() == base.size() && tail_weights->size() == tail.size())),
        "a weight for each entry of base and tail");
    lists.starts = starts.data(), lists.counts = counts.data();
    lists.base = base.data(), lists.tail = tail.data();
    lists.base_weights = base_weights ? base_weights->data() : nullptr;
    lists.tail_weights = tail_weights ? tail_weights->data() : nullptr;
    lists.base_size = static_cast<int64_t>(base.size());
  }

  int64_t nodes() const { return static_cast<int64_t>(starts.size()); }

  void check_row(int64_t i) const {
    require(i >= 0 && i < nodes(), "rows name nodes");
    const int64_t start = lists.starts[i], count = lists.counts[i];
    const int64_t end =
        start < lists.base_size ? lists.base_size : lists.base_size + static_cast<int64_t>(tail.size());
    require(start >= 0 && count >= 0 && start + count <= end, "lists end within base or tail");
  }
};

struct LimitArrays {
  Array<const float, 3> effect;
  Array<const float, 1> largest;
  Array<float, 2> dropped;
  bool average;

  // Of one hop of n nodes and this many r's.
  Limits at(int64_t hop, double tolerance, size_t n, int64_t groups) const {
    require(effect.shape(0) >= n && effect.shape(1) == dropped.shape(1) &&
                static_cast<int64_t>(effect.shape(2)) == groups && largest.size() >= n &&
                dropped.shape(0) >= n && hop >= 0 && hop < static_cast<int64_t>(dropped.shape(1)),
            "effect, largest and dropped have an entry for each node");
    Limits limits;
    limits.effect = effect.data() + hop * groups, limits.effect_stride = dropped.shape(1) * groups;
    limits.largest = largest.data();
    limits.tolerance = static_cast<float>(tolerance), limits.average = average;
    limits.dropped = dropped.data() + hop, limits.stride = dropped.shape(1);
    return limits;
  }
};

// Rows that differences reach, with the sources of each, for the next call.
Reached run_reach(const ListArrays& readers, const ListArrays& reads, Array<const int32_t, 1> rows,
                  Array<const float, 2> sizes, Array<const float, 1> inverse_degree,
                  Array<const int32_t, 1> first, Array<const uint8_t, 1> forced, const LimitArrays& limits,
                  int64_t hop, double tolerance, double spare, double own, int threads) {
  Reach job;
  const size_t n = readers.starts.size();
  job.nodes = n, job.groups = sizes.shape(1), job.count = rows.size(), job.always = first.size();
  job.limits = limits.at(hop, tolerance, n, job.groups);
  require(sizes.shape(0) == rows.size(), "a size for each source");
  require(inverse_degree.size() >= n && forced.size() >= n, "an entry for each node");
  for (size_t s = 0; s < rows.size(); ++s) readers.check_row(rows.data()[s]);
  for (size_t f = 0; f < first.size(); ++f)
    require(
        first.data()[f] >= 0 && static_cast<size_t>(first.data()[f]) < n && forced.data()[first.data()[f]],
        "the first rows are nodes");
  require(reads.starts.size() == n && (spare == 0.0 || hop > 0), "a hop before, and lists of each node");
  job.spare = static_cast<float>(spare), job.own = static_cast<float>(own);
  job.readers = readers.lists, job.reads = reads.lists;
  job.rows = rows.data(), job.sizes = sizes.data(), job.first = first.data();
  job.inverse_degree = inverse_degree.data(), job.forced = forced.data();
  job.threads = std::max(1, threads);
  nb::gil_scoped_release release;
  return loops().reach(job);
}

// The differences of the latest hop: those of the sources in the order of the call to reach.
struct LatestArrays {
  Array<const int32_t, 1> places;
  Array<const float, 2> values;
  Array<const float, 1> peaks;
  Maybe<Array<const uint16_t, 2>> halves;
  Array<const float, 1> units;

  LatestArrays(Array<const int32_t, 1> places_, Array<const float, 2> values_, Array<const float, 1> peaks_,
               Maybe<Array<const uint16_t, 2>> halves_, Array<const float, 1> units_)
      : places(places_), values(values_), peaks(peaks_), halves(halves_), units(units_) {
    require(peaks.size() == places.size(), "a peak for each source");
    require(!halves || (halves->shape(0) >= values.shape(0) && halves->shape(1) == values.shape(1) &&
                        units.size() >= values.shape(0)),
            "16 bits for each difference");
    for (size_t s = 0; s < places.size(); ++s)
      require(places.data()[s] >= 0 && places.data()[s] < static_cast<int64_t>(values.shape(0)),
              "sources have a row of differences");
  }
};

Sources sources(const Reached& reached, const LatestArrays& latest,
                const Array<const float, 1>& inverse_degree, int64_t groups, int64_t width) {
  require(static_cast<int64_t>(latest.values.shape(1)) == width && groups > 0 && width % groups == 0,
          "differences have a column for each r and feature");
  for (const int32_t i : reached.rows)
    require(static_cast<size_t>(i) < inverse_degree.size(), "an entry for each node");
  for (const int32_t s : reached.sources)
    require(static_cast<size_t>(s) < latest.places.size(), "a difference for each source");
  Sources from;
  from.groups = groups, from.features = width / groups;
  from.begins = reached.begins.data(), from.sources = reached.sources.data();
  from.weights = reached.weights.empty() ? nullptr : reached.weights.data();
  from.places = latest.places.data(), from.peaks = latest.peaks.data();
  from.before = latest.values.data();
  from.halves = latest.halves ? latest.halves->data() : nullptr, from.units = latest.units.data();
  from.inverse_degree = inverse_degree.data();
  return from;
}

void run_differences(const Reached& reached, int64_t always, const LatestArrays& latest,
                     Array<const float, 1> inverse_degree, Array<const float, 2> edges,
                     const LimitArrays& limits, int64_t hop, double tolerance, Array<float, 2> out,
                     Array<uint16_t, 2> halves, Array<float, 1> units, Array<float, 2> sizes,
                     Array<float, 1> peaks, Array<uint8_t, 1> followed, int threads) {
  Differences job;
  const int64_t groups = sizes.shape(1);
  const std::vector<int32_t>& rows = reached.rows;
  job.from = sources(reached, latest, inverse_degree, groups, out.shape(1));
  job.limits = limits.at(hop, tolerance, inverse_degree.size(), groups);
  job.count = rows.size(), job.always = always;
  require(out.shape(0) >= rows.size() && sizes.shape(0) == rows.size() && followed.size() == rows.size() &&
              peaks.size() == rows.size() && halves.shape(0) >= rows.size() &&
              halves.shape(1) == out.shape(1) && units.size() >= rows.size() &&
              static_cast<int64_t>(edges.shape(0)) == always && edges.shape(1) == out.shape(1),
          "a row of out and sizes for each node");
  job.rows = rows.data(), job.out = out.data(), job.sizes = sizes.data(), job.followed = followed.data();
  job.halves = halves.data(), job.units = units.data(), job.peaks = peaks.data();
  job.edges = edges.data();
  job.threads = std::max(1, threads);
  nb::gil_scoped_release release;
  loops().differences(job);
}

bool uses_distances(Weighting weighting) {
  return weighting == Weighting::softmax || weighting == Weighting::linear;
}

float* weights_of(const Array<float, 3>& weights, size_t n, int64_t hops, int64_t groups) {
  require(weights.shape(0) >= n && static_cast<int64_t>(weights.shape(1)) == hops + 1 &&
              static_cast<int64_t>(weights.shape(2)) == groups,
          "a weight for each node, hop and r");
  return weights.data();
}

void run_rewired(const ListArrays& lists, Array<const int32_t, 1> rows, int64_t hop,
                 Array<const float, 4> states, Array<const float, 2> x, Array<const float, 2> scale,
                 Array<const float, 1> inverse_degree, Array<const int32_t, 1> position,
                 Array<const float, 2> before, Array<float, 2> out, int threads) {
  Rewired job;
  const size_t n = states.shape(0);
  job.hops = states.shape(1), job.groups = states.shape(2), job.features = states.shape(3);
  job.hop = hop, job.count = rows.size();
  require(hop >= 0 && hop < job.hops, "hop is one of those before the last");
  require(x.shape(0) >= n && static_cast<int64_t>(x.shape(1)) == job.features && scale.shape(0) >= n &&
              static_cast<int64_t>(scale.shape(1)) == job.groups && inverse_degree.size() >= n &&
              position.size() >= n && lists.starts.size() <= n,
          "an entry for each node");
  const int64_t width = job.groups * job.features;
  require(out.shape(0) == rows.size() && static_cast<int64_t>(out.shape(1)) == width &&
              static_cast<int64_t>(before.shape(1)) == width,
          "a row of out for each node");
  for (size_t r = 0; r < rows.size(); ++r) {
    lists.check_row(rows.data()[r]);
    const int32_t* neighbours = lists.lists.row(rows.data()[r]);
    const auto there = [&](int64_t j) {
      return j >= 0 && static_cast<size_t>(j) < n &&
             (hop > 0 || position.data()[j] < static_cast<int64_t>(before.shape(0)));
    };
    require(there(rows.data()[r]), "neighbours are nodes");
    for (int64_t e = 0; e < lists.lists.counts[rows.data()[r]]; ++e)
      require(there(neighbours[e]), "neighbours are nodes");
  }
  job.lists = lists.lists, job.rows = rows.data(), job.inverse_degree = inverse_degree.data();
  job.states = states.data(), job.x = x.data(), job.scale = scale.data();
  job.position = position.data(), job.before = before.data(), job.out = out.data();
  job.threads = std::max(1, threads);
  nb::gil_scoped_release release;
  loops().rewired(job);
}

void run_apply(Array<const int32_t, 1> rows, Array<const int32_t, 2> where,
               const std::vector<Array<const float, 2>>& differences, const Reached& last,
               const LatestArrays& latest, Array<const float, 1> inverse_degree,
               Array<const int32_t, 1> reached, Array<const int32_t, 1> extra, Array<const float, 2> edges,
               const LimitArrays& limits, double tolerance, Array<const uint8_t, 1> renewed,
               Array<const float, 2> x, Array<const float, 2> scale, Weighting weighting, double floor,
               bool maximum, Array<float, 4> states, Array<float, 3> weights, Array<float, 2> embedding,
               Array<float, 1> largest, Array<float, 3> effect, Array<uint8_t, 1> touched, int threads) {
  Apply job;
  job.hops = states.shape(1), job.groups = states.shape(2), job.features = states.shape(3);
  job.count = rows.size();
  const size_t n = states.shape(0), width = job.groups * job.features, count = rows.size();
  const int64_t before_last = std::max<int64_t>(0, job.hops - 1);
  if (job.hops) {
    require(inverse_degree.size() >= n, "an entry for each node");
    job.last = sources(last, latest, inverse_degree, job.groups, width);
    job.limits = limits.at(job.hops - 1, tolerance, n, job.groups);
  } else {
    job.limits.average = limits.average;
  }
  job.maximum = maximum;
  require(where.shape(0) == count && static_cast<int64_t>(where.shape(1)) == before_last &&
              renewed.size() == count && static_cast<int64_t>(differences.size()) == before_last &&
              reached.size() == count && extra.size() == count && touched.size() == count,
          "differences of each row and hop");
  require(scale.shape(0) >= n && static_cast<int64_t>(scale.shape(1)) == job.groups && effect.shape(0) >= n &&
              static_cast<int64_t>(effect.shape(1)) == job.hops &&
              static_cast<int64_t>(effect.shape(2)) == job.groups,
          "scale and effect of each node");
  require(x.shape(0) >= n && static_cast<int64_t>(x.shape(1)) == job.features && largest.size() >= n &&
              embedding.shape(0) >= n && embedding.shape(1) == (limits.average ? job.features : width) &&
              edges.shape(1) == width,
          "arrays fit the states");
  if (uses_distances(weighting)) job.weights = weights_of(weights, n, job.hops, job.groups);
  for (size_t r = 0; r < count; ++r) {
    require(rows.data()[r] >= 0 && static_cast<size_t>(rows.data()[r]) < n, "rows name nodes");
    require(reached.data()[r] < static_cast<int64_t>(last.rows.size()), "sources of the last hop");
    require(extra.data()[r] < static_cast<int64_t>(edges.shape(0)), "rows of changed edges are there");
    for (int64_t k = 0; k < before_last; ++k)
      require(where.data()[r * before_last + k] < static_cast<int64_t>(differences[k].shape(0)),
              "places of differences");
  }
  for (size_t k = 0; k < differences.size(); ++k) {
    require(differences[k].shape(1) == width, "differences have a column for each r and feature");
    job.differences.push_back(differences[k].data());
  }
  job.rows = rows.data(), job.where = where.data(), job.renewed = renewed.data();
  job.reached = reached.data(), job.extra = extra.data(), job.edges = edges.data();
  job.x = x.data(), job.scale = scale.data(), job.effect = effect.data();
  job.weighting = weighting, job.floor = static_cast<float>(floor);
  job.states = states.data();
  job.embedding = embedding.data(), job.largest = largest.data(), job.touched = touched.data();
  job.threads = std::max(1, threads);
  nb::gil_scoped_release release;
  loops().apply(job);
}

void run_pack(Matrix<const float> state, Maybe<Array<const float, 2>> distances, int64_t begin, int64_t end,
              int64_t groups, double unit, int64_t hop, int64_t first, Weighting weighting, double floor,
              Array<float, 4> states, Array<float, 3> weights, Array<float, 3> norms, int threads) {
  Pack job;
  job.begin = begin, job.end = end, job.groups = groups, job.first = first, job.hop = hop;
  job.hops = states.shape(1), job.all_groups = states.shape(2), job.features = states.shape(3);
  require(begin >= 0 && end <= static_cast<int64_t>(states.shape(0)) && hop >= 0 && hop <= job.hops &&
              first >= 0 && first + groups <= job.all_groups,
          "the state fits what is kept");
  job.state = state.data();
  job.stride = rows_of(state, end, groups * job.features, "state rows");
  job.unit = static_cast<float>(unit);
  job.states = states.data(), job.norms = norms.data();
  require(norms.shape(0) >= states.shape(0) && static_cast<int64_t>(norms.shape(1)) == job.hops &&
              static_cast<int64_t>(norms.shape(2)) == job.all_groups,
          "a norm for each node, hop and r");
  if (uses_distances(weighting)) {
    require(distances && static_cast<int64_t>(distances->shape(0)) >= end &&
                static_cast<int64_t>(distances->shape(1)) == groups,
            "a distance for each row and r");
    job.distances = distances->data();
    job.weights = weights_of(weights, states.shape(0), job.hops, job.all_groups);
  }
  job.weighting = weighting, job.floor = static_cast<float>(floor);
  job.threads = std::max(1, threads);
  nb::gil_scoped_release release;
  loops().pack(job);
}

}  // namespace

}  // namespace nafs

NB_MODULE(_updates, m) {
  using namespace nafs;
  nb::set_leak_warnings(false);                    // what is alive when Python ends goes with the process
  nb::module_::import_("nafs.smoothing._kernel");  // for its enumerations
  if (has_v3()) use("v3");
  m.def("use", &use, "name"_a, "Choose the loops: 'baseline' or 'v3'. For tests.");
  nb::class_<ListArrays>(m, "Lists", "Neighbour lists, some of them rewritten at the end.")
      .def(nb::init<Array<const int64_t, 1>, Array<const int64_t, 1>, Array<const int32_t, 1>,
                    Array<const int32_t, 1>, Maybe<Array<const float, 1>>, Maybe<Array<const float, 1>>>(),
           "starts"_a.noconvert(), "counts"_a.noconvert(), "base"_a.noconvert(), "tail"_a.noconvert(),
           "base_weights"_a.noconvert().none(), "tail_weights"_a.noconvert().none());
  nb::class_<LimitArrays>(m, "Limits", "What decides whether differences are followed or dropped.")
      .def(
          "__init__",
          [](LimitArrays* self, Array<const float, 3> effect, Array<const float, 1> largest,
             Array<float, 2> dropped,
             bool average) { new (self) LimitArrays{effect, largest, dropped, average}; },
          "effect"_a.noconvert(), "largest"_a.noconvert(), "dropped"_a.noconvert(), "average"_a);
  nb::class_<Reached>(m, "Reached", "Rows that differences reach, and the sources of each.")
      .def(nb::init<>())
      .def_prop_ro(
          "rows",
          [](Reached& self) {
            return nb::ndarray<nb::numpy, const int32_t, nb::ndim<1>>(self.rows.data(), {self.rows.size()},
                                                                      nb::handle());
          },
          nb::rv_policy::reference_internal);
  m.def("reach", &run_reach, "readers"_a, "reads"_a, "rows"_a.noconvert(), "sizes"_a.noconvert(),
        "inverse_degree"_a.noconvert(), "first"_a.noconvert(), "forced"_a.noconvert(), "limits"_a, "hop"_a,
        "tolerance"_a, "spare"_a, "own"_a, "threads"_a,
        "The nodes that differences reach, without those where they are too small to be followed.");
  nb::class_<LatestArrays>(m, "Latest", "The differences of the latest hop.")
      .def(nb::init<Array<const int32_t, 1>, Array<const float, 2>, Array<const float, 1>,
                    Maybe<Array<const uint16_t, 2>>, Array<const float, 1>>(),
           "places"_a.noconvert(), "values"_a.noconvert(), "peaks"_a.noconvert(),
           "halves"_a.noconvert().none(), "units"_a.noconvert());
  m.def("differences", &run_differences, "reached"_a, "always"_a, "latest"_a, "inverse_degree"_a.noconvert(),
        "edges"_a.noconvert(), "limits"_a, "hop"_a, "tolerance"_a, "out"_a.noconvert(),
        "halves"_a.noconvert(), "units"_a.noconvert(), "sizes"_a.noconvert(), "peaks"_a.noconvert(),
        "followed"_a.noconvert(), "threads"_a,
        "Fill `out` with the differences that follow from those of the hop before.");
  m.def("rewired", &run_rewired, "lists"_a, "rows"_a.noconvert(), "hop"_a, "states"_a.noconvert(),
        "x"_a.noconvert(), "scale"_a.noconvert(), "inverse_degree"_a.noconvert(), "position"_a.noconvert(),
        "before"_a.noconvert(), "out"_a.noconvert(), "threads"_a,
        "Fill `out` with what changed edges add at the hop after `hop`.");
  m.def("apply", &run_apply, "rows"_a.noconvert(), "where"_a.noconvert(), "differences"_a, "last"_a,
        "latest"_a, "inverse_degree"_a.noconvert(), "reached"_a.noconvert(), "extra"_a.noconvert(),
        "edges"_a.noconvert(), "limits"_a, "tolerance"_a, "renewed"_a.noconvert(), "x"_a.noconvert(),
        "scale"_a.noconvert(), "weighting"_a, "floor"_a, "maximum"_a, "states"_a.noconvert(),
        "weights"_a.noconvert(), "embedding"_a.noconvert(), "largest"_a.noconvert(), "effect"_a.noconvert(),
        "touched"_a.noconvert(), "threads"_a,
        "Compute the differences of the last hop, add all of them to the states, and embed the rows.");
  m.def("pack", &run_pack, "state"_a.noconvert(), "distances"_a.noconvert().none(), "begin"_a, "end"_a,
        "groups"_a, "unit"_a, "hop"_a, "first"_a, "weighting"_a, "floor"_a, "states"_a.noconvert(),
        "weights"_a.noconvert(), "norms"_a.noconvert(), "threads"_a,
        "Keep the state of one hop, its norms, and how much it weighs.");
}
