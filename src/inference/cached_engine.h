#pragma once
#include "autograd/cached_pass.h"
#include "inference/engine_interface.h"
#include "models/base/model.h"

namespace mpitron::inference {

/// The engine that keeps keys and values: one pass of the model over all new tokens of a step, in
/// which linear layers see the rows of all sequences together and attention each sequence's blocks.
/// Models of one rank for which `no_cached_path` is empty.
class CachedEngine : public Engine {
 public:
  /// `shape`: the model's vocabularies and positions are filled in. Takes the memory of the cache
  /// and of the weights, which are packed in `shape.weights`.
  CachedEngine(device::Device& device, const models::Model& model, EngineShape shape,
               Index vocabulary);

  const EngineShape& shape() const override { return shape_; }
  std::span<const float> step(std::span<const SequenceStep> sequences) override;
  void copy_block(Index from, Index to) override { cache_.copy_block(from, to); }
  void release_slot(Index /*slot*/) override {}
  /// Of keys and values.
  Index cache_bytes() const { return cache_.bytes(); }
  /// Of the weights that a step reads.
  Index weight_bytes() const { return weights_.bytes(); }

 private:
  /// What a step's rows are: filled from its sequences.
  struct Rows {
    std::vector<kernels::CachedPiece> pieces;
    std::vector<std::int64_t> ids, positions, wanted;
  };
  void collect(std::span<const SequenceStep> sequences);
  tensor::Tensor on_device(const std::vector<std::int64_t>& values);
  void run_rows();

  device::Device& device_;
  const models::Model& model_;
  EngineShape shape_;
  autograd::KeyValueCache cache_;
  autograd::PackedWeights weights_;
  Rows rows_;
  std::vector<float> logits_;
};

}  // namespace mpitron::inference
