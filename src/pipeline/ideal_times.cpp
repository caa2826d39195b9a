#include "pipeline/ideal_times.h"

#include <algorithm>
#include <span>

// When each computation can run at the earliest, with messages that take no time. Schedules order
// their messages by it, so that a message that is needed first is posted first.

namespace mpitron::pipeline {

/// Returns where the input of a computation is made; nothing where it is the batch or the loss.
std::optional<ChunkPosition> data_source(const VirtualStages& ring, Index stage,
                                         const Action& compute) {
  if (compute.kind == ActionKind::forward) {
    return ring.before(stage, compute.chunk);
  }
  return compute.kind == ActionKind::backward_weight ? std::nullopt
                                                     : ring.after(stage, compute.chunk);
}

/// Returns where the result of a computation is needed; nothing behind the last.
std::optional<ChunkPosition> data_target(const VirtualStages& ring, Index stage,
                                         const Action& compute) {
  if (compute.kind == ActionKind::forward) {
    return ring.after(stage, compute.chunk);
  }
  return compute.kind == ActionKind::backward_weight ? std::nullopt
                                                     : ring.before(stage, compute.chunk);
}

IdealTimes::IdealTimes(const std::vector<ActionList>& orders, const ScheduleOptions& options)
    : ring_{options.stages, options.chunks},
      microbatches_(options.microbatches),
      spans_(orders.size()) {
  const auto cells = static_cast<std::size_t>(ring_.count() * microbatches_);
  forward_end_.assign(cells, -1);
  gradient_end_.assign(cells, -1);
  std::vector<Index> ready;
  for (Index stage = 0; stage < options.stages; ++stage) {
    ready.push_back(stage);
  }
  while (!ready.empty()) {
    const Index stage = ready.back();
    ready.pop_back();
    run_stage(stage, orders[static_cast<std::size_t>(stage)], ready);
  }
  for (std::size_t s = 0; s < orders.size(); ++s) {
    MPITRON_CHECK(spans_[s].size() == orders[s].size(), s, spans_[s].size());
  }
}

Index IdealTimes::cell(ChunkPosition at, Index microbatch) const {
  return ring_.number(at.stage, at.chunk) * microbatches_ + microbatch;
}

/// When the other stage has made it; messages take no time here.
std::optional<Index> IdealTimes::arrival(Index stage, const Action& compute) const {
  const std::optional<ChunkPosition> source = data_source(ring_, stage, compute);
  if (!source) {
    return {};
  }
  const std::vector<Index>& ends =
      compute.kind == ActionKind::forward ? forward_end_ : gradient_end_;
  return ends[static_cast<std::size_t>(cell(*source, compute.microbatch))];
}

/// Whether the data of a computation is there, and if so when it came.
bool IdealTimes::known(Index stage, const Action& compute, Index& time) const {
  time = arrival(stage, compute).value_or(0);
  return time >= 0;
}

/// Notes when a result was there and who may go on with it.
void IdealTimes::finish(Index stage, const Action& compute, Index end, std::vector<Index>& ready) {
  const auto at =
      static_cast<std::size_t>(cell({.stage = stage, .chunk = compute.chunk}, compute.microbatch));
  if (compute.kind == ActionKind::forward) {
    forward_end_[at] = end;
  } else if (compute.kind != ActionKind::backward_weight) {
    gradient_end_[at] = end;
  }
  if (const auto target = data_target(ring_, stage, compute)) {
    ready.push_back(target->stage);
  }
}

/// Runs a stage until it waits for data; `ready` gets the stages that wait for what it made.
void IdealTimes::run_stage(Index stage, const ActionList& order, std::vector<Index>& ready) {
  std::vector<IdealSpan>& spans = spans_[static_cast<std::size_t>(stage)];
  while (spans.size() < order.size()) {
    const Action* const first = &order[spans.size()];
    const std::span<const Action> together(first, first->joined ? 2 : 1);
    Index start = spans.empty() ? 0 : spans.back().end, length = 0;
    for (const Action& compute : together) {
      Index arrived = 0;
      if (!known(stage, compute, arrived)) {
        return;
      }
      start = std::max(start, arrived);
      length += compute.kind == ActionKind::backward ? 2 : 1;
    }
    for (const Action& compute : together) {
      spans.push_back({.start = start, .end = start + length});
      finish(stage, compute, start + length, ready);
    }
  }
}

}  // namespace mpitron::pipeline
