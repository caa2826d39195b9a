#include <numeric>

#include "models/llava/axis_places.h"
#include "models/llava/llava_batch.h"
#include "models/llava/source_rows.h"
#include "utils/error.h"

// Puts the tiles of images into rows of text.

namespace mpitron::models {
namespace {

constexpr std::int64_t kNoLabel = -100;

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

/// Positions of images that are side by side in one text end together.
std::vector<std::int64_t> ends_of_images(const MergedRows& merged, Index samples,
                                         Index text_sources) {
  const Index s = static_cast<Index>(merged.rows.size()) / samples;
  std::vector<std::int64_t> ends(merged.rows.size());
  for (Index row = 0; row < samples; ++row) {
    const auto place = [&](Index i) { return static_cast<std::size_t>(i * samples + row); };
    for (Index i = s - 1; i >= 0; --i) {
      const bool joins = i + 1 < s && merged.rows[place(i)] >= text_sources &&
                         merged.rows[place(i + 1)] >= text_sources &&
                         merged.segments[place(i)] == merged.segments[place(i + 1)];
      std::int64_t* const end = ends.data() + row * s + i;
      *end = joins ? end[1] : i;
    }
  }
  return ends;
}

/// Returns where the positions of a slice stand on three axes, [3, slice, b].
std::vector<std::int64_t> places_of(const MergedRows& merged, const config::VlmConfig& vlm,
                                    Index samples, Index text_sources, const SequenceSlice& slice) {
  const Index s = static_cast<Index>(merged.rows.size()) / samples;
  std::vector<AxisPlaces> all(merged.rows.size());
  for (Index row = 0; row < samples; ++row) {
    Index seen = 0;
    for (Index i = 0; i < s; ++i) {
      const auto place = static_cast<std::size_t>(i * samples + row);
      const bool of_image = merged.rows[place] >= text_sources;
      all[place] = axis_places(vlm, i, seen, of_image);
      seen += of_image ? 1 : 0;
    }
  }
  std::vector<std::int64_t> result;
  for (std::size_t axis = 0; axis < kAxes; ++axis) {
    for (Index i = 0; i < slice.length * samples; ++i) {
      const Index place = slice.map(i / samples) * samples + i % samples;
      result.push_back(all[static_cast<std::size_t>(place)][axis]);
    }
  }
  return result;
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

}  // namespace

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
  if (vlm.sees_whole_images) {
    result.seen_until = ends_of_images(result, b, sources.text_length() * b);
  }
  if (share.has_axes) {
    const SequenceSlice whole{.map = {}, .length = s};
    result.axis_places = places_of(result, vlm, b, sources.text_length() * b,
                                   share.slice.length > 0 ? share.slice : whole);
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

}  // namespace mpitron::models
