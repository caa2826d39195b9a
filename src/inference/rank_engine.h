#pragma once
#include "inference/rank_worker.h"

namespace mpitron::inference {

/// The engine of several ranks, on the first of them: tells all others of every step's plans and
/// collects the logits. Nobody else decides anything. The others call `follow`.
class RankEngine : public Engine {
 public:
  /// `grid`: of the world; `adapters`: all that requests may have. Collective with the others'
  /// `follow`.
  RankEngine(device::Device& device, const models::Model& model, const RankPlace& place,
             const comm::RankGrid& grid, EngineShape shape,
             std::vector<AdapterHandle> adapters = {});
  /// Lets the others go.
  ~RankEngine() override;

  const EngineShape& shape() const override { return shape_; }
  Index replicas() const override { return worker_.place().replicas; }
  Index depth() const override { return worker_.place().stages; }
  void start(std::span<const StepPlan* const> plans) override;
  void finish() override;
  std::span<const float> logits(Index replica) const override {
    return logits_[static_cast<std::size_t>(replica)];
  }
  std::span<const TokenId> drafted(Index /*replica*/) const override {
    return worker_.runner().drafted();
  }
  /// Shows the others that this rank lives.
  void idle() override;

  /// The part of every rank but the first: runs steps until the first one's engine ends.
  static void follow(device::Device& device, const models::Model& model, const RankPlace& place,
                     const EngineShape& shape, std::vector<AdapterHandle> adapters = {});

 private:
  /// A step under way.
  struct Flight {
    Index tick = 0;
    std::vector<Index> rows;  // wanted, of each replica
  };
  void tick(std::span<const StepPlan* const> plans);

  EngineShape shape_;
  RankWorker worker_;
  std::vector<Index> leaders_;  // the world's ranks that have the replicas' logits
  std::deque<Flight> flights_;
  Index ticks_ = 0;
  StepPlan nothing_;
  std::vector<const StepPlan*> nobody_;
  std::vector<std::int64_t> words_;
  std::vector<std::vector<float>> logits_;
};

}  // namespace mpitron::inference
