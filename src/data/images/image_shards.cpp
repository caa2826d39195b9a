#include "data/images/image_shards.h"

#include <algorithm>
#include <charconv>

#include "utils/error.h"

// Images of tar shards with numbers of classes beside them; labels are read when the shards are
// opened.

namespace mpitron::data {
namespace {

/// Returns the number in a sample's .cls. A limit keeps a damaged one from making a class for every
/// number below it.
Index class_of(const TarShards& shards, const TarShards::Sample& sample) {
  static constexpr std::array<std::string_view, 2> kNumbers{"cls", "cls.txt"};
  const auto* part = TarShards::find(sample, kNumbers);
  if (part == nullptr || TarShards::find(sample, kShardImages) == nullptr) {
    throw_data("{}: a sample has an image (.jpg, .png, .webp) and the number of its class (.cls)",
               shards.name(sample));
  }
  const std::string_view text = shards.bytes(sample, *part);
  Index label = -1;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), label);
  const bool blank = std::all_of(end, text.end(), [](char c) { return c == '\n' || c == '\r'; });
  constexpr Index kMostClasses = 10'000'000;
  if (error != std::errc() || !blank || label < 0 || label >= kMostClasses) {
    throw_data("{}.{}: not the number of a class", shards.name(sample), part->ending);
  }
  return label;
}

}  // namespace

ImageShards::ImageShards(const std::filesystem::path& path, const ImageShare& share,
                         const std::filesystem::path& index_folder)
    : shards_(path, index_folder) {
  std::vector<Index> labels;
  for (const TarShards::Sample& sample : shards_.samples()) {
    labels.push_back(class_of(shards_, sample));
  }
  const Index classes = std::ranges::max(labels) + 1;
  places_ = images_of_share(classes, labels, share);
  for (Index label = 0; label < share.first_classes(classes); ++label) {
    classes_.push_back(std::to_string(label));
  }
  for (const Index place : places_) {
    labels_.push_back(labels[static_cast<std::size_t>(place)]);
  }
  if (places_.empty()) {
    throw_data("{}: no image in the share of it that is asked for", path.string());
  }
}

EncodedImage ImageShards::read(Index image) const {
  const TarShards::Sample& found = sample(image);
  const std::string_view bytes = shards_.bytes(found, *TarShards::find(found, kShardImages));
  return {.bytes = std::as_bytes(std::span(bytes))};
}

}  // namespace mpitron::data
