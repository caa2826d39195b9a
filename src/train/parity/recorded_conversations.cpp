// Reads recorded rows of texts with images. Images follow each other in one array, so a row's are
// found by adding up what the rows before it have.
#include <numeric>

#include "models/llava/llava_batch.h"
#include "train/parity/recorded_batches.h"
#include "utils/error.h"

namespace mpitron::train {
namespace {

Index sum_of(std::span<const std::int64_t> values) {
  return std::accumulate(values.begin(), values.end(), Index{0});
}

template <class T>
std::span<const T> part(const std::vector<T>& values, Index first, Index count) {
  return std::span(values).subspan(static_cast<std::size_t>(first),
                                   static_cast<std::size_t>(count));
}

}  // namespace

RecordedConversations::RecordedConversations(const std::filesystem::path& folder,
                                             const config::VlmConfig& vlm, Index seq_length)
    : vlm_(vlm), seq_length_(seq_length) {
  const io::SafetensorsFile file(folder / "batches.safetensors");
  tokens_ = recorded_column<std::int32_t, std::int64_t>(file, "tokens");
  labels_ = recorded_column<std::int32_t, std::int64_t>(file, "labels");
  loss_mask_ = recorded_column<float, float>(file, "loss_mask");
  images_per_row_ = recorded_column<std::int32_t, std::int64_t>(file, "images_per_row");
  tiles_per_image_ = recorded_column<std::int32_t, std::int64_t>(file, "tiles");
  image_of_tile_ = recorded_column<std::int32_t, std::int64_t>(file, "tile_image");
  images_ = recorded_column<float, float>(file, "images");
}

HostMicrobatch RecordedConversations::rows(Index first, Index count) {
  const auto all_rows = static_cast<Index>(images_per_row_.size());
  if (first + count > all_rows) {
    throw_data("rows {} to {} wanted, {} recorded", first, first + count, all_rows);
  }
  const Index t = static_cast<Index>(tokens_.size()) / all_rows;
  const Index images = sum_of(part(images_per_row_, first, count));
  const Index first_image = sum_of(part(images_per_row_, 0, first));
  const auto tiles_per_image = part(tiles_per_image_, first_image, images);
  const Index first_tile = sum_of(part(tiles_per_image_, 0, first_image));
  const Index pixels = vlm_.pixels();
  row_pixels_.clear();
  for (const std::int64_t image : part(image_of_tile_, first_tile, sum_of(tiles_per_image))) {
    const auto tile = part(images_, image * pixels, pixels);
    row_pixels_.insert(row_pixels_.end(), tile.begin(), tile.end());
  }
  return {.samples = count,
          .sequence_length = seq_length_,
          .first_sample = first,
          .columns = {{models::kTokens, part(tokens_, first * t, count * t)},
                      {models::kLabels, part(labels_, first * t, count * t)},
                      {models::kLossMask, part(loss_mask_, first * t, count * t)},
                      {models::kPixels, row_pixels_},
                      {models::kImagesPerRow, part(images_per_row_, first, count)},
                      {models::kTilesPerImage, tiles_per_image}}};
}

}  // namespace mpitron::train
