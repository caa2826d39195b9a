#include <algorithm>

#include "pipeline/schedule.h"
#include "utils/error.h"

// The interleaved schedule (Narayanan et al. 2021, section 2.2): every stage has several chunks of
// layers, and microbatches go through chunk 0 of all stages, then through chunk 1. The bubble
// shrinks by the number of chunks, and messages grow by it.

namespace mpitron::pipeline {
namespace {

/// A group of fewer microbatches than stages would have a stage wait for itself.
void check_groups(const ScheduleOptions& options) {
  const Index group = options.group_size();
  const Index rest = options.microbatches % group;
  if (options.stages < 2 || options.chunks < 2) {
    throw_usage(
        "The interleaved schedule needs at least 2 stages and 2 chunks per stage, given are {} and "
        "{}; --num-virtual-stages-per-pipeline-rank sets the chunks",
        options.stages, options.chunks);
  }
  if (group < options.stages) {
    throw_usage(
        "--microbatch-group-size-per-virtual-pipeline-stage {} is less than the {} pipeline "
        "stages, so that a stage would wait for its own output; give at least {}",
        group, options.stages, options.stages);
  }
  if (rest != 0 && rest < options.stages) {
    throw_usage(
        "{} microbatches in groups of {} leave a last group of {}, less than the {} pipeline "
        "stages; choose --global-batch-size for {} or {} microbatches, or another "
        "--microbatch-group-size-per-virtual-pipeline-stage",
        options.microbatches, group, rest, options.stages, options.microbatches - rest,
        options.microbatches - rest + group);
  }
}

}  // namespace

/// Microbatches in groups: a group runs through chunk 0, then through chunk 1, and so on (Narayanan
/// et al. 2021).
std::vector<ScheduleSlot> interleaved_table(const ScheduleOptions& options) {
  std::vector<ScheduleSlot> table;
  const Index group = options.group_size();
  for (Index first = 0; first < options.microbatches; first += group) {
    const Index end = std::min(first + group, options.microbatches);
    for (Index chunk = 0; chunk < options.chunks; ++chunk) {
      for (Index m = first; m < end; ++m) {
        table.push_back({.microbatch = m, .chunk = chunk});
      }
    }
  }
  return table;
}

/// Forwards before the first backward: two for each stage behind this one, and a group for each
/// chunk but the last.
Index interleaved_warmup(const ScheduleOptions& options, Index stage, Index extra) {
  const Index warmup =
      (options.stages - stage - 1) * 2 + (options.chunks - 1) * options.group_size() + extra;
  return std::min(warmup, options.chunks * options.microbatches);
}

/// Backwards visit the chunks in the opposite order.
ActionList interleaved_order(const ScheduleOptions& options, Index stage) {
  check_groups(options);
  const std::vector<ScheduleSlot> table = interleaved_table(options);
  // One forward more, so that no backward waits for the forward that it is joined with.
  const Index extra = options.join_passes ? 1 : 0;
  const auto warmup = static_cast<std::size_t>(interleaved_warmup(options, stage, extra));
  ActionList order;
  order.reserve(2 * table.size());
  const auto add_forward = [&](std::size_t k, bool joined) {
    order.push_back({.chunk = table[k].chunk, .microbatch = table[k].microbatch, .joined = joined});
  };
  for (std::size_t k = 0; k < warmup; ++k) {
    add_forward(k, false);
  }
  for (std::size_t k = 0; k < table.size(); ++k) {
    if (k + warmup < table.size()) {
      add_forward(k + warmup, options.join_passes);
    }
    order.push_back({.kind = ActionKind::backward,
                     .chunk = options.chunks - 1 - table[k].chunk,
                     .microbatch = table[k].microbatch});
  }
  return order;
}

}  // namespace mpitron::pipeline
