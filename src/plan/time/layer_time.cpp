#include "plan/time/layer_time.h"

#include <algorithm>
#include <cmath>

#include "plan/time/collective_time.h"
#include "plan/time/product_time.h"

// Time of half a layer by cause: products, attention, kernels that only move bytes, launches, and
// the traffic that work does not hide.

namespace mpitron::plan {
namespace {

using nn::ProductWork;
using nn::Share;

constexpr double kBackwardElementwise = 1.7;
constexpr double kBackwardQuantise = 1.5;
constexpr double kBackwardLaunches = 2;
constexpr double kFlashBackward = 2.5;  // operations, over those of the forward pass
constexpr double kNarrowHead = 0.9;     // rate of heads less than 128 wide
constexpr double kGroupedKernels = 4;   // of experts' products, whatever they are given
constexpr double kChunkLaunches = 0.3;  // of an expert whose rows are sorted one by one
constexpr double kMergedBytes = 10;     // a part of 2 bytes read, its sum of 4 read and written
constexpr double kOpenWaves = 2.0 / 3;  // of pieces' waves; the rest is filled by the next piece
constexpr double kHidesLaunches = 4;    // exponent of the soft maximum of host and device

/// Returns whether a part of the forward pass runs again, beside what the whole layer does.
bool runs_again(const config::ModelConfig& model, std::optional<config::RecomputeModule> by) {
  return by && model.recomputes(*by);
}

/// Returns the visible keys of a query over all keys, in the mean over a sequence: half of them for
/// a causal one; with a window its width on each visible side, less the triangle that the end of
/// the sequence there lacks; of a chunk half.
double visible_share(const nn::ScoreWork& scores, double sequence) {
  if (scores.chunk > 0 && static_cast<double>(scores.chunk) < sequence) {
    return static_cast<double>(scores.chunk) / sequence / 2;
  }
  if (scores.window && static_cast<double>(*scores.window) < sequence) {
    const double w = static_cast<double>(*scores.window) / sequence;
    return scores.causal ? w - w * w / 2 : 2 * w - w * w;
  }
  return scores.causal ? 0.5 : 1;
}

/// Times half a layer.
class HalfTimer {
 public:
  HalfTimer(const Setting& setting, const nn::LayerWork& work, bool narrow, bool dropped)
      : machine_(setting.machine),
        stack_(setting.stack),
        job_(setting.job),
        work_(work),
        narrow_(narrow),
        dropped_(dropped) {}

  /// Launches come last: they add what the host needs beyond the device's work.
  LayerTime time() {
    for (const ProductWork& product : work_.products) {
      add_product(product);
    }
    add_scores();
    for (const nn::TokenNumbers& numbers : work_.moved) {
      add_moved(numbers);
    }
    add_tensor_traffic();
    add_context_traffic();
    add_expert_traffic();
    add_launches();
    if (dropped_) {
      result_.backward += result_.forward;
    }
    return result_;
  }

 private:
  double memory_rate() const { return machine_.memory_bandwidth * machine_.memory_share; }

  double share_of(Share share) const {
    switch (share) {
      case Share::whole:
        return 1;
      case Share::along:
        return 1 / job_.along();
      case Share::tensor:
        return 1 / job_.tensor();
      case Share::visit:
        return visiting_rows() / job_.tokens();
    }
    return 1;
  }

  /// Returns the rows of all experts of this rank, tokens being spread evenly.
  double visiting_rows() const {
    return job_.tokens() / job_.tensor() * job_.visits() * job_.expert_tensor();
  }

  /// Returns a rank's part of a product: cut along the side that tensor ranks divide.
  Product product_of(const ProductWork& work) const {
    const double cut = work.of_experts ? job_.expert_tensor() : job_.tensor();
    const double local = work.of_experts ? job_.experts() / job_.expert() : 1;
    const Precision precision = narrow_ && work.narrow ? job_.precision() : Precision::bf16;
    return {.m = work.of_experts ? visiting_rows() / local : job_.tokens(),
            .n = Job::real(work.outer) / (work.cut == ProductWork::Cut::outer ? cut : 1),
            .k = Job::real(work.inner) / (work.cut == ProductWork::Cut::inner ? cut : 1),
            .count = local,
            .precision = precision};
  }

  /// Returns the time of a product whose rows come from the other tensor ranks, or go to them,
  /// piece by piece: as far as that hides the traffic, each piece has a last wave that is not full.
  double time_in_pieces(const Product& product) const {
    const double whole = product_time(machine_, product);
    if (!job_.run.parallel.sequence_parallel) {
      return whole;
    }
    Product piece = product;
    piece.m /= job_.tensor();
    const double pieces = job_.tensor() * product_time(machine_, piece);
    return whole + kOpenWaves * stack_.tensor_overlap * (pieces - whole);
  }

  /// The backward pass has two products, for the gradients of inputs and of weights, with m, n and
  /// k exchanged; only the first, where it needs what other ranks have, goes in pieces.
  void add_product(const ProductWork& work) {
    Product p = product_of(work);
    if (!work.of_experts && work.cut == ProductWork::Cut::none) {
      p.m /= job_.along();
    }
    const double factor = stack_.products * (work.of_experts ? stack_.grouped : 1);
    const bool travels = work.cut != ProductWork::Cut::none && !work.of_experts;
    const auto timed = [&](const Product& product, bool beside) {
      return beside ? time_in_pieces(product) : product_time(machine_, product);
    };
    const double forward = factor * timed(p, travels);
    Product inputs = p, weights = p;
    /// Gradients: inputs are m x n by n x k, weights k x m by m x n.
    std::swap(inputs.n, inputs.k);
    std::swap(weights.m, weights.k);
    result_.forward.products += forward;
    result_.backward.products +=
        factor * (timed(inputs, travels && work.cut == ProductWork::Cut::inner) +
                  product_time(machine_, weights)) +
        (again(work.again_by) ? forward : 0) + job_.practice.recomputed_products * forward;
    if (p.precision != Precision::bf16) {
      /// Inputs are quantised for each microbatch, weights once a step.
      const double numbers = p.count * (p.k * p.m + p.k * p.n / job_.microbatches());
      const double quantised = stack_.quantise * numbers / memory_rate();
      result_.forward.elementwise += quantised;
      result_.backward.elementwise += kBackwardQuantise * quantised;
    }
  }

  bool again(std::optional<config::RecomputeModule> by) const {
    return !dropped_ && runs_again(job_.run.model, by);
  }

  /// Times attention, as a fused kernel or with scores written to memory.
  void add_scores() {
    if (!work_.scores) {
      return;
    }
    const nn::ScoreWork& scores = *work_.scores;
    const double heads = Job::real(scores.heads) / job_.tensor();
    const double all = job_.sequence() * job_.tokens() * heads;  // visible or not
    if (stack_.unfused_attention > 0) {
      add_unfused_scores(scores, all);
    } else {
      const double width = Job::real(scores.key_width + scores.value_width);
      const double narrow = scores.key_width < 128 ? kNarrowHead : 1;
      const double operations =
          2 * all * width * visible_share(scores, job_.sequence()) / narrow * stack_.attention *
          (1 + machine_.attention_half * kernels_of_a_query() / job_.sequence());
      result_.forward.attention = operations / (machine_.peak_16 * machine_.attention_forward);
      result_.backward.attention =
          kFlashBackward * operations / (machine_.peak_16 * machine_.attention_backward);
      add_merging(heads * Job::real(scores.value_width));
    }
    if (stack_.unfused_attention > 0 && again(config::RecomputeModule::core_attn)) {
      result_.backward.attention += result_.forward.attention;
    }
  }

  /// Outputs of a ring's kernels are summed up, and so are inputs' gradients behind them.
  void add_merging(double width) {
    if (job_.context() > 1) {
      const double bytes = kMergedBytes * job_.tokens() * width * kernels_of_a_query();
      const double seconds = stack_.elementwise * bytes / memory_rate();
      result_.forward.elementwise += seconds;
      result_.backward.elementwise += seconds;
    }
  }

  /// Mean number of a ring's kernels that a query takes part in. A rank has one piece from the
  /// front of the sequence and one from its back: keys of earlier ranks meet both pieces, those of
  /// later ranks the back alone.
  double kernels_of_a_query() const { return (3 * job_.context() + 1) / 4; }

  /// Scores written to memory, and passes of softmax, mask and dropout over them.
  void add_unfused_scores(const nn::ScoreWork& scores, double all) {
    const double s = job_.sequence(), d = Job::real(scores.key_width);
    const double batches = all / (s * s);
    const double odd = scores.key_width % 8 != 0 ? stack_.odd_heads : 1;
    const double one = product_time(machine_, {s, s, d, batches, Precision::bf16}) +
                       product_time(machine_, {s, d, s, batches, Precision::bf16});
    result_.forward.attention = stack_.attention * (odd * one + 9 * all / memory_rate());
    result_.backward.attention = stack_.attention * (2 * odd * one + 11 * all / memory_rate());
  }

  /// Times kernels that are bound by memory; their backward passes read more than the forward ones.
  void add_moved(const nn::TokenNumbers& numbers) {
    const double bytes = 2 * job_.tokens() * numbers.count * share_of(numbers.share);
    const bool plain = numbers.share == Share::visit && !job_.practice.fused_activation &&
                       numbers.again_by == config::RecomputeModule::moe_act;
    const double seconds =
        (plain ? stack_.activation : 1) * stack_.elementwise * bytes / memory_rate();
    result_.forward.elementwise += seconds;
    result_.backward.elementwise +=
        (kBackwardElementwise + (again(numbers.again_by) ? 1 : 0)) * seconds;
  }

  /// Behind products of gradients programs hide the sum over inputs' gradients and, with sequence
  /// parallelism, the gather of inputs that products of weights' gradients need.
  void add_tensor_traffic() {
    if (job_.tensor() == 1) {
      return;
    }
    const double dense = Job::real(work_.regions) - (work_.visits ? 1 : 0);
    const double once =
        dense * gather_time(machine_, {job_.tensor(), 1}, 2 * job_.tokens() * job_.hidden());
    const double backward = (job_.run.parallel.sequence_parallel ? 3 : 2) * once;
    const double hidden =
        stack_.backward_tensor_hidden * std::min(2 * once, result_.backward.products);
    result_.forward.tensor = (1 - stack_.tensor_overlap) * 2 * once;
    result_.backward.tensor = (1 - stack_.tensor_overlap) * (backward - hidden);
  }

  /// Keys and values pass around the ring while attention works on those of the step before;
  /// gradients take them along on the way back.
  void add_context_traffic() {
    if (job_.context() == 1 || work_.passed == 0) {
      return;
    }
    const double c = job_.context();
    const RankGroup group{c, job_.tensor()};
    const double bytes = 2 * job_.tokens() * work_.passed / job_.tensor();
    const double ring = (c - 1) * send_time(machine_, group, bytes);
    const auto exposed = [&](double traffic, double work) {
      return (1 - stack_.context_overlap) * traffic +
             std::max(0.0, stack_.context_overlap * traffic - work);
    };
    result_.forward.context = exposed(ring, result_.forward.attention);
    result_.backward.context = exposed(2 * ring, result_.backward.attention);
  }

  /// Tokens go out in the precision of expert-bytes and come back in 16 bits.
  void add_expert_traffic() {
    if (!work_.visits || job_.expert() == 1) {
      return;
    }
    const RankGroup group{job_.expert(), 1};
    const config::MoeConfig& moe = *job_.run.model.moe;
    Exchange exchange{.tokens = job_.tokens() / job_.tensor(),
                      .choices = job_.visits(),
                      .bytes = stack_.expert_bytes * job_.hidden(),
                      .most_parts = Job::real(moe.group_topk.value_or(0)),
                      .parts = Job::real(moe.num_groups.value_or(0))};
    double traffic = exchange_time(machine_, group, exchange);
    exchange.bytes = 2 * job_.hidden();
    traffic = (traffic + exchange_time(machine_, group, exchange)) / stack_.exchange_share;
    const bool waits = job_.practice.graphs != Graphs::whole && !job_.practice.bounded_experts;
    const double fixed = waits ? stack_.expert_exchange : 0;  // for the counts of tokens
    const double hidden =
        job_.run.parallel.overlap_moe_expert_parallel_comm ? stack_.expert_overlap : 0;
    const auto exposed = [&](double work) {
      return (1 - hidden) * traffic + std::max(0.0, hidden * traffic - work);
    };
    result_.forward.expert = exposed(result_.forward.sum()) + fixed;
    result_.backward.expert = exposed(result_.backward.sum()) + fixed;
  }

  /// Adds the host's launches where they take longer than the device's work, with a soft edge; all
  /// of them where the host waits for each kernel.
  void add_launches() {
    const double launches = launched_kernels();
    const auto added = [&](const Terms& device, double host) {
      if (stack_.waits_for_kernels > 0) {
        return host;
      }
      const double work = device.sum();
      const double both = std::pow(std::pow(work, kHidesLaunches) + std::pow(host, kHidesLaunches),
                                   1 / kHidesLaunches);
      return both - work;
    };
    const double host = stack_.launch * launches;
    result_.forward.launch += added(result_.forward, host);
    result_.backward.launch += added(result_.backward, kBackwardLaunches * host);
  }

  /// Returns the kernels that the host launches in a forward pass: those in graphs count as none.
  double launched_kernels() const {
    const Graphs graphs = job_.practice.graphs;
    if (graphs == Graphs::whole || (graphs == Graphs::attention_and_router && work_.scores)) {
      return 0;
    }
    if (!work_.visits) {
      return work_.launches;
    }
    const double local = job_.experts() / job_.expert();
    const bool narrow = narrow_ && job_.precision() != Precision::bf16;
    double grouped = job_.practice.bounded_experts ? kGroupedKernels : local * (narrow ? 3 : 2);
    if (!job_.practice.fused_dispatch && !job_.practice.bounded_experts) {
      grouped += kChunkLaunches * job_.experts();  // rows are sorted by rank and expert
    }
    return work_.launches * (graphs == Graphs::none ? 1 : 0.5) + grouped;
  }

  const Machine& machine_;
  const Stack& stack_;
  const Job& job_;
  const nn::LayerWork& work_;
  bool narrow_;
  bool dropped_;  // the backward pass begins with another forward pass
  LayerTime result_;
};

/// Returns what traffic adds to work beside it: of the shorter of both, the part that does not
/// overlap.
double exposed_beside(const Stack& stack, double traffic, double work) {
  const double both =
      std::max(traffic, work) + (1 - stack.full_sharding_overlap) * std::min(traffic, work);
  return both - work;
}

/// Adds weights gathered in front of each pass and gradients reduced behind it, for fully sharded
/// runs without a pipeline; others reduce once a step (step_time.cpp).
void add_sharding(const Setting& setting, const HeldParameters& held, LayerTime& time) {
  const Job& job = setting.job;
  if (!job.sharded_by_layer() || job.stages() > 1 || job.data() == 1) {
    return;
  }
  const double parameters = held.dense + held.expert;
  const RankGroup group{job.data() * job.context(), job.tensor()};
  const double slower = setting.stack.sharding_traffic;
  const double gather = slower * gather_time(setting.machine, group, 2 * parameters);
  const double reduce =
      slower * gather_time(setting.machine, group, job.gradient_bytes() * parameters);
  const bool again =
      job.run.parallel.sharding_strategy == config::ShardingStrategy::optim_grads_params;
  time.forward.sharding = exposed_beside(setting.stack, gather, time.forward.sum());
  time.backward.sharding =
      exposed_beside(setting.stack, reduce + (again ? gather : 0), time.backward.sum());
}

/// Adds a product of 16 bits and its two of the backward pass.
void add_plain_product(const Setting& setting, const Product& p, LayerTime& time) {
  const auto seconds = [&](double m, double n, double k) {
    return setting.stack.products * product_time(setting.machine, {m, n, k, 1, Precision::bf16});
  };
  time.forward.products += seconds(p.m, p.n, p.k);
  time.backward.products += seconds(p.m, p.k, p.n) + seconds(p.k, p.n, p.m);
}

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

Terms LayerTime::both() const {
  Terms sum = forward;
  sum += backward;
  return sum;
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

/// Adds the product with the vocabulary and, as an estimate, the bytes that the loss moves for a
/// score in the forward and the backward pass.
LayerTime head_time(const Setting& setting) {
  const Job& job = setting.job;
  const double vocabulary = job.vocabulary() / job.tensor();
  const double memory = setting.machine.memory_bandwidth * setting.machine.memory_share;
  LayerTime time;
  add_plain_product(setting, {job.tokens(), vocabulary, job.hidden()}, time);
  time.forward.elementwise = 10 * job.tokens() * vocabulary / memory;
  time.backward.elementwise = 6 * job.tokens() * vocabulary / memory;
  return time;
}

LayerTime depth_time(const Setting& setting) {
  const Job& job = setting.job;
  LayerTime time = head_time(setting);
  add_plain_product(setting, {job.tokens(), job.hidden() / job.tensor(), 2 * job.hidden()}, time);
  return time;
}

HeldParameters held_parameters(const Job& job, const LayerKind& kind) {
  return {.dense = kind.dense_weights() / job.tensor(),
          .expert = kind.expert_weights() * job.experts() / (job.expert() * job.expert_tensor())};
}

}  // namespace mpitron::plan
