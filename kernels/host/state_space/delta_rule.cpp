#include "kernels/state_space/delta_rule.h"

#include "kernels/host/state_space/delta_head.h"

namespace mpitron::kernels {
namespace {

using namespace host;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

template <class F>
void for_key_heads(const DeltaRuleInputs& in, F&& f) {
  for_blocks(in.q.size(1) * in.key_heads, in.v.numel() * in.key_dim(),
             [&](Index task) { f(task / in.key_heads, task % in.key_heads); });
}

/// Where `states` has the state before a chunk.
Index place_of_state(const DeltaRuleInputs& in, Index chunk, Index sample, Index head) {
  const Index row = (chunk * in.q.size(1) + sample) * in.value_heads() + head;
  return row * in.key_dim() * in.value_dim();
}

template <class T, class Real>
void pass_forward(const DeltaRuleForward& k, Index sample, Index number) {
  DeltaHead<T, Real> head(k.in, sample, number);
  const DocumentStarts starts(k.in.starts);
  const SampleRows<T> o_rows(k.o, sample, number * head.values());
  std::vector<Real> state(at(head.keys() * head.values()), 0), o(at(head.values()));
  for (Index i = 0; i < k.in.q.size(0); ++i) {
    if (i % k.chunk == 0) {
      std::ranges::copy(state,
                        k.states.as<Real>() + place_of_state(k.in, i / k.chunk, sample, number));
    }
    head.read(i, starts.begins(i, sample));
    head.fade(state.data());
    head.correct(state.data());
    head.output(state.data(), o.data());
    o_rows.write(i, 1, head.values(), o.data());
  }
}

struct HeadSums {
  double a_log = 0, dt_bias = 0;
};

/// One value head of one sample, chunks in reverse; within a chunk its states are made again.
template <class T, class Real>
class HeadBackward {
 public:
  HeadBackward(const DeltaRuleBackward& k, Index sample, Index number)
      : k_(k),
        sample_(sample),
        number_(number),
        head_(k.in, sample, number),
        starts_(k.in.starts),
        size_(head_.keys() * head_.values()),
        d_o_(k.d_o, sample, number * head_.values()),
        dv_(k.dv, sample, number * head_.values()),
        dbeta_(k.dbeta, sample, number),
        dalpha_(k.dalpha, sample, number),
        states_(at((k.chunk + 1) * size_)),
        gradient_(at(size_), 0),
        faded_(at(size_)),
        to_q_(at(head_.keys())),
        to_k_(to_q_),
        to_v_(at(head_.values())),
        given_(to_v_) {}

  /// Adds to dq and dk, [s, k].
  HeadSums run(Real* dq, Real* dk) {
    const Index s = k_.in.q.size(0);
    for (Index first = (s - 1) / k_.chunk * k_.chunk; first >= 0; first -= k_.chunk) {
      const Index count = std::min(k_.chunk, s - first);
      std::copy_n(k_.states.as<Real>() + place_of_state(k_.in, first / k_.chunk, sample_, number_),
                  size_, states_.begin());
      for (Index i = 0; i < count; ++i) {
        Real* const next = state(i + 1);
        std::copy_n(state(i), size_, next);
        read(first + i), head_.fade(next), head_.correct(next);
      }
      for (Index i = count - 1; i >= 0; --i) {
        step(first + i, i);
        head_.add_to_q(to_q_.data(), dq + (first + i) * head_.keys());
        head_.add_to_k(to_k_.data(), dk + (first + i) * head_.keys());
      }
    }
    return sums_;
  }

 private:
  Real* state(Index i) { return states_.data() + i * size_; }
  void read(Index i) { head_.read(i, starts_.begins(i, sample_)); }

  /// Position i, `in_chunk` of its chunk.
  void step(Index i, Index in_chunk) {
    const Index values = head_.values();
    read(i);
    std::copy_n(state(in_chunk), size_, faded_.begin());
    head_.fade(faded_.data());
    d_o_.read(i, 1, values, given_.data());
    std::ranges::fill(to_v_, Real(0));
    const Real* const after = state(in_chunk + 1);
    for (Index r = 0; r < head_.keys(); ++r) {
      Real* const row = gradient_.data() + r * values;
      const Real query = head_.q()[at(r)] * head_.scale(), key = head_.k()[at(r)];
      Real to_q = 0, to_k = 0;
      for (Index c = 0; c < values; ++c) {
        row[c] += query * given_[at(c)];
        to_q += after[r * values + c] * given_[at(c)];
        to_k += row[c] * head_.d()[at(c)];
        to_v_[at(c)] += row[c] * key;
      }
      to_q_[at(r)] = to_q * head_.scale(), to_k_[at(r)] = to_k * head_.beta();
    }
    through_correction(i);
  }
  void through_correction(Index i) {
    const Index values = head_.values();
    double to_beta = 0, to_g = 0;
    for (Index c = 0; c < values; ++c) {
      to_beta += static_cast<double>(to_v_[at(c)] * head_.d()[at(c)]);
      to_v_[at(c)] *= head_.beta();
    }
    for (Index r = 0; r < head_.keys(); ++r) {
      Real* const row = gradient_.data() + r * values;
      const Real* const faded = faded_.data() + r * values;
      const Real key = head_.k()[at(r)];
      Real to_k = 0, along = 0;
      for (Index c = 0; c < values; ++c) {
        row[c] -= key * to_v_[at(c)];
        to_k += faded[c] * to_v_[at(c)];
        along += row[c] * faded[c];
        row[c] *= head_.keep();
      }
      to_k_[at(r)] -= to_k;
      to_g += static_cast<double>(along);
    }
    dv_.write(i, 1, values, to_v_.data());
    const auto beta = static_cast<double>(head_.beta());
    dbeta_[i][0] = T(static_cast<Real>(to_beta * beta * (1 - beta)));
    const double to_raw = to_g * head_.slope();
    dalpha_[i][0] = T(static_cast<Real>(to_raw));
    sums_.a_log += to_g * head_.g(), sums_.dt_bias += to_raw;
  }

  const DeltaRuleBackward& k_;
  Index sample_, number_;
  DeltaHead<T, Real> head_;
  DocumentStarts starts_;
  Index size_;
  SampleRows<const T> d_o_;
  SampleRows<T> dv_, dbeta_, dalpha_;
  std::vector<Real> states_, gradient_, faded_, to_q_, to_k_, to_v_, given_;
  HeadSums sums_;
};

}  // namespace

void run(device::HostStream&, const DeltaRuleForward& k) {
  visit_scan_types(k.in.q.dtype, [&]<class T, class Real>() {
    for_key_heads(k.in, [&](Index sample, Index key) {
      for (Index head = key * k.in.served(); head < (key + 1) * k.in.served(); ++head) {
        pass_forward<T, Real>(k, sample, head);
      }
    });
  });
}

void run(device::HostStream&, const DeltaRuleBackward& k) {
  const Index s = k.in.q.size(0), width = k.in.key_dim(), heads = k.in.value_heads();
  std::vector<HeadSums> sums(at(k.in.q.size(1) * heads));
  visit_scan_types(k.in.q.dtype, [&]<class T, class Real>() {
    for_key_heads(k.in, [&](Index sample, Index key) {
      std::vector<Real> dq(at(s * width), 0), dk = dq;
      for (Index head = key * k.in.served(); head < (key + 1) * k.in.served(); ++head) {
        sums[at(sample * heads + head)] =
            HeadBackward<T, Real>(k, sample, head).run(dq.data(), dk.data());
      }
      SampleRows<T>(k.dq, sample, key * width).write(0, s, width, dq.data());
      SampleRows<T>(k.dk, sample, key * width).write(0, s, width, dk.data());
    });
  });
  for (Index head = 0; head < heads; ++head) {
    HeadSums all;
    for (Index sample = 0; sample < k.in.q.size(1); ++sample) {
      const HeadSums& own = sums[at(sample * heads + head)];
      all.a_log += own.a_log, all.dt_bias += own.dt_bias;
    }
    put_number(k.da_log, head, all.a_log, k.accumulate);
    put_number(k.ddt_bias, head, all.dt_bias, k.accumulate);
  }
}

}  // namespace mpitron::kernels
