#include "tokenizers/chat/chat_format.h"

#include <utility>

#include "tokenizers/text/unicode_text.h"
#include "utils/error.h"

// Conversations as text in fixed formats, which need no template: Megatron's SFT formats and those
// of four model families. Each writes a turn as prompt and answer, so that the loss can be masked.

namespace mpitron::tokenizers {
namespace {

/// Strips what Python's str.strip() strips of ASCII.
std::string strip_spaces(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n\r\v\f\x1c\x1d\x1e\x1f";
  const std::size_t first = text.find_first_not_of(kSpaces);
  return first == std::string_view::npos
             ? ""
             : std::string(text.substr(first, text.find_last_not_of(kSpaces) + 1 - first));
}

/// Removes switches of reasoning from a message, as Megatron's template of nemotron-nano-v2 does.
std::string without_think(std::string text) {
  replace_all(text, "/think", "");
  replace_all(text, "/no_think", "");
  return strip_spaces(text);
}

/// The user's turn ends with the assistant's header, so that an answer has no text in front of it.
ChatTurn nemotron_h(const ChatMessage& message) {
  const std::string content = strip_spaces(message.content);
  if (message.role == "system") {
    return {"<SPECIAL_10>System\n" + content + "\n", ""};
  }
  if (message.role == "user") {
    return {"<SPECIAL_11>User\n" + content + "\n<SPECIAL_11>Assistant\n", ""};
  }
  return {"", content + "\n"};
}

ChatTurn nemotron_nano(const ChatMessage& message) {
  if (message.role == "assistant") {
    return {"<SPECIAL_11>Assistant\n", strip_spaces(message.content) + "\n<SPECIAL_12>\n"};
  }
  const bool system = message.role == "system";
  return {(system ? "<SPECIAL_10>System\n" : "<SPECIAL_11>User\n") +
              without_think(message.content) + "\n",
          ""};
}

/// Makes a turn of a header and of content with its end mark; only an assistant's content is
/// learned.
ChatTurn framed(const ChatMessage& message, const std::string& before, const std::string& text) {
  return message.role == "assistant" ? ChatTurn{before, text} : ChatTurn{before + text, ""};
}

void check_conversation(std::span<const ChatMessage> conversation) {
  for (std::size_t i = 0; i < conversation.size(); ++i) {
    const ChatMessage& message = conversation[i];
    if (message.role != "system" && message.role != "user" && message.role != "assistant") {
      throw_data(
          "message {} of a conversation has the role \"{}\"; system, user and assistant are "
          "allowed",
          i, message.role);
    }
    if (message.role == "assistant" &&
        (message.content.empty() || i == 0 || conversation[i - 1].role != "user")) {
      throw_data("message {} of a conversation is an assistant's that {}", i,
                 message.content.empty() ? "is empty" : "does not follow a user's");
    }
  }
}

}  // namespace

std::string_view ChatFormat::pad_token() const {
  return name_ == "nemotron-h-aligned" ? "<SPECIAL_233>"
         : name_ == "nemotron-nano-v2" ? "<unk>"
                                       : "";
}

/// Writes "[INST] ... [/INST]" for llama2 and mistral. llama2 begins every question anew, mistral
/// only the conversation.
ChatTurn ChatFormat::instruction(const ChatMessage& message, bool is_first) const {
  const bool llama = name_ == "llama2";
  if (message.role == "assistant") {
    return {"", llama ? " " + strip_spaces(message.content) + " " + ends_.eos
                      : message.content + ends_.eos};
  }
  const std::string content = llama ? strip_spaces(message.content) : message.content;
  return {(is_first || llama ? ends_.bos : "") + "[INST] " + content + " [/INST]", ""};
}

ChatTurn ChatFormat::turn(const ChatMessage& message, bool is_first) const {
  if (name_ == "nemotron-h-aligned") {
    return nemotron_h(message);
  }
  if (name_ == "nemotron-nano-v2") {
    return nemotron_nano(message);
  }
  if (name_ == "chatml") {
    return framed(message, "<|im_start|>" + message.role + "\n", message.content + "<|im_end|>\n");
  }
  if (name_ == "llama3") {
    return framed(message,
                  (is_first ? ends_.bos : "") + "<|start_header_id|>" + message.role +
                      "<|end_header_id|>\n\n",
                  strip_spaces(message.content) + "<|eot_id|>");
  }
  return instruction(message, is_first);
}

/// llama2 writes the system's text into the first question; mistral has no place for it.
std::vector<ChatTurn> ChatFormat::render(std::span<const ChatMessage> conversation) const {
  check_conversation(conversation);
  std::vector<ChatTurn> turns;
  std::string system;
  for (const ChatMessage& message : conversation) {
    const bool instructs = name_ == "llama2" || name_ == "mistral";
    if (instructs && message.role == "system") {
      if (name_ == "mistral" || !turns.empty()) {
        throw_data("the prompt format {} has no place for this system message", name_);
      }
      system = "<<SYS>>\n" + message.content + "\n<</SYS>>\n\n";
      continue;
    }
    turns.push_back(
        turn({message.role, std::exchange(system, {}) + message.content}, turns.empty()));
  }
  return turns;
}

}  // namespace mpitron::tokenizers
