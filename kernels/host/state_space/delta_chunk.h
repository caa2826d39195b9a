#pragma once
#include <numeric>

#include "kernels/host/common/parallel.h"
#include "kernels/host/state_space/fading.h"
#include "kernels/state_space/delta_rule.h"
#include "kernels/state_space/document_starts.h"

// The delta rule in chunks (Yang et al. 2025): with a the logarithm of the decay since the chunk's
// start, S the state before it and e what the state does not say yet of the values,
//   e_i = beta_i (v_i - e^a_i k_i S) - sum over k < i of beta_i (k_i . k_k) e^(a_i - a_k) e_k,
//   o_i = e^a_i q_i S + sum over k <= i of (q_i . k_k) e^(a_i - a_k) e_k,
// so that positions meet in products and one triangular system.

namespace mpitron::kernels::host {

/// Where `states` has that of a value head before a chunk.
inline Index place_of_state(const DeltaRuleInputs& in, const Chunk& chunk, Index head) {
  const Index row = chunk.row(in.q.size(1)) * in.value_heads() + head;
  return row * in.key_dim() * in.value_dim();
}

/// Queries or keys of a head in a chunk, [count, k], and the factors that give their rows the
/// length `scale`. Products take the rows as they were read, which is what their type holds, and
/// what they give is multiplied by the factors.
template <class T, class Real>
class UnitRows {
 public:
  void read(const In& from, const Chunk& chunk, Index head, Index columns, Real scale) {
    columns_ = columns, scale_ = scale;
    Real* const rows = rows_.room(chunk.count, columns);
    SampleRows<const T>(from, chunk.sample, head * columns)
        .read(chunk.first, chunk.count, columns, rows);
    factors_.resize(static_cast<std::size_t>(chunk.count));
    for (Index i = 0; i < chunk.count; ++i) {
      const Real* const row = rows + i * columns;
      factors_[static_cast<std::size_t>(i)] =
          scale / std::sqrt(inner(row, row, columns) + Real(1e-6));
    }
  }
  Index columns() const { return columns_; }
  LeftRows<Real>& rows() { return rows_; }
  const Real* factors() const { return factors_.data(); }
  /// The rows times their factors.
  const Real* units() {
    const auto count = static_cast<Index>(factors_.size());
    Real* const to = units_.room(count * columns_);
    weigh_rows(count, columns_, rows_.data(), to, [&](Index i) { return factors()[i]; });
    return to;
  }
  /// Gradients of the units become those of the rows.
  void backward(Index count, Real* gradients) {
    for (Index i = 0; i < count; ++i) {
      Real *const gradient = gradients + i * columns_, *const row = rows_.data() + i * columns_;
      const Real factor = factors()[i], share = factor / scale_;
      const Real along = share * share * inner(row, gradient, columns_);
      std::transform(row, row + columns_, gradient, gradient,
                     [=](Real x, Real to) { return factor * (to - along * x); });
    }
  }

 private:
  Index columns_ = 0;
  Real scale_ = 1;
  std::vector<Real> factors_;
  LeftRows<Real> rows_;
  Scratch<Real> units_;
};

/// A key head in a chunk: what the value heads that it serves share.
template <class T, class Real>
class DeltaKeys {
 public:
  void read(const DeltaRuleInputs& in, const Chunk& chunk, Index head) {
    const Index columns = in.key_dim(), count = chunk.count;
    q_.read(in.q, chunk, head, columns, Real(1) / std::sqrt(static_cast<Real>(columns)));
    k_.read(in.k, chunk, head, columns, Real(1));
    Real* const turned_k = turned_k_.room(columns * count);
    turn(count, columns, k_.rows().data(), turned_k);
    multiply(q_, turned_k, count, qk_);
    multiply(k_, turned_k, count, kk_);
  }
  UnitRows<T, Real>& q() { return q_; }
  UnitRows<T, Real>& k() { return k_; }
  /// q or k of a position times k of an earlier one, [count, count], below the diagonal and on it.
  const Real* qk() { return qk_.data(); }
  const Real* kk() { return kk_.data(); }

 private:
  void multiply(UnitRows<T, Real>& left, const Real* turned_k, Index count, Scratch<Real>& to) {
    Real* row = to.room(count * count);
    set_product<T>({count, count, k_.columns(), Triangle::lower_result}, left.rows().as_it_is(),
                   turned_k, row);
    for (Index i = 0; i < count; ++i, row += count) {
      const Real factor = left.factors()[i];
      for_vectors<Real>(row_end<Real>(i, count), [&]<class V>(Index k) {
        store_lanes<V>(row + k, factor * load_lanes<V>(k_.factors() + k) * load_lanes<V>(row + k));
      });
    }
  }

  UnitRows<T, Real> q_, k_;
  Scratch<Real> turned_k_, qk_, kk_;
};

/// Steps of a value head in a chunk; g is the logarithm of the decay, `slope` its derivative.
template <class T, class Real>
struct DeltaSteps {
  std::vector<Real> beta;
  std::vector<double> g, slope;
  Fading<Real> fading;

  void read(const DeltaRuleInputs& in, const Chunk& chunk, Index head) {
    const SampleRows<const T> betas(in.beta, chunk.sample, head),
        raws(in.alpha, chunk.sample, head);
    const DocumentStarts starts(in.starts);
    const double rate = -std::exp(number_at(in.a_log, head));
    const auto bias = static_cast<Real>(number_at(in.dt_bias, head));
    const auto count = static_cast<std::size_t>(chunk.count);
    g.resize(count), slope.resize(count), beta.resize(count);
    std::vector<Real> steps(count), opening(count);
    std::vector<Index> first(count);
    for (std::size_t i = 0; i < count; ++i) {
      const Index position = chunk.first + static_cast<Index>(i);
      beta[i] = static_cast<Real>(1 / (1 + std::exp(-as_double(betas[position][0]))));
      steps[i] = static_cast<Real>(raws[position][0]) + bias;
      first[i] = starts(position, chunk.sample) - chunk.first;
    }
    softplus(chunk.count, steps.data(), steps.data(), opening.data());
    const auto times_rate = [rate](Real x) { return rate * static_cast<double>(x); };
    std::ranges::transform(steps, g.begin(), times_rate);
    std::ranges::transform(opening, slope.begin(), times_rate);
    std::vector<double> a(count);
    std::partial_sum(g.begin(), g.end(), a.begin());
    fading.set(std::move(a), std::move(first));
  }
};

/// Rows of one system that are solved one by one; those before them come in by a product.
inline constexpr Index kSolvedRows = 6;

/// x [n, columns] of x - m x = what is there, where m [n, n] has only what is below its diagonal.
template <class Real>
void solve(Index n, Index columns, const Real* m, Real* x) {
  for (Index begin = 0; begin < n; begin += kSolvedRows) {
    const Index end = std::min(n, begin + kSolvedRows);
    add_product<Real>({end - begin, columns, begin}, as_it_is(m + begin * n, n), x,
                      x + begin * columns);
    for (Index i = begin + 1; i < end; ++i) {
      add_product<Real>({1, columns, i - begin}, as_it_is(m + i * n + begin, n),
                        x + begin * columns, x + i * columns);
    }
  }
}
/// The same with m turned.
template <class Real>
void solve_turned(Index n, Index columns, const Real* m, Real* x) {
  for (Index end = n; end > 0;) {
    const Index begin = (end - 1) / kSolvedRows * kSolvedRows;
    add_product<Real>({end - begin, columns, n - end}, turned(m + end * n + begin, n),
                      x + end * columns, x + begin * columns);
    for (Index i = end - 2; i >= begin; --i) {
      add_product<Real>({1, columns, end - 1 - i}, turned(m + (i + 1) * n + i, n),
                        x + (i + 1) * columns, x + i * columns);
    }
    end = begin;
  }
}

/// What both directions compute of a value head in a chunk.
template <class T, class Real>
class DeltaValues {
 public:
  DeltaSteps<T, Real> steps;

  /// `state` [k, v] before the chunk.
  void read(const DeltaRuleInputs& in, const Chunk& chunk, Index head, DeltaKeys<T, Real>& keys,
            const Real* state) {
    const Index count = chunk.count, width = in.value_dim(), columns = in.key_dim();
    steps.read(in, chunk, head);
    Real* const open = open_.room(count * width);
    SampleRows<const T>(in.v, chunk.sample, head * width).read(chunk.first, count, width, open);
    Real* const said = said_.zeros(count * width);
    if (chunk.number > 0) {
      set_product<T>({count, width, columns}, keys.k().rows().as_it_is(), state, said);
    }
    Real* const errors = errors_.room(count * width);
    for (Index i = 0; i < count; ++i) {
      const Real kept = steps.fading.from_before()[i], by = steps.beta[static_cast<std::size_t>(i)];
      const Real unit = keys.k().factors()[i];
      for_vectors<Real>(width, [&]<class V>(Index j) {
        const Index at = i * width + j;
        const V told = unit * load_lanes<V>(said + at);
        const V value = load_lanes<V>(open + at) - kept * told;
        store_lanes<V>(said + at, told), store_lanes<V>(open + at, value),
            store_lanes<V>(errors + at, by * value);
      });
    }
    mix(count, keys);
    solve(count, width, system_.data(), errors);
  }
  /// What the state before the chunk says of each key; v minus what is left of that; and e.
  const Real* said() { return said_.data(); }
  const Real* open() { return open_.data(); }
  const Real* errors() { return errors_.data(); }
  /// e^(a_i - a_k), the same times q_i . k_k, and minus beta_i k_i . k_k times it below the
  /// diagonal: [count, count].
  const Real* decays() { return decays_.data(); }
  const Real* mixed() { return mixed_.data(); }
  const Real* system() { return system_.data(); }

 private:
  void mix(Index count, DeltaKeys<T, Real>& keys) {
    steps.fading.decays(decays_.room(count * count));
    Real *const mixed = mixed_.zeros(count * count), *const system = system_.zeros(count * count);
    for (Index i = 0; i < count; ++i) {
      const Real by = -steps.beta[static_cast<std::size_t>(i)];
      const Index row = i * count;
      for_vectors<Real>(row_end<Real>(i, count), [&]<class V>(Index k) {
        const V decay = load_lanes<V>(decays_.data() + row + k);
        store_lanes<V>(mixed + row + k, decay * load_lanes<V>(keys.qk() + row + k));
        store_lanes<V>(system + row + k, by * decay * load_lanes<V>(keys.kk() + row + k));
      });
      system[row + i] = 0;
    }
  }

  Scratch<Real> said_, open_, errors_, decays_, mixed_, system_;
};

/// f(sample, key head) on threads.
template <class F>
void for_key_heads(const DeltaRuleInputs& in, F&& f) {
  for_blocks(in.q.size(1) * in.key_heads, in.v.numel() * in.key_dim(),
             [&](Index task) { f(task / in.key_heads, task % in.key_heads); });
}

}  // namespace mpitron::kernels::host
