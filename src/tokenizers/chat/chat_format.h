#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mpitron::tokenizers {

/// A message of a conversation, as data sets and requests have it.
struct ChatMessage {
  std::string role;  // system, user or assistant
  std::string content;
};

/// One turn as text: what a model reads, and what it should learn to write (empty but for the
/// assistant's turns).
struct ChatTurn {
  std::string prompt;
  std::string answer;
};

/// How a conversation becomes text.
///   nemotron-h-aligned, nemotron-nano-v2   Megatron's SFT formats
///   chatml, llama2, llama3, mistral        the formats of these families
class ChatFormat {
 public:
  /// The texts of the tokens that begin and end a conversation (llama2, llama3, mistral).
  struct Ends {
    std::string bos;
    std::string eos;
  };

  /// Returns the format of --sft-tokenizer-prompt-format; Error(usage) for a name that is none.
  static ChatFormat named(std::string_view name, Ends ends);

  /// Returns the format that a Jinja chat template of tokenizer_config.json writes; nothing for a
  /// template that does more than one of the formats above (tools, dates, system prompts of its
  /// own).
  static std::optional<std::string_view> recognise(std::string_view chat_template);

  std::string_view name() const { return name_; }
  /// The token that fills up samples; empty: the tokenizer's own.
  std::string_view pad_token() const;

  /// Returns the turns in order. Error(data) for another role, an empty answer, or an answer that
  /// follows no user's turn.
  std::vector<ChatTurn> render(std::span<const ChatMessage> conversation) const;

 private:
  ChatFormat(std::string_view name, Ends ends) : name_(name), ends_(std::move(ends)) {}

  ChatTurn turn(const ChatMessage& message, bool is_first) const;
  ChatTurn instruction(const ChatMessage& message, bool is_first) const;

  std::string name_;
  Ends ends_;
};

}  // namespace mpitron::tokenizers
