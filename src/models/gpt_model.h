#pragma once
#include "nn/language_model_embedding.h"
#include "nn/transformer_block.h"

namespace mpitron::models {

/// One microbatch on the device; all [s, b].
struct GptBatch {
  tensor::Tensor tokens;          // int64
  tensor::Tensor position_ids;    // int64
  tensor::Tensor labels;          // int64; absent when only logits are wanted
  tensor::Tensor attention_mask;  // [b or 1, s, s], u8, 1 = hidden; absent: causal
};

/// A decoder-only language model (GPT, Llama): embedding, transformer block, output layer tied to
/// the embedding or its own. Parameter names are those of Megatron-Core's local layer spec.
class GptModel {
 public:
  /// Which part of the model a pipeline chunk holds, this rank's groups, and where its parameters
  /// go: the chunks of one rank share a list.
  struct Share {
    comm::ParallelGroups groups;
    nn::ModelPart part;
    std::shared_ptr<autograd::ParameterList> parameters =
        std::make_shared<autograd::ParameterList>();
  };

  /// Creates the parameters (in the reference's order) without values; see `initialize`.
  GptModel(const config::ModelConfig& config, device::Device& device, Share share);
  /// The whole model on this rank.
  GptModel(const config::ModelConfig& config, device::Device& device);
  GptModel(const GptModel&) = delete;
  GptModel& operator=(const GptModel&) = delete;

  /// Gives every parameter of the list its memory and first values.
  void initialize();
  autograd::ParameterList& parameters() { return *share_.parameters; }
  const config::ModelConfig& config() const { return config_; }
  const nn::ModelPart& part() const { return share_.part; }
  /// Of the output layer; null where the part has none.
  const autograd::Parameter* output_weight() const { return output_weight_; }

  /// `input`, [s, b, h]: what the chunk before this one computed; unused where the part has the
  /// embedding.
  /// [s, b, h]: what the next chunk takes.
  autograd::Var hidden(autograd::Context& context, const GptBatch& batch,
                       const autograd::Var& input = {}) const;
  /// [s, b, v], in the model's type, of the whole vocabulary on every tensor parallel rank. Rows of
  /// the padded vocabulary take part in the softmax like all others.
  autograd::Var logits(autograd::Context& context, const GptBatch& batch,
                       const autograd::Var& input = {}) const;
  /// The loss of every token, [s, b], fp32.
  autograd::Var loss(autograd::Context& context, const GptBatch& batch,
                     const autograd::Var& input = {}) const;

 private:
  nn::Builder builder(const std::string& prefix);
  ops::TensorParallel tensor_parallel() const;
  /// [s, b, v_local]: this rank's columns.
  autograd::Var local_logits(autograd::Context& context, const GptBatch& batch,
                             const autograd::Var& input) const;
  autograd::Parameter* make_output_weight();

  const config::ModelConfig config_;
  device::Device& device_;
  const Share share_;
  std::optional<nn::LanguageModelEmbedding> embedding_;
  nn::TransformerBlock decoder_;
  autograd::Parameter* output_weight_;  // null where the part has no output
  ops::RotaryTables rotary_;
};

}  // namespace mpitron::models
