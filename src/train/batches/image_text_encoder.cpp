#include "train/batches/image_text_encoder.h"

namespace mpitron::train {
namespace {

/// Text with images in it.
void add_text(const tokenizers::Tokenizer& tokenizer, std::string_view text, bool learned,
              data::MarkedTokens& tokens) {
  const auto add_words = [&](std::string_view words) {
    for (const tokenizers::TokenId id : tokenizer.encode(words)) {
      tokens.add(id, learned);
    }
  };
  for (std::size_t at = text.find(data::kImageWord); at != std::string_view::npos;
       at = text.find(data::kImageWord)) {
    add_words(text.substr(0, at));
    tokens.add(data::ImageTextDataset::kImageToken, false);
    text.remove_prefix(at + data::kImageWord.size());
  }
  add_words(text);
}

}  // namespace

std::function<data::MarkedTokens(const data::ImageConversation&)> make_image_text_encoder(
    const tokenizers::Tokenizer& tokenizer) {
  return [&tokenizer](const data::ImageConversation& conversation) {
    data::MarkedTokens tokens;
    for (const tokenizers::ChatMessage& turn : conversation) {
      const bool learned = turn.role == "assistant";
      add_text(tokenizer, turn.content, learned, tokens);
      tokens.add(tokenizer.eod(), learned);
    }
    return tokens;
  };
}

}  // namespace mpitron::train
