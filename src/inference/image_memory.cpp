#include "inference/image_memory.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "models/llava/llava_batch.h"
#include "tensor/host_copy.h"
#include "utils/error.h"

// Rows of the encoder's output by the hash of an image's pixels. A prompt names them by token ids
// below zero, which no vocabulary has, so that prefixes with the same image are found like equal
// texts.

namespace mpitron::inference {

/// Runs the encoder on an image once and keeps its rows by the hash of the pixels; a prompt that
/// shows the same image again shares them.
SeenImageHandle ImageMemory::see(std::span<const float> tiles) {
  if (!model_.config().vlm) {
    throw_usage("a {} sees no images", model_.config().family().title);
  }
  if (model_.config().position_embedding_type == config::PositionEmbedding::learned_absolute) {
    throw_usage(
        "images in prompts need a model of --position-embedding-type rope or none: learned "
        "positions count an image as one token");
  }
  if (model_.config().vlm->sees_whole_images && !device_.tensors_on_host()) {
    throw_usage(
        "a model whose images' positions see each other (--bidirectional-image-attention) takes "
        "images in prompts on the host alone: --device host");
  }
  const auto bytes = std::as_bytes(tiles);
  const Hash128 pixels =
      hash128(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  std::erase_if(images_, [](const auto& each) { return each.second.expired(); });
  for (const auto& [first, image] : images_) {
    if (auto known = image.lock(); known && known->pixels == pixels) {
      return known;
    }
  }
  autograd::Context context{.device = device_, .mode = autograd::Mode::evaluate};
  auto image = std::make_shared<Image>();
  image->rows = tensor::to_host(device_, model_.see(context, tiles));
  image->pixels = pixels;
  image->first = next_;
  image->positions = image->rows.shape()[0];
  if (image->positions > Index{next_} - std::numeric_limits<TokenId>::min()) {
    throw_environment("no ids are left for images; start the program again");
  }
  next_ -= static_cast<TokenId>(image->positions);
  images_.emplace(image->first, image);
  recent_.push_back(image);
  if (recent_.size() > kKept) {
    recent_.pop_front();
  }
  return image;
}

const std::byte* ImageMemory::row_of(std::int64_t id) const {
  if (id >= 0) {
    return nullptr;
  }
  const auto found = images_.lower_bound(static_cast<TokenId>(id));
  MPITRON_CHECK(found != images_.end(), id);
  const std::shared_ptr<const Image> image = found->second.lock();
  MPITRON_CHECK(image != nullptr, id);
  const tensor::Tensor& rows = image->rows;
  const Index row_bytes = rows.shape()[1] * size_of(rows.dtype());
  return static_cast<const std::byte*>(rows.view().data) + (image->first - id) * row_bytes;
}

/// Fills the rows of images into the embedding's input: ids below zero name a row that was seen
/// before.
void ImageMemory::place_rows(std::vector<std::int64_t>& ids, models::Batch& batch) const {
  const auto seen = std::ranges::count_if(ids, [](std::int64_t id) { return id < 0; });
  if (seen == 0) {
    return;
  }
  const config::ModelConfig& config = model_.config();
  const auto count = static_cast<Index>(ids.size());
  const tensor::Tensor rows =
      tensor::empty_on_host(device_, {seen, config.hidden_size}, config.params_dtype);
  const tensor::Tensor choice = tensor::empty_on_host(device_, {count}, DType::i64);
  const Index row_bytes = config.hidden_size * size_of(rows.dtype());
  auto* to = static_cast<std::byte*>(rows.view().data);
  Index next = count;
  for (Index i = 0; i < count; ++i) {
    std::int64_t& id = ids[static_cast<std::size_t>(i)];
    choice.data<std::int64_t>()[i] = id < 0 ? next++ : i;
    if (const std::byte* row = row_of(id)) {
      std::memcpy(to, row, static_cast<std::size_t>(row_bytes));
      to += row_bytes;
      id = 0;
    }
  }
  batch[models::kSeenRows] = tensor::to_device(device_, rows);
  batch[models::kSeenChoice] = tensor::to_device(device_, choice);
}

}  // namespace mpitron::inference
