#include "models/llava/llava_batch.h"

#include <algorithm>
#include <numeric>

#include "tensor/host_copy.h"
#include "utils/error.h"

namespace mpitron::models {
namespace {

constexpr std::int64_t kNoLabel = -100;

Index count_tiles(const HostMicrobatch& microbatch) {
  const std::span<const std::int64_t> tiles = microbatch[kTilesPerImage];
  return std::accumulate(tiles.begin(), tiles.end(), Index{0});
}

/// One row of a microbatch while it is merged.
class RowMerger {
 public:
  RowMerger(const HostMicrobatch& microbatch, const config::VlmConfig& vlm, Index s,
            MergedRows& result)
      : batch_(microbatch),
        m_(vlm.positions()),
        s_(s),
        text_(static_cast<Index>(microbatch[kTokens].size()) / microbatch.samples),
        tiles_(count_tiles(microbatch)),
        result_(result) {}

  Index all_tiles() const { return tiles_; }
  Index text_length() const { return text_; }

  void merge(Index row) {
    position_ = 0;
    const Index images = batch_[kImagesPerRow][static_cast<std::size_t>(row)];
    const Index first_image = image_;
    for (Index j = 0; j < text_; ++j) {
      if (token(row, j) == kImageToken) {
        check(image_ - first_image < images, row, images);
        add_image(row);
      } else {
        add_text(row, j);
      }
    }
    check(image_ - first_image == images, row, images);
    label_at(row, position_ - 1, value(batch_[kLabels], row, text_ - 1));
  }

 private:
  template <class T>
  T value(std::span<const T> column, Index row, Index j) const {
    return column[static_cast<std::size_t>(row * text_ + j)];
  }
  std::int64_t token(Index row, Index j) const { return value(batch_[kTokens], row, j); }

  void check(bool holds, Index row, Index images) const {
    if (!holds) {
      throw_data("sample {}: {} images, and another number of places for them in its text",
                 batch_.first_sample + row, images);
    }
  }

  std::size_t place(Index row, Index position) const {
    return static_cast<std::size_t>(position * batch_.samples + row);
  }
  void label_at(Index row, Index position, std::int64_t label) {
    if (position >= 0 && position < s_) {
      result_.labels[place(row, position)] = label;
    }
  }
  void put(Index row, Index source) {
    if (position_ < s_) {
      result_.rows[place(row, position_)] = source;
      result_.from[static_cast<std::size_t>(source)] =
          static_cast<std::int64_t>(place(row, position_));
    }
    ++position_;
  }

  void add_text(Index row, Index j) {
    if (j > 0) {
      label_at(row, position_ - 1, value(batch_[kLabels], row, j - 1));
    }
    // What comes before an image is not to predict it.
    const bool counts = j + 1 >= text_ || token(row, j + 1) != kImageToken;
    if (position_ < s_ && counts) {
      result_.loss_mask[place(row, position_)] = value(batch_[kLossMask], row, j);
    }
    put(row, j * batch_.samples + row);
  }

  void add_image(Index row) {
    const Index tiles = batch_[kTilesPerImage][static_cast<std::size_t>(image_++)];
    for (Index tile = tile_; tile < tile_ + tiles; ++tile) {
      for (Index i = 0; i < m_; ++i) {
        put(row, text_ * batch_.samples + i * tiles_ + tile);
      }
    }
    tile_ += tiles;
  }

  const HostMicrobatch& batch_;
  Index m_, s_, text_, tiles_;
  MergedRows& result_;
  Index image_ = 0, tile_ = 0, position_ = 0;
};

template <class T>
tensor::Tensor copied(device::Device& device, const std::vector<T>& values, const Shape& shape) {
  const tensor::Tensor result = tensor::empty_on_host(device, shape, dtype_of<T>());
  std::ranges::copy(values, result.data<T>());
  return tensor::prefetch(device, result);
}

/// [T, 3, H, W] -> [n, T, 3 P P].
tensor::Tensor tile_patches(device::Device& device, std::span<const float> pixels,
                            const config::VlmConfig& vlm, Index tiles) {
  const Index edge = vlm.patch, width = vlm.tile, numbers = 3 * edge * edge;
  const tensor::Tensor result =
      tensor::empty_on_host(device, {vlm.patches(), tiles, numbers}, DType::f32);
  float* to = result.data<float>();
  for (Index i = 0; i < result.numel(); ++i) {
    const Index within = i % numbers, tile = i / numbers % tiles, patch = i / numbers / tiles;
    const Index channel = within / (edge * edge), pixel = within % (edge * edge);
    const Index y = patch / vlm.grid() * edge + pixel / edge;
    const Index x = patch % vlm.grid() * edge + pixel % edge;
    to[i] = pixels[static_cast<std::size_t>(((tile * 3 + channel) * width + y) * width + x)];
  }
  return tensor::prefetch(device, result);
}

tensor::Tensor text_first(device::Device& device, std::span<const std::int64_t> tokens, Index b) {
  const Index t = static_cast<Index>(tokens.size()) / b;
  std::vector<std::int64_t> result;
  for (Index i = 0; i < t * b; ++i) {
    const std::int64_t token = tokens[static_cast<std::size_t>(i % b * t + i / b)];
    result.push_back(token == kImageToken ? 0 : token);
  }
  return copied(device, result, {t, b});
}

}  // namespace

std::span<const std::string_view> llava_fields() {
  static constexpr std::string_view kFields[] = {
      kTokens.name, kPositionIds.name, kLabels.name,    kLossMask.name,
      kTiles.name,  kMergedRows.name,  kMergedFrom.name};
  return kFields;
}

MergedRows merge_images(const HostMicrobatch& microbatch, const config::VlmConfig& vlm, Index s) {
  const Index b = microbatch.samples;
  MergedRows result;
  RowMerger merger(microbatch, vlm, s, result);
  const auto places = static_cast<std::size_t>(s * b);
  result.rows.assign(places, -1);
  result.labels.assign(places, kNoLabel);
  result.loss_mask.assign(places, 0.f);
  result.from.assign(
      static_cast<std::size_t>(merger.text_length() * b + vlm.positions() * merger.all_tiles()),
      -1);
  for (Index row = 0; row < b; ++row) {
    merger.merge(row);
  }
  return result;
}

Batch llava_batch(device::Device& device, const HostMicrobatch& microbatch,
                  const config::VlmConfig& vlm) {
  const Index s = microbatch.sequence_length, b = microbatch.samples;
  const Index t = static_cast<Index>(microbatch[kTokens].size()) / b;
  const MergedRows merged = merge_images(microbatch, vlm, s);
  Batch batch{{kTokens, text_first(device, microbatch[kTokens], b)},
              {kPositionIds, ColumnUpload(device, microbatch, {}).positions(t)},
              {kLabels, copied(device, merged.labels, {s, b})},
              {kLossMask, copied(device, merged.loss_mask, {s, b})},
              {kTiles, tile_patches(device, microbatch[kPixels], vlm, count_tiles(microbatch))},
              {kMergedRows, copied(device, merged.rows, {s * b})},
              {kMergedFrom, copied(device, merged.from, {static_cast<Index>(merged.from.size())})}};
  for (const float weight : merged.loss_mask) {
    batch.loss_tokens += static_cast<double>(weight);
  }
  return batch;
}

}  // namespace mpitron::models
