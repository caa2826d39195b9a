#include "models/llava/llava_batch.h"

#include <algorithm>
#include <numeric>

#include "models/llava/axis_places.h"
#include "models/llava/source_rows.h"
#include "tensor/host_copy.h"
#include "utils/error.h"

// Merges tiles of images into their texts: positions, labels and masks of the merged rows are
// computed on the host, before anything is embedded. Rows that become too long are cut, as in the
// reference.

namespace mpitron::models {
namespace {

SequenceSlice own_slice(const MergeShare& share, Index s) {
  return share.slice.length > 0 ? share.slice : SequenceSlice{.map = {}, .length = s};
}

/// [b, slice, s], 1 = hidden: positions of other texts, and those behind that are not of an image
/// whose positions see each other.
std::vector<std::uint8_t> text_mask(const MergedRows& merged, Index samples,
                                    const SequenceSlice& slice) {
  const std::vector<std::int64_t>& segments = merged.segments;
  const Index s = static_cast<Index>(segments.size()) / samples;
  std::vector<std::uint8_t> mask;
  for (Index row = 0; row < samples; ++row) {
    const auto segment = [&](Index position) {
      return segments[static_cast<std::size_t>(position * samples + row)];
    };
    for (Index i = 0; i < slice.length; ++i) {
      const Index position = slice.map(i);
      const Index last = merged.seen_until.empty()
                             ? position
                             : merged.seen_until[static_cast<std::size_t>(row * s + position)];
      for (Index key = 0; key < s; ++key) {
        const bool seen = key <= last && segment(key) == segment(position);
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
      kTokens.name,     kPositionIds.name, kLabels.name,        kLossMask.name,  kTiles.name,
      kMergedRows.name, kMergedFrom.name,  kAttentionMask.name, kSeenUntil.name, kAxisPlaces.name};
  return kFields;
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
    batch[kAttentionMask] = copied(device, text_mask(merged, b, own_slice(share, s)), {b, own, s});
  }
  if (!merged.seen_until.empty()) {
    MPITRON_CHECK(own == s, own, s);
    batch[kSeenUntil] = copied(device, merged.seen_until, {b, s});
  }
  if (!merged.axis_places.empty()) {
    const auto axes = static_cast<Index>(kAxes);
    batch[kAxisPlaces] = copied(device, merged.axis_places, {axes, own * b});
  }
  // Every rank counts its share of all, so that a mean does not depend on how sequences are cut.
  batch.loss_tokens =
      merged.loss_tokens * static_cast<double>(own) / static_cast<double>(std::max<Index>(s, 1));
  return batch;
}

}  // namespace mpitron::models
