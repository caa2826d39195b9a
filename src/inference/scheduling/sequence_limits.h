#pragma once
#include <algorithm>

#include "inference/scheduling/sequence.h"
#include "inference/scheduling/whole_images.h"
#include "utils/error.h"

namespace mpitron::inference {

/// Blocks of the cache that a sequence takes when it is as long as it may become.
struct NeededBlocks {
  Index own = 0;
  Index encoded = 0;  // what is left of its encoder's prompt
};

/// Refuses what could never run, however long it waits: more positions than the model has, or more
/// blocks than the cache. Error(usage) with both numbers.
inline void check_length(const Sequence& sequence, const EngineShape& shape, NeededBlocks needed) {
  const Index longest = sequence.longest;
  if (sequence.size() == 0 || longest > shape.max_positions) {
    throw_usage("a sequence of {} tokens was asked for; one has 1 to {}", longest,
                shape.max_positions);
  }
  const auto encoded = static_cast<Index>(sequence.encoder.tokens.size());
  if (encoded > shape.max_encoded) {
    throw_usage("the encoder reads at most {} tokens; the prompt has {}", shape.max_encoded,
                encoded);
  }
  const Index blocks = needed.own + needed.encoded;
  if (blocks > shape.blocks / shape.block_owners * shape.block_owners) {
    throw_usage("a sequence of {} tokens needs {} cache blocks of {} tokens; there are {}",
                longest + encoded, blocks, shape.block_size, shape.blocks);
  }
}

/// Refuses images that steps never have room for beside answers that go on; these have at most
/// `draft_rows` rows of drafts.
inline void check_images(const Sequence& sequence, const EngineShape& shape, Index draft_rows) {
  const Index most = shape.max_step_tokens - std::max(shape.slots, draft_rows);
  if (shape.whole_images && longest_image(sequence) > most) {
    throw_usage(
        "an image of more than {} positions, which are to come in one step: steps have {} tokens "
        "(--inference-dynamic-batching-max-tokens-override)",
        most, shape.max_step_tokens);
  }
}

}  // namespace mpitron::inference
