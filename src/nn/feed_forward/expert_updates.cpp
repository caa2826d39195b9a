#include "nn/feed_forward/experts.h"
#include "ops/elementwise/scaled.h"
#include "ops/experts/permute.h"
#include "ops/linear/grouped_linear.h"
#include "ops/linear/linear.h"

// Low-rank updates of experts. Where ranks share each expert, B is cut by rows in linear_fc1 and A
// by columns in linear_fc2, so that a rank's update is a part of the rows or a summand, as what it
// makes without one.

namespace mpitron::nn {

using autograd::Context;
using autograd::Recomputable;
using autograd::Var;

ExpertUpdates::ExpertUpdates(const std::vector<Builder>& experts, Index in,
                             const std::vector<Part>& parts)
    : places_(experts.size()) {
  for (const Part& part : parts) {
    for (std::size_t i = 0; i < experts.size(); ++i) {
      places_[i].push_back({experts[i].child(part.name).module_name(), part.blocks});
    }
    const Builder first = experts.front().child(part.name);
    const auto& lora = first.config().lora;
    const auto chosen = lora ? lora->update_of(first.module_name()) : std::nullopt;
    if (!chosen) {
      continue;
    }
    Update update{.scale = chosen->scale, .blocks = part.blocks};
    for (const Builder& expert : experts) {
      const auto [a, b] = expert.child(part.name).low_rank_factors({part.out, in}, chosen->rank,
                                                                   part.rows, part.columns);
      a.placement.expert = b.placement.expert = true;
      // What a rank does not share with others, it knows a summand of the gradient of.
      a.placement.sum_over_tensor = !part.rows.whole();
      b.placement.sum_over_tensor = !part.columns.whole();
      update.a.push_back(&a);
      update.b.push_back(&b);
    }
    updates_.push_back(std::move(update));
  }
}

/// Rows of one adapter and one expert are multiplied together, by weights that are packed in the
/// model's type.
void ExpertUpdates::adapt(Context& context, const Var& x, const Var& y,
                          const std::vector<AdaptedRun>& runs) const {
  for (const auto& [expert, rows] : runs) {
    autograd::Adapter& adapter = *rows.adapter;
    const std::vector<AdapterPlace>& places = places_[expert];
    autograd::Adapter::Joined* const factors = adapter.of_layer(places[0].module, [&] {
      return joined_factors(context.device, adapter, places, y.shape()[-1], y.value.dtype());
    });
    if (factors == nullptr) {
      continue;
    }
    ops::AdaptedContext own(context, adapter);
    const auto rows_of = [&rows](const Var& all) {
      return all.value.slice(0, rows.first, rows.end);
    };
    const Var u = ops::linear(own.context(), autograd::constant(rows_of(x)), factors->a, nullptr);
    ops::add_product(own.context(), u.value, factors->b, rows_of(y));
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
