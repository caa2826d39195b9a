#pragma once
#include <optional>
#include <span>

#include "tokenizers/core/tokenizer.h"
#include "utils/numbers/dtype.h"

namespace mpitron::inference {

using tokenizers::TokenId;
using tokenizers::TokenIds;

/// What an engine can hold; fixed from its construction on.
struct EngineShape {
  Index block_size = 16;              // positions per block of the cache
  Index blocks = 0;                   // ids 0 .. blocks - 1
  Index slots = 0;                    // sequences with state at the same time
  Index max_step_tokens = 512;        // of all sequences of one step together
  Index max_positions = 0;            // longest sequence, prompt and answer
  Index vocabulary = 0;               // true ids
  Index padded_vocabulary = 0;        // columns of the logits
  std::optional<DType> weights = {};  // type that products read weights in; absent: the model's
};

/// One sequence's share of a step: a piece of its prompt, or the token that was drawn last.
struct SequenceStep {
  Index slot = 0;            // state that is not kept by position (convolutions, encoders)
  Index first_position = 0;  // of tokens[0]; everything before it is in the cache
  std::span<const TokenId> tokens;
  std::span<const Index> blocks;  // blocks[i] holds positions [i * block_size, (i+1) * block_size)
  Index logits_from = 0;          // logits of tokens[logits_from ..]; tokens.size(): of none

  Index rows() const { return static_cast<Index>(tokens.size()) - logits_from; }
};

/// The model side of generation: a forward pass over chunks of any lengths with keys and values in
/// blocks. It decides nothing: who runs, which blocks and which token follows is the caller's.
class Engine {
 public:
  virtual ~Engine() = default;

  virtual const EngineShape& shape() const = 0;

  /// Writes keys and values of all tokens into their blocks (what lay at these positions is
  /// replaced) and returns the wanted logits, fp32 [rows, padded_vocabulary], sequences in order;
  /// valid until the next call. Blocks may be shared by sequences for positions that none writes.
  /// A sequence's logits do not depend on the others of the step.
  virtual std::span<const float> step(std::span<const SequenceStep> sequences) = 0;

  /// Copies a block's keys and values: a shared block that somebody is about to write.
  virtual void copy_block(Index from, Index to) = 0;

  /// Forgets the state of a slot; the next sequence in it begins at position 0.
  virtual void release_slot(Index slot) = 0;
};

}  // namespace mpitron::inference
