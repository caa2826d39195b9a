#include "kernels/state_space/delta_rule.h"

#include "kernels/host/state_space/delta_chunk.h"

namespace mpitron::kernels {
namespace {

using namespace host;

/// The value heads that one key head of one sample serves, chunk after chunk.
template <class T, class Real>
class ServedForward {
 public:
  ServedForward(const DeltaRuleForward& k, Index sample, Index key_head)
      : k_(k),
        sample_(sample),
        key_head_(key_head),
        keys_width_(k.in.key_dim()),
        width_(k.in.value_dim()),
        state_(static_cast<std::size_t>(k.in.served())) {}

  void run() {
    for (Scratch<Real>& state : state_) {
      state.zeros(keys_width_ * width_);
    }
    for (Index number = 0; number < chunks_of(k_.in.q, k_.chunk); ++number) {
      chunk_ = chunk_of(k_.in.q, k_.chunk, sample_, number);
      keys_.read(k_.in, chunk_, key_head_);
      for (std::size_t own = 0; own < state_.size(); ++own) {
        run_head(key_head_ * k_.in.served() + static_cast<Index>(own), state_[own].data());
      }
    }
  }

 private:
  void run_head(Index head, Real* state) {
    const Index count = chunk_.count;
    std::copy_n(state, keys_width_ * width_,
                k_.states.as<Real>() + place_of_state(k_.in, chunk_, head));
    values_.read(k_.in, chunk_, head, keys_, state);
    const Fading<Real>& fading = values_.steps.fading;
    Real* const o = o_.zeros(count * width_);
    if (chunk_.number > 0) {
      set_product<T>({count, width_, keys_width_}, keys_.q().rows().as_it_is(), state, o);
      weigh_rows(count, width_, o, o,
                 [&](Index i) { return fading.from_before()[i] * keys_.q().factors()[i]; });
    }
    add_product<T>({count, width_, count, Triangle::lower}, as_it_is(values_.mixed(), count),
                   values_.errors(), o);
    SampleRows<T>(k_.o, sample_, head * width_).write(chunk_.first, count, width_, o);
    if (chunk_.number + 1 < chunks_of(k_.in.q, k_.chunk)) {
      weigh_rows(count, width_, values_.errors(), o,
                 [&](Index i) { return fading.to_end()[i] * keys_.k().factors()[i]; });
      weigh_rows(1, keys_width_ * width_, state, state, [&](Index) { return fading.kept(); });
      add_product<T>({keys_width_, width_, count}, keys_.k().rows().turned(), o, state);
    }
  }

  const DeltaRuleForward& k_;
  Index sample_, key_head_, keys_width_, width_;
  std::vector<Scratch<Real>> state_;
  Chunk chunk_{};
  DeltaKeys<T, Real> keys_;
  DeltaValues<T, Real> values_;
  Scratch<Real> o_;
};

}  // namespace

void run(device::HostStream&, const DeltaRuleForward& k) {
  visit_scan_types(k.in.q.dtype, [&]<class T, class Real>() {
    for_key_heads(k.in, [&](Index sample, Index key_head) {
      ServedForward<T, Real>(k, sample, key_head).run();
    });
  });
}

}  // namespace mpitron::kernels
