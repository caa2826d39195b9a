#include "cli/show/memory_estimate.h"

#include <algorithm>

#include <fmt/format.h>

#include "config/global_batch_size.h"
#include "plan/model/job.h"
#include "plan/replay/rank_replay.h"
#include "train/model/rank_layout.h"
#include "train/model/theoretical_memory.h"
#include "utils/error.h"

// Memory of a run before it starts, in two ways: Megatron's formulas (theoretical_memory_usage.py),
// which take no time and know only bf16 with sequence parallelism, or a replay of the program of
// the fullest ranks, which counts every allocation.

namespace mpitron::cli {

namespace {

constexpr double kMebibyte = 1024.0 * 1024.0, kGibibyte = 1024 * kMebibyte;

/// Returns whether a replay is quick and needs no files or devices.
bool can_be_replayed(const config::RunConfig& run) {
  constexpr Index kMostLayers = 1000, kMostTokens = 10'000'000;  // which are made up
  return run.model.seq_length * run.training.micro_batch_size < kMostTokens &&
         run.model.padded_vocab_size > 0 && run.model.all_layers() < kMostLayers &&
         !run.model.fp8 && run.model.family().samples != config::SampleKind::image_texts &&
         !run.optimizer.offload;
}

/// Leaves as many microbatches as a pipeline has in flight at most: more of them take no more
/// memory. Growing batches are dropped for the same reason.
void keep_first_microbatches(config::RunConfig& run) {
  const config::ParallelConfig& p = run.parallel;
  const Index most =
      2 * p.pipeline_model_parallel_size * p.virtual_pipeline_model_parallel_size.value_or(1);
  const Index microbatches = config::num_microbatches(run.training, p.data_parallel_size);
  run.training.rampup_batch_size.reset();
  run.training.batch_size_steps.clear();
  run.training.global_batch_size =
      std::min(most, microbatches) * run.training.micro_batch_size * p.data_parallel_size;
}

/// Returns one rank of the first and one of the last stage: the others have neither table nor loss.
std::vector<Index> fullest_ranks(const config::ParallelConfig& parallel) {
  const comm::RankGrid grid = train::make_rank_grid(parallel, parallel.world_size);
  const comm::Grid& dense = grid.dense();
  const Index last = dense.size(comm::Axis::pipeline) - 1;
  std::vector<Index> ranks = {0};
  for (Index rank = 1; last > 0 && ranks.size() < 2; ++rank) {
    if (dense.coordinate(rank, comm::Axis::pipeline) == last) {
      ranks.push_back(rank);
    }
  }
  return ranks;
}

}  // namespace

MemoryEstimate replay_memory(const config::RunConfig& given) {
  config::RunConfig run = plan::with_vocabulary(given);
  if (!can_be_replayed(run)) {
    return estimate_memory(run);
  }
  keep_first_microbatches(run);
  MemoryEstimate fullest{.replayed = true};
  for (const Index rank : fullest_ranks(run.parallel)) {
    const plan::ReplayedMemory memory = plan::replay_rank(run, rank).memory;
    if (static_cast<double>(memory.peak) > fullest.total()) {
      fullest.state = static_cast<double>(memory.state());
      fullest.activations = static_cast<double>(memory.activations());
    }
  }
  return fullest;
}

MemoryEstimate estimate_memory(const config::RunConfig& given) {
  const config::RunConfig run = plan::with_vocabulary(given);
  const train::TheoreticalMemory memory = train::theoretical_memory(run);
  return {.state = memory.weight_and_optimizer,
          .activations = memory.activation,
          .host_state = memory.host_optimizer,
          .fp8_weights = memory.fp8_weights,
          .has_vocabulary = run.model.padded_vocab_size > 0};
}

std::string to_text(const MemoryEstimate& memory) {
  std::string text = fmt::format(
      "memory of the fullest rank: {:.1f} MB weights, gradients and optimizer state, "
      "{:.1f} MB activations{}",
      memory.state / kMebibyte, memory.activations / kMebibyte,
      memory.replayed ? " and scratch memory"
                      : ", by the reference's formula (sequence parallel, selective recompute)");
  if (memory.host_state > 0) {
    text += fmt::format(", {:.1f} MB optimizer state in the host's memory",
                        memory.host_state / kMebibyte);
  }
  if (memory.fp8_weights > 0) {
    text += fmt::format(", {:.1f} MB weights in 8 bits", memory.fp8_weights / kMebibyte);
  }
  return memory.has_vocabulary ? text : text + "; without the rows of the vocabulary";
}

/// Speaks of GB as 2^30 bytes, as operating systems do.
std::string memory_shortage(const MemoryEstimate& memory, Index ranks, Index bytes) {
  const double needed = static_cast<double>(ranks) * memory.total();
  if (needed <= static_cast<double>(bytes)) {
    return "";
  }
  return fmt::format(
      "this machine has {:.1f} GB of memory, {} about {:.1f} GB (a rank {:.1f} for weights and "
      "optimizer, {:.1f} for activations): expect swapping, or that the system kills the run; a "
      "shorter --seq-length, a smaller --micro-batch-size or more machines take less",
      static_cast<double>(bytes) / kGibibyte,
      ranks == 1 ? "this run needs" : fmt::format("the {} ranks on it need", ranks),
      needed / kGibibyte, (memory.total() - memory.activations) / kGibibyte,
      memory.activations / kGibibyte);
}

void refuse_absurd_memory(double needed, Index available) {
  constexpr double kGigabyte = 1e9;
  constexpr double kMostTimes = 10;
  const auto there = static_cast<double>(available);
  if (needed > kMostTimes * there) {
    throw_environment(
        "this run needs about {:.0f} GB, more than ten times the {:.0f} GB of memory that there "
        "are: is one of --num-layers, --hidden-size, --seq-length and --micro-batch-size mistyped?",
        needed / kGigabyte, there / kGigabyte);
  }
}

}  // namespace mpitron::cli
