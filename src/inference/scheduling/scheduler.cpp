#include "inference/scheduling/scheduler.h"

#include <algorithm>

#include "utils/error.h"

namespace mpitron::inference {

Scheduler::Scheduler(const EngineShape& shape, SchedulerSettings settings)
    : shape_(shape), settings_(settings), pool_(shape.blocks) {
  for (Index slot = shape.slots - 1; slot >= 0; --slot) {
    free_slots_.push_back(slot);
  }
}

void Scheduler::add(Sequence& sequence) {
  const Index longest = sequence.longest;
  if (sequence.size() == 0 || longest > shape_.max_positions) {
    throw_usage("a sequence of {} tokens was asked for; one has 1 to {}", longest,
                shape_.max_positions);
  }
  if (blocks_for(longest) > shape_.blocks) {
    throw_usage("a sequence of {} tokens needs {} cache blocks of {} tokens; there are {}", longest,
                blocks_for(longest), shape_.block_size, shape_.blocks);
  }
  waiting_.push_back(&sequence);
}

void Scheduler::stop_running(Sequence& sequence) {
  std::erase(running_, &sequence);
  for (auto block = sequence.blocks.rbegin(); block != sequence.blocks.rend(); ++block) {
    pool_.give_back(*block);  // the last ones first: prefixes stay longest
  }
  sequence.blocks.clear();
  sequence.keys.clear();
  sequence.computed = 0;
  free_slots_.push_back(sequence.slot);
  released_.push_back(sequence.slot);
  sequence.slot = -1;
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
}

void Scheduler::preempt(Sequence& sequence) {
  stop_running(sequence);
  waiting_.push_front(&sequence);
  ++sequence.preemptions;
  ++preemptions_;
}

/// Blocks for the first `tokens` tokens, taken from the youngest where none is left; false where
/// `sequence` itself is the youngest.
bool Scheduler::grow(Sequence& sequence, Index tokens) {
  while (static_cast<Index>(sequence.blocks.size()) < blocks_for(tokens)) {
    if (const auto block = pool_.take()) {
      sequence.blocks.push_back(*block);
    } else if (running_.back() != &sequence) {
      preempt(*running_.back());
    } else {
      return false;
    }
  }
  return true;
}

void Scheduler::schedule(Sequence& sequence, Index tokens) {
  const Index first = sequence.computed;
  const Index next = first + tokens;
  const bool scores = sequence.scores_prompt && sequence.scored < sequence.prompt_size;
  const Index wanted = next == sequence.size() ? tokens - 1 : tokens;
  const Index from = scores ? std::clamp<Index>(sequence.scored - first, 0, wanted) : wanted;
  budget_ -= tokens;
  planned_.push_back(&sequence);
  step_.push_back(
      {.slot = sequence.slot,
       .first_position = first,
       .tokens = std::span(sequence.tokens)
                     .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(tokens)),
       .blocks = sequence.blocks,
       .logits_from = from});
}

void Scheduler::plan_running(bool decodes) {
  for (std::size_t i = 0; i < running_.size(); ++i) {
    Sequence& sequence = *running_[i];
    const Index left = sequence.size() - sequence.computed;
    if ((left == 1) != decodes || budget_ == 0) {
      continue;
    }
    Index tokens = std::min(left, budget_);
    if (!grow(sequence, sequence.computed + tokens)) {
      const Index room =
          static_cast<Index>(sequence.blocks.size()) * shape_.block_size - sequence.computed;
      tokens = std::min(tokens, room);
      if (tokens == 0) {
        preempt(sequence);
        continue;
      }
    }
    schedule(sequence, tokens);
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
    key = BlockPool::key(key, ids);
    const auto block = pool_.find(key, ids);
    if (!block) {
      break;
    }
    sequence.blocks.push_back(*block);
    sequence.keys.push_back(key);
    sequence.computed += size;
  }
}

bool Scheduler::try_admit(Sequence& sequence) {
  if (sequence.leader != nullptr && sequence.leader->computed < sequence.leader->prompt_size) {
    return false;
  }
  sequence.leader = nullptr;
  find_prefix(sequence);
  const Index wanted = blocks_for(sequence.size()) - static_cast<Index>(sequence.blocks.size());
  if (wanted > pool_.available()) {
    for (auto block = sequence.blocks.rbegin(); block != sequence.blocks.rend(); ++block) {
      pool_.give_back(*block);
    }
    sequence.blocks.clear();
    sequence.keys.clear();
    sequence.computed = 0;
    return false;
  }
  if (sequence.preemptions == 0) {
    sequence.cached = sequence.computed;
    cached_tokens_ += sequence.computed;
  }
  sequence.slot = free_slots_.back();
  free_slots_.pop_back();
  running_.push_back(&sequence);
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

const std::vector<SequenceStep>& Scheduler::plan() {
  step_.clear();
  planned_.clear();
  budget_ = shape_.max_step_tokens;
  const Index before = preemptions_;
  plan_running(true);
  plan_running(false);
  if (preemptions_ == before) {
    admit();
  }
  // A sequence that was planned may have been preempted since, by an older prompt.
  for (std::size_t i = planned_.size(); i-- > 0;) {
    if (planned_[i]->slot < 0) {
      planned_.erase(planned_.begin() + static_cast<std::ptrdiff_t>(i));
      step_.erase(step_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      step_[i].blocks = planned_[i]->blocks;
    }
  }
  return step_;
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
    sequence.keys.push_back(BlockPool::key(before, ids));
    pool_.remember(sequence.blocks[index], sequence.keys.back(), ids);
  }
}

void Scheduler::finish_step() {
  for (std::size_t i = 0; i < planned_.size(); ++i) {
    planned_[i]->computed += static_cast<Index>(step_[i].tokens.size());
    remember_blocks(*planned_[i]);
  }
}

}  // namespace mpitron::inference
