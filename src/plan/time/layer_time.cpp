#include "plan/time/layer_time.h"

#include "plan/time/half_layer.h"
#include "plan/time/product_time.h"

// Time of half a layer by cause: here products and kernels that only move bytes; half_layer.h names
// the other causes.

namespace mpitron::plan {
namespace {

using nn::ProductWork;
using nn::Share;

constexpr double kBackwardElementwise = 1.7;
constexpr double kBackwardQuantise = 1.5;
constexpr double kOpenWaves = 2.0 / 3;  // of pieces' waves; the rest is filled by the next piece

/// Times half a layer.
class HalfTimer {
 public:
  HalfTimer(const Setting& setting, const nn::LayerWork& work, bool narrow, bool dropped)
      : half_{setting.machine, setting.stack, setting.job, work, narrow, dropped} {}

  /// Launches come last: they add what the host needs beyond the device's work.
  LayerTime time() {
    for (const ProductWork& product : half_.work.products) {
      add_product(product);
    }
    add_scores(half_, result_);
    for (const nn::TokenNumbers& numbers : half_.work.moved) {
      add_moved(numbers);
    }
    add_tensor_traffic(half_, result_);
    add_context_traffic(half_, result_);
    add_expert_traffic(half_, result_);
    add_launches(half_, result_);
    if (half_.dropped) {
      result_.backward += result_.forward;
    }
    return result_;
  }

 private:
  double share_of(Share share) const {
    switch (share) {
      case Share::whole:
        return 1;
      case Share::along:
        return 1 / half_.job.along();
      case Share::tensor:
        return 1 / half_.job.tensor();
      case Share::visit:
        return half_.visiting_rows() / half_.job.tokens();
    }
    return 1;
  }

  /// Returns a rank's part of a product: cut along the side that tensor ranks divide.
  Product product_of(const ProductWork& work) const {
    const double cut = work.of_experts ? half_.job.expert_tensor() : half_.job.tensor();
    const double local = work.of_experts ? half_.job.experts() / half_.job.expert() : 1;
    const Precision precision =
        half_.narrow && work.narrow ? half_.job.precision() : Precision::bf16;
    return {.m = work.of_experts ? half_.visiting_rows() / local : half_.job.tokens(),
            .n = Job::real(work.outer) / (work.cut == ProductWork::Cut::outer ? cut : 1),
            .k = Job::real(work.inner) / (work.cut == ProductWork::Cut::inner ? cut : 1),
            .count = local,
            .precision = precision};
  }

  /// Returns the time of a product whose rows come from the other tensor ranks, or go to them,
  /// piece by piece: as far as that hides the traffic, each piece has a last wave that is not full.
  double time_in_pieces(const Product& product) const {
    const double whole = product_time(half_.machine, product);
    if (!half_.job.run.parallel.sequence_parallel) {
      return whole;
    }
    Product piece = product;
    piece.m /= half_.job.tensor();
    const double pieces = half_.job.tensor() * product_time(half_.machine, piece);
    return whole + kOpenWaves * half_.stack.tensor_overlap * (pieces - whole);
  }

  /// The backward pass has two products, for the gradients of inputs and of weights, with m, n and
  /// k exchanged; only the first, where it needs what other ranks have, goes in pieces.
  void add_product(const ProductWork& work) {
    Product p = product_of(work);
    if (!work.of_experts && work.cut == ProductWork::Cut::none) {
      p.m /= half_.job.along();
    }
    const double factor = half_.stack.products * (work.of_experts ? half_.stack.grouped : 1);
    const bool travels = work.cut != ProductWork::Cut::none && !work.of_experts;
    const auto timed = [&](const Product& product, bool beside) {
      return beside ? time_in_pieces(product) : product_time(half_.machine, product);
    };
    const double forward = factor * timed(p, travels);
    Product inputs = p, weights = p;
    /// Gradients: inputs are m x n by n x k, weights k x m by m x n.
    std::swap(inputs.n, inputs.k);
    std::swap(weights.m, weights.k);
    result_.forward.products += forward;
    result_.backward.products +=
        factor * (timed(inputs, travels && work.cut == ProductWork::Cut::inner) +
                  product_time(half_.machine, weights)) +
        (half_.again(work.again_by) ? forward : 0) +
        half_.job.practice.recomputed_products * forward;
    if (p.precision != Precision::bf16) {
      /// Inputs are quantised for each microbatch, weights once a step.
      const double numbers = p.count * (p.k * p.m + p.k * p.n / half_.job.microbatches());
      const double quantised = half_.stack.quantise * numbers / half_.memory_rate();
      result_.forward.elementwise += quantised;
      result_.backward.elementwise += kBackwardQuantise * quantised;
    }
  }

  /// Times kernels that are bound by memory; their backward passes read more than the forward ones.
  void add_moved(const nn::TokenNumbers& numbers) {
    const double bytes = 2 * half_.job.tokens() * numbers.count * share_of(numbers.share);
    const bool plain = numbers.share == Share::visit && !half_.job.practice.fused_activation &&
                       numbers.again_by == config::RecomputeModule::moe_act;
    const double seconds = (plain ? half_.stack.activation : 1) * half_.stack.elementwise * bytes /
                           half_.memory_rate();
    result_.forward.elementwise += seconds;
    result_.backward.elementwise +=
        (kBackwardElementwise + (half_.again(numbers.again_by) ? 1 : 0)) * seconds;
  }

  HalfLayer half_;
  LayerTime result_;
};

}  // namespace

Terms& Terms::operator+=(const Terms& other) {
  products += other.products;
  attention += other.attention;
  elementwise += other.elementwise;
  launch += other.launch;
  tensor += other.tensor;
  context += other.context;
  expert += other.expert;
  sharding += other.sharding;
  return *this;
}

Terms Terms::operator*(double factor) const {
  return {products * factor, attention * factor, elementwise * factor, launch * factor,
          tensor * factor,   context * factor,   expert * factor,      sharding * factor};
}

LayerTime layer_time(const Setting& setting, const LayerKind& kind, bool recomputed) {
  const bool drops = setting.job.run.model.recomputes(kind.drops_feed_forward);
  LayerTime time = HalfTimer(setting, kind.mixer, kind.narrow, recomputed).time();
  const LayerTime second =
      HalfTimer(setting, kind.feed_forward, kind.narrow, recomputed || drops).time();
  time.forward += second.forward;
  time.backward += second.backward;
  add_sharding(setting, held_parameters(setting.job, kind), time);
  return time;
}

HeldParameters held_parameters(const Job& job, const LayerKind& kind) {
  return {.dense = kind.dense_weights() / job.tensor(),
          .expert = kind.expert_weights() * job.experts() / (job.expert() * job.expert_tensor())};
}

}  // namespace mpitron::plan
