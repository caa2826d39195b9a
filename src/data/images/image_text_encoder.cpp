#include "data/images/image_text_encoder.h"

#include <fmt/format.h>

// Tokens of conversations about images, without a chat template: as the reference's multimodal
// examples make them.

namespace mpitron::data {
namespace {

/// Appends text with images in it. Tokens that only whole texts get (a beginning of sequence) come
/// in front of the first one.
void add_text(const tokenizers::Tokenizer& tokenizer, std::string_view text, bool learned,
              MarkedTokens& tokens) {
  const auto add_words = [&](std::string_view words) {
    for (const tokenizers::TokenId id :
         tokens.ids.empty() ? tokenizer.encode(words) : tokenizer.encode_part(words)) {
      tokens.add(id, learned);
    }
  };
  split_at_images(text, add_words, [&] { tokens.add(config::kImageToken, false); });
}

}  // namespace

std::function<MarkedTokens(const ImageConversation&)> make_image_text_encoder(
    const tokenizers::Tokenizer& tokenizer, config::ImageTags image_tags) {
  return [&tokenizer, image_tags](const ImageConversation& conversation) {
    MarkedTokens tokens;
    for (const tokenizers::ChatMessage& turn : conversation) {
      const bool learned = turn.role == "assistant";
      add_text(tokenizer, with_image_tags(turn.content, image_tags), learned, tokens);
      tokens.add(tokenizer.eod(), learned);
    }
    return tokens;
  };
}

std::vector<std::vector<std::int64_t>> tile_tags(const tokenizers::Tokenizer& tokenizer,
                                                 const config::TilingConfig& tiling) {
  std::vector<std::vector<std::int64_t>> tags;
  const auto add = [&](const std::string& text) {
    const tokenizers::TokenIds ids = tokenizer.encode(text);
    tags.emplace_back(ids.begin(), ids.end());
  };
  for (Index tile = 1; tiling.tags && tile <= tiling.most_tiles; ++tile) {
    add(fmt::format("<tile_{}>", tile));
  }
  if (tiling.tags) {
    add("<tile_global_thumbnail>");
  }
  return tags;
}

}  // namespace mpitron::data
