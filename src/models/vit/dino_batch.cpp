// Prepares DINO's crops. Crops are ordered by size and then by image, so that each size is one pass
// of the backbone; pairs of teacher and student rows are listed once for the loss.
#include "models/vit/dino_batch.h"

#include <algorithm>

#include "models/vit/vit_batch.h"
#include "tensor/host_copy.h"

namespace mpitron::models {
namespace {

using config::VisionConfig;
using tensor::Tensor;

/// Lists the places where `count` crops of `numbers` numbers begin, behind the first `skipped`
/// numbers of every image.
std::vector<const float*> crops_of(std::span<const float> pixels, Index images, Index skipped,
                                   Index count, Index numbers) {
  const Index per_image = static_cast<Index>(pixels.size()) / images;
  std::vector<const float*> crops;
  for (Index crop = 0; crop < images * count; ++crop) {
    crops.push_back(pixels.data() + crop / count * per_image + skipped + crop % count * numbers);
  }
  return crops;
}

/// [s, b]: the number of each row.
Tensor row_numbers(device::Device& device, Index s, Index b) {
  const Tensor result = tensor::empty_on_host(device, {s, b}, DType::i64);
  for (Index i = 0; i < s * b; ++i) {
    result.data<std::int64_t>()[i] = i / b;
  }
  return tensor::prefetch(device, result);
}

template <class T>
Tensor on_device(device::Device& device, const std::vector<T>& values, const Shape& shape) {
  const Tensor result = tensor::empty_on_host(device, shape, dtype_of<T>());
  std::ranges::copy(values, result.data<T>());
  return tensor::prefetch(device, result);
}

/// A large crop is to be like the image's other one, a small one like both.
std::vector<std::int64_t> teacher_rows(Index images, Index locals) {
  std::vector<std::int64_t> rows;
  for (Index i = 0; i < 2 * images; ++i) {
    rows.insert(rows.end(), {i ^ 1, -1});
  }
  for (Index i = 0; i < images * locals; ++i) {
    rows.insert(rows.end(), {i / locals * 2, i / locals * 2 + 1});
  }
  return rows;
}

/// Pairs that a crop is in, times the weight of its image.
std::vector<float> pair_counts(std::span<const float> weights, Index locals) {
  std::vector<float> counts;
  for (const float weight : weights) {
    counts.insert(counts.end(), 2, weight);
  }
  for (const float weight : weights) {
    counts.insert(counts.end(), static_cast<std::size_t>(locals), 2 * weight);
  }
  return counts;
}

}  // namespace

std::span<const std::string_view> dino_fields() {
  static constexpr std::string_view kFields[] = {kPositionIds.name,    kPatches.name,
                                                 kLocalPositions.name, kLocalPatches.name,
                                                 kTeacherRows.name,    kLossMask.name};
  return kFields;
}

Batch dino_batch(device::Device& device, const HostMicrobatch& microbatch,
                 const VisionConfig& vision) {
  const Index b = microbatch.samples, locals = vision.dino->local_crops;
  const std::span<const float> pixels = microbatch[kPixels];
  const bool cropped = static_cast<Index>(pixels.size()) == b * vision.crop_pixels();
  const auto large = crops_of(pixels, b, 0, cropped ? 2 : 1, vision.pixels());
  Batch batch{
      {kPositionIds, row_numbers(device, vision.positions(), static_cast<Index>(large.size()))},
      {kPatches, image_patches(device, large, vision)}};
  if (!cropped) {
    return batch;
  }
  const VisionConfig small = vision.of_local_crops();
  const auto crops = crops_of(pixels, b, 2 * vision.pixels(), locals, small.pixels());
  batch[kLocalPatches] = image_patches(device, crops, small);
  batch[kLocalPositions] = row_numbers(device, small.positions(), b * locals);
  batch[kTeacherRows] = on_device(device, teacher_rows(b, locals), {(2 + locals) * b, 2});
  const std::vector<float> counts = pair_counts(microbatch[kLossMask], locals);
  batch[kLossMask] = on_device(device, counts, {static_cast<Index>(counts.size())});
  for (const float count : counts) {
    batch.loss_tokens += static_cast<double>(count);
  }
  return batch;
}

}  // namespace mpitron::models
