#pragma once
#include "inference/step_runner.h"

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

  const EngineShape& shape() const override { return runner_.shape(); }
  Index state_bytes() const override { return runner_.state_bytes(); }
  void start(std::span<const StepPlan* const> plans) override;
  void finish() override {}
  std::span<const float> logits(Index /*replica*/) const override { return logits_; }
  std::span<const TokenId> drafted(Index /*replica*/) const override { return runner_.drafted(); }
  SeenImageHandle see(std::span<const float> tiles) override { return runner_.images().see(tiles); }
  const StepRunner& runner() const { return runner_; }

 private:
  StepRunner runner_;
  std::span<const float> logits_;
};

}  // namespace mpitron::inference
