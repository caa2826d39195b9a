#include "kernels/state_space/selective_scan.h"

#include <numeric>

#include "kernels/host/state_space/scan_chunk.h"
#include "kernels/state_space/document_starts.h"

namespace mpitron::kernels {
namespace {

using namespace host;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

/// One group of heads of one sample: what its heads share in a chunk.
template <class T, class Real>
class Group {
 public:
  Group(const ScanInputs& in, Index sample, Index group)
      : in_(in),
        sample_(sample),
        n_(in.state_dim()),
        p_(in.head_dim()),
        starts_(in.starts),
        b_rows_(in.b, sample, group * n_),
        c_rows_(in.c, sample, group * n_) {}

  void read(Index first, Index count) {
    first_ = first, count_ = count;
    b_rows_.read(first, count, n_, b_.zeros(count * n_));
    c_rows_.read(first, count, n_, c_.zeros(count * n_));
    turn(count, n_, b_.data(), turned_b_.zeros(n_ * count));
    add_product<Real>({count, count, n_}, as_it_is(c_.data(), n_), turned_b_.data(),
                      scores_.zeros(count * count));
  }
  void read_head(Index head) {
    const double rate = -std::exp(number_at(in_.a_log, head));
    steps_.read(SampleRows<const T>(in_.dt, sample_, head), first_, count_,
                number_at(in_.dt_bias, head), rate);
    SampleRows<const T>(in_.x, sample_, head * p_).read(first_, count_, p_, x_.zeros(count_ * p_));
    steps_.decays(decays_.zeros(count_ * count_));
    for (Index i = 0; starts_.several() && i < count_; ++i) {
      std::fill_n(decays_.data() + i * count_, std::clamp<Index>(start(i), 0, count_), Real(0));
    }
  }
  /// scores, decays and dt of each pair of positions, [count, count].
  const Real* mixed() {
    Real* to = mixed_.zeros(count_ * count_);
    for (Index i = 0; i < count_; ++i) {
      for (Index k = 0; k <= i; ++k) {
        const Index pair = i * count_ + k;
        to[pair] =
            scores_.data()[pair] * decays_.data()[pair] * static_cast<Real>(steps_.dt[at(k)]);
      }
    }
    return to;
  }
  /// b, weighed by what of each position is left at the chunk's end: [count, n].
  const Real* leaving() {
    Real* to = leaving_.zeros(count_ * n_);
    for (Index k = 0; k < count_; ++k) {
      const auto by = static_cast<Real>(kept_to_end(k) * steps_.dt[at(k)]);
      std::transform(b_.data() + k * n_, b_.data() + (k + 1) * n_, to + k * n_,
                     [by](Real value) { return by * value; });
    }
    return to;
  }
  /// c, weighed by what of the state before the chunk is left: [count, n].
  const Real* entering() {
    Real* to = entering_.zeros(count_ * n_);
    for (Index i = 0; i < count_; ++i) {
      const auto by = static_cast<Real>(kept_from_before(i));
      std::transform(c_.data() + i * n_, c_.data() + (i + 1) * n_, to + i * n_,
                     [by](Real value) { return by * value; });
    }
    return to;
  }
  /// What is left of position k at the chunk's end, of the state before the chunk at position i,
  /// and of that at the end; nothing where another document begins between them.
  double kept_to_end(Index k) const {
    return k < start(count_ - 1) ? 0 : steps_.power<Real>(steps_.whole() - steps_.a[at(k)]);
  }
  double kept_from_before(Index i) const {
    return starts_.several() && start(i) >= 0 ? 0 : steps_.power<Real>(steps_.a[at(i)]);
  }
  double kept() const { return kept_from_before(count_ - 1); }
  /// state [n, p] of the chunk's start becomes that of its end.
  void advance(std::vector<Real>& state) {
    const auto keep = static_cast<Real>(kept());
    for (Real& value : state) {
      value *= keep;
    }
    add_product<Real>({n_, p_, count_}, turned(leaving(), n_), x_.data(), state.data());
  }
  /// Of the document of position i, from the chunk's start.
  Index start(Index i) const { return starts_(first_ + i, sample_) - first_; }

  const ChunkSteps& steps() const { return steps_; }
  const Real* x() { return x_.data(); }
  const Real* b() { return b_.data(); }
  const Real* c() { return c_.data(); }
  const Real* scores() { return scores_.data(); }
  const Real* decays() { return decays_.data(); }
  Index count() const { return count_; }
  Index first() const { return first_; }
  Index n() const { return n_; }
  Index p() const { return p_; }

 private:
  const ScanInputs& in_;
  Index sample_, n_, p_, first_ = 0, count_ = 0;
  DocumentStarts starts_;
  SampleRows<const T> b_rows_, c_rows_;
  ChunkSteps steps_;
  Scratch<Real> x_, b_, c_, turned_b_, scores_, decays_, mixed_, leaving_, entering_;
};

Index chunks_of(const ScanInputs& in, Index chunk) {
  return (in.x.size(0) + chunk - 1) / chunk;
}

Index work_of(const ScanInputs& in, Index chunk) {
  return in.x.numel() * (2 * chunk + 4 * in.state_dim()) / 8;
}

/// f(sample, group) of all groups of all samples, on threads.
template <class F>
void for_groups(const ScanInputs& in, Index chunk, F&& f) {
  for_blocks(in.x.size(1) * in.groups, work_of(in, chunk),
             [&](Index task) { f(task / in.groups, task % in.groups); });
}

/// Heads of a group, numbered in it.
struct HeadRange {
  Index first, end;
};

/// f(sample, group, heads) on threads; where there are too few groups for them, threads share the
/// heads of each. Each thread reads what a group shares; no head's result depends on that.
template <class F>
void for_heads(const ScanInputs& in, Index chunk, F&& f) {
  const Index groups = in.x.size(1) * in.groups, heads = in.heads_of_group();
  const Index threads = std::max<Index>(1, max_workers() / groups);
  const Index size = (heads + threads - 1) / threads, parts = (heads + size - 1) / size;
  for_blocks(groups * parts, work_of(in, chunk), [&](Index task) {
    const Index first = task % parts * size, group = task / parts;
    f(group / in.groups, group % in.groups, HeadRange{first, std::min(heads, first + size)});
  });
}

/// Place of a state in `states`.
template <class Real>
Real* state_at(const device::TensorView& states, const ScanInputs& in, Index chunk, Index row) {
  const Index size = in.state_dim() * in.head_dim();
  return states.as<Real>() + (chunk * in.x.size(1) * in.heads() + row) * size;
}

template <class T, class Real>
void scan(const SelectiveScanForward& k, Index sample, Index group_number, HeadRange own) {
  Group<T, Real> group(k.in, sample, group_number);
  const Index heads = k.in.heads_of_group(), size = group.n() * group.p();
  std::vector<std::vector<Real>> states(at(own.end - own.first), std::vector<Real>(at(size), 0));
  Scratch<Real> y;
  for (Index chunk = 0; chunk < chunks_of(k.in, k.chunk); ++chunk) {
    const Index first = chunk * k.chunk, count = std::min(k.chunk, k.in.x.size(0) - first);
    group.read(first, count);
    for (Index number = own.first; number < own.end; ++number) {
      const Index head = group_number * heads + number;
      std::vector<Real>& state = states[at(number - own.first)];
      std::ranges::copy(state, state_at<Real>(k.states, k.in, chunk, sample * k.in.heads() + head));
      group.read_head(head);
      Real* const sums = y.zeros(count * group.p());
      add_product<Real>({count, group.p(), count}, as_it_is(group.mixed(), count), group.x(), sums);
      add_product<Real>({count, group.p(), group.n()}, as_it_is(group.entering(), group.n()),
                        state.data(), sums);
      const auto skip = static_cast<Real>(number_at(k.in.d, head));
      for (Index i = 0; i < count * group.p(); ++i) {
        sums[i] += skip * group.x()[i];
      }
      SampleRows<T>(k.y, sample, head * group.p()).write(first, count, group.p(), sums);
      group.advance(state);
    }
  }
}

struct HeadSums {
  double a_log = 0, d = 0, dt_bias = 0;
};

/// The backward pass of one group of one sample, chunks in reverse.
template <class T, class Real>
class GroupBackward {
 public:
  GroupBackward(const SelectiveScanBackward& k, Index sample, Index group)
      : k_(k),
        sample_(sample),
        number_(group),
        heads_(k.in.heads_of_group()),
        group_(k.in, sample, group),
        n_(group_.n()),
        p_(group_.p()) {}

  /// `sums` of all heads of the sample.
  void run(HeadSums* sums) {
    std::vector<std::vector<Real>> gradients(at(heads_), std::vector<Real>(at(n_ * p_), 0));
    for (Index chunk = chunks_of(k_.in, k_.chunk) - 1; chunk >= 0; --chunk) {
      const Index first = chunk * k_.chunk;
      count_ = std::min(k_.chunk, k_.in.x.size(0) - first);
      group_.read(first, count_);
      db_.zeros(count_ * n_), dc_.zeros(count_ * n_);
      for (Index own = 0; own < heads_; ++own) {
        const Index head = number_ * heads_ + own;
        state_ =
            state_at<Real>({const_cast<void*>(k_.states.data), k_.states.dtype, k_.states.shape},
                           k_.in, chunk, sample_ * k_.in.heads() + head);
        run_head(head, gradients[at(own)], sums[head]);
      }
      SampleRows<T>(k_.db, sample_, number_ * n_).write(first, count_, n_, db_.data());
      SampleRows<T>(k_.dc, sample_, number_ * n_).write(first, count_, n_, dc_.data());
    }
  }

 private:
  Real dot(const Real* a, const Real* b) const { return std::inner_product(a, a + p_, b, Real(0)); }

  /// `gradient` [n, p]: of the state behind the chunk; becomes that of the state before it.
  void run_head(Index head, std::vector<Real>& gradient, HeadSums& sums) {
    group_.read_head(head);
    SampleRows<const T>(k_.dy, sample_, head * p_)
        .read(group_.first(), count_, p_, dy_.zeros(count_ * p_));
    da_.assign(at(count_), 0), ddt_.assign(at(count_), 0);
    inside_chunk();
    from_state_behind(gradient);
    from_state_before(gradient);
    finish(head, sums);
  }

  /// Pairs of positions of the chunk.
  void inside_chunk() {
    const ChunkSteps& steps = group_.steps();
    turn(count_, p_, group_.x(), turned_x_.zeros(p_ * count_));
    Real* const w = w_.zeros(count_ * count_);
    add_product<Real>({count_, count_, p_}, as_it_is(dy_.data(), p_), turned_x_.data(), w);
    const Real* const mixed = group_.mixed();
    for (Index i = 0; i < count_; ++i) {
      for (Index k = 0; k < count_; ++k) {
        const Index pair = i * count_ + k;
        const Real decay = group_.decays()[pair];
        const auto through = static_cast<double>(w[pair] * group_.scores()[pair] * decay);
        const auto dt = steps.dt[at(k)];
        ddt_[at(k)] += through;
        if (k < i) {  // a position does not fade for itself
          da_[at(i)] += through * dt;
          da_[at(k)] -= through * dt;
        }
        w[pair] *= decay * static_cast<Real>(dt);
      }
    }
    add_product<Real>({count_, p_, count_}, turned(mixed, count_), dy_.data(),
                      dx_.zeros(count_ * p_));
    add_product<Real>({count_, n_, count_}, as_it_is(w, count_), group_.b(), dc_.data());
    add_product<Real>({count_, n_, count_}, turned(w, count_), group_.c(), db_.data());
  }

  /// What the chunk's positions gave to later chunks.
  void from_state_behind(const std::vector<Real>& gradient) {
    const ChunkSteps& steps = group_.steps();
    Real* const read = read_.zeros(count_ * p_);  // b_k^T gradient
    add_product<Real>({count_, p_, n_}, as_it_is(group_.b(), n_), gradient.data(), read);
    Real* const weighed = weighed_.zeros(count_ * p_);
    double all = 0;
    for (Index k = 0; k < count_; ++k) {
      const double keep = group_.kept_to_end(k), dt = steps.dt[at(k)];
      const double direct = keep * static_cast<double>(dot(group_.x() + k * p_, read + k * p_));
      ddt_[at(k)] += direct;
      da_[at(k)] -= direct * dt;
      all += direct * dt;
      const auto by = static_cast<Real>(keep * dt);
      for (Index i = k * p_; i < (k + 1) * p_; ++i) {
        dx_.data()[i] += by * read[i];
        weighed[i] = by * group_.x()[i];
      }
    }
    turn(n_, p_, gradient.data(), turned_state_.zeros(n_ * p_));
    add_product<Real>({count_, n_, p_}, as_it_is(weighed, p_), turned_state_.data(), db_.data());
    const Real kept = std::inner_product(gradient.begin(), gradient.end(), state_, Real(0));
    da_.back() += all + group_.kept() * static_cast<double>(kept);
  }

  /// What earlier chunks gave to the chunk's positions.
  void from_state_before(std::vector<Real>& gradient) {
    const Real* const entering = group_.entering();
    Real* const read = read_.zeros(count_ * p_);
    add_product<Real>({count_, p_, n_}, as_it_is(entering, n_), state_, read);
    Real* const weighed = weighed_.zeros(count_ * p_);
    for (Index i = 0; i < count_; ++i) {
      const auto by = static_cast<Real>(group_.kept_from_before(i));
      da_[at(i)] += static_cast<double>(dot(dy_.data() + i * p_, read + i * p_));
      for (Index j = i * p_; j < (i + 1) * p_; ++j) {
        weighed[j] = by * dy_.data()[j];
      }
    }
    turn(n_, p_, state_, turned_state_.zeros(n_ * p_));
    add_product<Real>({count_, n_, p_}, as_it_is(weighed, p_), turned_state_.data(), dc_.data());
    const auto keep = static_cast<Real>(group_.kept());
    for (Real& value : gradient) {
      value *= keep;
    }
    add_product<Real>({n_, p_, count_}, turned(entering, n_), dy_.data(), gradient.data());
  }

  void finish(Index head, HeadSums& sums) {
    const ChunkSteps& steps = group_.steps();
    const double rate = -std::exp(number_at(k_.in.a_log, head));
    const auto skip = static_cast<Real>(number_at(k_.in.d, head));
    const SampleRows<T> ddt(k_.ddt, sample_, head);
    double to_exponent = 0;
    for (Index i = count_ - 1; i >= 0; --i) {
      to_exponent += da_[at(i)];
      const double to_raw = (ddt_[at(i)] + rate * to_exponent) * steps.opening[at(i)];
      ddt[group_.first() + i][0] = T(static_cast<Real>(to_raw));
      sums.dt_bias += to_raw;
      sums.a_log += rate * steps.dt[at(i)] * to_exponent;
      sums.d += static_cast<double>(dot(dy_.data() + i * p_, group_.x() + i * p_));
    }
    for (Index i = 0; i < count_ * p_; ++i) {
      dx_.data()[i] += skip * dy_.data()[i];
    }
    SampleRows<T>(k_.dx, sample_, head * p_).write(group_.first(), count_, p_, dx_.data());
  }

  const SelectiveScanBackward& k_;
  Index sample_, number_, heads_;
  Group<T, Real> group_;
  Index n_, p_, count_ = 0;
  const Real* state_ = nullptr;  // before the chunk
  std::vector<double> da_, ddt_;
  Scratch<Real> dy_, dx_, db_, dc_, w_, turned_x_, read_, weighed_, turned_state_;
};

}  // namespace

void run(device::HostStream&, const SelectiveScanForward& k) {
  visit_scan_types(k.in.x.dtype, [&]<class T, class Real>() {
    for_heads(k.in, k.chunk, [&](Index sample, Index group, HeadRange heads) {
      scan<T, Real>(k, sample, group, heads);
    });
  });
}

void run(device::HostStream&, const SelectiveScanBackward& k) {
  const Index heads = k.in.heads(), samples = k.in.x.size(1);
  std::vector<HeadSums> sums(at(samples * heads));
  visit_scan_types(k.in.x.dtype, [&]<class T, class Real>() {
    for_groups(k.in, k.chunk, [&](Index sample, Index group) {
      GroupBackward<T, Real>(k, sample, group).run(sums.data() + sample * heads);
    });
  });
  for (Index head = 0; head < heads; ++head) {
    HeadSums all;
    for (Index sample = 0; sample < samples; ++sample) {
      const HeadSums& own = sums[at(sample * heads + head)];
      all.a_log += own.a_log, all.d += own.d, all.dt_bias += own.dt_bias;
    }
    put_number(k.da_log, head, all.a_log, k.accumulate);
    put_number(k.dd, head, all.d, k.accumulate);
    put_number(k.ddt_bias, head, all.dt_bias, k.accumulate);
  }
}

}  // namespace mpitron::kernels
