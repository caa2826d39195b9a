#pragma once
#include <functional>

#include "inference/engine_interface.h"
#include "models/base/model.h"

namespace mpitron::inference {

/// The engine that every cached one is compared with: its blocks hold token ids, and each step runs
/// all tokens of a sequence through the training forward, one sequence at a time. Slow, and right
/// for every model of one rank that reads tokens alone.
class UncachedEngine : public Engine {
 public:
  /// Appends the logits [rows, padded vocabulary] of a text's tokens from `first_row` on.
  using Pass = std::function<void(const TokenIds& text, Index first_row, std::vector<float>& rows)>;
  /// Of a model that lies on several ranks, which all step alike. `shape`: complete.
  UncachedEngine(EngineShape shape, Pass pass);
  /// `shape`: the model's vocabularies and positions are filled in.
  UncachedEngine(device::Device& device, const models::Model& model, EngineShape shape,
                 Index vocabulary);

  const EngineShape& shape() const override { return shape_; }
  void start(std::span<const StepPlan* const> plans) override;
  void finish() override {}
  std::span<const float> logits(Index /*replica*/) const override { return logits_; }

 private:
  TokenId& at(const SequenceStep& sequence, Index position);
  void append_rows(const SequenceStep& sequence);
  void copy_block(Index from, Index to);

  EngineShape shape_;
  Pass pass_;
  TokenIds cache_;  // [blocks, block_size]
  std::vector<float> logits_;
};

}  // namespace mpitron::inference
