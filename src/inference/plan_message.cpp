#include "inference/plan_message.h"

#include <algorithm>

#include "autograd/cached_pass.h"
#include "utils/check.h"

// A step's plan as numbers: what the first rank has decided travels to all others in one broadcast.

namespace mpitron::inference {
namespace {

static_assert(std::is_same_v<Index, std::int64_t>);

constexpr Index kNumbersOfASequence = 13;

void append(const SequenceStep& sequence, std::vector<std::int64_t>& words) {
  const auto size = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
  words.insert(
      words.end(),
      {sequence.slot, sequence.first_position, sequence.logits_from, sequence.state_from,
       sequence.state_to, sequence.encoder_size, size(sequence.tokens), size(sequence.blocks),
       size(sequence.encoder_tokens), size(sequence.encoder_blocks), sequence.own_drafts,
       sequence.adapter != nullptr ? sequence.adapter->number() : 0, sequence.seen});
  words.insert(words.end(), sequence.tokens.begin(), sequence.tokens.end());
  words.insert(words.end(), sequence.encoder_tokens.begin(), sequence.encoder_tokens.end());
  words.insert(words.end(), sequence.blocks.begin(), sequence.blocks.end());
  words.insert(words.end(), sequence.encoder_blocks.begin(), sequence.encoder_blocks.end());
}

void append(const std::vector<PlaceCopy>& copies, std::vector<std::int64_t>& words) {
  words.push_back(static_cast<std::int64_t>(copies.size()));
  for (const PlaceCopy& copy : copies) {
    words.insert(words.end(), {copy.from, copy.to});
  }
}

/// Takes words from the front.
class WordReader {
 public:
  explicit WordReader(std::span<const std::int64_t> words) : words_(words) {}

  std::int64_t next() { return take(1)[0]; }
  std::span<const std::int64_t> take(std::int64_t count) {
    const auto size = static_cast<std::size_t>(count);
    MPITRON_CHECK(count >= 0 && size <= words_.size(), count, words_.size());
    const auto taken = words_.first(size);
    words_ = words_.subspan(size);
    return taken;
  }
  void take(std::vector<PlaceCopy>& copies) {
    copies.resize(static_cast<std::size_t>(next()));
    for (PlaceCopy& copy : copies) {
      copy.from = next();
      copy.to = next();
    }
  }
  std::size_t left() const { return words_.size(); }

 private:
  std::span<const std::int64_t> words_;
};

}  // namespace

void append_plans(std::span<const StepPlan* const> plans, std::vector<std::int64_t>& words) {
  words.push_back(static_cast<std::int64_t>(plans.size()));
  for (const StepPlan* plan : plans) {
    append(plan->block_copies, words);
    append(plan->state_copies, words);
    words.push_back(static_cast<std::int64_t>(plan->sequences.size()));
    for (const SequenceStep& sequence : plan->sequences) {
      append(sequence, words);
    }
  }
}

/// Reads plans from words. Tokens are reserved first, because the plans hold spans into them.
ReceivedPlans::ReceivedPlans(std::span<const std::int64_t> words,
                             std::span<const AdapterHandle> adapters)
    : words_(words.begin(), words.end()) {
  WordReader reader(words_);
  tokens_.reserve(words_.size());  // so that spans stay where they are
  const auto tokens = [&](std::int64_t count) {
    const std::size_t begin = tokens_.size();
    for (const std::int64_t word : reader.take(count)) {
      tokens_.push_back(static_cast<TokenId>(word));
    }
    return std::span<const TokenId>(tokens_).subspan(begin);
  };
  plans_.resize(static_cast<std::size_t>(reader.next()));
  for (StepPlan& plan : plans_) {
    reader.take(plan.block_copies);
    reader.take(plan.state_copies);
    plan.sequences.resize(static_cast<std::size_t>(reader.next()));
    for (SequenceStep& sequence : plan.sequences) {
      const auto numbers = reader.take(kNumbersOfASequence);
      sequence.slot = numbers[0];
      sequence.first_position = numbers[1];
      sequence.logits_from = numbers[2];
      sequence.state_from = numbers[3];
      sequence.state_to = numbers[4];
      sequence.encoder_size = numbers[5];
      sequence.tokens = tokens(numbers[6]);
      sequence.encoder_tokens = tokens(numbers[8]);
      sequence.blocks = reader.take(numbers[7]);
      sequence.encoder_blocks = reader.take(numbers[9]);
      sequence.own_drafts = numbers[10];
      sequence.seen = numbers[12];
      if (numbers[11] > 0) {
        const auto at = static_cast<std::size_t>(numbers[11] - 1);
        MPITRON_CHECK(at < adapters.size() && adapters[at] != nullptr, numbers[11]);
        sequence.adapter = adapters[at].get();
      }
    }
  }
  MPITRON_CHECK(reader.left() == 0, reader.left());
}

bool ReceivedPlans::has_rows() const {
  return std::ranges::any_of(plans_, [](const StepPlan& plan) { return !plan.sequences.empty(); });
}

}  // namespace mpitron::inference
