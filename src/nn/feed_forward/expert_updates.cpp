#include "nn/feed_forward/expert_updates.h"

#include "ops/elementwise/scaled.h"
#include "ops/linear/grouped_linear.h"

namespace mpitron::nn {

using autograd::Var;

ExpertUpdates::ExpertUpdates(const std::vector<Builder>& experts, Index in,
                             const std::vector<Part>& parts) {
  for (const Part& part : parts) {
    const Builder first = experts.front().child(part.name);
    const auto& lora = first.config().lora;
    const auto chosen = lora ? lora->update_of(first.module_name()) : std::nullopt;
    if (!chosen) {
      continue;
    }
    Update update{.scale = chosen->scale, .blocks = part.blocks};
    for (const Builder& expert : experts) {
      const auto [a, b] = expert.child(part.name).low_rank_factors({part.out, in}, chosen->rank);
      a.placement.expert = b.placement.expert = true;
      update.a.push_back(&a);
      update.b.push_back(&b);
    }
    updates_.push_back(std::move(update));
  }
}

/// y + scale B A x of every expert's own factors.
Var ExpertUpdates::add(autograd::Context& context, const autograd::Recomputable& x, Var y,
                       const std::vector<Index>& counts) const {
  for (const Update& update : updates_) {
    const Var u =
        ops::scaled(context, ops::grouped_linear(context, x, update.a, counts), update.scale);
    y = ops::add_low_rank(context, std::move(y), u, {update.b, counts}, update.blocks);
  }
  return y;
}

}  // namespace mpitron::nn
