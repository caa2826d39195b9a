#include "train/batches/microbatch_broadcast.h"

namespace mpitron::train {

using tensor::Tensor;

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
  const Index d = parts.decoder_length, labels = d > 0 ? d : s;
  broadcast(batch.tokens, {s, b}, DType::i64);
  broadcast(batch.position_ids, {s, b}, DType::i64);
  broadcast(batch.labels, {labels, b}, DType::i64);
  broadcast(batch.loss_mask, {labels, b}, DType::f32);
  if (parts.masks()) {
    const Index rows = parts.padding ? 1 : s;
    broadcast(batch.attention_mask, {b, rows, microbatch.whole_length}, DType::u8);
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
