#pragma once
#include "autograd/cached_pass.h"
#include "comm/groups/parallel_groups.h"
#include "inference/decode_graphs.h"
#include "inference/image_memory.h"
#include "inference/prediction_heads.h"
#include "inference/step_axes.h"
#include "models/base/model.h"

namespace mpitron::inference {

/// A rank's share of the model with its caches and packed weights: runs the passes of steps.
class StepRunner {
 public:
  /// The model's vocabularies and positions are filled in. `sharers`: ranks that share the
  /// sequences; absent: this one alone.
  StepRunner(device::Device& device, const models::Model& model, EngineShape shape,
             comm::GroupHandle sharers = nullptr);

  const EngineShape& shape() const { return shape_; }
  /// Tells of all adapters that rows of any rank may have, where ranks share experts; the same on
  /// all of them. Null ones are passed over.
  void know(std::span<const AdapterHandle> adapters);
  /// Makes every layer take its memory and every product pack its weight.
  void warm_up();
  /// Runs a whole step of a model that lies on this rank: its wanted rows' logits, fp32, valid
  /// until the next call.
  std::span<const float> step(const StepPlan& plan);
  /// What this rank's layers make of its piece of a step's rows, [t, 1, h]. `input`: what the stage
  /// before has made of them; unused where the model has the embedding. Without rows: absent.
  autograd::Var run(const StepPlan& plan, const autograd::Var& input = {});
  /// Returns the wanted rows' logits, fp32, of what `run` gave last; valid until the next call.
  std::span<const float> logits(const autograd::Var& hidden);

  /// Images that ids of steps may stand for.
  ImageMemory& images() { return images_; }
  /// What was drafted for the last step, sequences in order.
  const TokenIds& drafted() const { return drafted_; }
  /// Rows of this rank's piece of a step that has `rows`.
  Index piece_of(Index rows) const { return (rows + sharers() - 1) / sharers(); }
  /// Of keys and values, and of states.
  Index cache_bytes() const { return cache_.bytes() + states_.bytes(); }
  /// Of the states of one sequence.
  Index state_bytes() const {
    return shape_.states > 0 ? states_.bytes() / (shape_.states + shape_.snapshots) : 0;
  }
  /// How many kinds of steps were recorded (EngineShape::graphs).
  Index recordings() const { return graphs_ ? graphs_->recordings() : 0; }
  /// Of the weights that a step reads.
  Index weight_bytes() const { return weights().bytes(); }

 private:
  struct Adapters {
    std::vector<autograd::AdaptedRows> rows;  // of the last step
    std::vector<autograd::Adapter*> known;    // whoever told of them keeps them
  };
  struct Places {
    std::vector<std::int64_t> positions;
    StepAxes axes;  // where images have rows and columns
  };
  autograd::PackedWeights& weights() const {
    return own_weights_ != nullptr ? *own_weights_ : *shape_.packed;
  }
  void copy_places(const StepPlan& plan);
  tensor::Tensor decode(const DecodeGraphs::Rows& rows);
  tensor::Tensor numbers_of(autograd::Context& context, const tensor::Tensor& rows);
  std::span<const float> on_host(const tensor::Tensor& logits);
  void collect(std::span<const SequenceStep> sequences);
  void encode(const SequenceStep& sequence);
  void take_own_blocks();
  void take_own_rows();
  void prepare_cache();
  void adapt_rows(autograd::Adapter* adapter, Index first, Index count);
  models::Batch batch_of_rows(const tensor::Tensor& positions);
  tensor::Tensor table_of(std::span<const kernels::CachedPiece> pieces, bool causal);

  device::Device& device_;
  const models::Model& model_;
  Index sharers() const { return sharers_ == nullptr ? 1 : sharers_->size(); }

  EngineShape shape_;
  comm::GroupHandle sharers_;
  autograd::KeyValueCache cache_;
  autograd::LayerStates states_;
  std::unique_ptr<autograd::PackedWeights> own_weights_;  // null where they were packed before
  ImageMemory images_;
  std::optional<PredictionHeads> heads_;
  std::optional<DecodeGraphs> graphs_;
  TokenIds drafted_;
  // The rows of the last step.
  std::vector<kernels::CachedPiece> pieces_, encoded_;
  Adapters adapters_;
  Places places_;
  std::vector<std::int64_t> ids_, wanted_;
  std::vector<std::int64_t> table_;
  std::vector<Index> own_blocks_;
  tensor::Tensor logits_;
};

}  // namespace mpitron::inference
