#include "inference/scheduling/scheduler.h"

#include <algorithm>

#include "utils/error.h"

namespace mpitron::inference {

Scheduler::Scheduler(const EngineShape& shape, SchedulerSettings settings, Index depth)
    : shape_(shape),
      settings_(settings),
      depth_(depth),
      pool_(shape.blocks, shape.block_size, shape.block_owners),
      flights_(static_cast<std::size_t>(depth)) {
  for (Index slot = shape.slots - 1; slot >= 0; --slot) {
    free_slots_.push_back(slot);
  }
  if (shape.states > 0) {
    settings_.prefix_cache = false;  // states are not kept where blocks end
  }
  if (shape.states == shape.slots) {
    settings_.draft_tokens = 0;  // no place for a state that may be taken back
  }
}

void Scheduler::add(Sequence& sequence) {
  const Index longest = sequence.longest;
  if (sequence.size() == 0 || longest > shape_.max_positions) {
    throw_usage("a sequence of {} tokens was asked for; one has 1 to {}", longest,
                shape_.max_positions);
  }
  const auto encoded = static_cast<Index>(sequence.encoder.tokens.size());
  if (encoded > shape_.max_encoded) {
    throw_usage("the encoder reads at most {} tokens; the prompt has {}", shape_.max_encoded,
                encoded);
  }
  const Index needed = blocks_for(longest) + blocks_for(encoded);
  if (needed > shape_.blocks / shape_.block_owners * shape_.block_owners) {
    throw_usage("a sequence of {} tokens needs {} cache blocks of {} tokens; there are {}",
                longest + encoded, needed, shape_.block_size, shape_.blocks);
  }
  const auto most = static_cast<std::size_t>(blocks_for(longest));
  sequence.blocks.reserve(most);
  sequence.keys.reserve(most);
  sequence.tokens.reserve(static_cast<std::size_t>(longest + settings_.draft_tokens));
  waiting_.push_back(&sequence);
}

/// The last ones first: prefixes stay longest.
void Scheduler::give_blocks_back(Sequence& sequence) {
  for (auto block = sequence.blocks.rbegin(); block != sequence.blocks.rend(); ++block) {
    pool_.give_back(*block);
  }
  for (const Index block : sequence.encoder.blocks) {
    pool_.give_back(block);
  }
  sequence.blocks.clear();
  sequence.encoder.blocks.clear();
  sequence.keys.clear();
  sequence.computed = 0;
  sequence.encoder.done = false;
}

void Scheduler::stop_running(Sequence& sequence) {
  std::erase(running_, &sequence);
  give_blocks_back(sequence);
  free_slots_.push_back(sequence.slot);
  sequence.slot = -1;
  sequence.tokens.resize(static_cast<std::size_t>(sequence.size()));
  sequence.drafts = 0;
}

void Scheduler::remove(Sequence& sequence) {
  if (sequence.slot >= 0) {
    stop_running(sequence);
  } else {
    std::erase(waiting_, &sequence);
  }
  for (Sequence* other : waiting_) {
    if (other->leader == &sequence) {
      other->leader = nullptr;
    }
  }
  for (Index number = flights_ended_; number < flights_begun_; ++number) {
    for (Part& part : flight(number)) {
      part.sequence = part.sequence == &sequence ? nullptr : part.sequence;
    }
  }
}

void Scheduler::preempt(Sequence& sequence) {
  stop_running(sequence);
  waiting_.push_front(&sequence);
  ++sequence.preemptions;
  ++preemptions_;
}

/// Block `number` of a sequence, taken from the youngest that is not under way where none is left;
/// false where that is the sequence itself.
bool Scheduler::take_block(Sequence& sequence, std::size_t number, Index& block) {
  for (;;) {
    if (const auto taken = pool_.take(owner_of(number))) {
      block = *taken;
      return true;
    }
    const auto youngest = std::find_if(running_.rbegin(), running_.rend(),
                                       [](const Sequence* each) { return !each->under_way; });
    if (youngest == running_.rend() || *youngest == &sequence) {
      return false;
    }
    preempt(**youngest);
  }
}

/// Blocks for the first `tokens` tokens; that of the next one is the sequence's own, a copy where
/// others use it, too.
bool Scheduler::grow(Sequence& sequence, Index tokens) {
  const auto next = static_cast<std::size_t>(sequence.computed / shape_.block_size);
  while (next < sequence.blocks.size() && pool_.users(sequence.blocks[next]) > 1) {
    Index own = 0;
    if (!take_block(sequence, next, own)) {
      return false;
    }
    plan_.block_copies.push_back({sequence.blocks[next], own});
    pool_.give_back(std::exchange(sequence.blocks[next], own));
  }
  while (static_cast<Index>(sequence.blocks.size()) < blocks_for(tokens)) {
    Index block = 0;
    if (!take_block(sequence, sequence.blocks.size(), block)) {
      return false;
    }
    sequence.blocks.push_back(block);
  }
  return true;
}

Index Scheduler::state_place(const Sequence& sequence, bool other) const {
  if (shape_.states == 0) {
    return -1;
  }
  const Index of_slot = shape_.states / shape_.slots;
  return sequence.slot * of_slot + (other && of_slot > 1 ? 1 : 0);
}

/// `tokens` of the sequence, all of its drafts, and those that the engine is to make.
void Scheduler::schedule(Sequence& sequence, Index tokens, Index own_drafts) {
  const Index first = sequence.computed, next = first + tokens;
  const bool scores = sequence.scores_prompt && sequence.scored < sequence.prompt_size;
  const Index wanted = next == sequence.size() ? tokens - 1 : tokens;
  const Index from = scores ? std::clamp<Index>(sequence.scored - first, 0, wanted) : wanted;
  const Index known = tokens + sequence.drafts;
  budget_ -= known + own_drafts;
  flight(flights_begun_)
      .push_back(
          {&sequence, first, known + own_drafts, from, sequence.drafts + own_drafts, own_drafts});
  plan_.sequences.push_back(
      {.slot = sequence.slot,
       .first_position = first,
       .tokens = std::span(sequence.tokens)
                     .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(known)),
       .blocks = sequence.blocks,
       .logits_from = from,
       .state_from = first > 0 ? state_place(sequence, sequence.other_state) : -1,
       .state_to = state_place(sequence, !sequence.other_state),
       .encoder_tokens =
           sequence.encoder.done ? std::span<const TokenId>() : sequence.encoder.tokens,
       .encoder_blocks = sequence.encoder.blocks,
       .encoder_size = static_cast<Index>(sequence.encoder.tokens.size()),
       .own_drafts = own_drafts});
}

/// Whether the token that was drawn last is all that is to be computed. States may lie behind by
/// what a draft that was not drawn took back.
bool Scheduler::decodes(const Sequence& sequence) const {
  const Index left = sequence.size() - sequence.computed;
  return left == 1 || (shape_.states > 0 && sequence.computed >= sequence.prompt_size &&
                       left <= settings_.draft_tokens + 1);
}

/// For how many drafts there are blocks that nobody misses.
Index Scheduler::room_for_drafts(Sequence& sequence, Index most) {
  while (static_cast<Index>(sequence.blocks.size()) < blocks_for(sequence.size() + most)) {
    const auto block = pool_.take(owner_of(sequence.blocks.size()));
    if (!block) {
      break;
    }
    sequence.blocks.push_back(*block);
  }
  return std::min(most,
                  static_cast<Index>(sequence.blocks.size()) * shape_.block_size - sequence.size());
}

/// Drafts behind the `tokens` that lead to the sequence's end: of what repeats in its text, or else
/// as many as are returned, by the engine.
Index Scheduler::add_drafts(Sequence& sequence, Index tokens) {
  Index most = std::min({draft_budget_, budget_ - tokens, settings_.draft_tokens,
                         sequence.longest - sequence.size() - 1});
  if (most <= 0 || sequence.size() == sequence.prompt_size || tokens > settings_.draft_tokens) {
    return 0;
  }
  Index own = 0;
  const Index wanted = sequence.lookup_pace.allowed(most);
  if (const Index proposed = lookup_.propose(sequence, wanted); proposed > 0) {
    const Index room = room_for_drafts(sequence, proposed);
    sequence.tokens.resize(sequence.tokens.size() - static_cast<std::size_t>(proposed - room));
    sequence.drafts = room;
  } else if (tokens == 1 && shape_.own_drafts > 0) {
    most = sequence.own_pace.allowed(std::min(most, shape_.own_drafts));
    own = room_for_drafts(sequence, most);
  }
  draft_budget_ -= sequence.drafts + own;
  drafted_ += sequence.drafts + own;
  return own;
}

/// How many tokens of a running sequence the step has blocks for; it may be preempted.
Index Scheduler::plan_tokens(Sequence& sequence) {
  const Index tokens = std::min(sequence.size() - sequence.computed, budget_);
  if (grow(sequence, sequence.computed + tokens)) {
    return tokens;
  }
  const auto blocks = static_cast<Index>(sequence.blocks.size());
  const auto next = static_cast<std::size_t>(sequence.computed / shape_.block_size);
  const bool own = next < sequence.blocks.size() && pool_.users(sequence.blocks[next]) == 1;
  const Index room =
      own ? std::min(tokens, blocks * shape_.block_size - sequence.computed) : Index{0};
  if (room == 0 && running_.back() == &sequence) {
    preempt(sequence);
  }
  return room;
}

void Scheduler::plan_running(bool decoding) {
  const auto ready = [&](const Sequence* each) {
    return !each->under_way && decodes(*each) == decoding;
  };
  // What can be under way at the same time shares the tokens evenly.
  const Index all = std::ranges::count_if(running_, ready), turns = depth_ - under_way();
  Index left = decoding ? (all + turns - 1) / turns : all;
  draft_budget_ = decoding ? settings_.draft_rows - left : 0;
  for (std::size_t i = 0; i < running_.size() && left > 0 && budget_ > 0; ++i) {
    Sequence& sequence = *running_[i];
    if (!ready(&sequence)) {
      continue;
    }
    --left;
    const Index tokens = plan_tokens(sequence);
    if (tokens > 0) {
      const bool whole = decoding && sequence.computed + tokens == sequence.size();
      const Index own_drafts = whole ? add_drafts(sequence, tokens) : 0;
      schedule(sequence, tokens, own_drafts);
    }
  }
}

void Scheduler::find_prefix(Sequence& sequence) {
  Hash128 key = hash128(sequence.salt);
  const Index size = shape_.block_size;
  const Index usable = sequence.scores_prompt && sequence.scored < sequence.prompt_size
                           ? 0
                           : sequence.size() - 1;  // the last token's logits are needed
  while (settings_.prefix_cache && sequence.computed + size <= usable) {
    const auto ids =
        std::span(sequence.tokens)
            .subspan(static_cast<std::size_t>(sequence.computed), static_cast<std::size_t>(size));
    const auto found = pool_.find(key, ids);
    if (!found) {
      break;
    }
    key = found->key;
    sequence.blocks.push_back(found->block);
    sequence.keys.push_back(key);
    sequence.computed += size;
  }
}

void Scheduler::start_running(Sequence& sequence) {
  sequence.slot = free_slots_.back();
  free_slots_.pop_back();
  sequence.leader = nullptr;
  sequence.under_way = false;
  sequence.other_state = false;
  running_.push_back(&sequence);
}

bool Scheduler::fork(Sequence& running, Sequence& waiting) {
  if (free_slots_.empty() || pool_.available() == 0) {
    return false;
  }
  std::erase(waiting_, &waiting);
  start_running(waiting);
  for (const Index block : running.blocks) {
    pool_.share(block);
  }
  waiting.blocks.assign(running.blocks.begin(), running.blocks.end());
  waiting.keys.assign(running.keys.begin(), running.keys.end());
  for (const Index block : running.encoder.blocks) {
    pool_.share(block);
  }
  waiting.encoder.blocks = running.encoder.blocks;
  waiting.encoder.done = running.encoder.done;
  waiting.computed = running.computed;
  if (shape_.states > 0) {
    forked_states_.push_back(
        {state_place(running, running.other_state), state_place(waiting, false)});
  }
  return true;
}

std::vector<Sequence*> Scheduler::followers(const Sequence& leader) const {
  std::vector<Sequence*> followers;
  std::ranges::copy_if(waiting_, std::back_inserter(followers),
                       [&](const Sequence* each) { return each->leader == &leader; });
  return followers;
}

/// Whether there are blocks for all tokens that the sequence has, beside those found for it.
bool Scheduler::has_room(const Sequence& sequence) const {
  const auto encoded = static_cast<Index>(sequence.encoder.tokens.size());
  const auto found = static_cast<Index>(sequence.blocks.size());
  const Index wanted = blocks_for(sequence.size()), owners = shape_.block_owners;
  for (Index owner = 0; owner < owners; ++owner) {
    const auto below = [&](Index count) { return (count - owner + owners - 1) / owners; };
    const Index own = below(wanted) - below(found) + (owner == 0 ? blocks_for(encoded) : 0);
    if (own > pool_.available(owner)) {
      return false;
    }
  }
  return true;
}

bool Scheduler::try_admit(Sequence& sequence) {
  if (sequence.leader != nullptr && sequence.leader->computed < sequence.leader->prompt_size) {
    return false;
  }
  find_prefix(sequence);
  if (!has_room(sequence)) {
    give_blocks_back(sequence);
    return false;
  }
  if (sequence.preemptions == 0) {
    sequence.cached = sequence.computed;
    cached_tokens_ += sequence.computed;
  }
  start_running(sequence);
  const auto encoded = static_cast<Index>(sequence.encoder.tokens.size());
  while (static_cast<Index>(sequence.encoder.blocks.size()) < blocks_for(encoded)) {
    sequence.encoder.blocks.push_back(*pool_.take());
  }
  const Index tokens = std::min(sequence.size() - sequence.computed, budget_);
  grow(sequence, sequence.computed + tokens);
  schedule(sequence, tokens);
  return true;
}

void Scheduler::admit() {
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    if (budget_ == 0 || free_slots_.empty()) {
      return;
    }
    Sequence& sequence = **next;
    if (try_admit(sequence)) {
      next = waiting_.erase(next);
      for (auto earlier = waiting_.begin(); earlier != next; ++earlier) {
        (*earlier)->skipped += (*earlier)->leader == nullptr;
      }
      continue;
    }
    if (sequence.skipped >= settings_.max_skips) {
      return;
    }
    ++next;
  }
}

/// Who was planned may have been preempted since, by an older prompt; blocks of the others may have
/// moved.
void Scheduler::drop_preempted() {
  std::vector<Part>& parts = flight(flights_begun_);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Sequence& sequence = *parts[i].sequence;
    if (sequence.slot >= 0) {
      sequence.under_way = true;
      parts[kept] = parts[i];
      plan_.sequences[kept] = plan_.sequences[i];
      plan_.sequences[kept++].blocks = sequence.blocks;
    }
  }
  parts.resize(kept);
  plan_.sequences.resize(kept);
}

const StepPlan& Scheduler::plan() {
  MPITRON_CHECK(under_way() < depth_, depth_);
  plan_.clear();
  flight(flights_begun_).clear();
  plan_.state_copies.swap(forked_states_);
  budget_ = shape_.max_step_tokens;
  const Index before = preemptions_;
  plan_running(true);
  plan_running(false);
  if (preemptions_ == before) {
    admit();
  }
  drop_preempted();
  flights_begun_ += plan_.empty() ? 0 : 1;
  return plan_;
}

void Scheduler::sit_out() {
  MPITRON_CHECK(under_way() < depth_, depth_);
  flight(flights_begun_++).clear();
}

Index Scheduler::cached_beginning(std::span<const TokenId> tokens, const std::string& salt) {
  Sequence sequence;
  sequence.tokens.assign(tokens.begin(), tokens.end());
  sequence.salt = salt;
  find_prefix(sequence);
  const Index found = sequence.computed;
  give_blocks_back(sequence);
  return found;
}

Index Scheduler::tokens_ahead() const {
  Index tokens = 0;
  for (const Sequence* sequence : running_) {
    tokens += sequence->longest - sequence->computed;
  }
  for (const Sequence* sequence : waiting_) {
    tokens += sequence->longest;
  }
  return tokens;
}

std::vector<Scheduler::Part>& Scheduler::oldest() {
  MPITRON_CHECK(under_way() > 0, flights_begun_);
  return flight(flights_ended_);
}

void Scheduler::remember_blocks(Sequence& sequence) {
  const Index size = shape_.block_size;
  while (settings_.prefix_cache &&
         (static_cast<Index>(sequence.keys.size()) + 1) * size <= sequence.computed) {
    const std::size_t index = sequence.keys.size();
    const auto ids =
        std::span(sequence.tokens)
            .subspan(index * static_cast<std::size_t>(size), static_cast<std::size_t>(size));
    const Hash128 before = index == 0 ? hash128(sequence.salt) : sequence.keys.back();
    sequence.keys.push_back(pool_.remember(sequence.blocks[index], before, ids));
  }
}

void Scheduler::add_own_drafts(const Part& part, std::span<const TokenId> drafts) {
  Sequence& sequence = *part.sequence;
  sequence.tokens.insert(sequence.tokens.end(), drafts.begin(), drafts.end());
  sequence.drafts = static_cast<Index>(drafts.size());
}

void Scheduler::computed(const Part& part, Index drawn) {
  Sequence& sequence = *part.sequence;
  sequence.under_way = false;
  sequence.encoder.done = true;
  sequence.drafts -= drawn;
  sequence.tokens.resize(static_cast<std::size_t>(sequence.size()));
  sequence.drafts = 0;
  (part.own_drafts > 0 ? sequence.own_pace : sequence.lookup_pace).learn(part.drafts, drawn);
  drawn_drafts_ += drawn;
  if (shape_.states == 0) {
    sequence.computed += part.tokens - part.drafts + drawn;
  } else if (drawn == part.drafts) {  // else the state in front of the step is the last right one
    sequence.computed += part.tokens;
    sequence.other_state = !sequence.other_state;
  }
  remember_blocks(sequence);
}

void Scheduler::abandon() {
  for (; under_way() > 0; end_oldest()) {
    for (const Part& part : oldest()) {
      if (part.sequence != nullptr) {
        part.sequence->under_way = false;
        part.sequence->tokens.resize(static_cast<std::size_t>(part.sequence->size()));
        part.sequence->drafts = 0;
      }
    }
  }
}

}  // namespace mpitron::inference
