#include <cmath>

#include "nn/base/builder.h"

// Weights in few bits, and the factors of their low-rank updates.

namespace mpitron::nn {

using autograd::Initialization;

Parameter& Builder::in_few_bits(Parameter& weight) const {
  using Scaling = autograd::Fp8Products::Scaling;
  const std::optional<config::LoraConfig>& lora = context_.config.lora;
  if (lora && lora->base_in_4_bits && context_.layer > 0) {
    weight.four_bits.emplace();
    return weight;
  }
  const std::optional<config::Fp8Config>& fp8 = context_.config.fp8;
  if (!fp8 || context_.layer == 0 || !fp8->has(context_.layer, context_.config.all_layers())) {
    return weight;
  }
  weight.fp8 = {.scaling = fp8->recipe == config::Fp8Recipe::delayed      ? Scaling::delayed
                           : fp8->recipe == config::Fp8Recipe::tensorwise ? Scaling::current
                                                                          : Scaling::blocks,
                .gradient_format = fp8->hybrid ? Fp8Format::e5m2 : Fp8Format::e4m3,
                .margin = static_cast<int>(fp8->margin),
                .weight_gradient = fp8->weight_gradient};
  if (weight.fp8->scaling == Scaling::delayed) {
    autograd::Buffer& history =
        context_.parameters.add_buffer({.name = weight.name + ".fp8_amax_history",
                                        .shape = {autograd::Fp8Products::kRoles, fp8->amax_history},
                                        .layer = context_.layer,
                                        .value = {},
                                        .fp8_history = true});
    weight.fp8->history = &history;
  }
  return weight;
}

Builder::LowRankFactors Builder::low_rank_factors(const Shape& weight, Index rank,
                                                  const tensor::Shard& rows,
                                                  const tensor::Shard& columns) const {
  const Index out = weight[0], in = weight[1];
  const double bound = 1 / std::sqrt(static_cast<double>(in));
  Parameter& a = add({.name = "lora_A.weight",
                      .shape = {rank, in},
                      .placement = {.shard = columns},
                      .initialization = {.kind = Initialization::Kind::uniform, .bound = bound},
                      .role = {.linear_weight = true, .low_rank = true}});
  Parameter& b = add({.name = "lora_B.weight",
                      .shape = {out, rank},
                      .placement = {.shard = rows},
                      .role = {.linear_weight = true, .low_rank = true}});
  return {a, b};
}

}  // namespace mpitron::nn
