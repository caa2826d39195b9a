#include "data/images/image_texts.h"

#include <algorithm>

#include "images/augment/views.h"
#include "images/transforms/tiles.h"
#include "utils/error.h"

namespace mpitron::data {
namespace {

constexpr images::Normalisation kClip{{0.48145466f, 0.4578275f, 0.40821073f},
                                      {0.26862954f, 0.26130258f, 0.27577711f}};
constexpr images::Normalisation kSiglip{{0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}};

}  // namespace

ImageTextDataset::ImageTextDataset(std::unique_ptr<ConversationList> conversations,
                                   const Options& options)
    : conversations_(std::move(conversations)),
      options_(options),
      description_(
          fmt::format(R"({{"class": "ImageTexts", "samples": {}}})", conversations_->size())),
      bad_(options.most_bad_images) {}

void ImageTextDataset::add_tiles(Index sample, Sample& result) const {
  const config::VlmConfig& vlm = options_.vlm;
  const bool clip = vlm.tower == config::TowerKind::clip;
  // CLIP resizes a palette's indices, others its colours.
  const images::Tiling tiling{.tile = vlm.tile,
                              .most_tiles = vlm.most_tiles,
                              .area_weighted = vlm.area_weighted_grids,
                              .thumbnail = vlm.thumbnail,
                              .keeps_palettes = clip};
  const auto pixels = static_cast<std::size_t>(images::kChannels * vlm.tile * vlm.tile);
  for (Index image = 0; image < conversations_->images(sample); ++image) {
    const EncodedImage encoded = conversations_->read(sample, image);
    const auto tiles = images::cut_into_tiles(
        images::decode(encoded.bytes, conversations_->image_name(sample, image)), tiling);
    for (const images::Image& tile : tiles) {
      result.tiles.resize(result.tiles.size() + pixels);
      images::write_planes(tile, clip ? kClip : kSiglip, std::span(result.tiles).last(pixels));
    }
    result.tiles_per_image.push_back(static_cast<Index>(tiles.size()));
  }
}

MarkedTokens ImageTextDataset::with_tags(const MarkedTokens& text, Sample& result) const {
  MarkedTokens tagged;
  std::vector<Index> single;
  auto image = result.tiles_per_image.begin();
  for (std::size_t i = 0; i < text.ids.size(); ++i) {
    if (text.ids[i] != kImageToken) {
      tagged.add(text.ids[i], text.learned[i] > 0);
      continue;
    }
    const Index tiles = *image++;
    for (Index tile = 0; tile < tiles; ++tile) {
      const bool thumbnail = tile + 1 == tiles && tiles > 1 && options_.vlm.thumbnail;
      const auto& tag = thumbnail ? options_.tile_tags.back()
                                  : options_.tile_tags[static_cast<std::size_t>(tile)];
      for (const std::int64_t id : tag) {
        tagged.add(id, false);
      }
      tagged.add(kImageToken, false);
      single.push_back(1);
    }
  }
  result.tiles_per_image = std::move(single);
  return tagged;
}

void ImageTextDataset::write_tokens(Index sample, MarkedTokens text, Sample& result) const {
  const auto length = static_cast<std::size_t>(options_.vlm.text_length);
  const auto cut = text.ids.begin() + static_cast<Index>(std::min(length, text.ids.size()));
  if (std::count(cut, text.ids.end(), kImageToken) > 0) {
    throw_data(
        "{}: the text has {} tokens, and the {} of --dataloader-seq-length end before an image",
        conversations_->name(sample), text.ids.size(), length);
  }
  text.ids.resize(length + 1, options_.pad);
  text.learned.resize(length + 1, 0.f);
  result.tokens.assign(text.ids.begin(), text.ids.end() - 1);
  result.labels.assign(text.ids.begin() + 1, text.ids.end());
  result.loss_mask.assign(text.learned.begin() + 1, text.learned.end());
}

ImageTextDataset::Sample ImageTextDataset::read_one(Index sample) const {
  Sample result;
  MarkedTokens text = options_.encode(conversations_->conversation(sample));
  add_tiles(sample, result);
  if (!options_.tile_tags.empty()) {
    text = with_tags(text, result);
  }
  write_tokens(sample, std::move(text), result);
  return result;
}

void ImageTextDataset::read(Index sample, std::span<std::int64_t> tokens) const {
  Sample result;
  read_sample(sample, result);
  std::copy_n(result.tokens.begin(), std::min(tokens.size(), result.tokens.size()), tokens.begin());
}

void ImageTextDataset::read_sample(Index sample, Sample& result) const {
  result = bad_.first_good(sample, size(), [this](Index which) { return read_one(which); });
}

}  // namespace mpitron::data
