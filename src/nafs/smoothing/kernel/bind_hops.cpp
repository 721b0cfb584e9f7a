// HopKernel: the hops of one group of r's, bound to their arrays once. A call names the rows to compute and
// the states to read and to write.
#include "arrays.h"

namespace nafs {

namespace {

class HopKernel {
 public:
  HopKernel(Vector<const int64_t> indptr, Vector<const int32_t> indices, Maybe<Vector<const float>> weights,
            Vector<const float> inverse_degree, int64_t features, int64_t groups,
            Maybe<Matrix<const float>> x, Maybe<Vector<const int64_t>> x_indptr,
            Maybe<Vector<const int32_t>> x_indices, Maybe<Vector<const float>> x_values,
            Maybe<Vector<const float>> x_norms, Maybe<Vector<const int32_t>> node, bool arranged,
            Maybe<Matrix<const float>> x_copy, Matrix<const float> unscale, Matrix<const float> scale,
            Maybe<Matrix<const float>> centres, Maybe<Matrix<const float>> centre_norms,
            Maybe<Vector<const int32_t>> component, bool centred, Maybe<Matrix<float>> sum,
            Maybe<Matrix<float>> total, Maybe<Matrix<float>> peak, Maybe<Matrix<float>> distances,
            Distance distance, Weighting weighting, float floor, bool stream, int threads)
      : held_(keep_alive(indptr, indices, weights, inverse_degree, x, x_indptr, x_indices, x_values, x_norms,
                         node, x_copy, unscale, scale, centres, centre_norms, component, sum, total, peak,
                         distances)) {
    n_ = static_cast<int64_t>(inverse_degree.size()), width_ = features * groups;
    require(features > 0 && groups > 0, "features and groups are positive");
    hop_.features = features, hop_.groups = groups;
    hop_.graph = neighbours(indptr, indices, weights, inverse_degree);
    hop_.edges = indptr.data()[n_];
    hop_.distance = distance, hop_.weighting = weighting, hop_.floor = floor;
    hop_.threads = std::max(1, threads);
    stream_ = stream;

    const auto per_group = [&](const auto& matrix, int64_t columns, const char* message) {
      require(rows_of(matrix, n_, columns, message) == columns || n_ <= 1, message);
      return matrix.data();
    };
    hop_.unscale = per_group(unscale, groups, "unscale is n x groups");
    hop_.scale = per_group(scale, groups, "scale is n x groups");
    if (total) hop_.total = per_group(*total, groups, "total is n x groups");
    if (peak) hop_.peak = per_group(*peak, groups, "peak is n x groups");
    if (distances) hop_.distances = per_group(*distances, groups, "distances is n x groups");

    hop_.x = features_of(n_, features, x, x_indptr, x_indices, x_values);
    if (x_norms) {
      require(static_cast<int64_t>(x_norms->size()) == n_, "one norm for each row");
      hop_.x.norms = x_norms->data();
    }
    require(hop_.x.rows || hop_.x.indptr, "hops need x");
    if (node) {
      require(static_cast<int64_t>(node->size()) == n_, "one node for each row");
      node_ = node->data();
      if (!arranged) hop_.node = node_;
    }
    if (x_copy) {
      require(hop_.node && hop_.x.rows && static_cast<int64_t>(x_copy->shape(0)) <= n_,
              "a copy is of the first rows of dense features");
      hop_.copied = static_cast<int64_t>(x_copy->shape(0)), hop_.copy = x_copy->data();
      hop_.copy_stride = rows_of(*x_copy, hop_.copied, features, "x_copy has all features");
    }
    hop_.centres = centres_of(n_, width_, centres, component);
    hop_.centred = centred;
    require(!centred || hop_.centres.rows, "centring needs centres");
    if (centre_norms) {
      const int64_t count = centres ? centres->shape(0) : 0;
      require(rows_of(*centre_norms, count, groups, "centre_norms") == groups || count <= 1,
              "centre_norms is components x groups");
      hop_.centres.norms = centre_norms->data();
    }
    const Needs needs = needs_of(distance);
    require(!needs.features || hop_.x.norms, "this distance needs x_norms");
    require(!needs.centres || (hop_.centres.rows && hop_.centres.norms),
            "this distance needs centres and centre_norms");
    if (weighting != Weighting::last) {
      require(sum && total, "a weighted sum needs sum and total");
      hop_.sum = sum->data();
      hop_.sum_stride = rows_of(*sum, n_, width_, "sum is n x (groups * features)");
    }
  }

  // Rows begin..end of a hop. With `postpone` only the state is computed; the next hop, which is then
  // `owing`, weighs both and has the `..._before` of this one. A postponed hop 0 is weighed by the first hop
  // that is weighed, which is then `opening`. If `computed`, `next` is the state that an
  // earlier call computed while it measured parts, and is weighed by the sums.
  void run(int64_t begin, int64_t end, Maybe<State> state, Maybe<State> next, bool owing, bool opening,
           bool postpone, Maybe<Matrix<double>> parts, Maybe<Matrix<const double>> sums,
           Maybe<Matrix<double>> parts_before, Maybe<Matrix<const double>> sums_before, bool computed) const {
    Hop hop = hop_;
    require(0 <= begin && begin <= end && end <= n_, "rows outside the graph");
    hop.begin = begin, hop.end = end;
    const auto pairs = [&](const auto& matrix) {
      require(hop.distance != Distance::none, "parts of a distance need one");
      const int64_t columns = 2 * hop.groups;
      require(rows_of(matrix, n_, columns, "parts") == columns || n_ <= 1, "parts are n x (2 * groups)");
      return matrix.data();
    };
    require(!parts || !sums, "a pass that measures parts has no sums");
    if (parts) hop.parts = pairs(*parts);
    if (sums) hop.sums = pairs(*sums);
    if (parts_before) hop.parts_before = pairs(*parts_before);
    if (sums_before) hop.sums_before = pairs(*sums_before);
    if (state) {
      hop.half = is_half(*state);
      hop.state = state->data();
      hop.stride = rows_of(*state, n_, width_, "state is n x (groups * features)");
      hop.columns = state->shape(1);
    }
    if (next) {
      const int64_t stride = rows_of(*next, n_, width_, "next is n x (groups * features)");
      const bool half = is_half(*next);
      require(!state || (stride == hop.stride && half == hop.half), "state and next are laid out alike");
      require(!state || next->data() != hop.state, "next cannot overwrite state");
      hop.half = half, hop.stride = stride, hop.next = next->data();
      const int64_t columns = next->shape(1);
      hop.columns = state ? std::min(hop.columns, columns) : columns;
      const int64_t bytes = half ? 2 : 4;
      hop.stream = stream_ && reinterpret_cast<uintptr_t>(hop.next) % 32 == 0 && stride * bytes % 32 == 0;
    }
    require(!(owing || opening || postpone) || (!hop.half && !hop.distances && !(owing && postpone)),
            "only hops of float32 states, whose distances are not asked for, can be postponed, by one hop");
    require(!owing || state, "hop 0 has none before it");
    const bool plain = hop.x.rows && hop.sum && !hop.centred && !parts && !sums;
    require((!opening && (state || !postpone)) || plain,
            "hop 0 is postponed only for a sum of dense features");
    require(!opening || (state && !postpone), "hop 0 is weighed by a later hop");
    require(!postpone || next, "a postponed hop needs next");
    require(!computed || (next && sums && !hop.half && hop.sum), "only a float32 state with sums is weighed");
    require(owing ? !parts == !parts_before && !sums == !sums_before : !parts_before && !sums_before,
            "two hops at once need parts or sums of both");
    hop.postpone = postpone, hop.owing = owing, hop.opening = opening, hop.computed = computed;
    nb::gil_scoped_release release;
    active->hop(hop);
  }

  // Rows begin..end of the embedding, made of the running sum or, with weighting "last", of the state.
  void write(int64_t begin, int64_t end, Maybe<State> state, Matrix<float> out, Ensemble ensemble, bool apart,
             bool fresh, float factor, float fallback) const {
    Finish pass;
    require(0 <= begin && begin <= end && end <= n_, "rows outside the graph");
    pass.begin = begin, pass.end = end, pass.features = hop_.features, pass.groups = hop_.groups;
    if (hop_.sum) {
      pass.sum = hop_.sum, pass.stride = hop_.sum_stride, pass.total = hop_.total;
    } else {
      require(state.has_value(), "without a sum the embedding is made of the state");
      pass.half = is_half(*state), pass.state = state->data();
      pass.stride = rows_of(*state, n_, width_, "state is n x (groups * features)");
    }
    pass.scale = hop_.scale, pass.node = node_;
    if (hop_.centred) pass.centres = hop_.centres;
    pass.out = out.data();
    pass.out_stride = rows_of(out, n_, apart ? width_ : hop_.features, "out is n x columns");
    pass.out_group_stride = apart ? hop_.features : 0;
    pass.ensemble = ensemble, pass.fresh = fresh, pass.factor = factor, pass.fallback = fallback;
    pass.threads = hop_.threads;
    nb::gil_scoped_release release;
    active->finish(pass);
  }

 private:
  std::shared_ptr<void> held_;  // the arrays, which live as long as the kernel
  Hop hop_;
  int64_t n_ = 0, width_ = 0;
  const int32_t* node_ = nullptr;  // row i of the state is row node_[i] of the result
  bool stream_ = false;
};

}  // namespace

void bind_hops(nb::module_& m) {
#define NAFS_ENTRY(name) .value(#name, Distance::name)
  nb::enum_<Distance>(m, "Distance") NAFS_DISTANCES(NAFS_ENTRY);
#undef NAFS_ENTRY
  nb::enum_<Weighting>(m, "Weighting")
      .value("last", Weighting::last)
      .value("average", Weighting::average)
      .value("softmax", Weighting::softmax)
      .value("linear", Weighting::linear);
  nb::enum_<Ensemble>(m, "Ensemble")
      .value("write", Ensemble::write)
      .value("add", Ensemble::add)
      .value("maximum", Ensemble::maximum);

  const auto nothing = nb::none();
  nb::class_<HopKernel>(m, "HopKernel", "Hops of some r's, bound to the arrays that they read and write.")
      .def(nb::init<Vector<const int64_t>, Vector<const int32_t>, Maybe<Vector<const float>>,
                    Vector<const float>, int64_t, int64_t, Maybe<Matrix<const float>>,
                    Maybe<Vector<const int64_t>>, Maybe<Vector<const int32_t>>, Maybe<Vector<const float>>,
                    Maybe<Vector<const float>>, Maybe<Vector<const int32_t>>, bool,
                    Maybe<Matrix<const float>>, Matrix<const float>, Matrix<const float>,
                    Maybe<Matrix<const float>>, Maybe<Matrix<const float>>, Maybe<Vector<const int32_t>>,
                    bool, Maybe<Matrix<float>>, Maybe<Matrix<float>>, Maybe<Matrix<float>>,
                    Maybe<Matrix<float>>, Distance, Weighting, float, bool, int>(),
           nb::kw_only(), "indptr"_a.noconvert(), "indices"_a.noconvert(),
           "weights"_a.noconvert().none() = nothing, "inverse_degree"_a.noconvert(), "features"_a, "groups"_a,
           "x"_a.noconvert().none() = nothing, "x_indptr"_a.noconvert().none() = nothing,
           "x_indices"_a.noconvert().none() = nothing, "x_values"_a.noconvert().none() = nothing,
           "x_norms"_a.noconvert().none() = nothing, "node"_a.noconvert().none() = nothing,
           "arranged"_a = false, "x_copy"_a.noconvert().none() = nothing, "unscale"_a.noconvert(),
           "scale"_a.noconvert(), "centres"_a.noconvert().none() = nothing,
           "centre_norms"_a.noconvert().none() = nothing, "component"_a.noconvert().none() = nothing,
           "centred"_a = false, "sum"_a.noconvert().none() = nothing, "total"_a.noconvert().none() = nothing,
           "peak"_a.noconvert().none() = nothing, "distances"_a.noconvert().none() = nothing,
           "distance"_a.noconvert() = Distance::none, "weighting"_a.noconvert() = Weighting::last,
           "floor"_a = 0.0f, "stream"_a = false, "threads"_a = 1)
      .def("run", &HopKernel::run, "begin"_a, "end"_a, nb::kw_only(), "state"_a.noconvert().none() = nothing,
           "following"_a.noconvert().none() = nothing, "owing"_a = false, "opening"_a = false,
           "postpone"_a = false, "parts"_a.noconvert().none() = nothing,
           "sums"_a.noconvert().none() = nothing, "parts_before"_a.noconvert().none() = nothing,
           "sums_before"_a.noconvert().none() = nothing, "computed"_a = false,
           "Compute rows begin..end of one hop and add them to the running weighted sum.")
      .def("write", &HopKernel::write, "begin"_a, "end"_a, nb::kw_only(),
           "state"_a.noconvert().none() = nothing, "out"_a.noconvert(), "ensemble"_a.noconvert(), "apart"_a,
           "fresh"_a, "factor"_a, "fallback"_a,
           "Turn rows begin..end of the running sum into the embedding and combine them into `out`.");
}

}  // namespace nafs
