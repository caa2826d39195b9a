#pragma once
#include <string>
#include <vector>

#include "inference/engine_interface.h"
#include "inference/scheduling/draft_pace.h"
#include "utils/text/hash.h"

namespace mpitron::inference {

/// Prompt of an encoder, which is read before the first token is computed; nothing where there is
/// none.
struct EncodedPrompt {
  TokenIds tokens = {};
  std::vector<Index> blocks = {};  // hold what is left of it
  bool done = false;
};

/// Paces of drafts from the text, and by the engine.
struct DraftPaces {
  DraftPace lookup, own;
};

/// Where states of a sequence lie, and those that are kept of its beginnings.
struct SequenceStates {
  bool other = false;  // which of its slot's places holds those at `computed`
  Index place = -1;    // that its first step goes on from; -1: one of its slot's
  Index last = 0;      // its tokens up to the last states that are kept
  Index known = 0;     // its first tokens that were computed before, with or without states
};

/// One answer in the making, as the scheduler sees it: tokens, blocks and progress.
struct Sequence {
  TokenIds tokens = {};  // prompt, then answer, then the drafts of a step under way
  Index prompt_size = 0;
  Index longest = 0;                     // tokens never grow beyond
  std::string salt = {};                 // shares cached blocks with equal salts only
  autograd::Adapter* adapter = nullptr;  // of its answer; the salt tells it apart
  bool scores_prompt = false;  // logits of all prompt tokens are wanted: no cached prefix helps
  Sequence* leader = nullptr;  // an answer to the same prompt that computes it first
  DraftPaces paces = {};
  EncodedPrompt encoder = {};

  Index scored = 0;  // prompt tokens whose logits were seen
  Index drafts = 0;  // tokens at the end that nobody has drawn
  Index slot = -1;   // -1: not running
  bool under_way = false;
  SequenceStates states = {};
  std::vector<Index> blocks = {};
  std::vector<Hash128> keys = {};  // of full blocks that can be found
  Index computed = 0;              // tokens whose keys, values and states are in the cache
  Index cached = 0;                // prompt tokens that the first admission found in the cache
  Index skipped = 0;               // times that a later one was admitted before
  Index preemptions = 0;

  /// Returns the number of tokens without drafts.
  Index size() const { return static_cast<Index>(tokens.size()) - drafts; }
};

}  // namespace mpitron::inference
