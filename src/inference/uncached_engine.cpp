#include "inference/uncached_engine.h"

#include <algorithm>

#include "tensor/host_copy.h"
#include "utils/check.h"

namespace mpitron::inference {

using tensor::Tensor;

UncachedEngine::UncachedEngine(device::Device& device, const models::Model& model,
                               EngineShape shape, Index vocabulary)
    : device_(device), model_(model), shape_(shape) {
  shape_.vocabulary = vocabulary;
  shape_.padded_vocabulary = model.config().padded_vocab_size;
  shape_.max_positions = model.config().max_position_embeddings;
  cache_.assign(static_cast<std::size_t>(shape_.blocks * shape_.block_size), 0);
}

TokenId& UncachedEngine::at(const SequenceStep& sequence, Index position) {
  const Index block = sequence.blocks[static_cast<std::size_t>(position / shape_.block_size)];
  return cache_[static_cast<std::size_t>(block * shape_.block_size + position % shape_.block_size)];
}

void UncachedEngine::append_rows(const SequenceStep& sequence) {
  const Index count = sequence.first_position + static_cast<Index>(sequence.tokens.size());
  const Tensor tokens = tensor::empty_on_host(device_, {count, 1}, DType::i64);
  const Tensor positions = tensor::empty_on_host(device_, {count, 1}, DType::i64);
  for (Index i = 0; i < count; ++i) {
    tokens.data<std::int64_t>()[i] = at(sequence, i);
    positions.data<std::int64_t>()[i] = i;
  }
  const models::Batch batch{{models::kTokens, tensor::to_device(device_, tokens)},
                            {models::kPositionIds, tensor::to_device(device_, positions)}};
  autograd::Context context{.device = device_, .mode = autograd::Mode::evaluate};
  const Tensor all = model_.logits(context, batch).value;
  const Tensor rows = tensor::to_host(device_, all.slice(0, count - sequence.rows(), count));
  MPITRON_CHECK(rows.numel() == sequence.rows() * shape_.padded_vocabulary, rows.numel());
  visit_dtype(rows.dtype(), [&]<class T>() {
    for (Index i = 0; i < rows.numel(); ++i) {
      logits_.push_back(static_cast<float>(rows.data<T>()[i]));
    }
  });
}

std::span<const float> UncachedEngine::step(std::span<const SequenceStep> sequences) {
  logits_.clear();
  for (const SequenceStep& sequence : sequences) {
    for (std::size_t i = 0; i < sequence.tokens.size(); ++i) {
      at(sequence, sequence.first_position + static_cast<Index>(i)) = sequence.tokens[i];
    }
    if (sequence.rows() > 0) {
      append_rows(sequence);
    }
  }
  return logits_;
}

void UncachedEngine::copy_block(Index from, Index to) {
  std::copy_n(cache_.begin() + from * shape_.block_size, shape_.block_size,
              cache_.begin() + to * shape_.block_size);
}

}  // namespace mpitron::inference
