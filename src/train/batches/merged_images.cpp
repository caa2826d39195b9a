#include "train/batches/merged_images.h"

#include <algorithm>
#include <numeric>

#include "tensor/host_copy.h"
#include "utils/error.h"

namespace mpitron::train {
namespace {

constexpr std::int64_t kNoLabel = -100;

/// One row of a microbatch while it is merged.
class RowMerger {
 public:
  RowMerger(const HostMicrobatch& microbatch, Index s, MergedRows& result)
      : batch_(microbatch),
        m_(microbatch.vlm->positions()),
        s_(s),
        text_(static_cast<Index>(microbatch.tokens.size()) / microbatch.samples),
        tiles_(std::accumulate(microbatch.tiles_per_image.begin(), microbatch.tiles_per_image.end(),
                               Index{0})),
        result_(result) {}

  Index all_tiles() const { return tiles_; }
  Index text_length() const { return text_; }

  void merge(Index row) {
    position_ = 0;
    const Index images = batch_.images_per_row[static_cast<std::size_t>(row)];
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
    label_at(row, position_ - 1, value(batch_.labels, row, text_ - 1));
  }

 private:
  template <class T>
  T value(std::span<const T> column, Index row, Index j) const {
    return column[static_cast<std::size_t>(row * text_ + j)];
  }
  std::int64_t token(Index row, Index j) const { return value(batch_.tokens, row, j); }

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
      label_at(row, position_ - 1, value(batch_.labels, row, j - 1));
    }
    // What comes before an image is not to predict it.
    const bool counts = j + 1 >= text_ || token(row, j + 1) != kImageToken;
    if (position_ < s_ && counts) {
      result_.loss_mask[place(row, position_)] = value(batch_.loss_mask, row, j);
    }
    put(row, j * batch_.samples + row);
  }

  void add_image(Index row) {
    const Index tiles = batch_.tiles_per_image[static_cast<std::size_t>(image_++)];
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
tensor::Tensor tile_patches(device::Device& device, const HostMicrobatch& microbatch, Index tiles) {
  const config::VlmConfig& vlm = *microbatch.vlm;
  const Index edge = vlm.patch, width = vlm.tile, numbers = 3 * edge * edge;
  const tensor::Tensor result =
      tensor::empty_on_host(device, {vlm.patches(), tiles, numbers}, DType::f32);
  float* to = result.data<float>();
  for (Index i = 0; i < result.numel(); ++i) {
    const Index within = i % numbers, tile = i / numbers % tiles, patch = i / numbers / tiles;
    const Index channel = within / (edge * edge), pixel = within % (edge * edge);
    const Index y = patch / vlm.grid() * edge + pixel / edge;
    const Index x = patch % vlm.grid() * edge + pixel % edge;
    to[i] =
        microbatch.pixels[static_cast<std::size_t>(((tile * 3 + channel) * width + y) * width + x)];
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

MergedRows merge_images(const HostMicrobatch& microbatch, Index s) {
  const Index b = microbatch.samples;
  MergedRows result;
  RowMerger merger(microbatch, s, result);
  const auto places = static_cast<std::size_t>(s * b);
  result.rows.assign(places, -1);
  result.labels.assign(places, kNoLabel);
  result.loss_mask.assign(places, 0.f);
  result.from.assign(static_cast<std::size_t>(merger.text_length() * b +
                                              microbatch.vlm->positions() * merger.all_tiles()),
                     -1);
  for (Index row = 0; row < b; ++row) {
    merger.merge(row);
  }
  return result;
}

models::Batch upload_merged(device::Device& device, const HostMicrobatch& microbatch) {
  const Index s = microbatch.sequence_length, b = microbatch.samples;
  const Index t = static_cast<Index>(microbatch.tokens.size()) / b;
  const MergedRows merged = merge_images(microbatch, s);
  std::vector<std::int64_t> positions;
  for (Index i = 0; i < t * b; ++i) {
    positions.push_back(i / b);
  }
  models::Batch batch{.tokens = text_first(device, microbatch.tokens, b),
                      .position_ids = copied(device, positions, {t, b}),
                      .labels = copied(device, merged.labels, {s, b}),
                      .loss_mask = copied(device, merged.loss_mask, {s, b})};
  for (const float weight : merged.loss_mask) {
    batch.loss_tokens += static_cast<double>(weight);
  }
  const Index tiles = std::accumulate(microbatch.tiles_per_image.begin(),
                                      microbatch.tiles_per_image.end(), Index{0});
  batch.tiles = tile_patches(device, microbatch, tiles);
  batch.merged_rows = copied(device, merged.rows, {s * b});
  batch.merged_from = copied(device, merged.from, {static_cast<Index>(merged.from.size())});
  return batch;
}

}  // namespace mpitron::train
