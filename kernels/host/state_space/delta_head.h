#pragma once
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/host/state_space/sample_rows.h"
#include "kernels/state_space/delta_rule.h"
#include "kernels/state_space/document_starts.h"

namespace mpitron::kernels::host {

/// What a value head has at one position, and its state's way from one to the next; rows of a
/// state are keys.
template <class T, class Real>
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
        scale_(Real(1) / std::sqrt(static_cast<Real>(keys_))),
        q_(at(keys_)),
        k_(q_),
        v_(at(values_)),
        d_(v_) {}

  /// Position i; `begins`: nothing before it is of its document.
  void read(Index i, bool begins) {
    q_factor_ = read_unit(q_rows_, i, q_), k_factor_ = read_unit(k_rows_, i, k_);
    v_rows_.read(i, 1, values_, v_.data());
    beta_ = static_cast<Real>(1 / (1 + std::exp(-as_double(beta_rows_[i][0]))));
    const double raw = as_double(alpha_rows_[i][0]) + bias_, small = std::exp(-std::abs(raw));
    g_ = rate_ * (std::max(raw, 0.0) + std::log1p(small));
    opening_ = (raw >= 0 ? 1 : small) / (1 + small);
    keep_ = begins ? Real(0) : static_cast<Real>(std::exp(g_));
  }
  /// `state` of the position before fades; what of the value it does not say yet is in d().
  void fade(Real* state) {
    std::copy(v_.begin(), v_.end(), d_.begin());
    for (Index r = 0; r < keys_; ++r) {
      Real* const row = state + r * values_;
      const Real key = k_[at(r)];
      for (Index c = 0; c < values_; ++c) {
        row[c] *= keep_;
        d_[at(c)] -= row[c] * key;
      }
    }
  }
  /// The rest of the way, from the faded state.
  void correct(Real* state) {
    for (Index r = 0; r < keys_; ++r) {
      Real* const row = state + r * values_;
      const Real key = k_[at(r)] * beta_;
      for (Index c = 0; c < values_; ++c) {
        row[c] += key * d_[at(c)];
      }
    }
  }
  void output(const Real* state, Real* o) const {
    std::fill_n(o, values_, Real(0));
    for (Index r = 0; r < keys_; ++r) {
      const Real query = q_[at(r)] * scale_;
      for (Index c = 0; c < values_; ++c) {
        o[c] += query * state[r * values_ + c];
      }
    }
  }

  Index keys() const { return keys_; }
  Index values() const { return values_; }
  const std::vector<Real>& q() const { return q_; }
  const std::vector<Real>& k() const { return k_; }
  const std::vector<Real>& d() const { return d_; }  // v - S^T k
  Real beta() const { return beta_; }
  Real keep() const { return keep_; }
  Real scale() const { return scale_; }
  double g() const { return g_; }
  double slope() const { return rate_ * opening_; }  // of g by alpha
  void add_to_q(const Real* gradient, Real* to) const { add_unit(q_, q_factor_, gradient, to); }
  void add_to_k(const Real* gradient, Real* to) const { add_unit(k_, k_factor_, gradient, to); }

 private:
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
  Real read_unit(const SampleRows<const T>& rows, Index i, std::vector<Real>& to) const {
    rows.read(i, 1, keys_, to.data());
    const Real square = std::inner_product(to.begin(), to.end(), to.begin(), Real(0));
    const Real factor = Real(1) / std::sqrt(square + Real(1e-6));
    std::ranges::for_each(to, [factor](Real& value) { value *= factor; });
    return factor;
  }
  /// From a gradient of x / sqrt(|x|^2 + 1e-6) to that of x.
  void add_unit(const std::vector<Real>& unit, Real factor, const Real* gradient, Real* to) const {
    const Real along = std::inner_product(unit.begin(), unit.end(), gradient, Real(0));
    for (Index r = 0; r < keys_; ++r) {
      to[r] += factor * (gradient[r] - unit[at(r)] * along);
    }
  }

  Index keys_, values_;
  SampleRows<const T> q_rows_, k_rows_, v_rows_, beta_rows_, alpha_rows_;
  double rate_, bias_, g_ = 0, opening_ = 0;
  Real scale_, beta_ = 0, keep_ = 0, q_factor_ = 0, k_factor_ = 0;
  std::vector<Real> q_, k_, v_, d_;
};

}  // namespace mpitron::kernels::host
