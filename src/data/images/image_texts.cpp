#include "data/images/image_texts.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "images/augment/views.h"
#include "images/codecs/decode.h"
#include "utils/error.h"

namespace mpitron::data {
namespace {

using nlohmann::json;

constexpr std::string_view kImageWord = "<image>";
constexpr images::Normalisation kClip{{0.48145466f, 0.4578275f, 0.40821073f},
                                      {0.26862954f, 0.26130258f, 0.27577711f}};
constexpr images::Normalisation kSiglip{{0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}};

Index count_of(std::string_view text, std::string_view word) {
  Index count = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + word.size())) {
    ++count;
  }
  return count;
}

/// Ids and whether each is learned.
struct Marked {
  std::vector<std::int64_t> ids;
  std::vector<float> learned;

  void add(std::int64_t id, bool is_learned) {
    ids.push_back(id);
    learned.push_back(is_learned ? 1.f : 0.f);
  }
};

}  // namespace

ImageTextDataset::ImageTextDataset(const std::string& path, const Options& options)
    : path_(path),
      description_(json({{"class", "ImageTexts"}, {"path", path}}).dump()),
      options_(options) {
  std::ifstream file(path);
  if (!file) {
    throw_data("{}: cannot be read", path);
  }
  Index number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") != std::string::npos) {
      samples_.push_back(parse(line, number));
    }
  }
  if (samples_.empty()) {
    throw_data("{}: no line", path);
  }
}

ImageTextDataset::Entry ImageTextDataset::parse(const std::string& line, Index number) const {
  Entry entry{.images = {}, .turns = {}, .line = number};
  Index places = 0;
  try {
    const json value = json::parse(line);
    if (const auto image = value.find("image"); image != value.end() && !image->is_null()) {
      entry.images = image->is_string() ? std::vector{image->get<std::string>()}
                                        : image->get<std::vector<std::string>>();
    }
    for (const json& turn : value.at("conversations")) {
      const bool learned = turn.at("from").get<std::string>() == "gpt";
      entry.turns.push_back({learned, turn.at("value").get<std::string>()});
      places += count_of(entry.turns.back().text, kImageWord);
    }
  } catch (const json::exception& error) {
    throw_data("{}, line {}: no text with images: {}", path_, number, error.what());
  }
  if (places != static_cast<Index>(entry.images.size())) {
    throw_data("{}, line {}: {} images, and <image> {} times in the text", path_, number,
               entry.images.size(), places);
  }
  return entry;
}

void ImageTextDataset::write_tokens(const Entry& entry, Sample& result) const {
  Marked marked;
  const auto add_text = [&](std::string_view text, bool learned) {
    for (const std::int64_t id : options_.encode(text)) {
      marked.add(id, learned);
    }
  };
  for (const Turn& turn : entry.turns) {
    std::string_view text = turn.text;
    for (std::size_t at = text.find(kImageWord); at != std::string_view::npos;
         at = text.find(kImageWord)) {
      add_text(text.substr(0, at), turn.learned);
      marked.add(kImageToken, false);
      text.remove_prefix(at + kImageWord.size());
    }
    add_text(text, turn.learned);
    marked.add(options_.eod, turn.learned);
  }
  const auto length = static_cast<std::size_t>(options_.vlm.text_length);
  const auto cut = marked.ids.begin() + static_cast<Index>(std::min(length, marked.ids.size()));
  if (std::count(cut, marked.ids.end(), kImageToken) > 0) {
    throw_data(
        "{}, line {}: the text has {} tokens, and the {} of --dataloader-seq-length end "
        "before an image",
        path_, entry.line, marked.ids.size(), length);
  }
  marked.ids.resize(length + 1, options_.eod);
  marked.learned.resize(length + 1, 0.f);
  result.tokens.assign(marked.ids.begin(), marked.ids.end() - 1);
  result.labels.assign(marked.ids.begin() + 1, marked.ids.end());
  result.loss_mask.assign(marked.learned.begin() + 1, marked.learned.end());
}

void ImageTextDataset::read(Index sample, std::span<std::int64_t> tokens) const {
  Sample result;
  write_tokens(samples_[static_cast<std::size_t>(sample)], result);
  std::copy_n(result.tokens.begin(), std::min(tokens.size(), result.tokens.size()), tokens.begin());
}

void ImageTextDataset::read_sample(Index sample, Sample& result) const {
  const Entry& entry = samples_[static_cast<std::size_t>(sample)];
  write_tokens(entry, result);
  const Index tile = options_.vlm.tile;
  const auto pixels = static_cast<std::size_t>(images::kChannels * tile * tile);
  const bool clip = options_.vlm.tower == config::TowerKind::clip;
  result.images = static_cast<Index>(entry.images.size());
  result.tiles.resize(entry.images.size() * pixels);
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  for (std::size_t i = 0; i < entry.images.size(); ++i) {
    const images::Image image = images::read_image((folder / entry.images[i]).string());
    images::write_planes(images::resize(image, {tile, tile}, images::Filter::bicubic),
                         clip ? kClip : kSiglip,
                         std::span(result.tiles).subspan(i * pixels, pixels));
  }
}

}  // namespace mpitron::data
