#include "inference/scheduling/kept_positions.h"

#include <algorithm>

// Where states are kept, as a pure function of a text and of what is known of it. A state takes
// megabytes, so there are few such positions, and each has a reason.

namespace mpitron::inference {

KeptPositions KeptPositions::of(const EngineShape& shape, Index interval, Index least) {
  constexpr Index kUsual = 512;
  const Index wanted = interval > 0 ? interval : std::max(kUsual, shape.max_step_tokens);
  return {.block_size = shape.block_size,
          .interval = std::max<Index>(1, wanted / shape.block_size) * shape.block_size,
          .least = least};
}

std::optional<StateSnapshots::Use> KeptPositions::use_at(const Sequence& sequence,
                                                         Index position) const {
  if (position % block_size != 0 || position < sequence.states.last + least) {
    return std::nullopt;
  }
  // The last token of a prompt is always computed, since its logits are needed.
  const Index last_whole = (sequence.prompt_size - 1) / block_size * block_size;
  if (position == last_whole || position == sequence.states.known) {
    return StateSnapshots::Use::likely;
  }
  return position % interval == 0 ? std::optional(StateSnapshots::Use::passing) : std::nullopt;
}

Index KeptPositions::cut(const Sequence& sequence, Index tokens) const {
  const Index end = sequence.computed + tokens;
  for (Index position = sequence.computed / block_size * block_size + block_size; position < end;
       position += block_size) {
    if (use_at(sequence, position)) {
      return position - sequence.computed;
    }
  }
  return tokens;
}

}  // namespace mpitron::inference
