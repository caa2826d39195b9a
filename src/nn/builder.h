#pragma once
#include <string>

#include "autograd/parameter_list.h"
#include "config/model_config.h"

namespace mpitron::nn {

using autograd::Parameter;

/// Creates parameters under a name prefix with the reference's initialisation: N(0, std) for
/// weights, std / sqrt(2 L) for the layers that write into the residual stream, zeros for biases.
class Builder {
 public:
  Builder(const config::ModelConfig& config, autograd::ParameterList& parameters,
          std::string prefix = "")
      : config_(config), parameters_(parameters), prefix_(std::move(prefix)) {}

  const config::ModelConfig& config() const { return config_; }
  /// A builder for a child: names get `name + "."` in front.
  Builder child(const std::string& name) const {
    return {config_, parameters_, prefix_ + name + "."};
  }

  Parameter& linear_weight(const std::string& name, Index out, Index in) const;
  /// linear_proj and linear_fc2.
  Parameter& output_weight(const std::string& name, Index out, Index in) const;
  /// Null where the layer has no bias.
  Parameter* bias(const std::string& name, Index size, bool present) const;
  Parameter& embedding(const std::string& name, Index rows, Index h) const;
  Parameter& norm_weight(const std::string& name, Index size) const;
  Parameter& norm_bias(const std::string& name, Index size) const;

 private:
  Parameter& weight(const std::string& name, const Shape& shape, double std) const;

  const config::ModelConfig& config_;
  autograd::ParameterList& parameters_;
  std::string prefix_;
};

}  // namespace mpitron::nn
