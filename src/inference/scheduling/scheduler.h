#pragma once
#include <deque>
#include <memory>
#include <string>

#include "inference/engine_interface.h"
#include "inference/scheduling/block_pool.h"

namespace mpitron::inference {

/// One answer in the making, as the scheduler sees it: tokens, blocks and progress.
struct Sequence {
  TokenIds tokens;  // prompt, then answer
  Index prompt_size = 0;
  Index longest = 0;           // tokens never grow beyond
  std::string salt;            // shares cached blocks with equal salts only
  bool scores_prompt = false;  // logits of all prompt tokens are wanted: no cached prefix helps
  Index scored = 0;            // prompt tokens whose logits were seen
  const Sequence* leader = nullptr;  // an answer to the same prompt that computes it first

  Index slot = -1;  // -1: not running
  std::vector<Index> blocks;
  std::vector<Hash128> keys;  // of full blocks that can be found
  Index computed = 0;         // tokens whose keys and values are in the blocks
  Index cached = 0;           // prompt tokens that the first admission found in the cache
  Index skipped = 0;          // times that a later one was admitted before
  Index preemptions = 0;

  Index size() const { return static_cast<Index>(tokens.size()); }
};

struct SchedulerSettings {
  bool prefix_cache = true;
  Index max_skips = 16;
};

/// Which sequences run in the next step, with how many tokens and on which blocks. Tokens that were
/// drawn come first, in order of arrival, then pieces of prompts. Where blocks run out the youngest
/// gives its own back and is computed again later, so the oldest always ends.
class Scheduler {
 public:
  Scheduler(const EngineShape& shape, SchedulerSettings settings);

  /// Error(usage) with both numbers where the sequence could never fit. `sequence` must live until
  /// remove().
  void add(Sequence& sequence);
  /// Takes a sequence out, wherever it is.
  void remove(Sequence& sequence);

  /// The next step; empty where nobody has work. Its spans are valid until the next call.
  const std::vector<SequenceStep>& plan();
  /// The sequences of plan(), in its order.
  const std::vector<Sequence*>& planned() const { return planned_; }
  /// The step is done: its tokens are in the cache.
  void finish_step();

  Index running() const { return static_cast<Index>(running_.size()); }
  Index waiting() const { return static_cast<Index>(waiting_.size()); }
  Index preemptions() const { return preemptions_; }
  Index cached_tokens() const { return cached_tokens_; }
  BlockPool& pool() { return pool_; }
  Index blocks_free() const { return pool_.available(); }
  const EngineShape& shape() const { return shape_; }
  /// Slots that were given up since the last call: the engine forgets their state.
  std::vector<Index> released_slots() { return std::exchange(released_, {}); }

 private:
  bool grow(Sequence& sequence, Index tokens);
  void plan_running(bool decodes);
  void admit();
  bool try_admit(Sequence& sequence);
  void find_prefix(Sequence& sequence);
  void remember_blocks(Sequence& sequence);
  void schedule(Sequence& sequence, Index tokens);
  void stop_running(Sequence& sequence);
  void preempt(Sequence& sequence);
  Index blocks_for(Index tokens) const {
    return (tokens + shape_.block_size - 1) / shape_.block_size;
  }

  EngineShape shape_;
  SchedulerSettings settings_;
  BlockPool pool_;
  std::vector<Index> free_slots_;
  std::vector<Index> released_;
  std::deque<Sequence*> waiting_;
  std::vector<Sequence*> running_;  // in order of arrival
  std::vector<SequenceStep> step_;
  std::vector<Sequence*> planned_;
  Index budget_ = 0;
  Index preemptions_ = 0;
  Index cached_tokens_ = 0;
};

}  // namespace mpitron::inference
