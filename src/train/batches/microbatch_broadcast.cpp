#include "train/batches/microbatch_broadcast.h"

namespace mpitron::train {

using tensor::Tensor;

namespace {

template <class Broadcast>
void broadcast_images(const config::VisionConfig& vision, Index b, models::Batch& batch,
                      const Broadcast& broadcast) {
  const Index n = vision.patches(), numbers = vision.patch_width();
  broadcast(batch.position_ids, {vision.positions(), b}, DType::i64);
  broadcast(batch.patches, {n, b, numbers}, DType::f32);
  if (vision.task == config::VisionTask::inpaint) {
    broadcast(batch.target_patches, {n, b, numbers}, DType::f32);
    broadcast(batch.loss_mask, {n, b}, DType::f32);
  } else {
    broadcast(batch.labels, {1, b}, DType::i64);
    broadcast(batch.loss_mask, {1, b}, DType::f32);
  }
}

/// How many tiles there are only the reading rank knows.
template <class Broadcast>
void broadcast_merged(const config::VlmConfig& vlm, comm::Group& group,
                      const DeviceMicrobatch& shape, models::Batch& batch,
                      const Broadcast& broadcast) {
  const Index s = shape.sequence_length, b = shape.samples;
  double sizes[2] = {};
  if (group.rank() == 0) {
    sizes[0] = static_cast<double>(batch.tokens.shape()[0]);
    sizes[1] = static_cast<double>(batch.tiles.shape()[1]);
  }
  group.broadcast({sizes, DType::f64, {2}}, 0).wait();
  const auto t = static_cast<Index>(sizes[0]), tiles = static_cast<Index>(sizes[1]);
  broadcast(batch.tokens, {t, b}, DType::i64);
  broadcast(batch.position_ids, {t, b}, DType::i64);
  broadcast(batch.labels, {s, b}, DType::i64);
  broadcast(batch.loss_mask, {s, b}, DType::f32);
  broadcast(batch.tiles, {vlm.patches(), tiles, 3 * vlm.patch * vlm.patch}, DType::f32);
  broadcast(batch.merged_rows, {s * b}, DType::i64);
  broadcast(batch.merged_from, {t * b + vlm.positions() * tiles}, DType::i64);
}

}  // namespace

void broadcast_microbatch(device::Device& device, comm::Group& group, const MicrobatchParts& parts,
                          DeviceMicrobatch& microbatch) {
  if (group.size() == 1) {
    return;
  }
  const Index s = microbatch.sequence_length, b = microbatch.samples;
  std::vector<comm::Work> works;
  const auto broadcast = [&](Tensor& x, const Shape& shape, DType dtype) {
    if (group.rank() != 0) {
      x = Tensor::empty(device, shape, dtype);
    }
    works.push_back(group.broadcast(x.view(), 0));
  };
  models::Batch& batch = microbatch.batch;
  if (parts.images) {
    broadcast_images(*parts.images, b, batch, broadcast);
  } else if (parts.vlm) {
    broadcast_merged(*parts.vlm, group, microbatch, batch, broadcast);
  } else {
    const Index d = parts.decoder_length, labels = d > 0 ? d : s;
    broadcast(batch.tokens, {s, b}, DType::i64);
    broadcast(batch.position_ids, {s, b}, DType::i64);
    broadcast(batch.labels, {labels, b}, DType::i64);
    broadcast(batch.loss_mask, {labels, b}, DType::f32);
  }
  const Index d = parts.decoder_length;
  if (parts.masks()) {
    const Index rows = parts.padding ? 1 : s;
    broadcast(batch.attention_mask, {b, rows, microbatch.whole_length}, DType::u8);
  }
  if (parts.attention_mask) {
    broadcast(batch.document_starts, {microbatch.whole_length, b}, DType::i32);
  }
  if (parts.token_types) {
    broadcast(batch.token_types, {s, b}, DType::i64);
  }
  if (parts.sentence_order) {
    broadcast(batch.sentence_order, {1, b}, DType::i64);
  }
  if (d > 0) {
    broadcast(batch.decoder_tokens, {d, b}, DType::i64);
    broadcast(batch.decoder_position_ids, {d, b}, DType::i64);
    broadcast(batch.decoder_attention_mask, {b, 1, d}, DType::u8);
  }
  for (comm::Work& work : works) {
    work.wait();
  }
  group.broadcast({&batch.loss_tokens, DType::f64, {1}}, 0).wait();
}

}  // namespace mpitron::train
