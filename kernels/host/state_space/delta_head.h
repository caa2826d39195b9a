#pragma once
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/host/state_space/sample_rows.h"
#include "kernels/state_space/delta_rule.h"

namespace mpitron::kernels::host {

/// A value head at one position, and the steps of its state from one to the next, for generation.
/// The state is [k, v], kept in any type.
template <class T>
class DeltaHead {
 public:
  DeltaHead(const DeltaRuleInputs& in, Index sample, Index head)
      : keys_(in.key_dim()),
        values_(in.value_dim()),
        q_rows_(in.q, sample, head / in.served() * keys_),
        k_rows_(in.k, sample, head / in.served() * keys_),
        v_rows_(in.v, sample, head * values_),
        beta_rows_(in.beta, sample, head),
        alpha_rows_(in.alpha, sample, head),
        rate_(-std::exp(number_at(in.a_log, head))),
        bias_(number_at(in.dt_bias, head)),
        scale_(1 / std::sqrt(static_cast<float>(keys_))),
        q_(at(keys_)),
        k_(q_),
        v_(at(values_)),
        d_(v_) {}

  void read(Index i) {
    read_unit(q_rows_, i, q_), read_unit(k_rows_, i, k_);
    v_rows_.read(i, 1, values_, v_.data());
    beta_ = static_cast<float>(1 / (1 + std::exp(-as_double(beta_rows_[i][0]))));
    const double raw = as_double(alpha_rows_[i][0]) + bias_, small = std::exp(-std::abs(raw));
    const double g = rate_ * (std::max(raw, 0.0) + std::log1p(small));
    keep_ = static_cast<float>(std::exp(g));
  }
  /// d_ becomes what the state of the position before, faded, does not say yet of the value.
  template <class S>
  void compare(const S* state) {
    std::copy(v_.begin(), v_.end(), d_.begin());
    for (Index r = 0; r < keys_; ++r) {
      const simd::Float key = simd::splat(k_[at(r)]);
      simd::for_lanes(values_, [&](Index c, auto lanes) {
        const simd::Float missing = simd::load(d_.data() + c, lanes);
        const simd::Float faded = simd::load(state + r * values_ + c, lanes) * keep_;
        simd::store(d_.data() + c, simd::fma(-faded, key, missing), lanes);
      });
    }
  }
  /// The state fades and takes d_ in, times beta; o [values] is what the query reads of it.
  template <class S>
  void correct(S* state, float* o) const {
    std::fill_n(o, values_, 0.F);
    for (Index r = 0; r < keys_; ++r) {
      const simd::Float key = simd::splat(k_[at(r)] * beta_);
      const simd::Float query = simd::splat(q_[at(r)] * scale_);
      simd::for_lanes(values_, [&](Index c, auto lanes) {
        S* const kept = state + r * values_ + c;
        const simd::Float faded = simd::load(kept, lanes) * keep_;
        const simd::Float value = simd::fma(key, simd::load(d_.data() + c, lanes), faded);
        simd::store(o + c, simd::fma(query, value, simd::load(o + c, lanes)), lanes);
        simd::store(kept, value, lanes);
      });
    }
  }

  Index keys() const { return keys_; }
  Index values() const { return values_; }

 private:
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
  void read_unit(const SampleRows<const T>& rows, Index i, std::vector<float>& to) const {
    rows.read(i, 1, keys_, to.data());
    const float square = std::inner_product(to.begin(), to.end(), to.begin(), 0.F);
    const float factor = 1 / std::sqrt(square + 1e-6F);
    std::ranges::for_each(to, [factor](float& value) { value *= factor; });
  }

  Index keys_, values_;
  SampleRows<const T> q_rows_, k_rows_, v_rows_, beta_rows_, alpha_rows_;
  double rate_, bias_;
  float scale_, beta_ = 0, keep_ = 0;
  std::vector<float> q_, k_, v_, d_;
};

}  // namespace mpitron::kernels::host
