#pragma once
#include <vector>

#include "pipeline/schedule.h"
#include "pipeline/virtual_stages.h"

namespace mpitron::pipeline {

/// When a computation runs if forward, backward_input and backward_weight take 1 each (backward 2)
/// and messages nothing. A joined pair takes the time of both and is done at its end.
struct IdealSpan {
  Index start = 0;
  Index end = 0;
};

/// The computations of every stage, each as early as its order and its data allow.
class IdealTimes {
 public:
  /// `orders`: the computations of each stage. They must not wait for each other in a circle.
  IdealTimes(const std::vector<ActionList>& orders, const ScheduleOptions& options);

  /// Spans of a stage's computations, in their order.
  const std::vector<IdealSpan>& spans(Index stage) const {
    return spans_[static_cast<std::size_t>(stage)];
  }
  /// When the data comes that the computation gets from another stage; none if there is no such
  /// data.
  std::optional<Index> arrival(Index stage, const Action& compute) const;

 private:
  Index cell(ChunkPosition at, Index microbatch) const;
  void run_stage(Index stage, const ActionList& order, std::vector<Index>& ready);
  bool known(Index stage, const Action& compute, Index& time) const;
  void finish(Index stage, const Action& compute, Index end, std::vector<Index>& ready);

  VirtualStages ring_;
  Index microbatches_;
  std::vector<std::vector<IdealSpan>> spans_;
  std::vector<Index> forward_end_;   // by cell; -1: not yet
  std::vector<Index> gradient_end_;  // when the gradient of the input is there
};

/// Find where the data of a computation comes from or goes to, seen from its stage: before() for a
/// forward, after() for a gradient; none for backward_weight.
std::optional<ChunkPosition> data_source(const VirtualStages& ring, Index stage,
                                         const Action& compute);
std::optional<ChunkPosition> data_target(const VirtualStages& ring, Index stage,
                                         const Action& compute);

}  // namespace mpitron::pipeline
