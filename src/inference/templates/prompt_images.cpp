#include "inference/templates/prompt_images.h"

#include <algorithm>

#include "data/images/image_text_encoder.h"
#include "data/images/image_tiles.h"
#include "tokenizers/text/byte_alphabet.h"
#include "utils/error.h"
#include "utils/system/files.h"

// Images that a prompt brings: data URLs and files below a root. Links that lead outside of the
// root are refused after they are resolved.

namespace mpitron::inference {
namespace {

using data::kImageWord;

/// Decodes the bytes of data:image/png;base64,AAAA.
std::string bytes_of_data(std::string_view url) {
  constexpr std::string_view kMark = ";base64,";
  const std::size_t at = url.find(kMark);
  const auto bytes = at == std::string_view::npos
                         ? std::nullopt
                         : tokenizers::decode_base64(url.substr(at + kMark.size()));
  if (!bytes) {
    throw_usage("an image in a data URL is data:image/...;base64, and base64 with its padding");
  }
  return *bytes;
}

/// Returns a file below `root`, whatever links and dots the name has; Error(usage) for one outside.
std::filesystem::path file_below(const std::filesystem::path& root, std::string_view name) {
  if (root.empty()) {
    throw_usage("files are not read: the server was started without --allowed-local-media-path");
  }
  std::error_code missing;
  const std::filesystem::path whole = std::filesystem::canonical(root, missing);
  const std::filesystem::path file = std::filesystem::weakly_canonical(whole / name, missing);
  const auto [end, ignored] = std::mismatch(whole.begin(), whole.end(), file.begin(), file.end());
  if (missing || end != whole.end() || !std::filesystem::is_regular_file(file, missing)) {
    throw_usage("{}: no file below --allowed-local-media-path", name);
  }
  return file;
}

}  // namespace

PromptImage PromptImages::of_bytes(std::span<const std::byte> bytes,
                                   const std::string& name) const {
  const auto tiles = std::make_shared<std::vector<float>>();
  data::append_tiles(data::decode_image(bytes, name, policy_.most_pixels), vlm_, *tiles);
  return tiles;
}

PromptImage PromptImages::read(const std::string& url) const {
  constexpr std::string_view kFile = "file://";
  std::string_view name = url;
  if (name.starts_with("data:")) {
    const std::string bytes = bytes_of_data(name);
    return of_bytes(std::as_bytes(std::span(bytes)), "the image in the request");
  }
  name.remove_prefix(name.starts_with(kFile) ? kFile.size() : 0);
  if (name.find("://") != std::string_view::npos) {
    throw_usage("{:.80}: nothing is fetched from a network; send the image as a data URL", url);
  }
  const MappedFile file(file_below(policy_.root, name).string());
  return of_bytes(file.bytes(), std::string(name));
}

Index PromptImages::positions(const PromptImage& image) const {
  return static_cast<Index>(image->size()) / vlm_.pixels() * vlm_.positions();
}

TokenIds PromptImages::expanded(std::span<const TokenId> ids,
                                std::span<const PromptImage> images) const {
  if (vlm_.tiling.tags) {
    throw_usage("a model with a text in front of every tile (--use-tile-tags) takes no images yet");
  }
  const auto places = static_cast<std::size_t>(std::ranges::count(ids, config::kImageToken));
  if (places != images.size()) {
    throw_usage("{} images, and {} {} times in the text", images.size(), kImageWord, places);
  }
  TokenIds result;
  auto image = images.begin();
  for (const TokenId id : ids) {
    const Index count = id == config::kImageToken ? positions(*image++) : 1;
    result.insert(result.end(), static_cast<std::size_t>(count), id);
  }
  return result;
}

TokenIds PromptImages::encode(const tokenizers::Tokenizer& tokenizer, std::string_view text,
                              std::span<const PromptImage> images) const {
  TokenIds ids;
  const auto cache = tokenizer.make_cache();
  data::split_at_images(
      data::with_image_tags(std::string(text), vlm_.image_tags),
      [&](std::string_view words) { tokenizer.encode_part(words, *cache, ids); },
      [&] { ids.push_back(config::kImageToken); });
  return expanded(ids, images);
}

TokenIds PromptImages::encode_turns(const tokenizers::Tokenizer& tokenizer,
                                    const data::ImageConversation& turns,
                                    std::span<const PromptImage> images) const {
  const auto encode = data::make_image_text_encoder(tokenizer, vlm_.image_tags);
  const data::MarkedTokens tokens = encode(turns);
  return expanded(TokenIds(tokens.ids.begin(), tokens.ids.end()), images);
}

}  // namespace mpitron::inference
