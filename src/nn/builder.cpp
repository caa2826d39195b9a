#include "nn/builder.h"

#include <cmath>

namespace mpitron::nn {

using autograd::Initialization;

Parameter& Builder::weight(const std::string& name, const Shape& shape, double std) const {
  const auto kind = site_.config.init_method_xavier_uniform ? Initialization::Kind::xavier_uniform
                                                            : Initialization::Kind::normal;
  return site_.parameters.add({.name = prefix_ + name,
                               .shape = shape,
                               .initialization = {.kind = kind, .std = std},
                               .linear_weight = true});
}

Parameter& Builder::linear_weight(const std::string& name, Index out, Index in) const {
  return weight(name, {out, in}, site_.config.init_method_std);
}

Parameter& Builder::output_weight(const std::string& name, Index out, Index in) const {
  return weight(
      name, {out, in},
      site_.config.init_method_std / std::sqrt(2.0 * static_cast<double>(site_.config.num_layers)));
}

Parameter* Builder::bias(const std::string& name, Index size, bool present) const {
  return present ? &site_.parameters.add({.name = prefix_ + name, .shape = {size}}) : nullptr;
}

Parameter& Builder::embedding(const std::string& name, Index rows, Index h) const {
  const double std = site_.config.embedding_init_method_std.value_or(site_.config.init_method_std);
  return site_.parameters.add({.name = prefix_ + name,
                               .shape = {rows, h},
                               .initialization = {.kind = Initialization::Kind::normal, .std = std},
                               .embedding_or_output = true});
}

Parameter& Builder::norm_weight(const std::string& name, Index size) const {
  const auto kind =
      site_.config.apply_layernorm_1p ? Initialization::Kind::zeros : Initialization::Kind::ones;
  return site_.parameters.add(
      {.name = prefix_ + name, .shape = {size}, .initialization = {.kind = kind}});
}

Parameter& Builder::norm_bias(const std::string& name, Index size) const {
  return site_.parameters.add({.name = prefix_ + name, .shape = {size}});
}

}  // namespace mpitron::nn
