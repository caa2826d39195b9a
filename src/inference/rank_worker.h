#pragma once
#include <deque>
#include <memory>

#include "comm/groups/parallel_groups.h"
#include "inference/plan_message.h"
#include "inference/rank_adapters.h"
#include "inference/step_runner.h"

namespace mpitron::inference {

/// A rank's place among those that generate together.
struct RankPlace {
  comm::World& world;
  const comm::ParallelGroups& groups;
  Index replica = 0, replicas = 1;
  Index stage = 0, stages = 1;

  /// The ranks that `rank` of `world` stands for, by their grid.
  static RankPlace of(comm::World& world, const comm::ParallelGroups& groups,
                      const comm::RankGrid& grid);
  /// Whether what this rank's stage computes is passed on by this rank.
  bool leads() const { return groups.tensor->rank() == 0 && groups.context->rank() == 0; }
};

/// A rank's part in everybody's steps. All ranks are told of the same plans in the same order; in a
/// tick each stage runs the plans that are as many ticks old as there are stages before it.
class RankWorker {
 public:
  /// `shape`: as of StepRunner, of one replica. `adapters`: this rank's part of those that plans
  /// name by number, the same on all ranks.
  RankWorker(device::Device& device, const models::Model& model, const RankPlace& place,
             const EngineShape& shape, std::vector<AdapterHandle> adapters = {});

  /// The plans of a new step (append_plans), one for each replica.
  void tick(std::span<const std::int64_t> words);
  /// Plans may name one adapter more, or one less: the same on all ranks, between ticks.
  void add(AdapterHandle adapter);
  void drop(Index adapter);
  const RankAdapters& adapters() const { return adapters_; }
  /// Of the last stage: the wanted logits of what it ran last.
  std::span<const float> logits() const { return logits_; }
  const StepRunner& runner() const { return runner_; }
  const RankPlace& place() const { return place_; }

 private:
  void run(const StepPlan& plan, Index rows);
  void meet_neighbours() const;
  tensor::Tensor receive_hidden(Index rows);

  device::Device& device_;
  const models::Model& model_;
  RankPlace place_;
  Index own_block_;  // of the cache, for rows that stand in where others have some
  StepRunner runner_;
  RankAdapters adapters_;
  std::deque<std::unique_ptr<ReceivedPlans>> recent_;  // the newest first, one for each stage
  TokenIds stand_in_token_ = {0};
  std::vector<Index> stand_in_blocks_;
  std::span<const float> logits_;
  // What the next stage has not taken yet.
  tensor::Tensor sent_;
  comm::Work sending_, sending_logits_;
};

}  // namespace mpitron::inference
