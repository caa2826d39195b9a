#include "plan/time/layer_time.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "plan/time/collective_time.h"
#include "plan/time/product_time.h"

namespace mpitron::plan {
namespace {

constexpr double kBackwardElementwise = 1.7;
constexpr double kBackwardQuantise = 1.5;
constexpr double kFlashBackward = 2.5;  // operations, over those of the forward pass

class LayerTimer {
 public:
  LayerTimer(const Setting& setting, bool moe)
      : machine_(setting.machine),
        stack_(setting.stack),
        job_(setting.job),
        model_(setting.job.model),
        layout_(setting.job.layout),
        moe_(moe),
        tensor_(static_cast<double>(layout_.tensor)),
        tokens_(static_cast<double>(job_.sequence) * layout_.micro_batch / layout_.context) {}

  LayerTime time() {
    attention_products();
    feed_forward_products();
    LayerTime result;
    add_products(result);
    add_attention(result);
    add_elementwise(result);
    result.forward.launch += stack_.per_layer;
    result.backward.launch += 2 * stack_.per_layer;
    add_tensor_traffic(result);
    add_context_traffic(result);
    add_expert_traffic(result);
    add_recompute(result);
    add_sharding(result);
    return result;
  }

 private:
  double memory_rate() const { return machine_.memory_bandwidth * machine_.memory_share; }

  void product(double n, double k) { products_.push_back({tokens_, n, k, 1, job_.precision}); }

  void attention_products() {
    const double h = model_.hidden, n = model_.heads / tensor_, d = model_.head_dim;
    if (model_.latent_attention) {
      const LatentAttention mla;
      product(mla.query_rank, h);
      product(mla.kv_rank + mla.rotary, h);
      product(n * d, mla.query_rank);
      product(n * (d - mla.rotary + mla.value), mla.kv_rank);
      product(h, n * mla.value);
      return;
    }
    product((n + 2 * model_.kv_heads / tensor_) * d, h);
    product(h, n * d);
  }

  void feed_forward_products() {
    const double h = model_.hidden, up = model_.matrices_of_ffn() - 1;
    const double width = (moe_ ? model_.shared_ffn : model_.ffn) / tensor_;
    if (width > 0) {
      product(up * width, h);
      product(h, width);
    }
    if (moe_) {
      products_.push_back({tokens_ / tensor_, double(model_.experts), h, 1, Precision::bf16});
      const double local = static_cast<double>(model_.experts) / layout_.expert;
      const double rows = expert_rows() / local;
      grouped_.push_back({rows, up * model_.moe_ffn, h, local, job_.precision});
      grouped_.push_back({rows, h, double(model_.moe_ffn), local, job_.precision});
    }
  }

  /// Rows of all experts of this rank, tokens being spread evenly.
  double expert_rows() const { return tokens_ / tensor_ * model_.top_k; }

  void add_products(LayerTime& result) const {
    add_products(products_, stack_.products, result);
    add_products(grouped_, stack_.products * stack_.grouped, result);
  }

  void add_products(const std::vector<Product>& products, double factor, LayerTime& result) const {
    for (const Product& p : products) {
      result.forward.products += factor * product_time(machine_, p);
      Product inputs = p, weights = p;
      std::swap(inputs.n, inputs.k);
      std::swap(weights.m, weights.k);
      result.backward.products +=
          factor * (product_time(machine_, inputs) + product_time(machine_, weights));
      if (p.precision != Precision::bf16) {
        const double quantised = stack_.quantise * p.count * p.k * (p.m + p.n) / memory_rate();
        result.forward.elementwise += quantised;
        result.backward.elementwise += kBackwardQuantise * quantised;
      }
    }
  }

  void add_attention(LayerTime& result) const {
    const double s = job_.sequence, heads = model_.heads / tensor_;
    const double scores = s * tokens_ * heads;  // not halved
    if (stack_.unfused_attention > 0) {
      return add_unfused_attention(scores, result);
    }
    const double width =
        model_.latent_attention ? (model_.head_dim + LatentAttention{}.value) / 2 : model_.head_dim;
    const double narrow = model_.head_dim < 128 ? 0.8 : 1;
    const double operations =
        2 * scores * width / narrow * stack_.attention * (1 + machine_.attention_half / s);
    result.forward.attention = operations / (machine_.peak_16 * machine_.attention_forward);
    result.backward.attention =
        kFlashBackward * operations / (machine_.peak_16 * machine_.attention_backward);
  }

  /// Scores written to memory, and passes of softmax, mask and dropout over them.
  void add_unfused_attention(double scores, LayerTime& result) const {
    const double s = job_.sequence, d = model_.head_dim;
    const double batches = scores / (s * s);
    const double odd = model_.head_dim % 8 != 0 ? stack_.odd_heads : 1;
    const double one = product_time(machine_, {s, s, d, batches, Precision::bf16}) +
                       product_time(machine_, {s, d, s, batches, Precision::bf16});
    result.forward.attention = stack_.attention * (odd * one + 9 * scores / memory_rate());
    result.backward.attention = stack_.attention * (2 * odd * one + 11 * scores / memory_rate());
  }

  void add_elementwise(LayerTime& result) const {
    const double h = model_.hidden, gated = model_.gated ? 3 : 2;
    const double along = layout_.sequence_parallel ? tensor_ : 1;
    const double width = (moe_ ? model_.shared_ffn : model_.ffn) / tensor_;
    double bytes = 2 * tokens_ * (10 * h / along + 4 * h / tensor_ + gated * width);
    if (moe_) {  // permuted to experts and back, and activated there
      bytes += 2 * expert_rows() * (gated * model_.moe_ffn + 4 * h);
    }
    const double seconds = stack_.elementwise * bytes / memory_rate();
    result.forward.elementwise += seconds;
    result.backward.elementwise += kBackwardElementwise * seconds;
  }

  void add_tensor_traffic(LayerTime& result) const {
    if (layout_.tensor == 1) {
      return;
    }
    const double once = gather_time(machine_, {tensor_, 1}, 2 * tokens_ * model_.hidden) *
                        (1 - stack_.tensor_overlap);
    const double regions = moe_ && model_.shared_ffn == 0 ? 1 : 2;
    result.forward.tensor = regions * 2 * once;
    result.backward.tensor = regions * (layout_.sequence_parallel ? 3 : 2) * once;
  }

  void add_context_traffic(LayerTime& result) const {
    if (layout_.context == 1) {
      return;
    }
    const double c = layout_.context;
    const RankGroup group{c, tensor_};
    const double bytes = tokens_ * 2 * 2 * model_.kv_heads * model_.head_dim / tensor_;
    const double ring = (c - 1) * send_time(machine_, group, bytes);
    const auto exposed = [&](double traffic, double work) {
      return (1 - stack_.context_overlap) * traffic +
             std::max(0.0, stack_.context_overlap * traffic - work);
    };
    result.forward.context = exposed(ring, result.forward.attention);
    result.backward.context = exposed(2 * ring, result.backward.attention);
  }

  void add_expert_traffic(LayerTime& result) const {
    if (!moe_ || layout_.expert == 1) {
      return;
    }
    const RankGroup group{double(layout_.expert), 1};
    const Exchange there{tokens_ / tensor_, double(model_.top_k),
                         stack_.expert_bytes * model_.hidden};
    const Exchange back{there.tokens, there.choices, 2.0 * model_.hidden};
    const double seconds = (exchange_time(machine_, group, there) +
                            exchange_time(machine_, group, back) + 2 * stack_.expert_exchange) *
                           (1 - stack_.expert_overlap);
    result.forward.expert = seconds;
    result.backward.expert = seconds;
  }

  void add_recompute(LayerTime& result) const {
    switch (layout_.recompute) {
      case Recompute::none:
        return;
      case Recompute::selective:
        result.backward.attention += result.forward.attention;
        return;
      case Recompute::selective_products:
        result.backward += result.forward * 0.5;
        return;
      case Recompute::full:
        result.backward += result.forward * layout_.recomputed;
        return;
    }
  }

  void add_sharding(LayerTime& result) const {
    if (layout_.sharding < Sharding::gradients || layout_.pipeline > 1 || layout_.data() == 1) {
      return;
    }
    const HeldParameters held = held_parameters(job_, moe_);
    const double parameters = held.dense + held.expert;
    const RankGroup group{double(layout_.data()) * layout_.context, tensor_};
    const double gather = stack_.sharding_traffic * gather_time(machine_, group, 2 * parameters);
    const double reduce =
        stack_.sharding_traffic * gather_time(machine_, group, job_.gradient_bytes * parameters);
    const bool again = layout_.sharding == Sharding::full;
    result.forward.sharding = exposed_beside(gather, result.forward.sum());
    result.backward.sharding = exposed_beside(reduce + (again ? gather : 0), result.backward.sum());
  }

  double exposed_beside(double traffic, double work) const {
    const double both =
        std::max(traffic, work) + (1 - stack_.full_sharding_overlap) * std::min(traffic, work);
    return both - work;
  }

  const Machine& machine_;
  const Stack& stack_;
  const Job& job_;
  const ModelShape& model_;
  const Layout& layout_;
  bool moe_;
  double tensor_;
  double tokens_;
  std::vector<Product> products_;
  std::vector<Product> grouped_;
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

Terms LayerTime::both() const {
  Terms sum = forward;
  sum += backward;
  return sum;
}

LayerTime layer_time(const Setting& setting, bool moe) {
  return LayerTimer(setting, moe).time();
}

LayerTime head_time(const Setting& setting) {
  const Job& job = setting.job;
  const double tensor = job.layout.tensor;
  const double tokens =
      static_cast<double>(job.sequence) * job.layout.micro_batch / job.layout.context;
  const double vocab = job.model.vocab / tensor, h = job.model.hidden;
  const double memory = setting.machine.memory_bandwidth * setting.machine.memory_share;
  LayerTime result;
  result.forward.products =
      setting.stack.products * product_time(setting.machine, {tokens, vocab, h});
  result.backward.products =
      setting.stack.products * (product_time(setting.machine, {tokens, h, vocab}) +
                                product_time(setting.machine, {vocab, h, tokens}));
  result.forward.elementwise = 10 * tokens * vocab / memory;
  result.backward.elementwise = 6 * tokens * vocab / memory;
  return result;
}

HeldParameters held_parameters(const Job& job, bool moe) {
  const double tensor = job.layout.tensor;
  HeldParameters held;
  held.dense = attention_parameters(job.model) / tensor;
  if (moe) {
    held.dense += shared_moe_parameters(job.model) / tensor;
    held.expert = expert_parameters(job.model) / job.layout.expert;
  } else {
    held.dense += dense_ffn_parameters(job.model) / tensor;
  }
  return held;
}

}  // namespace mpitron::plan
