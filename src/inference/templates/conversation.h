#pragma once
#include <memory>

#include "tokenizers/chat/chat_template.h"

namespace mpitron::inference {

/// Keeps a conversation turn by turn and makes what a model reads of it. Without a template it is
/// one running text that both sides go on with.
class Conversation {
 public:
  /// `chat`: null for none; `system`: what the model is told first, empty for nothing.
  Conversation(const tokenizers::Tokenizer& tokenizer,
               std::shared_ptr<const tokenizers::ChatTemplate> chat, std::string system);

  bool has_template() const { return chat_ != nullptr; }
  /// Returns the prompt from which the model goes on once the user has said this; nothing is
  /// remembered yet. Error(data) tells what the template raises.
  tokenizers::TokenIds prompt(const std::string& text) const;
  /// Remembers a question and its answer.
  void add(const std::string& text, const std::string& answer);
  /// Forgets everything but the system's text, or begins with another one.
  void reset() { turns_.clear(); }
  void reset(std::string system);

 private:
  struct Turn {
    std::string text, answer;
  };
  std::string running_text(const std::string& text) const;
  std::string messages(const std::string& text) const;

  const tokenizers::Tokenizer& tokenizer_;
  std::shared_ptr<const tokenizers::ChatTemplate> chat_;
  std::string system_;
  std::vector<Turn> turns_;
};

}  // namespace mpitron::inference
