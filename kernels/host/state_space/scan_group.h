#pragma once
#include "kernels/host/common/parallel.h"
#include "kernels/host/state_space/fading.h"
#include "kernels/state_space/document_starts.h"
#include "kernels/state_space/selective_scan.h"

namespace mpitron::kernels::host {

/// A chunk of one sample.
struct ScanChunk {
  Index sample, number, first, count;
};

inline ScanChunk scan_chunk(const ScanInputs& in, Index size, Index sample, Index number) {
  const Index first = number * size;
  return {sample, number, first, std::min(size, in.x.size(0) - first)};
}
inline Index scan_chunks(const ScanInputs& in, Index size) {
  return (in.x.size(0) + size - 1) / size;
}
/// Where memory as `states` of the forward pass has that of a head.
inline Index place_of_state(const ScanInputs& in, const ScanChunk& chunk, Index head) {
  const Index row = (chunk.number * in.x.size(1) + chunk.sample) * in.heads() + head;
  return row * in.state_dim() * in.head_dim();
}

/// Steps of one head in a chunk; `opening` is the derivative of softplus.
template <class T, class Real>
struct ScanSteps {
  std::vector<double> dt, opening;
  Fading<Real> fading;

  void read(const ScanInputs& in, const ScanChunk& chunk, Index head) {
    const SampleRows<const T> rows(in.dt, chunk.sample, head);
    const DocumentStarts starts(in.starts);
    const double bias = number_at(in.dt_bias, head), rate = -std::exp(number_at(in.a_log, head));
    std::vector<double> a(static_cast<std::size_t>(chunk.count));
    std::vector<Index> first(a.size());
    dt.resize(a.size()), opening.resize(a.size());
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const Index position = chunk.first + static_cast<Index>(i);
      const double raw = as_double(rows[position][0]) + bias, small = std::exp(-std::abs(raw));
      dt[i] = std::max(raw, 0.0) + std::log1p(small);
      opening[i] = (raw >= 0 ? 1 : small) / (1 + small);
      a[i] = sum += dt[i] * rate;
      first[i] = starts(position, chunk.sample) - chunk.first;
    }
    fading.set(std::move(a), std::move(first));
  }
};

/// b and c of a group of heads in a chunk, [count, n], and of each pair of positions the product
/// of c of the later and b of the earlier one, [count, count].
template <class T, class Real>
class ScanGroup {
 public:
  ScanGroup(const ScanInputs& in, Index group)
      : in_(in), n_(in.state_dim()), first_column_(group * n_) {}

  void read_b(const ScanChunk& chunk) { read(in_.b, chunk, b_); }
  void read_c(const ScanChunk& chunk) { read(in_.c, chunk, c_); }
  void score(Index count) {
    Real* const turned_b = turned_b_.room(n_ * count);
    turn(count, n_, b_.data(), turned_b);
    set_product<T>({count, count, n_, Triangle::lower_result}, as_it_is(c_.data(), n_), turned_b,
                   scores_.room(count * count));
  }
  const Real* b() { return b_.data(); }
  const Real* c() { return c_.data(); }
  const Real* scores() { return scores_.data(); }

 private:
  void read(const In& from, const ScanChunk& chunk, Scratch<Real>& to) const {
    SampleRows<const T>(from, chunk.sample, first_column_)
        .read(chunk.first, chunk.count, n_, to.room(chunk.count * n_));
  }

  const ScanInputs& in_;
  Index n_, first_column_;
  Scratch<Real> b_, c_, turned_b_, scores_;
};

/// Heads of a group.
struct HeadRange {
  Index group, first, end;  // of all heads
};

/// f(sample, heads) on threads; where there are too few groups for them, threads share the heads of
/// each. Each thread reads what a group shares; no head's result may depend on that.
template <class F>
void for_heads(const ScanInputs& in, Index work, F&& f) {
  const Index groups = in.x.size(1) * in.groups, heads = in.heads_of_group();
  const Index threads = std::max<Index>(1, (max_workers() + groups - 1) / groups);
  const Index size = (heads + threads - 1) / threads, parts = (heads + size - 1) / size;
  for_blocks(groups * parts, work, [&](Index task) {
    const Index group = task / parts % in.groups, first = group * heads + task % parts * size;
    f(task / parts / in.groups,
      HeadRange{group, first, std::min((group + 1) * heads, first + size)});
  });
}

}  // namespace mpitron::kernels::host
