#pragma once
#include <string>

#include "autograd/parameter_list.h"
#include "comm/groups/parallel_groups.h"
#include "config/model_config.h"
#include "ops/parallel/tensor_parallel.h"

namespace mpitron::nn {

using autograd::Parameter;

/// Creates parameters under a name prefix with the reference's initialisation: N(0, std) for
/// weights, std / sqrt(2 L) for the layers that write into the residual stream, zeros for biases.
class Builder {
 public:
  /// What layers of a model are made with; what it refers to outlives the builders.
  struct BuildContext {
    const config::ModelConfig& config;
    const comm::ParallelGroups& groups;
    autograd::ParameterList& parameters;
    Index layer = 0;  // whose parameters are made; 0: outside the layers
  };
  explicit Builder(const BuildContext& context, std::string prefix = "")
      : context_(context), prefix_(std::move(prefix)) {}

  const config::ModelConfig& config() const { return context_.config; }
  const comm::ParallelGroups& groups() const { return context_.groups; }
  /// A builder for a child: names get `name + "."` in front.
  Builder child(const std::string& name) const { return Builder(context_, prefix_ + name + "."); }
  /// A child for layer `number` of the model, from 1; and this one for it.
  Builder layer(const std::string& name, Index number) const {
    return child(name).of_layer(number);
  }
  Builder of_layer(Index number) const;

  /// Returns the layer whose parameters are made; 0: outside the layers.
  Index layer_number() const { return context_.layer; }
  /// Returns Hugging Face's name of this place (config::module_name).
  std::string module_name() const { return config::module_name(prefix_); }

  /// Returns who shares the weights of this layer.
  ops::TensorParallel tensor_parallel() const {
    return {groups().tensor.get(), groups().sequence_parallel, config().tp_comm_overlap};
  }
  /// This rank's even piece of every one of `blocks` blocks of a dimension.
  tensor::Shard piece(int dim, Index extent, Index blocks = 1) const;
  /// Cuts every part of the rows, whatever its size.
  tensor::Shard pieces_of_parts(std::initializer_list<Index> parts) const;

  /// Column parallel where a shard of its rows is given.
  Parameter& linear_weight(const std::string& name, Index out, Index in,
                           const tensor::Shard& rows = {}) const;
  /// linear_proj and linear_fc2: row parallel.
  Parameter& output_weight(const std::string& name, Index out, Index in) const;
  /// Creates a weight that starts at std / sqrt(branches): as many write into the residual stream.
  Parameter& output_weight(const std::string& name, Index out, Index in, Index branches) const;
  /// The same over the ranks of groups().expert_tensor, which share each expert.
  tensor::Shard expert_piece(int dim, Index extent, Index blocks = 1) const;
  /// Creates an expert's weight, whose pieces lie on the ranks of groups().expert_tensor. Rows are
  /// cut in each of `blocks` blocks.
  Parameter& expert_weight(const std::string& name, Index out, Index in, Index blocks) const;
  Parameter& expert_output_weight(const std::string& name, Index out, Index in) const;
  /// Creates the bias of an expert. A whole one lies on all ranks that share the expert, each of
  /// which may know a part of its gradient.
  Parameter& expert_bias(const std::string& name, Index size, const tensor::Shard& shard) const;
  /// Creates a weight on every tensor parallel rank, which sees its rows of a cut sequence only.
  Parameter& replicated_weight(const std::string& name, Index out, Index in) const;
  /// Null where the layer has no bias.
  Parameter* bias(const std::string& name, Index size, bool present,
                  const tensor::Shard& shard = {}) const;
  /// Creates the bias of a row parallel layer: added after the sum over the ranks.
  Parameter* output_bias(const std::string& name, Index size, bool present) const;
  /// A matrix that every rank has whole: a small table or layer.
  Parameter& matrix(const std::string& name, Index rows, Index columns) const;
  /// The factors of a low-rank update (Hu et al. 2021) of a weight [out, in] of which rows or
  /// columns lie here: A [r, in] starts as U(-1/sqrt(in), 1/sqrt(in)), B [out, r] as zeros.
  struct LowRankFactors {
    Parameter& a;
    Parameter& b;
  };
  LowRankFactors low_rank_factors(const Shape& weight, Index rank, const tensor::Shard& rows = {},
                                  const tensor::Shard& columns = {}) const;
  /// A tensor with a start of its own.
  Parameter& parameter(const std::string& name, const Shape& shape, const tensor::Shard& shard,
                       const autograd::Initialization& start) const;
  Parameter& embedding(const std::string& name, Index rows, Index h,
                       const tensor::Shard& shard = {}) const;
  /// Norms between the layers; with a cut sequence each rank sees some of the rows that they norm.
  Parameter& norm_weight(const std::string& name, Index size) const;
  Parameter& norm_bias(const std::string& name, Index size) const;
  /// Zeros, fp32.
  autograd::Buffer& buffer(const std::string& name, Index size) const;

 private:
  Parameter& add(Parameter parameter) const;
  /// Standard deviation of weights between the layers: init-method-std, with muP over sqrt(width).
  double input_std() const;
  /// Standard deviation of layers that write into the residual stream.
  double output_std() const;
  double output_std(Index branches) const;
  Parameter& weight(const std::string& name, const Shape& shape, const tensor::Shard& shard,
                    double std) const;

  /// The weight, with products of 8 bits where this layer has them (--fp8-format), or kept in 4
  /// bits (--lora-base-weights).
  Parameter& in_few_bits(Parameter& weight) const;

  BuildContext context_;
  std::string prefix_;
};

/// U(-1 / sqrt(inputs), 1 / sqrt(inputs)): how torch's linear layers and their biases start.
autograd::Initialization uniform_of_inputs(Index inputs);

}  // namespace mpitron::nn
