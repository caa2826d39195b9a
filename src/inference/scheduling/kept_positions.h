#pragma once
#include "inference/engine_interface.h"
#include "inference/scheduling/sequence.h"
#include "inference/scheduling/state_snapshots.h"

namespace mpitron::inference {

/// At which positions of a text its states are worth a place of their own. All of them end a block,
/// and lie at least `least` positions behind the last one that the text has states of:
///   - where the last whole block of its prompt ends: the next turn of a conversation begins there
///   - where it parts from texts that were computed before: a beginning that many share ends there
///   - each multiple of `interval`: what begins like it, and the text itself after a preemption,
///     computes no more than so many positions again
struct KeptPositions {
  Index block_size = 16;
  Index interval = 512;  // a multiple of block_size
  Index least = 64;

  /// `interval`: 0: 512, or what a step has where that is more, which cuts no step that a prompt
  /// has alone.
  static KeptPositions of(const EngineShape& shape, Index interval, Index least);

  /// How likely other texts begin at a position of a sequence; nothing where it is none of these.
  std::optional<StateSnapshots::Use> use_at(const Sequence& sequence, Index position) const;
  /// Returns how many of the `tokens` that come next a step may have so that none of these
  /// positions lies within.
  Index cut(const Sequence& sequence, Index tokens) const;
};

}  // namespace mpitron::inference
