#include "pipeline/schedule.h"

#include <array>

#include <fmt/format.h>

#include "utils/error.h"

// From options to the lists of actions of all stages: orders of computations by the kind of
// schedule, then messages (communication.h). Schedules are data, and the simulator proves one
// before it runs.

namespace mpitron::pipeline {
namespace {

ActionList compute_order(const ScheduleOptions& options, Index stage) {
  switch (options.kind) {
    case ScheduleKind::no_pipelining:
      return no_pipelining_order(options);
    case ScheduleKind::one_forward_one_backward:
      return one_forward_one_backward_order(options, stage);
    case ScheduleKind::interleaved:
      return interleaved_order(options, stage);
    case ScheduleKind::zero_bubble:
      return zero_bubble_order(options, stage);
  }
  MPITRON_CHECK(false, static_cast<int>(options.kind));
  return {};
}

/// Error(usage) where stages, chunks and microbatches make no schedule of this kind.
void check_counts(const ScheduleOptions& options) {
  if (options.stages < 1 || options.chunks < 1 || options.microbatches < 1 ||
      options.microbatch_group_size_per_virtual_stage < 0) {
    throw_usage(
        "A pipeline schedule needs at least 1 stage, 1 chunk and 1 microbatch and no negative "
        "group size; given are {}, {}, {} and {} (--pipeline-model-parallel-size, "
        "--num-virtual-stages-per-pipeline-rank, --global-batch-size, "
        "--microbatch-group-size-per-virtual-pipeline-stage)",
        options.stages, options.chunks, options.microbatches,
        options.microbatch_group_size_per_virtual_stage);
  }
}

/// Error(usage) where the layout string has other chunks than the kind asked for.
ScheduleKind kind_of(config::PipelineSchedule schedule, const StageLayout& layout) {
  using enum config::PipelineSchedule;
  const ScheduleKind fitting = default_kind(layout.stages(), layout.chunks());
  switch (schedule) {
    case automatic:
      return fitting;
    case zero_bubble:
      return ScheduleKind::zero_bubble;
    case one_forward_one_backward:
    case interleaved:
      break;
  }
  const bool several = schedule == interleaved;
  if (several != (layout.chunks() > 1)) {
    throw_usage(
        "--pipeline-schedule {} needs {} per stage, the layout has {} (see "
        "--pipeline-model-parallel-layout); leave the schedule out to take {}",
        several ? "interleaved" : "1f1b", several ? "several chunks" : "1 chunk", layout.chunks(),
        to_string(fitting));
  }
  return fitting;
}

}  // namespace

ScheduleKind default_kind(Index stages, Index chunks) {
  if (chunks > 1) {
    return ScheduleKind::interleaved;
  }
  return stages > 1 ? ScheduleKind::one_forward_one_backward : ScheduleKind::no_pipelining;
}

std::string_view to_string(ScheduleKind kind) {
  switch (kind) {
    case ScheduleKind::no_pipelining:
      return "no-pipelining";
    case ScheduleKind::one_forward_one_backward:
      return "1f1b";
    case ScheduleKind::interleaved:
      return "interleaved";
    case ScheduleKind::zero_bubble:
      return "zero-bubble";
  }
  return "?";
}

std::string describe(const Action& action) {
  constexpr std::array kKinds = {"forward", "backward",     "backward_input", "backward_weight",
                                 "receive", "wait_receive", "send",           "wait_send"};
  const char* kind = kKinds[static_cast<std::size_t>(action.kind)];
  if (action.is_compute()) {
    return fmt::format("{} of chunk {}, microbatch {}", kind, action.chunk, action.microbatch);
  }
  return fmt::format("{} {} of chunk {}, microbatch {}, {} stage {} chunk {}", kind,
                     action.payload == Payload::activation ? "activation" : "gradient",
                     action.chunk, action.microbatch,
                     action.kind < ActionKind::send ? "from" : "to", action.peer_stage,
                     action.peer_chunk);
}

ScheduleOptions make_schedule_options(const config::ParallelConfig& parallel,
                                      const StageLayout& layout, Index microbatches) {
  return {.kind = kind_of(parallel.pipeline_schedule, layout),
          .stages = layout.stages(),
          .chunks = layout.chunks(),
          .microbatches = microbatches,
          .microbatch_group_size_per_virtual_stage = parallel.microbatch_group_size_per_vp_stage,
          .overlap_p2p_comm = layout.chunks() == 1 || parallel.overlap_p2p_comm,
          .join_passes = parallel.overlap_moe_expert_parallel_comm};
}

Schedule make_schedule(const ScheduleOptions& asked) {
  ScheduleOptions options = asked;
  options.join_passes = asked.join_passes && !asked.forward_only;
  check_counts(options);
  std::vector<ActionList> orders;
  for (Index stage = 0; stage < options.stages; ++stage) {
    orders.push_back(compute_order(options, stage));
    if (options.forward_only) {
      std::erase_if(orders.back(),
                    [](const Action& action) { return action.kind != ActionKind::forward; });
    }
  }
  return {.options = options, .stages = add_communication(orders, options)};
}

}  // namespace mpitron::pipeline
