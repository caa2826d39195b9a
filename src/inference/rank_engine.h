#pragma once
#include <map>

#include "inference/rank_worker.h"

namespace mpitron::inference {

/// The engine of several ranks, on the first of them: tells all others of every step's plans and
/// collects the logits. Nobody else decides anything. The others call `follow`.
class RankEngine : public Engine {
 public:
  /// `grid`: of the world; `adapters`: those that requests may have from the start. Collective with
  /// the others' `follow`.
  RankEngine(device::Device& device, const models::Model& model, const RankPlace& place,
             const comm::RankGrid& grid, EngineShape shape,
             std::vector<AdapterHandle> adapters = {});
  /// Lets the others go.
  ~RankEngine() override;

  const EngineShape& shape() const override { return shape_; }
  Index replicas() const override { return worker_.place().replicas; }
  Index depth() const override { return worker_.place().stages; }
  Index state_bytes() const override { return worker_.runner().state_bytes(); }
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
  /// Reads one adapter more, here by `read` and on the others by what they follow with: requests
  /// may have it from now on, and when nobody has it any more all ranks free it. Errors as
  /// read_together().
  AdapterHandle load_adapter(const std::string& folder, const AdapterReader& read);

  /// The part of every rank but the first: runs steps until the first one's engine ends. `read`:
  /// for load_adapter() of the first.
  static void follow(device::Device& device, const models::Model& model, const RankPlace& place,
                     const EngineShape& shape, std::vector<AdapterHandle> adapters = {},
                     const AdapterReader& read = {});

 private:
  /// A step under way.
  struct Flight {
    Index tick = 0;
    std::vector<Index> rows;  // wanted, of each replica
  };
  void tick(std::span<const StepPlan* const> plans);
  void drop_unused_adapters();

  EngineShape shape_;
  RankWorker worker_;
  std::vector<Index> leaders_;  // the world's ranks that have the replicas' logits
  std::deque<Flight> flights_;
  Index ticks_ = 0;
  std::map<Index, Index> unused_adapters_;  // their numbers, and the tick since which they are
  StepPlan nothing_;
  std::vector<const StepPlan*> nobody_;
  std::vector<std::int64_t> words_;
  std::vector<std::vector<float>> logits_;
};

}  // namespace mpitron::inference
