#pragma once
#include <deque>
#include <memory>

#include "inference/scheduling/prompt_lookup.h"
#include "inference/scheduling/sequence_blocks.h"
#include "inference/scheduling/state_places.h"
#include "inference/scheduling/steps_under_way.h"

namespace mpitron::inference {

struct SchedulerSettings {
  bool prefix_cache = true;
  Index max_skips = 16;
  Index draft_tokens = 0;  // most that are drafted for one sequence and step
  Index draft_rows = 16;   // rows of a step up to which drafts are worth their products
  // Most tokens of prompts in a step that also continues answers, but as many as it continues, and
  // a quarter of this number for each request that reads its prompt; 0: as many as the step has
  // room for.
  Index prompt_tokens_beside_answers = 0;
  // KeptPositions of states; 0: 512, or what a step has where that is more.
  Index state_interval = 0;
  Index state_least = 64;
};

/// Chooses which sequences run in the next step, with how many tokens and on which blocks. Tokens
/// that were drawn come first, then pieces of prompts, each in the order in which sequences began:
/// who answers is not held up by a long prompt. Where blocks run out the last to begin gives its
/// own back and is computed again later, so the first ends.
class Scheduler {
 public:
  /// `depth`: steps that may be under way at the same time.
  Scheduler(const EngineShape& shape, SchedulerSettings settings, Index depth = 1);

  /// Error(usage) with both numbers where the sequence could never fit. `sequence` must live until
  /// remove().
  void add(Sequence& sequence);
  /// Takes a sequence out, wherever it is.
  void remove(Sequence& sequence);
  /// Lets a waiting sequence go on behind the tokens of a running one, of which both have computed
  /// the same: it shares its blocks until one of them writes. False where there is no room.
  bool fork(Sequence& running, Sequence& waiting);

  /// Tokens of the longest beginning of a text that is in the cache.
  Index cached_beginning(std::span<const TokenId> tokens, const std::string& salt);
  /// Returns how many tokens are yet to be computed if all answers become as long as they may.
  Index tokens_ahead() const;
  /// Lists who waits for a sequence to have computed its prompt, in order of arrival.
  std::vector<Sequence*> followers(const Sequence& leader) const;

  using Part = StepPart;
  /// The next step, which is under way from now on unless it is empty: nobody has work that is not
  /// under way. Valid until the next call.
  const StepPlan& plan();
  /// A step of others, without a part of these sequences, is under way.
  void sit_out();
  Index under_way() const { return steps_.count(); }
  /// Returns the parts of the oldest step under way.
  std::vector<Part>& oldest() { return steps_.oldest(); }
  /// The drafts that the engine made for a part.
  static void add_own_drafts(const Part& part, std::span<const TokenId> drafts);
  /// Notes that what a part was planned for is in the cache, with as many of its drafts as were
  /// drawn.
  void computed(const Part& part, Index drawn);
  /// The oldest step has ended.
  void end_oldest() { steps_.end_oldest(); }
  /// Forgets the steps under way, of which nothing was computed.
  void abandon();

  Index running() const { return static_cast<Index>(running_.size()); }
  Index waiting() const { return static_cast<Index>(waiting_.size()); }
  Index preemptions() const { return preemptions_; }
  Index cached_tokens() const { return cached_tokens_; }
  Index drafted_tokens() const { return drafted_; }
  Index drawn_drafts() const { return drawn_drafts_; }
  Index blocks_free() const { return blocks_.available(); }
  /// Counts beginnings of texts whose states are kept.
  Index kept_states() const { return blocks_.kept_states(); }
  /// Counts sequences that began, or began again, where such states were kept.
  Index kept_state_uses() const { return kept_state_uses_; }
  const EngineShape& shape() const { return shape_; }

 private:
  bool grow(Sequence& sequence, Index tokens);
  bool decodes(const Sequence& sequence) const;
  void plan_running(bool decodes);
  Index reading() const;
  void limit_prompts();
  Index plan_tokens(Sequence& sequence);
  Index whole(const Sequence& sequence, Index tokens, Index most) const;
  Index piece(const Sequence& sequence) const;
  Index add_drafts(Sequence& sequence, Index tokens);
  void admit();
  bool try_admit(Sequence& sequence);
  void start_running(Sequence& sequence);
  void schedule(Sequence& sequence, Index tokens, Index own_drafts = 0);
  void drop_preempted();
  void group_by_adapter();
  void stop_running(Sequence& sequence);
  void preempt(Sequence& sequence);

  EngineShape shape_;
  SchedulerSettings settings_;
  SequenceBlocks blocks_;
  StatePlaces places_;
  KeptPositions positions_;  // where states are kept
  PromptLookup lookup_;
  std::vector<Index> free_slots_;
  std::deque<Sequence*> waiting_;
  std::vector<Sequence*> running_;       // in the order in which they began
  std::vector<PlaceCopy> state_copies_;  // of the next step
  StepPlan plan_;
  StepsUnderWay steps_;
  Index budget_ = 0, draft_budget_ = 0;  // tokens that the step under construction may still have
  Index room_ = 0;  // and that it may have where one image makes more of them than the budget
  Index preemptions_ = 0, cached_tokens_ = 0, kept_state_uses_ = 0;
  Index drafted_ = 0, drawn_drafts_ = 0;
};

}  // namespace mpitron::inference
