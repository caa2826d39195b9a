#include <utility>

#include "kernels/host/state_space/scan_group.h"
#include "kernels/state_space/selective_scan.h"

namespace mpitron::kernels {
namespace {

using namespace host;

struct ScanHeadSums {
  double a_log = 0, d = 0, dt_bias = 0;
};

std::size_t number_of_head(const ScanInputs& in, const Chunk& chunk, Index head) {
  return static_cast<std::size_t>(chunk.row(in.x.size(1)) * in.heads() + head);
}

/// What a backward pass keeps of all chunks of all heads.
template <class T, class Real>
struct ScanPass {
  const SelectiveScanBackward& k;
  std::vector<ScanSteps<T, Real>> steps;  // [chunks b heads]
  std::vector<ScanHeadSums> sums;         // as `steps`
  Real* behind;                           // as `states`: gradient of the state behind each chunk

  explicit ScanPass(const SelectiveScanBackward& kernel)
      : k(kernel),
        steps(static_cast<std::size_t>(chunks_of(k.in.x, k.chunk) * k.in.x.size(1) * k.in.heads())),
        sums(steps.size()),
        behind(static_cast<Real*>(k.workspace.data)) {
    MPITRON_CHECK(k.workspace.bytes() >= k.states.bytes(), k.workspace.bytes());
  }
};

/// The gradients of the states of some heads, from the last chunk on.
template <class T, class Real>
void states_backward(ScanPass<T, Real>& pass, Index sample, const HeadRange& heads) {
  const SelectiveScanBackward& k = pass.k;
  const Index n = k.in.state_dim(), p = k.in.head_dim(), last = chunks_of(k.in.x, k.chunk) - 1;
  ScanGroup<T, Real> group(k.in);
  Scratch<Real> dy_memory;
  for (Index number = last; number >= 0; --number) {
    const Chunk chunk = chunk_of(k.in.x, k.chunk, sample, number);
    group.read_c(chunk, heads.group);
    for (Index head = heads.first; head < heads.end; ++head) {
      ScanSteps<T, Real>& steps = pass.steps[number_of_head(k.in, chunk, head)];
      steps.read(k.in, chunk, head);
      const Real* const after = pass.behind + place_of_state(k.in, chunk, head);
      if (number == last) {
        std::fill_n(pass.behind + place_of_state(k.in, chunk, head), n * p, Real(0));
      }
      if (number == 0) {
        continue;
      }
      Real* const dy = dy_memory.room(chunk.count * p);
      SampleRows<const T>(k.dy, sample, head * p).read(chunk.first, chunk.count, p, dy);
      weigh_rows(chunk.count, p, dy, dy, [&](Index i) { return steps.fading.from_before()[i]; });
      Real* const before =
          pass.behind + place_of_state(k.in, chunk_of(k.in.x, k.chunk, sample, number - 1), head);
      std::transform(after, after + n * p, before,
                     [kept = steps.fading.kept()](Real x) { return kept * x; });
      add_product<T>({n, p, chunk.count}, group.c().turned(), dy, before);
    }
  }
}

/// The gradients of the heads of a group in one chunk.
template <class T, class Real>
class ChunkBackward {
 public:
  explicit ChunkBackward(ScanPass<T, Real>& pass)
      : pass_(pass), k_(pass.k), group_(k_.in), n_(k_.in.state_dim()), p_(k_.in.head_dim()) {}

  void run(const Chunk& chunk, Index group) {
    chunk_ = chunk, count_ = chunk.count;
    group_.read_b(chunk_, group), group_.read_c(chunk_, group), group_.score(count_);
    db_.zeros(count_ * n_), dc_.zeros(count_ * n_), pairs_.zeros(count_ * count_);
    const Index heads = k_.in.heads_of_group();
    for (Index head = group * heads; head < (group + 1) * heads; ++head) {
      run_head(head);
    }
    add_product<T>({count_, n_, count_, Triangle::lower}, as_it_is(pairs_.data(), count_),
                   group_.b().data(), dc_.data());
    add_product<T>({count_, n_, count_, Triangle::upper}, turned(pairs_.data(), count_),
                   group_.c().data(), db_.data());
    write(k_.db, group * n_, n_, db_);
    write(k_.dc, group * n_, n_, dc_);
  }

 private:
  void read(const In& from, Index head, Real* to) const {
    SampleRows<const T>(from, chunk_.sample, head * p_).read(chunk_.first, count_, p_, to);
  }
  void write(const Out& to, Index column, Index columns, Scratch<Real>& from) const {
    SampleRows<T>(to, chunk_.sample, column).write(chunk_.first, count_, columns, from.data());
  }
  void run_head(Index head) {
    const std::size_t number = number_of_head(k_.in, chunk_, head);
    steps_ = &pass_.steps[number];
    read(k_.in.x, head, x_.room(count_ * p_)), read(k_.dy, head, dy_.room(count_, p_));
    da_.assign(steps_->dt.size(), 0), ddt_ = da_;
    inside_chunk();
    const Index place = place_of_state(k_.in, chunk_, head);
    const Real *const before = k_.states.as<Real>() + place, *const behind = pass_.behind + place;
    if (chunk_.number + 1 < chunks_of(k_.in.x, k_.chunk)) {
      from_state_behind(behind);
    }
    if (chunk_.number > 0) {
      from_state_before(before);
    }
    const Real kept = steps_->fading.kept();
    da_.back() += static_cast<double>(kept) * static_cast<double>(inner(before, behind, n_ * p_));
    finish(head, pass_.sums[number]);
  }

  /// What pairs of positions of the chunk give to x, dt and decays and, through `pairs_`, to b and
  /// c.
  void inside_chunk() {
    Real *const turned_x = turned_.room(p_ * count_), *const w = w_.room(count_ * count_);
    turn(count_, p_, x_.data(), turned_x);
    set_product<T>({count_, count_, p_, Triangle::lower_result}, dy_.as_it_is(), turned_x, w);
    Real* const mixed = mixed_.room(count_ * count_);
    steps_->fading.decays(mixed);
    Real* const column_sums = column_sums_.zeros(count_);
    for (Index i = 0; i < count_; ++i) {
      const Index row = i * count_;
      const Real own = std::exchange(w[row + i], Real(0));  // a position does not fade for itself
      LaneSum<Real> sum;
      for_vectors<Real>(row_end<Real>(i, count_),
                        [&]<class V>(Index k) { sum.add(pair<V>(row + k, k, column_sums + k)); });
      pairs_.data()[row + i] += own * steps_->dt[at(i)];
      ddt_[at(i)] = static_cast<double>(own * group_.scores()[row + i]);
      da_[at(i)] = static_cast<double>(sum.total());
    }
    for (Index k = 0; k < count_; ++k) {
      const auto through = static_cast<double>(column_sums[k]);
      ddt_[at(k)] += through;
      da_[at(k)] -= through * static_cast<double>(steps_->dt[at(k)]);
    }
    set_product<T>({count_, p_, count_, Triangle::upper}, turned(mixed, count_), dy_.data(),
                   dx_.room(count_ * p_));
  }
  /// Pairs from `at` on, whose earlier positions are those from k on. Returns the gradients of the
  /// logarithms of their decays, and adds these, not yet multiplied by dt, to `sums`.
  template <class V>
  [[gnu::always_inline]] V pair(Index at, Index k, Real* sums) {
    const V decay = load_lanes<V>(mixed_.data() + at), dt = load_lanes<V>(steps_->dt.data() + k);
    const V fade = decay * load_lanes<V>(group_.scores() + at);
    const V w = load_lanes<V>(w_.data() + at), through = w * fade;
    store_lanes<V>(mixed_.data() + at, fade * dt);
    store_lanes<V>(pairs_.data() + at, load_lanes<V>(pairs_.data() + at) + w * decay * dt);
    store_lanes<V>(sums, load_lanes<V>(sums) + through);
    return through * dt;
  }

  /// Gradients by what the chunk's positions gave to the state behind it.
  void from_state_behind(const Real* gradient) {
    Real* const read = read_.room(count_ * p_);  // b_k^T gradient
    set_product<T>({count_, p_, n_}, group_.b().as_it_is(), gradient, read);
    Real* const weighed = weighed_.room(count_ * p_);
    double all = 0;
    for (Index k = 0; k < count_; ++k) {
      const Index row = k * p_;
      const Real keep = steps_->fading.to_end()[k], by = keep * steps_->dt[at(k)];
      const auto direct = static_cast<double>(keep * inner(x_.data() + row, read + row, p_));
      const double to_exponent = direct * static_cast<double>(steps_->dt[at(k)]);
      ddt_[at(k)] += direct, da_[at(k)] -= to_exponent, all += to_exponent;
      for_vectors<Real>(p_, [&]<class V>(Index j) {
        Real* const to = dx_.data() + row + j;
        store_lanes<V>(to, load_lanes<V>(to) + by * load_lanes<V>(read + row + j));
        store_lanes<V>(weighed + row + j, by * load_lanes<V>(x_.data() + row + j));
      });
    }
    turn(n_, p_, gradient, turned_.room(n_ * p_));
    add_product<T>({count_, n_, p_}, as_it_is(weighed, p_), turned_.data(), db_.data());
    da_.back() += all;
  }

  /// Gradients by what the chunk's positions read of the state before it.
  void from_state_before(const Real* state) {
    turn(n_, p_, state, turned_.room(n_ * p_));
    Real* const to_c = read_.room(count_ * n_);
    set_product<T>({count_, n_, p_}, dy_.as_it_is(), turned_.data(), to_c);
    const Real* const c = group_.c().data();
    for (Index i = 0; i < count_; ++i) {
      const Real kept = steps_->fading.from_before()[i];
      LaneSum<Real> sum;
      for_vectors<Real>(n_, [&]<class V>(Index j) {
        const Index at = i * n_ + j;
        const V value = kept * load_lanes<V>(to_c + at);
        sum.add(value * load_lanes<V>(c + at));
        store_lanes<V>(dc_.data() + at, load_lanes<V>(dc_.data() + at) + value);
      });
      da_[at(i)] += static_cast<double>(sum.total());
    }
  }

  void finish(Index head, ScanHeadSums& sums) {
    const double rate = -std::exp(number_at(k_.in.a_log, head));
    const auto skip = static_cast<Real>(number_at(k_.in.d, head));
    const SampleRows<T> ddt(k_.ddt, chunk_.sample, head);
    double to_exponent = 0;
    for (Index i = count_ - 1; i >= 0; --i) {
      to_exponent += da_[at(i)];
      const double to_dt = ddt_[at(i)] + rate * to_exponent;
      const double to_raw = to_dt * static_cast<double>(steps_->opening[at(i)]);
      ddt[chunk_.first + i][0] = T(static_cast<Real>(to_raw));
      sums.dt_bias += to_raw;
      sums.a_log += rate * static_cast<double>(steps_->dt[at(i)]) * to_exponent;
      sums.d += static_cast<double>(inner(dy_.data() + i * p_, x_.data() + i * p_, p_));
    }
    std::transform(dx_.data(), dx_.data() + count_ * p_, dy_.data(), dx_.data(),
                   [skip](Real sum, Real given) { return sum + skip * given; });
    write(k_.dx, head * p_, p_, dx_);
  }

  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }

  ScanPass<T, Real>& pass_;
  const SelectiveScanBackward& k_;
  Chunk chunk_{};
  ScanGroup<T, Real> group_;
  Index n_, p_, count_ = 0;
  ScanSteps<T, Real>* steps_ = nullptr;
  std::vector<double> da_, ddt_;
  LeftRows<Real> dy_;
  Scratch<Real> x_, dx_, db_, dc_, w_, mixed_, pairs_, column_sums_, turned_, read_, weighed_;
};

/// The sums of all chunks and samples, in their order.
void write_sums(const SelectiveScanBackward& k, const std::vector<ScanHeadSums>& sums) {
  const auto heads = static_cast<std::size_t>(k.in.heads());
  for (std::size_t head = 0; head < heads; ++head) {
    ScanHeadSums all;
    for (std::size_t i = head; i < sums.size(); i += heads) {
      all.a_log += sums[i].a_log, all.d += sums[i].d, all.dt_bias += sums[i].dt_bias;
    }
    const auto place = static_cast<Index>(head);
    put_number(k.da_log, place, all.a_log, k.accumulate);
    put_number(k.dd, place, all.d, k.accumulate);
    put_number(k.ddt_bias, place, all.dt_bias, k.accumulate);
  }
}

}  // namespace

/// Gradients of states go from chunk to chunk, with heads on threads. With them the chunks are
/// independent: one thread has those of a group's heads in a chunk, and adds up db and dc over
/// them.
void run(device::HostStream&, const SelectiveScanBackward& k) {
  const Index work = k.in.x.numel() * (k.chunk + 2 * k.in.state_dim()) / 8;
  const Index samples = k.in.x.size(1), tasks = chunks_of(k.in.x, k.chunk) * samples;
  visit_scan_types(k.in.x.dtype, [&]<class T, class Real>() {
    ScanPass<T, Real> pass(k);
    for_heads(k.in, work,
              [&](Index sample, const HeadRange& heads) { states_backward(pass, sample, heads); });
    for_ranges(tasks * k.in.groups, 4 * work, [&](Index begin, Index end) {
      ChunkBackward<T, Real> backward(pass);
      for (Index task = begin; task < end; ++task) {
        const Index row = task / k.in.groups;
        backward.run(chunk_of(k.in.x, k.chunk, row % samples, row / samples), task % k.in.groups);
      }
    });
    write_sums(k, pass.sums);
  });
}

Index workspace_bytes(const device::HostStream&, const SelectiveScanBackward& k) {
  return k.states.bytes();
}

}  // namespace mpitron::kernels
