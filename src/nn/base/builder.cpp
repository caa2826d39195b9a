#include "nn/base/builder.h"

#include <cmath>

// Creates parameters of layers. Everything that decides a parameter's first values, its cut over
// ranks and the replicas of its gradient is set here, so that layers name shapes only.

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

tensor::Shard Builder::expert_piece(int dim, Index extent, Index blocks) const {
  const comm::Group& shared = *groups().expert_tensor;
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
  Parameter& parameter =
      in_few_bits(weight(name, {out, in}, expert_piece(0, out, blocks), input_std()));
  parameter.placement.expert = true;
  return parameter;
}

Parameter& Builder::expert_output_weight(const std::string& name, Index out, Index in) const {
  Parameter& parameter = in_few_bits(weight(name, {out, in}, expert_piece(1, in), output_std()));
  parameter.placement.expert = true;
  return parameter;
}

Parameter& Builder::expert_bias(const std::string& name, Index size,
                                const tensor::Shard& shard) const {
  return add(
      {.name = name,
       .shape = {size},
       .placement = {.shard = shard,
                     .expert = true,
                     .sum_over_tensor = shard.whole() && groups().expert_tensor->size() > 1}});
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
