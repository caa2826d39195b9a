#pragma once
#include <functional>
#include <numeric>

#include "kernels/host/common/parallel.h"
#include "kernels/host/state_space/fading.h"
#include "kernels/state_space/document_starts.h"
#include "kernels/state_space/selective_scan.h"

namespace mpitron::kernels::host {

/// Where memory of the form of `states` has that of a head before a chunk.
inline Index place_of_state(const ScanInputs& in, const Chunk& chunk, Index head) {
  const Index row = chunk.row(in.x.size(1)) * in.heads() + head;
  return row * in.state_dim() * in.head_dim();
}

/// Steps of one head in a chunk; `opening` is the derivative of softplus.
template <class T, class Real>
struct ScanSteps {
  std::vector<Real> dt, opening;
  Fading<Real> fading;

  void read(const ScanInputs& in, const Chunk& chunk, Index head) {
    const SampleRows<const T> rows(in.dt, chunk.sample, head);
    const DocumentStarts starts(in.starts);
    const double rate = -std::exp(number_at(in.a_log, head));
    const auto bias = static_cast<Real>(number_at(in.dt_bias, head));
    dt.resize(static_cast<std::size_t>(chunk.count)), opening.resize(dt.size());
    std::vector<double> a(dt.size());
    std::vector<Index> first(dt.size());
    for (std::size_t i = 0; i < dt.size(); ++i) {
      const Index position = chunk.first + static_cast<Index>(i);
      dt[i] = static_cast<Real>(rows[position][0]) + bias;
      first[i] = starts(position, chunk.sample) - chunk.first;
    }
    softplus(chunk.count, dt.data(), dt.data(), opening.data());
    std::transform_inclusive_scan(dt.begin(), dt.end(), a.begin(), std::plus<>(),
                                  [rate](Real x) { return static_cast<double>(x) * rate; });
    fading.set(std::move(a), std::move(first));
  }
};

/// b and c of a group of heads in a chunk, [count, n], and of each pair of positions the product
/// of c of the later and b of the earlier one, [count, count].
template <class T, class Real>
class ScanGroup {
 public:
  explicit ScanGroup(const ScanInputs& in) : in_(in), n_(in.state_dim()) {}

  void read_b(const Chunk& chunk, Index group) { read(in_.b, chunk, group, b_); }
  void read_c(const Chunk& chunk, Index group) { read(in_.c, chunk, group, c_); }
  void score(Index count) {
    Real* const turned_b = turned_b_.room(n_ * count);
    turn(count, n_, b_.data(), turned_b);
    set_product<T>({count, count, n_, Triangle::lower_result}, c_.as_it_is(), turned_b,
                   scores_.room(count * count));
  }
  LeftRows<Real>& b() { return b_; }
  LeftRows<Real>& c() { return c_; }
  const Real* scores() { return scores_.data(); }

 private:
  void read(const In& from, const Chunk& chunk, Index group, LeftRows<Real>& to) const {
    SampleRows<const T>(from, chunk.sample, group * n_)
        .read(chunk.first, chunk.count, n_, to.room(chunk.count, n_));
  }

  const ScanInputs& in_;
  Index n_;
  LeftRows<Real> b_, c_;
  Scratch<Real> turned_b_, scores_;
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
