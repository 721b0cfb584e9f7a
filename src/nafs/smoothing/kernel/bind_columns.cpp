// ColumnKernel: panels of columns that take all hops in the cache (cached.inl), bound to their arrays once.
#include "arrays.h"

namespace nafs {

namespace {

class ColumnKernel {
 public:
  ColumnKernel(Vector<const int64_t> indptr, Vector<const int32_t> indices,
               Maybe<Vector<const float>> weights, Vector<const float> inverse_degree,
               Vector<const int32_t> node, int64_t features, int64_t hops, Maybe<Matrix<const float>> x,
               Maybe<Vector<const int64_t>> x_indptr, Maybe<Vector<const int32_t>> x_indices,
               Maybe<Vector<const float>> x_values, float unit, Vector<float> buffers, int64_t slots,
               bool together, int threads)
      : held_(keep_alive(indptr, indices, weights, inverse_degree, node, x, x_indptr, x_indices, x_values,
                         buffers)) {
    const int64_t n = static_cast<int64_t>(inverse_degree.size());
    require(features > 0 && hops >= 0 && slots > 0, "features and slots are positive");
    job_.nodes = n, job_.features = features, job_.hops = hops, job_.unit = unit;
    job_.graph = neighbours(indptr, indices, weights, inverse_degree);
    require(static_cast<int64_t>(node.size()) == n, "one node for each row");
    job_.node = node.data();
    if (x) {
      job_.x = features_of(n, features, x, std::nullopt, std::nullopt, std::nullopt);
    } else {
      require(x_indptr.has_value(), "columns need x");
      job_.x = features_of(features, n, std::nullopt, x_indptr, x_indices, x_values);
    }
    job_.slots = slots, job_.together = together;
    job_.threads =
        static_cast<int>(std::clamp<int64_t>(threads, 1, together ? std::max<int64_t>(n, 1) : slots));
    const int64_t panels = together ? 1 : job_.threads;
    require(static_cast<int64_t>(buffers.size()) >= 3 * n * kColumns * panels, "buffers are too small");
    job_.buffers = buffers.data();
  }

  // The first pass: what panels begin..end add to the distances.
  void measure(int64_t begin, int64_t end, Vector<const float> unscale, Vector<float> parts) const {
    Cached job = panels(begin, end, unscale);
    require(static_cast<int64_t>(parts.size()) == job.slots * (job.hops + 1) * job.nodes * 2, "parts");
    job.parts = parts.data();
    nb::gil_scoped_release release;
    active->cached(job);
  }

  // The second pass: panels begin..end of the embedding.
  void smooth(int64_t begin, int64_t end, Vector<const float> unscale, Matrix<const float> weights,
              Vector<const float> share, Matrix<float> out, Ensemble ensemble, bool fresh) const {
    Cached job = panels(begin, end, unscale);
    require(static_cast<int64_t>(share.size()) == job.nodes, "one share for each node");
    require(rows_of(weights, job.hops + 1, job.nodes, "weights") == job.nodes || job.hops == 0,
            "weights are (hops + 1) x n");
    job.weights = weights.data(), job.share = share.data();
    job.out_stride = rows_of(out, job.nodes, job.features, "out has too few columns"), job.out = out.data();
    job.ensemble = ensemble, job.fresh = fresh;
    nb::gil_scoped_release release;
    active->cached(job);
  }

 private:
  Cached panels(int64_t begin, int64_t end, const Vector<const float>& unscale) const {
    Cached job = job_;
    require(0 <= begin && begin <= end && end <= (job.features + kColumns - 1) / kColumns,
            "panels outside the features");
    require(static_cast<int64_t>(unscale.size()) == job.nodes, "unscale has one entry for each node");
    job.begin = begin, job.end = end, job.unscale = unscale.data();
    return job;
  }

  std::shared_ptr<void> held_;  // the arrays, which live as long as the kernel
  Cached job_;
};

}  // namespace

void bind_columns(nb::module_& m) {
  const auto nothing = nb::none();
  m.attr("COLUMNS") = kColumns;
  nb::class_<ColumnKernel>(m, "ColumnKernel", "Panels of columns through all hops, bound to their arrays.")
      .def(nb::init<Vector<const int64_t>, Vector<const int32_t>, Maybe<Vector<const float>>,
                    Vector<const float>, Vector<const int32_t>, int64_t, int64_t, Maybe<Matrix<const float>>,
                    Maybe<Vector<const int64_t>>, Maybe<Vector<const int32_t>>, Maybe<Vector<const float>>,
                    float, Vector<float>, int64_t, bool, int>(),
           nb::kw_only(), "indptr"_a.noconvert(), "indices"_a.noconvert(),
           "weights"_a.noconvert().none() = nothing, "inverse_degree"_a.noconvert(), "node"_a.noconvert(),
           "features"_a, "hops"_a, "x"_a.noconvert().none() = nothing,
           "x_indptr"_a.noconvert().none() = nothing, "x_indices"_a.noconvert().none() = nothing,
           "x_values"_a.noconvert().none() = nothing, "unit"_a, "buffers"_a.noconvert(), "slots"_a,
           "together"_a, "threads"_a)
      .def("measure", &ColumnKernel::measure, "begin"_a, "end"_a, nb::kw_only(), "unscale"_a.noconvert(),
           "parts"_a.noconvert(), "Add up what panels begin..end contribute to the distances of one r.")
      .def("smooth", &ColumnKernel::smooth, "begin"_a, "end"_a, nb::kw_only(), "unscale"_a.noconvert(),
           "weights"_a.noconvert(), "share"_a.noconvert(), "out"_a.noconvert(), "ensemble"_a.noconvert(),
           "fresh"_a, "Combine panels begin..end of the embedding of one r into `out`.");
}

}  // namespace nafs
