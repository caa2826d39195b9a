#include "train/batches/microbatch.h"

namespace mpitron::train {

using tensor::Tensor;

namespace {

/// Description of a batch's tensor, which rank 0 tells before the elements travel; numbers, because
/// that is what a group broadcasts.
struct TensorHeader {
  double present = 0, dtype = 0, rank = 0;
  double extents[Shape::kMaxRank] = {};

  static TensorHeader of(const Tensor& x) {
    TensorHeader header;
    if (x) {
      header.present = 1;
      header.dtype = static_cast<double>(x.dtype());
      header.rank = x.shape().rank();
      for (int i = 0; i < x.shape().rank(); ++i) {
        header.extents[i] = static_cast<double>(x.shape()[i]);
      }
    }
    return header;
  }
  Tensor empty(device::Device& device) const {
    Shape shape;
    for (int i = 0; i < static_cast<int>(rank); ++i) {
      shape.push_back(static_cast<Index>(extents[i]));
    }
    return Tensor::empty(device, shape, static_cast<DType>(static_cast<int>(dtype)));
  }
};

/// A struct of numbers, for a broadcast.
template <class Numbers>
device::TensorView numbers_view(std::vector<Numbers>& rows) {
  static_assert(sizeof(Numbers) % sizeof(double) == 0);
  const auto count = static_cast<Index>(rows.size() * (sizeof(Numbers) / sizeof(double)));
  return {rows.data(), DType::f64, {count}};
}

}  // namespace

/// Puts a microbatch on the device: of each sequence the zigzag slice of this rank, in the form
/// that the model's batch has.
DeviceMicrobatch upload(const models::Model& model, const HostMicrobatch& microbatch,
                        const ContextPlace& place) {
  const Index whole = microbatch.sequence_length;
  const SequenceSlice slice = zigzag_slice(whole, place.ranks, place.rank);
  DeviceMicrobatch result{.samples = microbatch.samples,
                          .sequence_length = slice.length,
                          .whole_length = whole,
                          .positions = slice.map,
                          .first_sample = microbatch.first_sample};
  if (!microbatch.columns.empty()) {
    result.batch = model.batch(microbatch, slice);
  }
  return result;
}

/// Sends a batch from rank 0 of the tensor group to the others: first a header for each of the
/// family's fields, then the elements of those that are there: ranks that do not read know neither
/// types nor shapes.
void broadcast_microbatch(device::Device& device, comm::Group& group, const models::Model& model,
                          DeviceMicrobatch& microbatch) {
  if (group.size() == 1) {
    return;
  }
  models::Batch& batch = microbatch.batch;
  std::vector<TensorHeader> headers;
  for (const std::string_view field : model.batch_fields()) {
    headers.push_back(TensorHeader::of(batch.find(field)));
  }
  group.broadcast(numbers_view(headers), 0).wait();
  std::vector<comm::Work> works;
  auto header = headers.begin();
  for (const std::string_view field : model.batch_fields()) {
    const TensorHeader& told = *header++;
    if (told.present == 0) {
      continue;
    }
    Tensor& x = batch.at(field);
    if (group.rank() != 0) {
      x = told.empty(device);
    }
    works.push_back(group.broadcast(x.view(), 0));
  }
  for (comm::Work& work : works) {
    work.wait();
  }
  group.broadcast({&batch.loss_tokens, DType::f64, {1}}, 0).wait();
}

}  // namespace mpitron::train
