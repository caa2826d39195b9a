#include "inference/cached_engine.h"

#include <algorithm>

#include "tensor/host_copy.h"

namespace mpitron::inference {

using tensor::Tensor;

CachedEngine::CachedEngine(device::Device& device, const models::Model& model, EngineShape shape,
                           Index vocabulary)
    : device_(device),
      model_(model),
      shape_(shape),
      cache_(device, shape.blocks, shape.block_size),
      weights_(device, shape.weights.value_or(model.config().params_dtype)) {
  shape_.vocabulary = vocabulary;
  shape_.padded_vocabulary = model.config().padded_vocab_size;
  shape_.max_positions = model.config().max_position_embeddings;
  // A first pass makes every layer take its memory.
  const TokenIds ids = {0};
  const std::vector<Index> blocks = {0};
  const SequenceStep first{.tokens = ids, .blocks = blocks};
  step(std::span(&first, 1));
}

void CachedEngine::collect(std::span<const SequenceStep> sequences) {
  rows_.pieces.clear();
  rows_.ids.clear();
  rows_.positions.clear();
  rows_.wanted.clear();
  for (const SequenceStep& sequence : sequences) {
    const auto first = static_cast<Index>(rows_.ids.size());
    const auto count = static_cast<Index>(sequence.tokens.size());
    rows_.pieces.push_back({.first_row = first,
                            .rows = count,
                            .first_position = sequence.first_position,
                            .blocks = sequence.blocks});
    rows_.ids.insert(rows_.ids.end(), sequence.tokens.begin(), sequence.tokens.end());
    for (Index i = 0; i < count; ++i) {
      rows_.positions.push_back(sequence.first_position + i);
      if (i >= sequence.logits_from) {
        rows_.wanted.push_back(first + i);
      }
    }
  }
}

Tensor CachedEngine::on_device(const std::vector<std::int64_t>& values) {
  const auto count = static_cast<Index>(values.size());
  const Tensor host = tensor::empty_on_host(device_, {count}, DType::i64);
  std::ranges::copy(values, host.data<std::int64_t>());
  return tensor::to_device(device_, host);
}

void CachedEngine::run_rows() {
  const autograd::CachedPass pass{.cache = cache_,
                                  .weights = weights_,
                                  .pieces = rows_.pieces,
                                  .positions = on_device(rows_.positions),
                                  .wanted_rows = on_device(rows_.wanted)};
  const auto count = static_cast<Index>(rows_.ids.size());
  const models::Batch batch{{models::kTokens, on_device(rows_.ids).reshape({count, 1})},
                            {models::kPositionIds, pass.positions.reshape({count, 1})}};
  autograd::Context context{.device = device_, .mode = autograd::Mode::evaluate, .cached = &pass};
  if (rows_.wanted.empty()) {
    model_.hidden(context, batch);
    return;
  }
  const Tensor rows = tensor::to_host(device_, model_.logits(context, batch).value);
  logits_.resize(static_cast<std::size_t>(rows.numel()));
  visit_dtype(rows.dtype(), [&]<class T>() {
    std::transform(rows.data<T>(), rows.data<T>() + rows.numel(), logits_.begin(),
                   [](T value) { return static_cast<float>(value); });
  });
}

std::span<const float> CachedEngine::step(std::span<const SequenceStep> sequences) {
  logits_.clear();
  collect(sequences);
  if (!rows_.ids.empty()) {
    run_rows();
  }
  return logits_;
}

}  // namespace mpitron::inference
