#pragma once
#include <memory>
#include <optional>
#include <span>

#include "kernels/attention/cached_numbers.h"
#include "kernels/linear/packed_formats.h"
#include "kernels/state_space/state_types.h"
#include "tokenizers/core/tokenizer.h"
#include "utils/error.h"

namespace mpitron::autograd {
class Adapter;
class PackedWeights;
}  // namespace mpitron::autograd

namespace mpitron::inference {

using tokenizers::TokenId;
using tokenizers::TokenIds;

/// Updates of a model's weights that some sequences have; kept as long as one of them runs.
using AdapterHandle = std::shared_ptr<autograd::Adapter>;

/// What an engine can hold; fixed from its construction on.
struct EngineShape {
  Index block_size = 16;        // positions per block of the cache
  Index blocks = 0;             // ids 0 .. blocks - 1
  Index block_owners = 1;       // block i of a sequence is one whose id leaves i's rest by this
  Index slots = 0;              // sequences that run at the same time
  Index states = 0;             // places for what layers carry beside keys; 0: none does
  Index snapshots = 0;          // places behind those, kept for texts that begin alike
  Index max_step_tokens = 512;  // of all sequences of one step together
  Index max_positions = 0;      // longest sequence, prompt and answer
  Index own_drafts = 0;   // most tokens that the engine itself drafts behind a sequence's last
  Index max_encoded = 0;  // longest prompt of an encoder; 0: there is none
  Index vocabulary = 0;   // true ids
  Index padded_vocabulary = 0;                           // columns of the logits
  std::optional<kernels::WeightFormat> weights = {};     // that products read; absent: the model's
  kernels::CacheType cache = kernels::CacheType::model;  // of keys and values
  kernels::StateTypes state_types = {};                  // of states; on the host alone
  // Weights that were packed as they were loaded, which outlive the engine; null: each is packed
  // when it is first used.
  autograd::PackedWeights* packed = nullptr;
  bool graphs = false;        // steps of one token a sequence are recorded, on a GPU and one rank
  bool whole_images = false;  // ids below 0 side by side see each other, and come in one step
  bool image_axes = false;    // ids below 0 stand at rows and columns of their image
};

/// One sequence's share of a step: a piece of its prompt, or the token that was drawn last, with
/// drafts of those after it.
struct SequenceStep {
  Index slot = 0;            // of this sequence alone as long as it runs
  Index first_position = 0;  // of tokens[0]; everything before it is in the cache
  std::span<const TokenId> tokens;
  std::span<const Index> blocks;  // blocks[i] holds positions [i * block_size, (i+1) * block_size)
  Index logits_from = 0;          // logits of tokens[logits_from ..]; tokens.size(): of none
  Index seen = 0;                 // ids below 0 in front of tokens[0], with image_axes
  Index state_from = -1;          // place of what layers carry of the positions before; -1: none is
  Index state_to = -1;            // and of those up to the last token
  // Of a model whose prompts go to an encoder; tokens are the answer's alone.
  std::span<const TokenId> encoder_tokens = {};  // to be encoded now; else they have been
  std::span<const Index> encoder_blocks = {};    // hold what is left of encoder_size positions
  Index encoder_size = 0;

  Index own_drafts = 0;  // tokens to be drafted by the engine and computed behind the others
  autograd::Adapter* adapter = nullptr;  // rows of neighbours with the same are computed together

  Index rows() const { return static_cast<Index>(tokens.size()) - logits_from + own_drafts; }
};

/// A block or a place for states that becomes what another one is.
struct PlaceCopy {
  Index from = 0, to = 0;
};

/// What an engine does in a step: the copies in their order, then all sequences together. Spans are
/// read until start() returns.
struct StepPlan {
  std::vector<PlaceCopy> block_copies;
  std::vector<PlaceCopy> state_copies;
  std::vector<SequenceStep> sequences;

  bool empty() const { return sequences.empty() && block_copies.empty() && state_copies.empty(); }
  void clear() {
    block_copies.clear();
    state_copies.clear();
    sequences.clear();
  }
};

/// An image that an engine has looked at: ids first, first - 1, ..., all below 0, stand in prompts
/// for its positions as long as somebody holds it.
struct SeenImage {
  TokenId first = -1;
  Index positions = 0;
};
using SeenImageHandle = std::shared_ptr<const SeenImage>;

/// The model side of generation: a forward pass over chunks of any lengths with keys and values in
/// blocks. It decides nothing: who runs, which blocks and which token follows is the caller's.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Of each replica.
  virtual const EngineShape& shape() const = 0;
  /// Copies of the model, each with sequences, slots and blocks of its own.
  virtual Index replicas() const { return 1; }
  /// Steps of different sequences that are worth having under way at the same time.
  virtual Index depth() const { return 1; }

  /// Bytes on this rank of what layers carry of one sequence; 0 where they carry nothing.
  virtual Index state_bytes() const { return 0; }

  /// Begins a step, `plans[r]` of replica r: keys and values of all its tokens go into their blocks
  /// (what lay at these positions is replaced). Blocks may be shared by sequences for positions
  /// that none writes. A sequence's logits do not depend on the others of the step.
  virtual void start(std::span<const StepPlan* const> plans) = 0;
  /// Ends the oldest step under way.
  virtual void finish() = 0;
  /// Of the step that ended last: the wanted logits, fp32 [rows, padded_vocabulary], sequences in
  /// order; valid until the next call of another function.
  virtual std::span<const float> logits(Index replica) const = 0;
  /// Of the same step: what the engine drafted, sequences in order.
  virtual std::span<const TokenId> drafted(Index /*replica*/) const { return {}; }
  /// Looks at an image's tiles, [T, 3, edge, edge] as the model's encoder wants them. Not while a
  /// step is under way. Error(usage) where the model, or a model on several ranks, sees none.
  virtual SeenImageHandle see(std::span<const float> /*tiles*/) {
    throw_usage("images in prompts need a model that sees them (pretrain-vlm), on one rank");
  }
  /// Called now and then while nobody has work.
  virtual void idle() {}

  /// A step of the first replica alone, where nothing is under way.
  std::span<const float> step(const StepPlan& plan) {
    const StepPlan* const only = &plan;
    start(std::span(&only, 1));
    finish();
    return logits(0);
  }
};

}  // namespace mpitron::inference
