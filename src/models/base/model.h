#pragma once
#include <memory>
#include <string>
#include <vector>

#include "models/base/batch.h"
#include "models/base/objective.h"
#include "nn/base/model_part.h"
#include "nn/layers/language_model_embedding.h"
#include "ops/attention/rotary.h"

namespace mpitron::models {

/// A model, or the part of it that one pipeline chunk holds: word embedding, layers, output layer
/// tied to the embedding or its own. Parameter names are those of Megatron-Core's local layer spec.
class Model {
 public:
  /// Share of a model: which part it is, this rank's groups, and where its parameters go: the
  /// chunks of one rank share a list.
  struct Share {
    comm::ParallelGroups groups;
    nn::ModelPart part;
    std::shared_ptr<autograd::ParameterList> parameters =
        std::make_shared<autograd::ParameterList>();
  };

  virtual ~Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  /// Gives every parameter of the list its memory and first values.
  void initialize();
  /// Gives every parameter its memory alone: all values are read next.
  void allocate();
  autograd::ParameterList& parameters() { return *share_.parameters; }
  const config::ModelConfig& config() const { return config_; }
  const nn::ModelPart& part() const { return share_.part; }
  /// Returns the output layer's weight; null where the part has none.
  autograd::Parameter* output_weight() const { return output_weight_; }

  /// A microbatch on the device, as this model reads it; `slice`: the positions of every sequence
  /// that this rank has.
  virtual Batch batch(const HostMicrobatch& microbatch, const SequenceSlice& slice) const = 0;
  /// The names of all tensors that such a batch may have, in one order on all ranks.
  virtual std::span<const std::string_view> batch_fields() const = 0;
  /// Names the field of a batch that hides the padding of the sequences that `logits` are of.
  virtual Field<std::uint8_t> padding_of_logits() const { return kAttentionMask; }

  // `input`, [s, b, h]: what the chunk before this one computed; unused where the part has the
  // embedding.

  /// [s, b, h]: what the next chunk takes.
  virtual autograd::Var hidden(autograd::Context& context, const Batch& batch,
                               const autograd::Var& input = {}) const = 0;
  /// [.., v] of what the part with the output computed, [.., h], on every tensor parallel rank.
  autograd::Var output(autograd::Context& context, const autograd::Var& hidden) const {
    return whole_logits(context, hidden);
  }
  /// Depths of multi-token prediction of the part.
  Index prediction_depths() const { return share_.part.prediction_depths; }
  /// What depth `depth` (from 0) knows of rows [t, 1, h], normed, of the model or of the depth
  /// before, once it is told of the tokens that follow: the batch's, [t, 1], as many positions
  /// further as the depth is deep. In a cached pass its keys and values are kept as those of a
  /// layer behind the last. Only models with depths have them.
  virtual autograd::Var predict(autograd::Context& context, Index depth,
                                const autograd::Var& hidden, const Batch& batch) const;
  /// Keeps what the decoder looks at of the batch's tokens, in a pass of an encoder
  /// (autograd::CachedPass). Only models with an encoder have one.
  virtual void encode(autograd::Context& context, const Batch& batch) const;
  /// [T * positions, h], tile by tile: what stands in a text for images' tiles, [T, 3, edge, edge].
  /// Only models that see images have it.
  virtual tensor::Tensor see(autograd::Context& context, std::span<const float> tiles) const;
  /// [s, b, v], in the model's type, of the whole vocabulary on every tensor parallel rank. Rows of
  /// the padded vocabulary take part in the softmax like all others.
  virtual autograd::Var logits(autograd::Context& context, const Batch& batch,
                               const autograd::Var& input = {}) const = 0;
  /// Returns the objectives of the part with the output: one for each of `objective_traits`. Their
  /// sum is what is trained.
  virtual std::vector<Objective> objectives(autograd::Context& context, const Batch& batch,
                                            const autograd::Var& input = {}) const = 0;
  /// Before the passes of a training step (from 1), and after its update. What a step leaves behind
  /// (a centre of outputs) counts from `end_step` on: a step whose passes run again begins as
  /// before.
  virtual void begin_step(Index /*iteration*/) {}
  virtual void end_step() {}
  /// How much of the parameters that are averages of others stays in a step (from 1).
  virtual double average_momentum(Index /*iteration*/) const { return 1; }
  /// Names the objectives on all parts; the first is what is trained, the language model's loss.
  virtual std::vector<ObjectiveTraits> objective_traits() const { return {{.name = "lm loss"}}; }

 protected:
  /// Creates the embedding where the part looks up words.
  Model(const config::ModelConfig& config, device::Device& device, Share share,
        Index token_types = 0);
  /// A model without words.
  struct NoWords {};
  Model(const config::ModelConfig& config, device::Device& device, Share share, NoWords);

  nn::Builder builder(const std::string& prefix) const;
  ops::TensorParallel tensor_parallel() const;
  const comm::ParallelGroups& groups() const { return share_.groups; }
  device::Device& device() const { return device_; }
  const std::optional<nn::LanguageModelEmbedding>& embedding() const { return embedding_; }
  /// Returns the rotary tables' rows of a sequence that this rank, or its tensor parallel group,
  /// has `s` rows of.
  std::optional<ops::RotaryTables> rotary_rows(autograd::Context& context, Index s) const {
    return rows_of(context, rotary_, s);
  }
  /// The same of layers with a window, where they have tables of their own.
  std::optional<ops::RotaryTables> window_rotary_rows(autograd::Context& context, Index s) const {
    return rows_of(context, window_rotary_, s);
  }
  /// The same at places of three axes, [3, t], int64, where frequencies turn by one of them each
  /// (--mrope-section).
  ops::RotaryTables rotary_rows_at(autograd::Context& context, const tensor::Tensor& places) const {
    return ops::rotary_rows(context, rotary_, places, config_.mrope_section);
  }
  /// The factors of queries at these positions, [s], in layers that do not rotate; absent where
  /// there are none.
  tensor::Tensor query_factor_rows(autograd::Context& context, Index s) const;
  /// Rows of x [s, b, h] of the whole tensor parallel group.
  Index whole_rows(const autograd::Var& x) const;
  /// Creates the output layer's matrix, or finds the one that it shares with the embedding.
  void make_output_weight();
  /// Creates a bias [v] of the output layer.
  void make_output_bias(const std::string& name);
  /// [s, b, v_local]: this rank's columns of what the output layer makes of x, [s, b, h].
  autograd::Var local_logits(autograd::Context& context, const autograd::Var& x) const;
  /// The same of the whole vocabulary.
  autograd::Var whole_logits(autograd::Context& context, const autograd::Var& x) const;
  /// The loss of every token, as labels, fp32.
  autograd::Var token_losses(autograd::Context& context, const autograd::Var& x,
                             const tensor::Tensor& labels) const;

 private:
  /// Returns nothing of empty tables.
  static std::optional<ops::RotaryTables> rows_of(autograd::Context& context,
                                                  const ops::RotaryTables& tables, Index s);
  /// Tells who else holds the table of words: the first and the last stage may both use it.
  void share_over_stages(autograd::Parameter& words) const;
  void clear_buffers();

  const config::ModelConfig config_;
  device::Device& device_;
  const Share share_;
  std::optional<nn::LanguageModelEmbedding> embedding_;
  ops::RotaryTables rotary_, window_rotary_;  // absent without rotary positions
  tensor::Tensor query_factors_;
  autograd::Parameter* output_weight_ = nullptr;
  autograd::Parameter* output_bias_ = nullptr;
};

}  // namespace mpitron::models
