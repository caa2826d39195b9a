#include "kernels/state_space/selective_scan.h"

#include "kernels/host/state_space/scan_group.h"

namespace mpitron::kernels {
namespace {

using namespace host;

/// Some heads of a group of one sample, chunk after chunk.
template <class T, class Real>
class HeadsForward {
 public:
  HeadsForward(const SelectiveScanForward& k, Index sample, const HeadRange& heads)
      : k_(k),
        sample_(sample),
        heads_(heads),
        group_(k.in),
        n_(k.in.state_dim()),
        p_(k.in.head_dim()),
        state_(static_cast<std::size_t>(heads.end - heads.first)) {}

  void run() {
    for (Scratch<Real>& state : state_) {
      state.zeros(n_ * p_);
    }
    for (Index number = 0; number < chunks_of(k_.in.x, k_.chunk); ++number) {
      chunk_ = chunk_of(k_.in.x, k_.chunk, sample_, number);
      group_.read_b(chunk_, heads_.group), group_.read_c(chunk_, heads_.group);
      group_.score(chunk_.count);
      for (Index head = heads_.first; head < heads_.end; ++head) {
        run_head(head, state_[static_cast<std::size_t>(head - heads_.first)].data());
      }
    }
  }

 private:
  void run_head(Index head, Real* state) {
    const Index count = chunk_.count;
    std::copy_n(state, n_ * p_, k_.states.as<Real>() + place_of_state(k_.in, chunk_, head));
    steps_.read(k_.in, chunk_, head);
    SampleRows<const T>(k_.in.x, sample_, head * p_)
        .read(chunk_.first, count, p_, x_.room(count * p_));
    Real* const y = y_.zeros(count * p_);
    if (chunk_.number > 0) {
      set_product<T>({count, p_, n_}, group_.c().as_it_is(), state, y);
    }
    const auto skip = static_cast<Real>(number_at(k_.in.d, head));
    for (Index i = 0; i < count; ++i) {
      const Real kept = steps_.fading.from_before()[i];
      std::transform(y + i * p_, y + (i + 1) * p_, x_.data() + i * p_, y + i * p_,
                     [=](Real read, Real x) { return kept * read + skip * x; });
    }
    add_product<T>({count, p_, count, Triangle::lower}, as_it_is(mixed(), count), x_.data(), y);
    SampleRows<T>(k_.y, sample_, head * p_).write(chunk_.first, count, p_, y);
    if (chunk_.number + 1 < chunks_of(k_.in.x, k_.chunk)) {
      advance(state);
    }
  }
  /// Scores times decays times dt of each pair of positions, [count, count].
  const Real* mixed() {
    const Index count = chunk_.count;
    Real* const to = mixed_.room(count * count);
    steps_.fading.decays(to);
    for (Index i = 0; i < count; ++i) {
      Real* const row = to + i * count;
      const Real* const scores = group_.scores() + i * count;
      for_vectors<Real>(row_end<Real>(i, count), [&]<class V>(Index k) {
        const V weighed = load_lanes<V>(scores + k) * load_lanes<V>(steps_.dt.data() + k);
        store_lanes<V>(row + k, weighed * load_lanes<V>(row + k));
      });
    }
    return to;
  }
  /// state [n, p] of the chunk's start becomes that of its end.
  void advance(Real* state) {
    const Index count = chunk_.count;
    const Real kept = steps_.fading.kept();
    std::transform(state, state + n_ * p_, state, [kept](Real x) { return kept * x; });
    weigh_rows(count, p_, x_.data(), x_.data(), [&](Index i) {
      return steps_.fading.to_end()[i] * steps_.dt[static_cast<std::size_t>(i)];
    });
    add_product<T>({n_, p_, count}, group_.b().turned(), x_.data(), state);
  }

  const SelectiveScanForward& k_;
  Index sample_;
  HeadRange heads_;
  ScanGroup<T, Real> group_;
  Index n_, p_;
  std::vector<Scratch<Real>> state_;
  Chunk chunk_{};
  ScanSteps<T, Real> steps_;
  Scratch<Real> x_, y_, mixed_;
};

}  // namespace

void run(device::HostStream&, const SelectiveScanForward& k) {
  const Index work = k.in.x.numel() * (2 * k.chunk + 4 * k.in.state_dim()) / 8;
  visit_scan_types(k.in.x.dtype, [&]<class T, class Real>() {
    for_heads(k.in, work, [&](Index sample, const HeadRange& heads) {
      HeadsForward<T, Real>(k, sample, heads).run();
    });
  });
}

}  // namespace mpitron::kernels
