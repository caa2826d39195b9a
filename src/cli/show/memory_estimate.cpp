#include "cli/show/memory_estimate.h"

#include <fmt/format.h>

#include "train/batches/training_data.h"
#include "train/model/theoretical_memory.h"
#include "utils/error.h"

namespace mpitron::cli {

namespace {

constexpr double kMebibyte = 1024.0 * 1024.0, kGibibyte = 1024 * kMebibyte;

}  // namespace

MemoryEstimate estimate_memory(config::RunConfig run) {
  if (run.data.vocab_size && run.model.padded_vocab_size == 0) {
    run.model.padded_vocab_size = train::padded_vocab_size(run, *run.data.vocab_size);
  }
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
      "{:.1f} MB activations (sequence parallel, selective recompute)",
      memory.state / kMebibyte, memory.activations / kMebibyte);
  if (memory.host_state > 0) {
    text += fmt::format(", {:.1f} MB optimizer state in the host's memory",
                        memory.host_state / kMebibyte);
  }
  if (memory.fp8_weights > 0) {
    text += fmt::format(", {:.1f} MB weights in 8 bits", memory.fp8_weights / kMebibyte);
  }
  return memory.has_vocabulary ? text : text + "; without the rows of the vocabulary";
}

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
