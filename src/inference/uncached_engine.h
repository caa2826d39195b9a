#pragma once
#include "inference/engine_interface.h"
#include "models/base/model.h"

namespace mpitron::inference {

/// The engine that every cached one is compared with: its blocks hold token ids, and each step runs
/// all tokens of a sequence through the training forward, one sequence at a time. Slow, and right
/// for every model of one rank that reads tokens alone.
class UncachedEngine : public Engine {
 public:
  /// `shape`: the model's vocabularies and positions are filled in.
  UncachedEngine(device::Device& device, const models::Model& model, EngineShape shape,
                 Index vocabulary);

  const EngineShape& shape() const override { return shape_; }
  std::span<const float> step(std::span<const SequenceStep> sequences) override;
  void copy_block(Index from, Index to) override;
  void release_slot(Index /*slot*/) override {}

 private:
  TokenId& at(const SequenceStep& sequence, Index position);
  void append_rows(const SequenceStep& sequence);

  device::Device& device_;
  const models::Model& model_;
  EngineShape shape_;
  TokenIds cache_;  // [blocks, block_size]
  std::vector<float> logits_;
};

}  // namespace mpitron::inference
