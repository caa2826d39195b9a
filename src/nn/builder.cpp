#include "nn/builder.h"

#include <cmath>

namespace mpitron::nn {

using autograd::Initialization;

tensor::Shard Builder::piece(int dim, Index extent, Index blocks) const {
  const ops::TensorParallel shared = tensor_parallel();
  return tensor::even_shard(dim, extent, {shared.rank(), shared.size()}, blocks);
}

Builder Builder::layer(const std::string& name, Index number) const {
  Builder result = child(name);
  result.site_.layer = number;
  return result;
}

Parameter& Builder::add(Parameter parameter) const {
  parameter.name = prefix_ + parameter.name;
  parameter.unit = site_.layer;
  return site_.parameters.add(std::move(parameter));
}

Parameter& Builder::weight(const std::string& name, const Shape& shape, const tensor::Shard& shard,
                           double std) const {
  const auto kind = site_.config.init_method_xavier_uniform ? Initialization::Kind::xavier_uniform
                                                            : Initialization::Kind::normal;
  return add({.name = name,
              .shape = shape,
              .shard = shard,
              .initialization = {.kind = kind, .std = std},
              .linear_weight = true});
}

Parameter& Builder::linear_weight(const std::string& name, Index out, Index in,
                                  const tensor::Shard& rows) const {
  return in_8_bits(weight(name, {out, in}, rows, site_.config.init_method_std));
}

Parameter& Builder::in_8_bits(Parameter& weight) const {
  using Scaling = autograd::Fp8Products::Scaling;
  const std::optional<config::Fp8Config>& fp8 = site_.config.fp8;
  if (!fp8 || site_.layer == 0 || !fp8->has(site_.layer, site_.config.all_layers())) {
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
        site_.parameters.add_buffer({.name = weight.name + ".fp8_amax_history",
                                     .shape = {autograd::Fp8Products::kRoles, fp8->amax_history},
                                     .layer = site_.layer,
                                     .value = {},
                                     .fp8_history = true});
    weight.fp8->history = &history;
  }
  return weight;
}

double Builder::output_std() const {
  return site_.config.init_method_std /
         std::sqrt(2.0 * static_cast<double>(site_.config.num_layers));
}

Parameter& Builder::output_weight(const std::string& name, Index out, Index in) const {
  return in_8_bits(weight(name, {out, in}, piece(1, in), output_std()));
}

Parameter& Builder::expert_weight(const std::string& name, Index out, Index in,
                                  Index blocks) const {
  const comm::Group& group = *groups().expert_tensor;
  const tensor::Shard rows = tensor::even_shard(0, out, {group.rank(), group.size()}, blocks);
  Parameter& parameter = in_8_bits(weight(name, {out, in}, rows, site_.config.init_method_std));
  parameter.expert = true;
  return parameter;
}

Parameter& Builder::expert_output_weight(const std::string& name, Index out, Index in) const {
  const comm::Group& group = *groups().expert_tensor;
  const tensor::Shard columns = tensor::even_shard(1, in, {group.rank(), group.size()});
  Parameter& parameter = in_8_bits(weight(name, {out, in}, columns, output_std()));
  parameter.expert = true;
  return parameter;
}

Parameter& Builder::replicated_weight(const std::string& name, Index out, Index in) const {
  Parameter& parameter = weight(name, {out, in}, {}, site_.config.init_method_std);
  parameter.sum_over_tensor = tensor_parallel().cuts_sequence();
  return parameter;
}

Parameter* Builder::bias(const std::string& name, Index size, bool present,
                         const tensor::Shard& shard) const {
  return present ? &add({.name = name, .shape = {size}, .shard = shard}) : nullptr;
}

Parameter* Builder::output_bias(const std::string& name, Index size, bool present) const {
  Parameter* parameter = bias(name, size, present);
  if (parameter != nullptr) {
    parameter->sum_over_tensor = tensor_parallel().cuts_sequence();
  }
  return parameter;
}

Parameter& Builder::matrix(const std::string& name, Index rows, Index columns) const {
  return add({.name = name,
              .shape = {rows, columns},
              .initialization = {.kind = Initialization::Kind::normal,
                                 .std = site_.config.init_method_std}});
}

Parameter& Builder::embedding(const std::string& name, Index rows, Index h,
                              const tensor::Shard& shard) const {
  const double std = site_.config.embedding_init_method_std.value_or(site_.config.init_method_std);
  return add({.name = name,
              .shape = {rows, h},
              .shard = shard,
              .initialization = {.kind = Initialization::Kind::normal, .std = std}});
}

Parameter& Builder::norm_weight(const std::string& name, Index size) const {
  const auto kind =
      site_.config.apply_layernorm_1p ? Initialization::Kind::zeros : Initialization::Kind::ones;
  return add({.name = name,
              .shape = {size},
              .initialization = {.kind = kind},
              .sum_over_tensor = tensor_parallel().cuts_sequence()});
}

Parameter& Builder::norm_bias(const std::string& name, Index size) const {
  return add({.name = name, .shape = {size}, .sum_over_tensor = tensor_parallel().cuts_sequence()});
}

autograd::Buffer& Builder::buffer(const std::string& name, Index size) const {
  return site_.parameters.add_buffer(
      {.name = prefix_ + name, .shape = {size}, .layer = site_.layer, .value = {}});
}

}  // namespace mpitron::nn
