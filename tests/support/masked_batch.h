#pragma once
#include "models/bert/bert_batch.h"
#include "models/t5/t5_batch.h"
#include "support/tensors.h"
#include "support/tiny_gpt.h"

namespace mpitron::test {

/// The size of `tiny_gpt` as an encoder, or with a decoder of 4 tokens.
inline config::ModelConfig tiny_encoder(config::ModelKind kind) {
  config::ModelConfig config = tiny_gpt();
  config.kind = kind;
  config.decoder_seq_length = kind == config::ModelKind::t5 ? 4 : 0;
  return config;
}

/// Two samples of 6 tokens, of which the first has two behind its text and one in its decoder's.
/// `padding`: what stands there.
inline models::Batch masked_batch(device::Device& device, config::ModelKind kind,
                                  std::int64_t padding = 0) {
  models::Batch batch = tiny_batch(device, 6, 0, 2);
  auto* const tokens = batch[models::kTokens].data<std::int64_t>();
  tokens[4 * 2] = tokens[5 * 2] = padding;
  batch[models::kAttentionMask] =
      make_mask(device, {2, 1, 6}, {0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0});
  batch[models::kLossMask] =
      make_tensor(device, {6, 2}, DType::f32, {1, 0, 0, 1, 1, 1, 0, 0, 0, 1, 0, 0});
  batch.loss_tokens = 5;
  if (kind == config::ModelKind::bert) {
    batch[models::kTokenTypes] = make_ids(device, {6, 2}, {0, 0, 0, 0, 1, 0, 1, 1, 0, 1, 0, 1});
    batch[models::kSentenceOrder] = make_ids(device, {1, 2}, {1, 0});
    return batch;
  }
  batch[models::kDecoderTokens] = make_ids(device, {4, 2}, {1, 1, 7, 9, 3, 11, padding, 5});
  batch[models::kDecoderPositionIds] = make_ids(device, {4, 2}, {0, 0, 1, 1, 2, 2, 3, 3});
  batch[models::kDecoderAttentionMask] = make_mask(device, {2, 1, 4}, {0, 0, 0, 1, 0, 0, 0, 0});
  batch[models::kLabels] = make_ids(device, {4, 2}, {7, 9, 3, 11, 2, 5, -1, 2});
  batch[models::kLossMask] = make_tensor(device, {4, 2}, DType::f32, {1, 1, 1, 1, 1, 1, 0, 1});
  batch.loss_tokens = 7;
  return batch;
}

}  // namespace mpitron::test
