#include <utility>

#include "kernels/host/state_space/delta_chunk.h"
#include "kernels/state_space/delta_rule.h"

namespace mpitron::kernels {
namespace {

using namespace host;

struct DeltaHeadSums {
  double a_log = 0, dt_bias = 0;
};

/// The value heads that one key head of one sample serves, from the last chunk on.
template <class T, class Real>
class ServedBackward {
 public:
  ServedBackward(const DeltaRuleBackward& k, Index sample, Index key_head)
      : k_(k),
        sample_(sample),
        key_head_(key_head),
        keys_width_(k.in.key_dim()),
        width_(k.in.value_dim()),
        gradient_(at(k.in.served())) {}

  /// `sums` of the heads that are served.
  void run(DeltaHeadSums* sums) {
    for (Scratch<Real>& gradient : gradient_) {
      gradient.zeros(keys_width_ * width_);
    }
    for (Index number = chunks_of(k_.in.q, k_.chunk) - 1; number >= 0; --number) {
      chunk_ = chunk_of(k_.in.q, k_.chunk, sample_, number), count_ = chunk_.count;
      keys_.read(k_.in, chunk_, key_head_);
      dq_.zeros(count_ * keys_width_), dk_.zeros(count_ * keys_width_);
      query_pairs_.zeros(count_ * count_), key_pairs_.zeros(count_ * count_);
      for (std::size_t own = 0; own < gradient_.size(); ++own) {
        run_head(key_head_ * k_.in.served() + static_cast<Index>(own), gradient_[own].data(),
                 sums[own]);
      }
      finish_keys();
    }
  }

 private:
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }

  /// `gradient` [k, v]: of the state behind the chunk; becomes that of the state before it.
  void run_head(Index head, Real* gradient, DeltaHeadSums& sums) {
    const Real* const state = k_.states.as<Real>() + place_of_state(k_.in, chunk_, head);
    values_.read(k_.in, chunk_, head, keys_, state);
    SampleRows<const T>(k_.d_o, sample_, head * width_)
        .read(chunk_.first, count_, width_, given_.room(count_, width_));
    da_.assign(at(count_), 0), dbeta_ = da_;
    to_errors(gradient);
    solve_turned(count_, width_, values_.system(), to_errors_.data());
    pairs();
    to_state(head, state, gradient);
    finish(head, sums);
  }

  /// The gradient of the errors: by the outputs of the chunk and by the state behind it.
  void to_errors(const Real* gradient) {
    const Fading<Real>& fading = values_.steps.fading;
    Real* const to = to_errors_.zeros(count_ * width_);
    if (chunk_.number + 1 < chunks_of(k_.in.q, k_.chunk)) {
      const auto to_end = [&](Index i) { return fading.to_end()[i]; };
      set_product<T>({count_, width_, keys_width_}, keys_.k().rows().as_it_is(), gradient, to);
      double all = 0;
      for (Index i = 0; i < count_; ++i) {
        const auto along =
            static_cast<double>(to_end(i) * keys_.k().factors()[i] *
                                inner(values_.errors() + i * width_, to + i * width_, width_));
        da_[at(i)] -= along, all += along;
      }
      da_.back() += all;
      weigh_rows(count_, width_, to, to,
                 [&](Index i) { return to_end(i) * keys_.k().factors()[i]; });
      weigh_rows(count_, width_, values_.errors(), weighed_.room(count_ * width_), to_end);
      turn(keys_width_, width_, gradient, turned_.room(keys_width_ * width_));
      add_product<T>({count_, keys_width_, width_}, as_it_is(weighed_.data(), width_),
                     turned_.data(), dk_.data());
    }
    add_product<T>({count_, width_, count_, Triangle::upper}, turned(values_.mixed(), count_),
                   given_.data(), to);
  }

  /// What pairs of positions give to the products of queries and keys, to decays and beta.
  void pairs() {
    Real* const turned_errors = turned_.room(count_ * width_);
    turn(count_, width_, values_.errors(), turned_errors);
    const ProductSize size{count_, count_, width_, Triangle::lower_result};
    set_product<T>(size, given_.as_it_is(), turned_errors, to_mixed_.room(count_ * count_));
    set_product<T>(size, as_it_is(to_errors_.data(), width_), turned_errors,
                   to_system_.room(count_ * count_));
    Real* const column_sums = column_sums_.zeros(count_);
    for (Index i = 0; i < count_; ++i) {
      const Index row = i * count_;
      const Real beta = values_.steps.beta[at(i)];
      const Real own = std::exchange(to_mixed_.data()[row + i], Real(0));
      to_system_.data()[row + i] = 0;
      LaneSum<Real> faded, to_beta;
      for_vectors<Real>(row_end<Real>(i, count_), [&]<class V>(Index k) {
        const V decay = load_lanes<V>(values_.decays() + row + k);
        const V to_query = decay * load_lanes<V>(to_mixed_.data() + row + k);
        const V to_key = -decay * load_lanes<V>(to_system_.data() + row + k);
        const V unweighed = to_key * load_lanes<V>(keys_.kk() + row + k);
        const V both = to_query * load_lanes<V>(keys_.qk() + row + k) + beta * unweighed;
        to_beta.add(unweighed), faded.add(both);
        add(query_pairs_.data() + row + k, to_query), add(column_sums + k, both);
        add(key_pairs_.data() + row + k, V(beta * to_key));
      });
      query_pairs_.data()[row + i] += own;
      da_[at(i)] += static_cast<double>(faded.total());
      dbeta_[at(i)] += static_cast<double>(to_beta.total());
    }
    for (Index k = 0; k < count_; ++k) {
      da_[at(k)] -= static_cast<double>(column_sums[k]);
    }
  }
  template <class V>
  [[gnu::always_inline]] static void add(Real* to, const V& value) {
    store_lanes<V>(to, load_lanes<V>(to) + value);
  }

  /// What the values and the state before the chunk get.
  void to_state(Index head, const Real* state, Real* gradient) {
    const Fading<Real>& fading = values_.steps.fading;
    Real *const to_values = to_errors_.data(), *const to_said = weighed_.room(count_ * width_);
    for (Index i = 0; i < count_; ++i) {
      const Real beta = values_.steps.beta[at(i)], by = -fading.from_before()[i];
      LaneSum<Real> to_beta, faded;
      for_vectors<Real>(width_, [&]<class V>(Index j) {
        const Index place = i * width_ + j;
        const V error = load_lanes<V>(to_values + place), value = beta * error, said = by * value;
        to_beta.add(error * load_lanes<V>(values_.open() + place));
        faded.add(said * load_lanes<V>(values_.said() + place));
        store_lanes<V>(to_values + place, value), store_lanes<V>(to_said + place, said);
      });
      dbeta_[at(i)] += static_cast<double>(to_beta.total());
      da_[at(i)] += static_cast<double>(faded.total());
    }
    SampleRows<T>(k_.dv, sample_, head * width_).write(chunk_.first, count_, width_, to_values);
    if (chunk_.number > 0) {
      from_state(state, gradient);
    }
  }
  void from_state(const Real* state, Real* gradient) {
    const Fading<Real>& fading = values_.steps.fading;
    const Index size = keys_width_ * width_;
    const Real kept = fading.kept();
    da_.back() += static_cast<double>(kept) * static_cast<double>(inner(state, gradient, size));
    turn(keys_width_, width_, state, turned_.room(size));
    Real* const to_q = to_q_.room(count_ * keys_width_);
    set_product<T>({count_, keys_width_, width_}, given_.as_it_is(), turned_.data(), to_q);
    const Real* const q = keys_.q().rows().data();
    for (Index i = 0; i < count_; ++i) {
      const Index row = i * keys_width_;
      const Real by = fading.from_before()[i];
      LaneSum<Real> faded;
      for_vectors<Real>(keys_width_, [&]<class V>(Index j) {
        const V value = by * load_lanes<V>(to_q + row + j);
        faded.add(value * load_lanes<V>(q + row + j)), add(dq_.data() + row + j, value);
      });
      da_[at(i)] += static_cast<double>(keys_.q().factors()[i] * faded.total());
    }
    add_product<T>({count_, keys_width_, width_}, as_it_is(weighed_.data(), width_), turned_.data(),
                   dk_.data());
    weigh_rows(1, size, gradient, gradient, [&](Index) { return kept; });
    weigh_rows(count_, width_, weighed_.data(), weighed_.data(),
               [&](Index i) { return keys_.k().factors()[i]; });
    add_product<T>({keys_width_, width_, count_}, keys_.k().rows().turned(), weighed_.data(),
                   gradient);
    weigh_rows(count_, width_, given_.data(), weighed_.data(),
               [&](Index i) { return fading.from_before()[i] * keys_.q().factors()[i]; });
    add_product<T>({keys_width_, width_, count_}, keys_.q().rows().turned(), weighed_.data(),
                   gradient);
  }

  void finish(Index head, DeltaHeadSums& sums) {
    const SampleRows<T> dbeta(k_.dbeta, sample_, head), dalpha(k_.dalpha, sample_, head);
    const DeltaSteps<T, Real>& steps = values_.steps;
    double to_g = 0;
    for (Index i = count_ - 1; i >= 0; --i) {
      to_g += da_[at(i)];
      const double to_raw = to_g * steps.slope[at(i)];
      const auto beta = static_cast<double>(steps.beta[at(i)]);
      dalpha[chunk_.first + i][0] = T(static_cast<Real>(to_raw));
      dbeta[chunk_.first + i][0] = T(static_cast<Real>(dbeta_[at(i)] * beta * (1 - beta)));
      sums.a_log += to_g * steps.g[at(i)], sums.dt_bias += to_raw;
    }
  }
  void finish_keys() {
    const ProductSize lower{count_, keys_width_, count_, Triangle::lower};
    const ProductSize upper{count_, keys_width_, count_, Triangle::upper};
    const Real *const q = keys_.q().units(), *const k = keys_.k().units();
    add_product<T>(lower, as_it_is(query_pairs_.data(), count_), k, dq_.data());
    add_product<T>(upper, turned(query_pairs_.data(), count_), q, dk_.data());
    add_product<T>(lower, as_it_is(key_pairs_.data(), count_), k, dk_.data());
    add_product<T>(upper, turned(key_pairs_.data(), count_), k, dk_.data());
    keys_.q().backward(count_, dq_.data());
    keys_.k().backward(count_, dk_.data());
    SampleRows<T>(k_.dq, sample_, key_head_ * keys_width_)
        .write(chunk_.first, count_, keys_width_, dq_.data());
    SampleRows<T>(k_.dk, sample_, key_head_ * keys_width_)
        .write(chunk_.first, count_, keys_width_, dk_.data());
  }

  const DeltaRuleBackward& k_;
  Index sample_, key_head_, keys_width_, width_, count_ = 0;
  std::vector<Scratch<Real>> gradient_;  // of the states, one for each head
  Chunk chunk_{};
  DeltaKeys<T, Real> keys_;
  DeltaValues<T, Real> values_;
  std::vector<double> da_, dbeta_;
  LeftRows<Real> given_;
  Scratch<Real> to_errors_, weighed_, turned_, to_mixed_, to_system_, column_sums_;
  Scratch<Real> dq_, dk_, to_q_, query_pairs_, key_pairs_;
};

}  // namespace

void run(device::HostStream&, const DeltaRuleBackward& k) {
  const Index heads = k.in.value_heads(), samples = k.in.q.size(1);
  std::vector<DeltaHeadSums> sums(static_cast<std::size_t>(samples * heads));
  visit_scan_types(k.in.q.dtype, [&]<class T, class Real>() {
    for_key_heads(k.in, [&](Index sample, Index key_head) {
      ServedBackward<T, Real>(k, sample, key_head)
          .run(sums.data() + sample * heads + key_head * k.in.served());
    });
  });
  for (Index head = 0; head < heads; ++head) {
    DeltaHeadSums all;
    for (Index sample = 0; sample < samples; ++sample) {
      const DeltaHeadSums& own = sums[static_cast<std::size_t>(sample * heads + head)];
      all.a_log += own.a_log, all.dt_bias += own.dt_bias;
    }
    put_number(k.da_log, head, all.a_log, k.accumulate);
    put_number(k.ddt_bias, head, all.dt_bias, k.accumulate);
  }
}

}  // namespace mpitron::kernels
