#pragma once
#include <span>

#include "tokenizers/chat/chat_format.h"
#include "tokenizers/hugging_face/huggingface_tokenizer.h"
#include "tokenizers/jinja/template.h"

namespace mpitron::tokenizers {

/// A tokenizer's chat template: conversations to texts as Hugging Face's apply_chat_template writes
/// them. Its text is encoded without what a tokenizer adds to texts (Tokenizer::encode_part): the
/// template writes the special tokens. Const methods may run on any number of threads at once.
class ChatTemplate {
 public:
  /// Texts of special tokens by the names that templates know: bos_token, eos_token, ...
  using SpecialTokens = std::vector<std::pair<std::string, std::string>>;

  /// Error(data) with line and construct for what a template must not be.
  ChatTemplate(std::string_view source, SpecialTokens tokens);
  /// The template that a tokenizer brings along; nothing where it has none.
  static std::optional<ChatTemplate> of(const HuggingFaceTokenizer& tokenizer);
  /// Returns the texts of the special tokens that the tokenizer has; absent ones have no entry.
  static SpecialTokens tokens_of(const HuggingFaceTokenizer& tokenizer);

  /// Variables of one rendering; `more` may replace any of the others.
  struct Conversation {
    jinja::Value messages;   // a list of dictionaries
    jinja::Value tools;      // none, or a list
    jinja::Value documents;  // none, or a list
    bool add_generation_prompt = false;
    std::vector<std::pair<std::string, jinja::Value>> more = {};  // further variables
  };
  /// Returns the text, with marks of what the template calls generation. Error(data): what the
  /// template's raise_exception says, or what failed in which line.
  jinja::Template::Text render(const Conversation& conversation) const;
  std::string render(std::span<const ChatMessage> messages, bool add_generation_prompt) const;

  const std::string& source() const { return source_; }
  const SpecialTokens& tokens() const { return tokens_; }

 private:
  std::string source_;
  SpecialTokens tokens_;
  jinja::Template template_;
};

}  // namespace mpitron::tokenizers
