#pragma once

#include "tokenizers/chat/chat_format.h"

// A short conversation, and what a format makes of it.

namespace mpitron::tokenizers {

inline const std::vector<ChatMessage> kTalk{
    {"system", " Be kind. "}, {"user", " Hi "}, {"assistant", " Hello! "}, {"user", "Bye"}};

inline std::string text_of(std::string_view name, std::span<const ChatMessage> talk) {
  std::string text;
  for (const ChatTurn& turn : ChatFormat::named(name, {"<s>", "</s>"}).render(talk)) {
    text += turn.prompt + turn.answer;
  }
  return text;
}

}  // namespace mpitron::tokenizers
