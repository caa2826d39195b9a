#include "data/images/image_texts.h"

#include <algorithm>
#include <numeric>
#include <thread>

#include "data/images/image_tiles.h"
#include "utils/error.h"
#include "utils/system/parallel_for.h"

// Makes rows of conversations: the marks of images become as many positions as the encoder gives
// rows, which are neither words nor learned.

namespace mpitron::data {
namespace {

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

ImageTextDataset::ImageTextDataset(std::unique_ptr<ConversationList> conversations,
                                   const Options& options)
    : conversations_(std::move(conversations)),
      options_(options),
      description_(
          fmt::format(R"({{"class": "ImageTexts", "samples": {}}})", conversations_->size())),
      bad_(options.most_bad_images) {
  if (options.vlm.packing_window < 1) {
    return;
  }
  std::vector<Index> lengths(static_cast<std::size_t>(conversations_->size()));
  parallel_for(lengths.size(), static_cast<Index>(std::thread::hardware_concurrency()),
               [&](std::size_t i) {
                 const auto sample = static_cast<Index>(i);
                 bad_.is_good(sample, [&] { lengths[i] = positions_of(sample); });
               });
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] > options.seq_length) {
      throw_data("{}: {} positions, more than the {} of a row (--seq-length)",
                 conversations_->name(static_cast<Index>(i)), lengths[i], options.seq_length);
    }
  }
  rows_ = pack_longest_first(lengths, options.seq_length, options.vlm.packing_window);
}

std::vector<Index> ImageTextDataset::add_tiles(Index sample, Sample& result) const {
  std::vector<Index> tiles_per_image;
  for (Index image = 0; image < conversations_->images(sample); ++image) {
    const EncodedImage encoded = conversations_->read(sample, image);
    const std::size_t before = result.tiles.size();
    append_tiles(decode_image(encoded.bytes, conversations_->image_name(sample, image)),
                 options_.vlm, result.tiles);
    tiles_per_image.push_back(static_cast<Index>(result.tiles.size() - before) /
                              options_.vlm.pixels());
  }
  return tiles_per_image;
}

/// Puts a tag in front of every tile: an image becomes as many images of one tile.
MarkedTokens ImageTextDataset::with_tags(const MarkedTokens& text,
                                         std::vector<Index>& tiles_per_image) const {
  MarkedTokens tagged;
  std::vector<Index> single;
  auto image = tiles_per_image.begin();
  for (std::size_t i = 0; i < text.ids.size(); ++i) {
    if (text.ids[i] != config::kImageToken) {
      tagged.add(text.ids[i], text.learned[i] > 0);
      continue;
    }
    const Index tiles = *image++;
    for (Index tile = 0; tile < tiles; ++tile) {
      const bool thumbnail = tile + 1 == tiles && tiles > 1 && options_.vlm.tiling.thumbnail;
      const auto& tag = thumbnail ? options_.tile_tags.back()
                                  : options_.tile_tags[static_cast<std::size_t>(tile)];
      for (const std::int64_t id : tag) {
        tagged.add(id, false);
      }
      tagged.add(config::kImageToken, false);
      single.push_back(1);
    }
  }
  tiles_per_image = std::move(single);
  return tagged;
}

/// Appends tokens and labels: every token is to predict the next one, the last nothing.
void ImageTextDataset::add_tokens(MarkedTokens text, Sample& result) const {
  append(result.tokens, text.ids);
  text.add(options_.pad, false);
  result.labels.insert(result.labels.end(), text.ids.begin() + 1, text.ids.end());
  result.loss_mask.insert(result.loss_mask.end(), text.learned.begin() + 1, text.learned.end());
}

void ImageTextDataset::add_text(Index sample, Sample& result) const {
  MarkedTokens text = options_.encode(conversations_->conversation(sample));
  std::vector<Index> tiles_per_image = add_tiles(sample, result);
  if (!options_.tile_tags.empty()) {
    text = with_tags(text, tiles_per_image);
  }
  append(result.tiles_per_image, tiles_per_image);
  add_tokens(std::move(text), result);
}

/// Cuts or pads to the length of a row. A cut must not part an image's mark from its tiles.
void ImageTextDataset::finish(Sample& sample) const {
  const auto length = static_cast<std::size_t>(options_.vlm.text_length);
  const auto cut =
      sample.tokens.begin() + static_cast<Index>(std::min(length, sample.tokens.size()));
  if (std::count(cut, sample.tokens.end(), config::kImageToken) > 0) {
    throw_data("the text has {} tokens, and the {} of --dataloader-seq-length end before an image",
               sample.tokens.size(), length);
  }
  sample.tokens.resize(length, options_.pad);
  sample.labels.resize(length, options_.pad);
  sample.loss_mask.resize(length, 0.f);
  if (rows_) {
    sample.segments.resize(length, -1);
  }
}

/// Without tiling the images need not be decoded: each is one tile.
Index ImageTextDataset::positions_of(Index sample) const {
  Sample read;
  if (options_.vlm.tiling.most_tiles > 1) {
    add_text(sample, read);
  } else {
    add_tokens(options_.encode(conversations_->conversation(sample)), read);
    read.tiles_per_image.assign(static_cast<std::size_t>(conversations_->images(sample)), 1);
  }
  const Index tiles =
      std::accumulate(read.tiles_per_image.begin(), read.tiles_per_image.end(), Index{0});
  const auto images = static_cast<Index>(read.tiles_per_image.size());
  return static_cast<Index>(read.tokens.size()) - images + tiles * options_.vlm.positions();
}

/// A text that cannot be read leaves its place in the row empty: rows were packed for the others.
ImageTextDataset::Sample ImageTextDataset::read_packed(Index row) const {
  Sample result;
  std::int64_t segment = 0;
  for (const Index text : rows_->row(row)) {
    Sample part;
    if (!bad_.is_good(text, [&] { add_text(text, part); })) {
      continue;
    }
    append(result.tokens, part.tokens);
    append(result.labels, part.labels);
    append(result.loss_mask, part.loss_mask);
    append(result.tiles, part.tiles);
    append(result.tiles_per_image, part.tiles_per_image);
    result.segments.resize(result.tokens.size(), segment++);
  }
  return result;
}

void ImageTextDataset::read(Index sample, std::span<std::int64_t> tokens) const {
  Sample result;
  read_sample(sample, result);
  std::copy_n(result.tokens.begin(), std::min(tokens.size(), result.tokens.size()), tokens.begin());
}

void ImageTextDataset::read_sample(Index sample, Sample& result) const {
  if (rows_) {
    result = read_packed(sample);
    finish(result);
    return;
  }
  result = bad_.first_good(sample, size(), [this](Index which) {
    Sample read;
    add_text(which, read);
    try {
      finish(read);
    } catch (const Error& error) {
      throw_data("{}: {}", conversations_->name(which), error.what());
    }
    return read;
  });
}

}  // namespace mpitron::data
