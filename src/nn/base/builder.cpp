// Creates parameters of layers. Everything that decides a parameter's first values, its cut over
// ranks and the replicas of its gradient is set here, so that layers name shapes only.
#include "nn/base/builder.h"

#include <cmath>

namespace mpitron::nn {

using autograd::Initialization;

autograd::Initialization uniform_of_inputs(Index inputs) {
  return {.kind = Initialization::Kind::uniform,
          .bound = 1 / std::sqrt(static_cast<double>(inputs))};
}

tensor::Shard Builder::piece(int dim, Index extent, Index blocks) const {
  const ops::TensorParallel shared = tensor_parallel();
  return tensor::even_shard(dim, extent, {shared.rank(), shared.size()}, blocks);
}

/// Rows of a fused matrix whose parts are cut each for itself.
tensor::Shard Builder::pieces_of_parts(std::initializer_list<Index> parts) const {
  const Index ranks = tensor_parallel().size(), rank = tensor_parallel().rank();
  tensor::Shard shard;
  Index begin = 0;
  for (const Index size : parts) {
    MPITRON_CHECK(size % ranks == 0, size, ranks);
    const Index own = size / ranks;
    shard.ranges.push_back({begin + rank * own, begin + (rank + 1) * own});
    begin += size;
  }
  return ranks == 1 ? tensor::Shard{} : shard;
}

Builder Builder::of_layer(Index number) const {
  Builder result = *this;
  result.context_.layer = number;
  return result;
}

/// The name gets the prefix, the unit is the layer that the builder stands for.
Parameter& Builder::add(Parameter parameter) const {
  parameter.name = prefix_ + parameter.name;
  parameter.placement.unit = context_.layer;
  return context_.parameters.add(std::move(parameter));
}

/// N(0, std), or Xavier's uniform with --init-method-xavier-uniform.
Parameter& Builder::weight(const std::string& name, const Shape& shape, const tensor::Shard& shard,
                           double std) const {
  const auto kind = context_.config.init_method_xavier_uniform
                        ? Initialization::Kind::xavier_uniform
                        : Initialization::Kind::normal;
  return add({.name = name,
              .shape = shape,
              .placement = {.shard = shard},
              .initialization = {.kind = kind, .std = std},
              .role = {.linear_weight = true}});
}

Parameter& Builder::linear_weight(const std::string& name, Index out, Index in,
                                  const tensor::Shard& rows) const {
  return in_few_bits(weight(name, {out, in}, rows, input_std()));
}

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

double Builder::input_std() const {
  return context_.config.init_method_std /
         (context_.config.mup ? std::sqrt(context_.config.mup->width) : 1);
}

double Builder::output_std(Index branches) const {
  return input_std() / std::sqrt(static_cast<double>(branches));
}

double Builder::output_std() const {
  const Index layers = context_.config.num_layers;
  return output_std(context_.config.hybrid.one_branch_a_layer ? layers : 2 * layers);
}

Parameter& Builder::output_weight(const std::string& name, Index out, Index in,
                                  Index branches) const {
  return in_few_bits(weight(name, {out, in}, piece(1, in), output_std(branches)));
}

Parameter& Builder::output_weight(const std::string& name, Index out, Index in) const {
  return in_few_bits(weight(name, {out, in}, piece(1, in), output_std()));
}

Parameter& Builder::expert_weight(const std::string& name, Index out, Index in,
                                  Index blocks) const {
  const comm::Group& group = *groups().expert_tensor;
  const tensor::Shard rows = tensor::even_shard(0, out, {group.rank(), group.size()}, blocks);
  Parameter& parameter = in_few_bits(weight(name, {out, in}, rows, input_std()));
  parameter.placement.expert = true;
  return parameter;
}

Parameter& Builder::expert_output_weight(const std::string& name, Index out, Index in) const {
  const comm::Group& group = *groups().expert_tensor;
  const tensor::Shard columns = tensor::even_shard(1, in, {group.rank(), group.size()});
  Parameter& parameter = in_few_bits(weight(name, {out, in}, columns, output_std()));
  parameter.placement.expert = true;
  return parameter;
}

Parameter& Builder::expert_bias(const std::string& name, Index size) const {
  MPITRON_CHECK(groups().expert_tensor->size() == 1, name);
  return add({.name = name, .shape = {size}, .placement = {.expert = true}});
}

Parameter& Builder::replicated_weight(const std::string& name, Index out, Index in) const {
  Parameter& parameter = weight(name, {out, in}, {}, input_std());
  parameter.placement.sum_over_tensor = tensor_parallel().cuts_sequence();
  return parameter;
}

Parameter* Builder::bias(const std::string& name, Index size, bool present,
                         const tensor::Shard& shard) const {
  return present ? &add({.name = name, .shape = {size}, .placement = {.shard = shard}}) : nullptr;
}

Parameter* Builder::output_bias(const std::string& name, Index size, bool present) const {
  Parameter* parameter = bias(name, size, present);
  if (parameter != nullptr) {
    parameter->placement.sum_over_tensor = tensor_parallel().cuts_sequence();
  }
  return parameter;
}

Parameter& Builder::matrix(const std::string& name, Index rows, Index columns) const {
  return add({.name = name,
              .shape = {rows, columns},
              .initialization = {.kind = Initialization::Kind::normal,
                                 .std = context_.config.init_method_std}});
}

Parameter& Builder::parameter(const std::string& name, const Shape& shape,
                              const tensor::Shard& shard,
                              const autograd::Initialization& start) const {
  return add(
      {.name = name, .shape = shape, .placement = {.shard = shard}, .initialization = start});
}

Parameter& Builder::embedding(const std::string& name, Index rows, Index h,
                              const tensor::Shard& shard) const {
  const double std =
      context_.config.embedding_init_method_std.value_or(context_.config.init_method_std);
  return add({.name = name,
              .shape = {rows, h},
              .placement = {.shard = shard},
              .initialization = {.kind = Initialization::Kind::normal, .std = std}});
}

Parameter& Builder::norm_weight(const std::string& name, Index size) const {
  const auto kind =
      context_.config.apply_layernorm_1p ? Initialization::Kind::zeros : Initialization::Kind::ones;
  return add({.name = name,
              .shape = {size},
              .placement = {.sum_over_tensor = tensor_parallel().cuts_sequence()},
              .initialization = {.kind = kind}});
}

Parameter& Builder::norm_bias(const std::string& name, Index size) const {
  return add({.name = name,
              .shape = {size},
              .placement = {.sum_over_tensor = tensor_parallel().cuts_sequence()}});
}

autograd::Buffer& Builder::buffer(const std::string& name, Index size) const {
  return context_.parameters.add_buffer(
      {.name = prefix_ + name, .shape = {size}, .layer = context_.layer, .value = {}});
}

}  // namespace mpitron::nn
