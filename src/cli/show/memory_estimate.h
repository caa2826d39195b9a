#pragma once

#include <string>

#include "config/run_config.h"
#include "utils/numbers/shape.h"

namespace mpitron::cli {

/// Bytes that the fullest rank of a run needs: by the reference's formulas
/// (train/model/theoretical_memory.h), or as the program takes them (plan/replay/rank_replay.h).
struct MemoryEstimate {
  double state = 0;            // weights, gradients and optimizer state
  double activations = 0;      // by formula with sequence parallelism and selective recompute
  double host_state = 0;       // optimizer state in the host's memory beside a GPU's
  double fp8_weights = 0;      // kept beside the weights
  bool has_vocabulary = true;  // false: only the tokenizer knows its rows, they are not counted
  bool replayed = false;       // every tensor is counted, activations with scratch memory

  double total() const { return state + activations + host_state + fp8_weights; }
};

/// Estimates by formula; the options must break no rule.
MemoryEstimate estimate_memory(const config::RunConfig& run);

/// Returns the peak of a host's allocator in a step: the program of the first and of the last stage
/// is run without devices and peers. It falls back to the formula for an unknown vocabulary, texts
/// with images, products in 8 bits, state in the host's memory, and very many layers or tokens.
MemoryEstimate replay_memory(const config::RunConfig& run);

/// "memory of the fullest rank: 1.8 MB weights, ..."
std::string to_text(const MemoryEstimate& memory);

/// Returns a warning where `ranks` such ranks need more than a machine of `bytes` has; else an
/// empty text.
std::string memory_shortage(const MemoryEstimate& memory, Index ranks, Index bytes);

/// Throws Error(environment) where a run needs many times the memory there is (both in bytes), so
/// that a mistyped size ends at once and not after minutes of swapping.
void refuse_absurd_memory(double needed, Index available);

}  // namespace mpitron::cli
