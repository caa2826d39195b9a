#pragma once
#include <map>
#include <stdexcept>

#include "inference/engine_interface.h"
#include "utils/text/hash.h"

namespace mpitron::test {

/// An engine without a model: its cache holds token ids, and the logits behind a token are a hash
/// of all ids that its blocks hold up to it. So a wrong block, a stale entry or a wrong position
/// gives other logits.
class FakeEngine : public inference::Engine {
 public:
  explicit FakeEngine(const inference::EngineShape& shape) : shape_(shape) {
    cache_.assign(static_cast<std::size_t>(shape.blocks * shape.block_size), -1);
  }

  const inference::EngineShape& shape() const override { return shape_; }

  std::span<const float> step(std::span<const inference::SequenceStep> sequences) override {
    ++steps;
    logits_.clear();
    for (const auto& sequence : sequences) {
      for (std::size_t i = 0; i < sequence.tokens.size(); ++i) {
        at(sequence, sequence.first_position + static_cast<Index>(i)) = sequence.tokens[i];
        ++tokens;
      }
      for (Index i = sequence.logits_from; i < static_cast<Index>(sequence.tokens.size()); ++i) {
        add_row(sequence, sequence.first_position + i);
      }
    }
    return logits_;
  }

  void copy_block(Index from, Index to) override {
    for (Index i = 0; i < shape_.block_size; ++i) {
      cache_[static_cast<std::size_t>(to * shape_.block_size + i)] =
          cache_[static_cast<std::size_t>(from * shape_.block_size + i)];
    }
  }

  void release_slot(Index slot) override { ++released[slot]; }

  Index steps = 0;
  Index tokens = 0;  // computed in all steps
  std::map<Index, Index> released;

 private:
  inference::TokenId& at(const inference::SequenceStep& sequence, Index position) {
    const Index block = sequence.blocks[static_cast<std::size_t>(position / shape_.block_size)];
    return cache_.at(
        static_cast<std::size_t>(block * shape_.block_size + position % shape_.block_size));
  }

  void add_row(const inference::SequenceStep& sequence, Index last) {
    inference::TokenIds seen;
    for (Index position = 0; position <= last; ++position) {
      seen.push_back(at(sequence, position));
    }
    const std::uint64_t seed =
        hash64({reinterpret_cast<const char*>(seen.data()), seen.size() * sizeof seen[0]});
    for (Index id = 0; id < shape_.padded_vocabulary; ++id) {
      const std::uint64_t bits =
          hash64({reinterpret_cast<const char*>(&id), sizeof id}, seed) >> 40;
      logits_.push_back(static_cast<float>(bits) * 0x1p-21f);
    }
  }

  inference::EngineShape shape_;
  inference::TokenIds cache_;
  std::vector<float> logits_;
};

}  // namespace mpitron::test
