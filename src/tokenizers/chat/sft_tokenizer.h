#pragma once
#include <span>

#include "tokenizers/chat/chat_template.h"
#include "tokenizers/hugging_face/huggingface_tokenizer.h"

namespace mpitron::tokenizers {

/// A Hugging Face tokenizer for conversations: their text by a prompt format, and which tokens the
/// loss sees. Source: Megatron's SFTTokenizer.
class SftTokenizer : public Tokenizer {
 public:
  static constexpr TokenId kIgnored = -100;

  struct Conversation {
    TokenIds ids;
    TokenIds targets;  // the ids of the assistant's words, kIgnored elsewhere
  };

  /// `prompt_format`: a name of ChatFormat, `default` for the chat template that the tokenizer
  /// brings along (Error(data) where it has none), or `identity` for messages as they are.
  SftTokenizer(const std::filesystem::path& path, const std::string& prompt_format);

  std::string_view name() const override { return "SFTTokenizer"; }
  TokenizerIdentity identity() const override;
  std::string fingerprint() const override;
  Index vocab_size() const override { return text_.vocab_size(); }
  TokenId eod() const override { return text_.eod(); }
  SpecialIds special_ids() const override;
  std::vector<std::filesystem::path> files() const override { return text_.files(); }
  std::unique_ptr<Cache> make_cache() const override { return text_.make_cache(); }
  using Tokenizer::encode;
  void encode(std::string_view text, Cache& cache, TokenIds& ids) const override {
    text_.encode(text, cache, ids);
  }
  using Tokenizer::encode_part;
  void encode_part(std::string_view text, Cache& cache, TokenIds& ids) const override {
    text_.encode_part(text, cache, ids);
  }
  std::string decode(std::span<const TokenId> ids) const override { return text_.decode(ids); }

  /// Error(data) for a conversation that the format does not know, and where the tokens of a turn
  /// depend on its neighbours.
  Conversation encode_conversation(std::span<const ChatMessage> messages, Cache& cache) const;

 private:
  static std::optional<ChatFormat> choose_format(const HuggingFaceTokenizer& text,
                                                 const std::string& name);
  std::vector<ChatTurn> render(std::span<const ChatMessage> messages) const;
  /// Turns by the template: an answer is what a rendering with it has more than the one up to it,
  /// with generation prompt. Error(data) naming the turn where one is no beginning of the other.
  std::vector<ChatTurn> render_template(std::span<const ChatMessage> messages) const;

  std::filesystem::path path_;
  std::string prompt_format_;
  HuggingFaceTokenizer text_;
  // Neither of the two set: texts stay as they are (identity).
  std::optional<ChatFormat> format_;
  std::optional<ChatTemplate> template_;  // one that is no known format
};

}  // namespace mpitron::tokenizers
