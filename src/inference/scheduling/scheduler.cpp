// Plans steps for sequences that compete for tokens of a step, slots and blocks. Of those that run,
// none is preempted for one that began later, so the first ends, and in time every other does;
// preempted ones are computed again from their tokens, which takes time and leaves their answers as
// they are.
#include "inference/scheduling/scheduler.h"

#include <algorithm>

#include "autograd/cached_pass.h"
#include "inference/scheduling/sequence_limits.h"
#include "inference/scheduling/whole_images.h"

namespace mpitron::inference {

Scheduler::Scheduler(const EngineShape& shape, SchedulerSettings settings, Index depth)
    : shape_(shape),
      settings_(settings),
      blocks_(shape, settings.prefix_cache),
      places_{.slots = shape.slots, .places = shape.states},
      positions_(KeptPositions::of(shape, settings.state_interval, settings.state_least)),
      steps_(depth) {
  for (Index slot = shape.slots - 1; slot >= 0; --slot) {
    free_slots_.push_back(slot);
  }
  if (!places_.can_take_back()) {
    settings_.draft_tokens = 0;
  }
}

void Scheduler::add(Sequence& sequence) {
  const Index longest = sequence.longest;
  const auto encoded = static_cast<Index>(sequence.encoder.tokens.size());
  check_length(sequence, shape_, {blocks_.blocks_for(longest), blocks_.blocks_for(encoded)});
  check_images(sequence, shape_, settings_.draft_tokens > 0 ? settings_.draft_rows : 0);
  const auto most = static_cast<std::size_t>(blocks_.blocks_for(longest));
  sequence.blocks.reserve(most);
  sequence.keys.reserve(most);
  sequence.tokens.reserve(static_cast<std::size_t>(longest + settings_.draft_tokens));
  waiting_.push_back(&sequence);
}

Index Scheduler::whole(const Sequence& sequence, Index tokens, Index most) const {
  return shape_.whole_images ? cut_at_images(sequence, tokens, most) : tokens;
}

/// How many tokens of a sequence the step has room for, up to where its states are to be kept.
Index Scheduler::piece(const Sequence& sequence) const {
  const Index tokens = std::min(sequence.size() - sequence.computed, budget_);
  const bool cuts = blocks_.keeps_states() && !decodes(sequence);
  return whole(sequence, cuts ? positions_.cut(sequence, tokens) : tokens, room_);
}

void Scheduler::stop_running(Sequence& sequence) {
  std::erase(running_, &sequence);
  blocks_.give_back(sequence);
  free_slots_.push_back(sequence.slot);
  sequence.slot = -1;
  sequence.tokens.resize(static_cast<std::size_t>(sequence.size()));
  sequence.drafts = 0;
}

/// Takes a sequence out wherever it is; those that waited for its prompt go on by themselves.
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
  steps_.forget(sequence);
}

void Scheduler::preempt(Sequence& sequence) {
  stop_running(sequence);
  waiting_.push_front(&sequence);
  ++sequence.preemptions;
  ++preemptions_;
}

/// Where blocks run out, the last to begin of those that are not under way gives its own back,
/// unless that is the sequence itself.
bool Scheduler::grow(Sequence& sequence, Index tokens) {
  return blocks_.grow(sequence, tokens, plan_.block_copies, [&] {
    const auto youngest = std::find_if(running_.rbegin(), running_.rend(),
                                       [](const Sequence* each) { return !each->under_way; });
    const bool other = youngest != running_.rend() && *youngest != &sequence;
    if (other) {
      preempt(**youngest);
    }
    return other;
  });
}

/// Plans `tokens` of the sequence, all of its drafts, and those that the engine is to make.
void Scheduler::schedule(Sequence& sequence, Index tokens, Index own_drafts) {
  const Index first = sequence.computed, next = first + tokens;
  const bool scores = sequence.scores_prompt && sequence.scored < sequence.prompt_size;
  const Index wanted = next == sequence.size() ? tokens - 1 : tokens;
  const Index from = scores ? std::clamp<Index>(sequence.scored - first, 0, wanted) : wanted;
  const Index known = tokens + sequence.drafts;
  budget_ -= known + own_drafts;
  room_ -= known + own_drafts;
  steps_.next().push_back(
      {&sequence, first, known + own_drafts, from, sequence.drafts + own_drafts, own_drafts});
  plan_.sequences.push_back(
      {.slot = sequence.slot,
       .first_position = first,
       .tokens = std::span(sequence.tokens)
                     .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(known)),
       .blocks = sequence.blocks,
       .logits_from = from,
       .seen = shape_.image_axes ? count_seen(sequence, first) : 0,
       .state_from = places_.before(sequence),
       .state_to = places_.next(sequence),
       .encoder_tokens =
           sequence.encoder.done ? std::span<const TokenId>() : sequence.encoder.tokens,
       .encoder_blocks = sequence.encoder.blocks,
       .encoder_size = static_cast<Index>(sequence.encoder.tokens.size()),
       .own_drafts = own_drafts,
       .adapter = sequence.adapter});
}

/// Whether the token that was drawn last is all that is to be computed. States may lie behind by
/// what a draft that was not drawn took back.
bool Scheduler::decodes(const Sequence& sequence) const {
  const Index left = sequence.size() - sequence.computed;
  return left == 1 || (shape_.states > 0 && sequence.computed >= sequence.prompt_size &&
                       left <= settings_.draft_tokens + 1);
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
  const Index wanted = sequence.paces.lookup.allowed(most);
  if (const Index proposed = lookup_.propose(sequence, wanted); proposed > 0) {
    const Index room = blocks_.room_behind(sequence, proposed);
    sequence.tokens.resize(sequence.tokens.size() - static_cast<std::size_t>(proposed - room));
    sequence.drafts = room;
  } else if (tokens == 1 && shape_.own_drafts > 0) {
    most = sequence.paces.own.allowed(std::min(most, shape_.own_drafts));
    own = blocks_.room_behind(sequence, most);
  }
  draft_budget_ -= sequence.drafts + own;
  drafted_ += sequence.drafts + own;
  return own;
}

/// How many tokens of a running sequence the step has blocks for; it may be preempted.
Index Scheduler::plan_tokens(Sequence& sequence) {
  const Index tokens = piece(sequence);
  if (grow(sequence, sequence.computed + tokens)) {
    return tokens;
  }
  const Index room = whole(sequence, blocks_.room_within(sequence, tokens), 0);
  if (room == 0 && running_.back() == &sequence) {
    preempt(sequence);
  }
  return room;
}

/// Plans running sequences in the order in which they began, either those that decode or those that
/// read prompts.
void Scheduler::plan_running(bool decoding) {
  const auto ready = [&](const Sequence* each) {
    return !each->under_way && decodes(*each) == decoding;
  };
  // The steps that may still begin get equal shares of the sequences that decode.
  const Index all = std::ranges::count_if(running_, ready), turns = steps_.depth() - under_way();
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

/// Counts the requests that read their prompts, or would if steps had room.
Index Scheduler::reading() const {
  const Index begun =
      std::ranges::count_if(running_, [&](const Sequence* each) { return !decodes(*each); });
  return begun + static_cast<Index>(std::min(waiting_.size(), free_slots_.size()));
}

/// Bounds what prompts add to a step that continues answers, so that a step never takes much longer
/// than one without them: rows up to a few dozen cost what reading the weights costs. Many that
/// read get more: else few of them would ever answer at once, and steps would be half empty.
void Scheduler::limit_prompts() {
  const Index limit = settings_.prompt_tokens_beside_answers;
  const auto answers = static_cast<Index>(plan_.sequences.size());
  if (limit > 0 && answers > 0) {
    budget_ = std::min(budget_, std::max({limit, answers, limit * reading() / 4}));
  }
}

void Scheduler::start_running(Sequence& sequence) {
  sequence.slot = free_slots_.back();
  free_slots_.pop_back();
  sequence.leader = nullptr;
  sequence.under_way = false;
  sequence.states.other = false;
  running_.push_back(&sequence);
}

/// Starts a waiting sequence on the blocks of a running one, which both share until one of them
/// writes.
bool Scheduler::fork(Sequence& running, Sequence& waiting) {
  if (free_slots_.empty() || blocks_.available() == 0) {
    return false;
  }
  std::erase(waiting_, &waiting);
  start_running(waiting);
  blocks_.share(running, waiting);
  if (shape_.states > 0) {
    state_copies_.push_back({places_.own(running), places_.own(waiting)});
  }
  return true;
}

std::vector<Sequence*> Scheduler::followers(const Sequence& leader) const {
  std::vector<Sequence*> followers;
  std::ranges::copy_if(waiting_, std::back_inserter(followers),
                       [&](const Sequence* each) { return each->leader == &leader; });
  return followers;
}

/// Starts a waiting sequence if there are blocks for it; a cached prefix counts as computed.
bool Scheduler::try_admit(Sequence& sequence) {
  if (sequence.leader != nullptr && sequence.leader->computed < sequence.leader->prompt_size) {
    return false;
  }
  blocks_.find_prefix(sequence);
  const Index tokens = piece(sequence);
  if (tokens == 0 || !blocks_.has_room(sequence)) {
    blocks_.give_back(sequence);
    return false;
  }
  if (sequence.preemptions == 0) {
    sequence.cached = sequence.computed;
    cached_tokens_ += sequence.computed;
  }
  kept_state_uses_ += sequence.states.place >= 0;
  start_running(sequence);
  blocks_.take_encoded(sequence);
  grow(sequence, sequence.computed + tokens);
  schedule(sequence, tokens);
  return true;
}

/// Starts waiting sequences in order of arrival. One that does not fit may be passed max_skips
/// times.
void Scheduler::admit() {
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    if (budget_ <= 0 || free_slots_.empty()) {
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

/// Drops parts of sequences that were preempted after they were planned, by an older one that reads
/// its prompt; marks the others as under way.
void Scheduler::drop_preempted() {
  std::vector<StepPart>& parts = steps_.next();
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

/// Puts sequences of one adapter side by side. Parts and planned sequences keep matching one by
/// one, since both sorts are stable.
void Scheduler::group_by_adapter() {
  const auto number = [](const auto& each) {
    return each.adapter != nullptr ? each.adapter->number() : Index{0};
  };
  if (std::ranges::all_of(plan_.sequences, [&](const auto& each) { return number(each) == 0; })) {
    return;
  }
  std::ranges::stable_sort(steps_.next(), {},
                           [&](const StepPart& part) { return number(*part.sequence); });
  std::ranges::stable_sort(plan_.sequences, {}, number);
}

/// Plans the next step. Where a running sequence was preempted, none is admitted.
const StepPlan& Scheduler::plan() {
  steps_.start();
  plan_.clear();
  plan_.state_copies.swap(state_copies_);
  budget_ = room_ = shape_.max_step_tokens;
  const Index before = preemptions_;
  plan_running(true);
  limit_prompts();
  plan_running(false);
  if (preemptions_ == before) {
    admit();
  }
  drop_preempted();
  group_by_adapter();
  if (plan_.sequences.empty() && plan_.block_copies.empty()) {
    plan_.state_copies.swap(state_copies_);  // they can wait for a step that does more
  }
  if (!plan_.empty()) {
    steps_.begin();
  }
  return plan_;
}

void Scheduler::sit_out() {
  steps_.start();
  steps_.begin();
}

Index Scheduler::cached_beginning(std::span<const TokenId> tokens, const std::string& salt) {
  Sequence sequence;
  sequence.tokens.assign(tokens.begin(), tokens.end());
  sequence.salt = salt;
  blocks_.find_prefix(sequence);
  const Index found = sequence.computed;
  blocks_.give_back(sequence);
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

void Scheduler::add_own_drafts(const StepPart& part, std::span<const TokenId> drafts) {
  Sequence& sequence = *part.sequence;
  sequence.tokens.insert(sequence.tokens.end(), drafts.begin(), drafts.end());
  sequence.drafts = static_cast<Index>(drafts.size());
}

/// Notes what a part has computed: drafts that were not drawn are cut off, blocks that became full
/// get their names.
void Scheduler::computed(const StepPart& part, Index drawn) {
  Sequence& sequence = *part.sequence;
  sequence.under_way = false;
  sequence.encoder.done = true;
  sequence.drafts -= drawn;
  sequence.tokens.resize(static_cast<std::size_t>(sequence.size()));
  sequence.drafts = 0;
  (part.own_drafts > 0 ? sequence.paces.own : sequence.paces.lookup).learn(part.drafts, drawn);
  drawn_drafts_ += drawn;
  if (shape_.states == 0) {
    sequence.computed += part.tokens - part.drafts + drawn;
  } else if (drawn == part.drafts) {  // else the state in front of the step is the last right one
    sequence.computed += part.tokens;
    sequence.states.other = !sequence.states.other;
    sequence.states.place = -1;
  }
  blocks_.remember(sequence);
  if (const auto place = blocks_.keep_states(sequence, positions_)) {
    state_copies_.push_back({places_.own(sequence), *place});
  }
}

void Scheduler::abandon() {
  blocks_.forget_states();  // of which some may not have been copied
  for (; under_way() > 0; end_oldest()) {
    for (const StepPart& part : oldest()) {
      if (part.sequence != nullptr) {
        part.sequence->under_way = false;
        part.sequence->tokens.resize(static_cast<std::size_t>(part.sequence->size()));
        part.sequence->drafts = 0;
      }
    }
  }
}

}  // namespace mpitron::inference
