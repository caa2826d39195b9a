// Merges tiles of images into their texts: positions, labels and masks of the merged rows are
// computed on the host, before anything is embedded. Rows that become too long are cut, as in the
// reference.
#include "models/llava/llava_batch.h"

#include <algorithm>
#include <cmath>
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

/// Texts and tiles as rows of one matrix: [t, b] of text, then each rank's tiles, [m, T / ranks].
class SourceRows {
 public:
  SourceRows(const HostMicrobatch& microbatch, const config::VlmConfig& vlm,
             const MergeShare& share)
      : samples_(microbatch.samples), positions_(vlm.positions()) {
    const Index tokens = static_cast<Index>(microbatch[kTokens].size()) / samples_;
    text_ = (tokens + share.text_multiple - 1) / share.text_multiple * share.text_multiple;
    const Index least = vlm.tower_always_runs ? 1 : 0;
    const Index tiles = std::max(count_tiles(microbatch), least);
    tiles_ = (tiles + share.tile_ranks - 1) / share.tile_ranks;
    all_ = text_ * samples_ + positions_ * tiles_ * share.tile_ranks;
  }

  Index text_length() const { return text_; }
  Index tiles_of_rank() const { return tiles_; }
  Index size() const { return all_; }
  Index of_token(Index row, Index j) const { return j * samples_ + row; }
  Index of_tile(Index tile, Index position) const {
    const Index rank = tile / tiles_;
    return text_ * samples_ + (rank * positions_ + position) * tiles_ + tile % tiles_;
  }

 private:
  Index samples_, positions_;
  Index text_ = 0, tiles_ = 0, all_ = 0;
};

/// One row of a microbatch while it is merged.
class RowMerger {
 public:
  RowMerger(const HostMicrobatch& microbatch, const config::VlmConfig& vlm, Index s,
            const SourceRows& sources, MergedRows& result)
      : batch_(microbatch),
        m_(vlm.positions()),
        s_(s),
        text_(static_cast<Index>(microbatch[kTokens].size()) / microbatch.samples),
        sources_(sources),
        result_(result) {}

  void merge(Index row) {
    position_ = 0;
    const Index images = batch_[kImagesPerRow][static_cast<std::size_t>(row)];
    const Index first_image = image_;
    for (Index j = 0; j < text_; ++j) {
      segment_ = batch_[kSegments].empty() ? 0 : value(batch_[kSegments], row, j);
      if (token(row, j) == config::kImageToken) {
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
      result_.segments[place(row, position_)] = segment_;
    }
    ++position_;
  }

  void add_text(Index row, Index j) {
    if (j > 0) {
      label_at(row, position_ - 1, value(batch_[kLabels], row, j - 1));
    }
    // What comes before an image is not to predict it.
    const bool counts = j + 1 >= text_ || token(row, j + 1) != config::kImageToken;
    if (position_ < s_ && counts) {
      result_.loss_mask[place(row, position_)] = value(batch_[kLossMask], row, j);
    }
    put(row, sources_.of_token(row, j));
  }

  void add_image(Index row) {
    const Index tiles = batch_[kTilesPerImage][static_cast<std::size_t>(image_++)];
    for (Index tile = tile_; tile < tile_ + tiles; ++tile) {
      for (Index i = 0; i < m_; ++i) {
        put(row, sources_.of_tile(tile, i));
      }
    }
    tile_ += tiles;
  }

  const HostMicrobatch& batch_;
  Index m_, s_, text_;
  const SourceRows& sources_;
  MergedRows& result_;
  Index image_ = 0, tile_ = 0, position_ = 0;
  std::int64_t segment_ = 0;
};

/// Each turn, a run of learned positions in a row, counts the square root of its length; all
/// together as much as before.
void weigh_turns(std::vector<float>& loss_mask, Index samples) {
  struct Turn {
    std::vector<std::size_t> places;
  };
  std::vector<Turn> turns;
  double tokens = 0, roots = 0;
  for (Index row = 0; row < samples; ++row) {
    bool inside = false;
    for (std::size_t at = static_cast<std::size_t>(row); at < loss_mask.size();
         at += static_cast<std::size_t>(samples)) {
      const bool learned = loss_mask[at] > 0;
      if (learned && !inside) {
        turns.emplace_back();
      }
      if (learned) {
        turns.back().places.push_back(at);
        ++tokens;
      }
      inside = learned;
    }
  }
  for (const Turn& turn : turns) {
    roots += std::sqrt(static_cast<double>(turn.places.size()));
  }
  for (const Turn& turn : turns) {
    const double length = static_cast<double>(turn.places.size());
    for (const std::size_t at : turn.places) {
      loss_mask[at] = static_cast<float>(tokens / (roots * std::sqrt(length)));
    }
  }
}

/// Cuts the positions of a slice out of [s, b].
template <class T>
std::vector<T> sliced(const std::vector<T>& values, const SequenceSlice& slice, Index samples) {
  std::vector<T> result;
  for (Index i = 0; i < slice.length; ++i) {
    const auto begin = values.begin() + slice.map(i) * samples;
    result.insert(result.end(), begin, begin + samples);
  }
  return result;
}

SequenceSlice own_slice(const MergeShare& share, Index s) {
  return share.slice.length > 0 ? share.slice : SequenceSlice{.map = {}, .length = s};
}

/// [b, slice, s], 1 = hidden: positions of other texts, and those behind.
std::vector<std::uint8_t> text_mask(const std::vector<std::int64_t>& segments, Index samples,
                                    const SequenceSlice& slice) {
  const Index s = static_cast<Index>(segments.size()) / samples;
  std::vector<std::uint8_t> mask;
  for (Index row = 0; row < samples; ++row) {
    const auto segment = [&](Index position) {
      return segments[static_cast<std::size_t>(position * samples + row)];
    };
    for (Index i = 0; i < slice.length; ++i) {
      const Index position = slice.map(i);
      for (Index key = 0; key < s; ++key) {
        const bool seen = key <= position && segment(key) == segment(position);
        mask.push_back(seen ? 0 : 1);
      }
    }
  }
  return mask;
}

template <class T>
tensor::Tensor copied(device::Device& device, const std::vector<T>& values, const Shape& shape) {
  const tensor::Tensor result = tensor::empty_on_host(device, shape, dtype_of<T>());
  std::ranges::copy(values, result.data<T>());
  return tensor::prefetch(device, result);
}

/// [b, tokens] -> [t, b], 0 for images and behind the text.
tensor::Tensor text_first(device::Device& device, std::span<const std::int64_t> tokens, Index t,
                          Index b) {
  const Index length = static_cast<Index>(tokens.size()) / b;
  std::vector<std::int64_t> result;
  for (Index i = 0; i < t * b; ++i) {
    const Index j = i / b;
    const std::int64_t token =
        j < length ? tokens[static_cast<std::size_t>(i % b * length + j)] : 0;
    result.push_back(token == config::kImageToken ? 0 : token);
  }
  return copied(device, result, {t, b});
}

/// Returns every token's place in its text, [t, b].
tensor::Tensor places_in_text(device::Device& device, const HostMicrobatch& microbatch, Index t) {
  const Index b = microbatch.samples;
  const std::span<const std::int64_t> segments = microbatch[kSegments];
  const Index length = static_cast<Index>(microbatch[kTokens].size()) / b;
  std::vector<std::int64_t> places(static_cast<std::size_t>(t * b));
  for (Index row = 0; row < b; ++row) {
    Index begin = 0;
    for (Index j = 0; j < t; ++j) {
      const auto at = static_cast<std::size_t>(row * length + j);
      if (!segments.empty() && j > 0 && j < length && segments[at] != segments[at - 1]) {
        begin = j;
      }
      places[static_cast<std::size_t>(j * b + row)] = j - begin;
    }
  }
  return copied(device, places, {t, b});
}

}  // namespace

tensor::Tensor tile_patches(device::Device& device, std::span<const float> pixels,
                            const config::VlmConfig& vlm, const TileRange& range) {
  const Index edge = vlm.patch, width = vlm.tile, numbers = 3 * edge * edge;
  const auto [first, tiles] = range;
  const Index there = static_cast<Index>(pixels.size()) / vlm.pixels();
  const tensor::Tensor result =
      tensor::empty_on_host(device, {vlm.patches(), tiles, numbers}, DType::f32);
  float* to = result.data<float>();
  for (Index patch = 0; patch < vlm.patches(); ++patch) {
    const Index top = patch / vlm.grid() * edge, left = patch % vlm.grid() * edge;
    for (Index tile = first; tile < first + tiles; ++tile) {
      if (tile >= there) {
        std::fill_n(to, numbers, 0.f);
        to += numbers;
        continue;
      }
      for (Index channel = 0; channel < 3; ++channel) {
        for (Index y = top; y < top + edge; ++y) {
          const float* from = pixels.data() + ((tile * 3 + channel) * width + y) * width + left;
          to = std::copy_n(from, edge, to);
        }
      }
    }
  }
  return tensor::prefetch(device, result);
}

std::span<const std::string_view> llava_fields() {
  static constexpr std::string_view kFields[] = {
      kTokens.name, kPositionIds.name, kLabels.name,     kLossMask.name,
      kTiles.name,  kMergedRows.name,  kMergedFrom.name, kAttentionMask.name};
  return kFields;
}

MergedRows merge_images(const HostMicrobatch& microbatch, const config::VlmConfig& vlm, Index s,
                        const MergeShare& share) {
  const Index b = microbatch.samples;
  const SourceRows sources(microbatch, vlm, share);
  MergedRows result;
  RowMerger merger(microbatch, vlm, s, sources, result);
  const auto places = static_cast<std::size_t>(s * b);
  result.rows.assign(places, -1);
  result.segments.assign(places, -1);
  result.labels.assign(places, kNoLabel);
  result.loss_mask.assign(places, 0.f);
  for (Index row = 0; row < b; ++row) {
    merger.merge(row);
  }
  if (vlm.weighs_turns) {
    weigh_turns(result.loss_mask, b);
  }
  result.loss_tokens = std::accumulate(result.loss_mask.begin(), result.loss_mask.end(), 0.0);
  if (share.slice.length > 0) {
    result.rows = sliced(result.rows, share.slice, b);
    result.labels = sliced(result.labels, share.slice, b);
    result.loss_mask = sliced(result.loss_mask, share.slice, b);
  }
  result.from.assign(static_cast<std::size_t>(sources.size()), -1);
  for (std::size_t place = 0; place < result.rows.size(); ++place) {
    if (const std::int64_t source = result.rows[place]; source >= 0) {
      result.from[static_cast<std::size_t>(source)] = static_cast<std::int64_t>(place);
    }
  }
  return result;
}

Batch llava_batch(device::Device& device, const HostMicrobatch& microbatch,
                  const config::VlmConfig& vlm, const MergeShare& share) {
  const Index s = microbatch.sequence_length, b = microbatch.samples;
  const SourceRows sources(microbatch, vlm, share);
  const MergedRows merged = merge_images(microbatch, vlm, s, share);
  const Index own = static_cast<Index>(merged.rows.size()) / b, t = sources.text_length();
  const Index tiles = sources.tiles_of_rank();
  Batch batch{
      {kTokens, text_first(device, microbatch[kTokens], t, b)},
      {kPositionIds, places_in_text(device, microbatch, t)},
      {kLabels, copied(device, merged.labels, {own, b})},
      {kLossMask, copied(device, merged.loss_mask, {own, b})},
      {kTiles, tile_patches(device, microbatch[kPixels], vlm, {share.tile_rank * tiles, tiles})},
      {kMergedRows, copied(device, merged.rows, {own * b})},
      {kMergedFrom, copied(device, merged.from, {sources.size()})}};
  if (!microbatch[kSegments].empty()) {
    batch[kAttentionMask] =
        copied(device, text_mask(merged.segments, b, own_slice(share, s)), {b, own, s});
  }
  // Every rank counts its share of all, so that a mean does not depend on how sequences are cut.
  batch.loss_tokens =
      merged.loss_tokens * static_cast<double>(own) / static_cast<double>(std::max<Index>(s, 1));
  return batch;
}

}  // namespace mpitron::models
