#pragma once
#include <deque>

#include "autograd/cached_pass.h"
#include "inference/engine_interface.h"
#include "utils/check.h"
#include "utils/text/hash.h"

namespace mpitron::test {

/// An engine without a model: its cache holds token ids, and the logits behind a token are a hash
/// of all ids that its blocks hold up to it. So a wrong block, a stale entry or a wrong position
/// gives other logits, and so does another adapter. Places for states hold all ids that led to them
/// and must agree.
class FakeEngine : public inference::Engine {
 public:
  explicit FakeEngine(const inference::EngineShape& shape, Index depth = 1, Index replicas = 1)
      : shape_(shape), depth_(depth), replicas_(static_cast<std::size_t>(replicas)) {
    for (Replica& replica : replicas_) {
      replica.cache.assign(static_cast<std::size_t>(shape.blocks * shape.block_size), -1);
      replica.states.resize(static_cast<std::size_t>(shape.states + shape.snapshots));
    }
  }

  const inference::EngineShape& shape() const override { return shape_; }
  Index depth() const override { return depth_; }
  Index replicas() const override { return static_cast<Index>(replicas_.size()); }
  Index state_bytes() const override { return shape_.states > 0 ? 100 : 0; }

  void start(std::span<const inference::StepPlan* const> plans) override {
    MPITRON_CHECK(static_cast<Index>(under_way_.size()) < depth_, depth_);
    ++steps;
    under_way_.emplace_back(replicas_.size());
    for (std::size_t r = 0; r < replicas_.size(); ++r) {
      now_ = &replicas_[r];
      run(*plans[r], under_way_.back()[r]);
    }
  }
  void finish() override {
    last_ = std::move(under_way_.front());
    under_way_.pop_front();
  }
  std::span<const float> logits(Index replica) const override {
    return last_[static_cast<std::size_t>(replica)];
  }

  Index steps = 0;
  Index tokens = 0;  // computed in all steps
  Index copies = 0;  // of blocks

 private:
  /// What a copy of the model keeps.
  struct Replica {
    inference::TokenIds cache;
    std::vector<inference::TokenIds> states;
  };
  void run(const inference::StepPlan& plan, std::vector<float>& logits) {
    for (const auto& copy : plan.block_copies) {
      copy_block(copy.from, copy.to);
    }
    for (const auto& copy : plan.state_copies) {
      now_->states.at(static_cast<std::size_t>(copy.to)) =
          now_->states.at(static_cast<std::size_t>(copy.from));
    }
    for (const auto& sequence : plan.sequences) {
      run(sequence, logits);
    }
  }
  void run(const inference::SequenceStep& sequence, std::vector<float>& logits) {
    inference::TokenIds carried;
    if (sequence.state_from >= 0) {
      carried = now_->states.at(static_cast<std::size_t>(sequence.state_from));
    }
    if (shape_.states > 0) {
      MPITRON_CHECK(static_cast<Index>(carried.size()) == sequence.first_position, carried.size());
    }
    for (std::size_t i = 0; i < sequence.tokens.size(); ++i) {
      at(sequence, sequence.first_position + static_cast<Index>(i)) =
          sequence.tokens[i] + kOfAdapter * number_of(sequence);
      carried.push_back(sequence.tokens[i]);
      ++tokens;
    }
    for (Index i = sequence.logits_from; i < static_cast<Index>(sequence.tokens.size()); ++i) {
      add_row(sequence, sequence.first_position + i, logits);
    }
    if (shape_.states > 0) {
      for (std::size_t i = 0; i < carried.size(); ++i) {
        const inference::TokenId kept = at(sequence, static_cast<Index>(i));
        MPITRON_CHECK(carried[i] == kept - kOfAdapter * number_of(sequence), i);
      }
      now_->states.at(static_cast<std::size_t>(sequence.state_to)) = carried;
    }
  }
  /// What entries of an adapter's sequences are raised by, for each number.
  static constexpr inference::TokenId kOfAdapter = 1 << 20;
  static inference::TokenId number_of(const inference::SequenceStep& sequence) {
    return sequence.adapter != nullptr ? static_cast<inference::TokenId>(sequence.adapter->number())
                                       : 0;
  }
  void copy_block(Index from, Index to) {
    ++copies;
    for (Index i = 0; i < shape_.block_size; ++i) {
      now_->cache[static_cast<std::size_t>(to * shape_.block_size + i)] =
          now_->cache[static_cast<std::size_t>(from * shape_.block_size + i)];
    }
  }
  inference::TokenId& at(const inference::SequenceStep& sequence, Index position) {
    const Index block = sequence.blocks[static_cast<std::size_t>(position / shape_.block_size)];
    return now_->cache.at(
        static_cast<std::size_t>(block * shape_.block_size + position % shape_.block_size));
  }

  void add_row(const inference::SequenceStep& sequence, Index last, std::vector<float>& logits) {
    inference::TokenIds seen;
    for (Index position = 0; position <= last; ++position) {
      seen.push_back(at(sequence, position));
    }
    const std::uint64_t seed =
        hash64({reinterpret_cast<const char*>(seen.data()), seen.size() * sizeof seen[0]});
    for (Index id = 0; id < shape_.padded_vocabulary; ++id) {
      const std::uint64_t bits =
          hash64({reinterpret_cast<const char*>(&id), sizeof id}, seed) >> 40;
      logits.push_back(static_cast<float>(bits) * 0x1p-21f);
    }
  }

  inference::EngineShape shape_;
  Index depth_;
  std::vector<Replica> replicas_;
  Replica* now_ = nullptr;
  std::deque<std::vector<std::vector<float>>> under_way_;
  std::vector<std::vector<float>> last_;
};

}  // namespace mpitron::test
