#include "train/microbatch_broadcast.h"

namespace mpitron::train {

using tensor::Tensor;

void broadcast_microbatch(device::Device& device, comm::Group& group, bool with_attention_mask,
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
  broadcast(microbatch.batch.tokens, {s, b}, DType::i64);
  broadcast(microbatch.batch.position_ids, {s, b}, DType::i64);
  broadcast(microbatch.batch.labels, {s, b}, DType::i64);
  broadcast(microbatch.batch.loss_mask, {s, b}, DType::f32);
  if (with_attention_mask) {
    broadcast(microbatch.batch.attention_mask, {b, s, microbatch.whole_length}, DType::u8);
  }
  for (comm::Work& work : works) {
    work.wait();
  }
  group.broadcast({&microbatch.batch.loss_tokens, DType::f64, {1}}, 0).wait();
}

}  // namespace mpitron::train
