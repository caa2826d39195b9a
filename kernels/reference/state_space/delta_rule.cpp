#include "kernels/state_space/delta_rule.h"

#include <algorithm>
#include <numeric>

#include "kernels/elementwise/softplus.h"
#include "kernels/reference/common/elements.h"
#include "kernels/state_space/document_starts.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

namespace {

using Vector = std::vector<double>;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

double dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// Columns [first, first + count) of one position.
Vector row(const In& view, Index i, Index sample, Index first, Index count) {
  Vector values;
  for (Index column = first; column < first + count; ++column) {
    values.push_back(Reader(view)(i, sample, column));
  }
  return values;
}

void put_row(const Out& view, Index i, Index sample, Index first, const Vector& values) {
  for (Index column = 0; column < static_cast<Index>(values.size()); ++column) {
    Writer(view).set(values[at(column)], i, sample, first + column);
  }
}

/// x / sqrt(|x|^2 + 1e-6).
struct Unit {
  explicit Unit(const Vector& x) : factor(1 / std::sqrt(dot(x, x) + 1e-6)), value(x) {
    std::ranges::for_each(value, [this](double& v) { v *= factor; });
  }
  /// From a gradient of the value to that of x.
  Vector gradient(const Vector& of_value) const {
    const double along = dot(value, of_value);
    Vector result;
    for (std::size_t i = 0; i < value.size(); ++i) {
      result.push_back(factor * (of_value[i] - value[i] * along));
    }
    return result;
  }
  double factor;
  Vector value;
};

/// What a value head has at one position.
struct Position {
  Position(const DeltaRuleInputs& in, Index i, Index sample, Index head)
      : q(row(in.q, i, sample, head / in.served() * in.key_dim(), in.key_dim())),
        k(row(in.k, i, sample, head / in.served() * in.key_dim(), in.key_dim())),
        v(row(in.v, i, sample, head * in.value_dim(), in.value_dim())),
        scale(1 / std::sqrt(static_cast<double>(in.key_dim()))),
        beta(1 / (1 + std::exp(-Reader(in.beta)(i, sample, head)))),
        rate(-std::exp(Reader(in.a_log)(head))),
        raw(Reader(in.alpha)(i, sample, head) + Reader(in.dt_bias)(head)),
        g(rate * softplus(raw)),
        keep(DocumentStarts(in.starts).begins(i, sample) ? 0 : std::exp(g)) {}

  /// The state [k, v] of the position before, faded.
  Vector faded(const Vector& before) const {
    Vector state = before;
    std::ranges::for_each(state, [this](double& value) { value *= keep; });
    return state;
  }
  /// beta (v - S^T k) of the faded state.
  Vector correction(const Vector& state) const {
    Vector result = v;
    for (std::size_t c = 0; c < v.size(); ++c) {
      for (std::size_t r = 0; r < k.value.size(); ++r) {
        result[c] -= state[r * v.size() + c] * k.value[r];
      }
      result[c] *= beta;
    }
    return result;
  }
  /// S = decay S + k (beta (v - S k)), the state after this position.
  Vector after(const Vector& before) const {
    Vector state = faded(before);
    const Vector d = correction(state);
    for (std::size_t i = 0; i < state.size(); ++i) {
      state[i] += k.value[i / v.size()] * d[i % v.size()];
    }
    return state;
  }

  Unit q, k;
  Vector v;
  double scale, beta, rate, raw, g, keep;
};

struct HeadSums {
  double a_log = 0, dt_bias = 0;
};

/// One value head of one sample; gradients of keys and queries [s, k] add up over such heads.
struct DeltaGradients {
  const DeltaRuleBackward& k;
  Index sample, head;
  std::vector<Vector>&dq, &dk;

  /// Keeps all states: the oracle is plain, not frugal.
  HeadSums run() const {
    const Index s = k.in.q.size(0), size = k.in.key_dim() * k.in.value_dim();
    std::vector<Vector> states(1, Vector(at(size), 0));
    for (Index i = 0; i < s; ++i) {
      states.push_back(Position(k.in, i, sample, head).after(states.back()));
    }
    Vector gradient(at(size), 0);
    HeadSums sums;
    for (Index i = s - 1; i >= 0; --i) {
      step(i, states, gradient, sums);
    }
    return sums;
  }
  /// One position backwards: gradients of q, k, v, beta, decay and of the state before.
  void step(Index i, const std::vector<Vector>& states, Vector& gradient, HeadSums& sums) const {
    const Position p(k.in, i, sample, head);
    const std::size_t columns = p.v.size(), rows = p.k.value.size();
    const Vector d_o = row(k.d_o, i, sample, head * k.in.value_dim(), k.in.value_dim());
    const Vector faded = p.faded(states[at(i)]), d = p.correction(faded);
    Vector to_q(rows, 0), to_k(rows, 0), to_d(columns, 0), to_v(columns, 0);
    for (std::size_t e = 0; e < gradient.size(); ++e) {
      const std::size_t r = e / columns, c = e % columns;
      gradient[e] += p.q.value[r] * p.scale * d_o[c];
      to_q[r] += states[at(i + 1)][e] * d_o[c] * p.scale;
      to_k[r] += gradient[e] * d[c];
      to_d[c] += gradient[e] * p.k.value[r];
    }
    double to_beta = 0, to_g = 0;
    for (std::size_t c = 0; c < columns; ++c) {
      to_beta += to_d[c] * d[c] / p.beta;
      to_v[c] = to_d[c] * p.beta;
    }
    for (std::size_t e = 0; e < gradient.size(); ++e) {
      const std::size_t r = e / columns, c = e % columns;
      gradient[e] -= p.k.value[r] * to_v[c];
      to_k[r] -= faded[e] * to_v[c];
      to_g += gradient[e] * faded[e];
      gradient[e] *= p.keep;
    }
    const Vector of_q = p.q.gradient(to_q), of_k = p.k.gradient(to_k);
    for (std::size_t r = 0; r < rows; ++r) {
      dq[at(i)][r] += of_q[r], dk[at(i)][r] += of_k[r];
    }
    put_row(k.dv, i, sample, head * k.in.value_dim(), to_v);
    Writer(k.dbeta).set(to_beta * p.beta * (1 - p.beta), i, sample, head);
    const double to_raw = to_g * p.rate / (1 + std::exp(-p.raw));
    Writer(k.dalpha).set(to_raw, i, sample, head);
    sums.a_log += to_g * p.g, sums.dt_bias += to_raw;
  }
};

}  // namespace

/// Position by position, all heads apart.
void run(device::ReferenceStream&, const DeltaRuleForward& k) {
  const Index s = k.in.q.size(0), samples = k.in.q.size(1), heads = k.in.value_heads();
  const Index v = k.in.value_dim(), size = k.in.key_dim() * v;
  for (Index task = 0; task < samples * heads; ++task) {
    const Index sample = task / heads, head = task % heads;
    Vector state(at(size), 0);
    for (Index i = 0; i < s; ++i) {
      for (Index e = 0; k.states && i % k.chunk == 0 && e < size; ++e) {
        Writer(k.states).set(state[at(e)], (i / k.chunk * samples * heads + task) * size + e);
      }
      const Position p(k.in, i, sample, head);
      state = p.after(state);
      Vector o(at(v), 0);
      for (Index e = 0; e < size; ++e) {
        o[at(e % v)] += state[at(e)] * p.q.value[at(e / v)] * p.scale;
      }
      put_row(k.o, i, sample, head * v, o);
    }
  }
}

/// Key heads collect the gradients of the value heads that share them, in order.
void run(device::ReferenceStream&, const DeltaRuleBackward& k) {
  const Index s = k.in.q.size(0), width = k.in.key_dim();
  std::vector<HeadSums> sums(at(k.in.value_heads()));
  for (Index sample = 0; sample < k.in.q.size(1); ++sample) {
    for (Index key = 0; key < k.in.key_heads; ++key) {
      std::vector<Vector> dq(at(s), Vector(at(width), 0)), dk = dq;
      for (Index head = key * k.in.served(); head < (key + 1) * k.in.served(); ++head) {
        const HeadSums own = DeltaGradients{k, sample, head, dq, dk}.run();
        sums[at(head)].a_log += own.a_log, sums[at(head)].dt_bias += own.dt_bias;
      }
      for (Index i = 0; i < s; ++i) {
        put_row(k.dq, i, sample, key * width, dq[at(i)]);
        put_row(k.dk, i, sample, key * width, dk[at(i)]);
      }
    }
  }
  for (Index head = 0; head < k.in.value_heads(); ++head) {
    const auto put = [&](const InOut& to, double value) {
      const Writer writer(to);
      writer.set((k.accumulate ? writer(head) : 0) + value, head);
    };
    put(k.da_log, sums[at(head)].a_log), put(k.ddt_bias, sums[at(head)].dt_bias);
  }
}

}  // namespace mpitron::kernels
