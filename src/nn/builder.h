#pragma once
#include <string>

#include "autograd/parameter_list.h"
#include "comm/parallel_groups.h"
#include "config/model_config.h"
#include "ops/tensor_parallel.h"

namespace mpitron::nn {

using autograd::Parameter;

/// Creates parameters under a name prefix with the reference's initialisation: N(0, std) for
/// weights, std / sqrt(2 L) for the layers that write into the residual stream, zeros for biases.
class Builder {
 public:
  /// What every layer of a model is made from; outlives the builders.
  struct Site {
    const config::ModelConfig& config;
    const comm::ParallelGroups& groups;
    autograd::ParameterList& parameters;
    Index layer = 0;  // whose parameters are made; 0: outside the layers
  };
  explicit Builder(const Site& site, std::string prefix = "")
      : site_(site), prefix_(std::move(prefix)) {}

  const config::ModelConfig& config() const { return site_.config; }
  const comm::ParallelGroups& groups() const { return site_.groups; }
  /// A builder for a child: names get `name + "."` in front.
  Builder child(const std::string& name) const { return Builder(site_, prefix_ + name + "."); }
  /// A child for layer `number` of the model, from 1.
  Builder layer(const std::string& name, Index number) const;

  /// Who shares the weights of this layer.
  ops::TensorParallel tensor_parallel() const {
    return {groups().tensor.get(), groups().sequence_parallel, config().tp_comm_overlap};
  }
  /// This rank's even piece of every one of `blocks` blocks of a dimension.
  tensor::Shard piece(int dim, Index extent, Index blocks = 1) const;

  /// Column parallel where a shard of its rows is given.
  Parameter& linear_weight(const std::string& name, Index out, Index in,
                           const tensor::Shard& rows = {}) const;
  /// linear_proj and linear_fc2: row parallel.
  Parameter& output_weight(const std::string& name, Index out, Index in) const;
  /// The same of an expert; its pieces lie on the ranks of groups().expert_tensor. Rows are cut
  /// in each of `blocks` blocks.
  Parameter& expert_weight(const std::string& name, Index out, Index in, Index blocks) const;
  Parameter& expert_output_weight(const std::string& name, Index out, Index in) const;
  /// The same on every tensor parallel rank, which sees its rows of a cut sequence only.
  Parameter& replicated_weight(const std::string& name, Index out, Index in) const;
  /// Null where the layer has no bias.
  Parameter* bias(const std::string& name, Index size, bool present,
                  const tensor::Shard& shard = {}) const;
  /// Of a row parallel layer: added after the sum over the ranks.
  Parameter* output_bias(const std::string& name, Index size, bool present) const;
  /// A matrix that every rank has whole: a small table or layer.
  Parameter& matrix(const std::string& name, Index rows, Index columns) const;
  Parameter& embedding(const std::string& name, Index rows, Index h,
                       const tensor::Shard& shard = {}) const;
  /// Norms between the layers; with a cut sequence each rank sees some of the rows that they norm.
  Parameter& norm_weight(const std::string& name, Index size) const;
  Parameter& norm_bias(const std::string& name, Index size) const;
  /// Zeros, fp32.
  autograd::Buffer& buffer(const std::string& name, Index size) const;

 private:
  Parameter& add(Parameter parameter) const;
  /// Standard deviation of layers that write into the residual stream.
  double output_std() const;
  Parameter& weight(const std::string& name, const Shape& shape, const tensor::Shard& shard,
                    double std) const;

  /// The weight, with products of 8 bits where this layer has them (--fp8-format).
  Parameter& in_8_bits(Parameter& weight) const;

  Site site_;
  std::string prefix_;
};

}  // namespace mpitron::nn
