#include "inference/uncached_engine.h"

#include <algorithm>

#include "tensor/host_copy.h"
#include "utils/check.h"

// The engine without a cache of keys and values: it keeps token ids in the same blocks, and
// computes every text again. Slow, and the measure of the cached ones.

namespace mpitron::inference {

using tensor::Tensor;

namespace {

EngineShape completed(EngineShape shape, const config::ModelConfig& model, Index vocabulary) {
  shape.vocabulary = vocabulary;
  shape.padded_vocabulary = model.padded_vocab_size;
  shape.max_positions = model.max_position_embeddings;
  return shape;
}

/// Makes a pass that runs one text through the training forward and keeps the logits of its last
/// rows.
UncachedEngine::Pass pass_of(device::Device& device, const models::Model& model) {
  return [&device, &model](const TokenIds& text, Index first_row, std::vector<float>& rows) {
    const auto count = static_cast<Index>(text.size());
    const Tensor tokens = tensor::empty_on_host(device, {count, 1}, DType::i64);
    const Tensor positions = tensor::empty_on_host(device, {count, 1}, DType::i64);
    for (Index i = 0; i < count; ++i) {
      tokens.data<std::int64_t>()[i] = text[static_cast<std::size_t>(i)];
      positions.data<std::int64_t>()[i] = i;
    }
    const models::Batch batch{{models::kTokens, tensor::to_device(device, tokens)},
                              {models::kPositionIds, tensor::to_device(device, positions)}};
    autograd::Context context{.device = device, .mode = autograd::Mode::evaluate};
    const Tensor all = model.logits(context, batch).value;
    const Tensor wanted = tensor::to_host(device, all.slice(0, first_row, count));
    visit_dtype(wanted.dtype(), [&]<class T>() {
      for (Index i = 0; i < wanted.numel(); ++i) {
        rows.push_back(static_cast<float>(wanted.data<T>()[i]));
      }
    });
  };
}

}  // namespace

UncachedEngine::UncachedEngine(EngineShape shape, Pass pass)
    : shape_(shape),
      pass_(std::move(pass)),
      cache_(static_cast<std::size_t>(shape.blocks * shape.block_size)) {}

UncachedEngine::UncachedEngine(device::Device& device, const models::Model& model,
                               EngineShape shape, Index vocabulary)
    : UncachedEngine(completed(shape, model.config(), vocabulary), pass_of(device, model)) {}

TokenId& UncachedEngine::at(const SequenceStep& sequence, Index position) {
  const Index block = sequence.blocks[static_cast<std::size_t>(position / shape_.block_size)];
  return cache_[static_cast<std::size_t>(block * shape_.block_size + position % shape_.block_size)];
}

/// Computes a sequence from its first token on; its ids are read from the blocks, which hold
/// nothing else here.
void UncachedEngine::append_rows(const SequenceStep& sequence) {
  const Index count = sequence.first_position + static_cast<Index>(sequence.tokens.size());
  MPITRON_CHECK(sequence.adapter == nullptr, sequence.slot);
  TokenIds text;
  for (Index i = 0; i < count; ++i) {
    text.push_back(at(sequence, i));
  }
  const std::size_t before = logits_.size();
  pass_(text, count - sequence.rows(), logits_);
  MPITRON_CHECK(
      static_cast<Index>(logits_.size() - before) == sequence.rows() * shape_.padded_vocabulary,
      logits_.size());
}

/// Runs a plan at once; nothing is under way after this call.
void UncachedEngine::start(std::span<const StepPlan* const> plans) {
  const StepPlan& plan = *plans[0];
  logits_.clear();
  for (const PlaceCopy& copy : plan.block_copies) {
    copy_block(copy.from, copy.to);
  }
  for (const SequenceStep& sequence : plan.sequences) {
    for (std::size_t i = 0; i < sequence.tokens.size(); ++i) {
      at(sequence, sequence.first_position + static_cast<Index>(i)) = sequence.tokens[i];
    }
    if (sequence.rows() > 0) {
      append_rows(sequence);
    }
  }
}

void UncachedEngine::copy_block(Index from, Index to) {
  std::copy_n(cache_.begin() + from * shape_.block_size, shape_.block_size,
              cache_.begin() + to * shape_.block_size);
}

}  // namespace mpitron::inference
