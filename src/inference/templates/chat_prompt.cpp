#include "inference/templates/chat_prompt.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tokenizers/chat/chat_format.h"
#include "utils/error.h"

namespace mpitron::inference {
namespace {

using tokenizers::ChatMessage;

/// A string, null, or parts of type text, which are joined.
std::string content_of(const nlohmann::json& message) {
  const auto content = message.find("content");
  if (content == message.end() || content->is_null()) {
    return {};
  }
  if (content->is_string()) {
    return content->get<std::string>();
  }
  std::string text;
  for (const auto& part : *content) {
    if (!content->is_array() || !part.is_object() || part.value("type", "") != "text" ||
        !part.contains("text") || !part.at("text").is_string()) {
      throw_data("content must be a string, or a list of parts of type text");
    }
    text += part.at("text").get<std::string>();
  }
  return text;
}

std::vector<ChatMessage> conversation_of(std::string_view messages) {
  const auto list = nlohmann::json::parse(messages, nullptr, false);
  std::vector<ChatMessage> conversation;
  for (const auto& message : list) {
    const auto role = message.is_object() ? message.find("role") : message.end();
    if (!message.is_object() || role == message.end() || !role->is_string()) {
      throw_data("every message is an object with a role");
    }
    std::string name = role->get<std::string>();
    if (name == "developer") {
      name = "system";
    }
    if (name != "system" && name != "user" && name != "assistant") {
      throw_data("the role {} is not available; there are system, developer, user and assistant",
                 name);
    }
    conversation.push_back({name, content_of(message)});
  }
  return conversation;
}

}  // namespace

ChatPrompt chat_prompt(std::string_view chat_template, const std::string& bos,
                       const std::string& eos) {
  const auto name = tokenizers::ChatFormat::recognise(chat_template);
  if (!name) {
    return {};
  }
  const auto format = tokenizers::ChatFormat::named(*name, {bos, eos});
  return [format](std::string_view messages) {
    std::vector<ChatMessage> conversation = conversation_of(messages);
    if (conversation.empty() || conversation.back().role == "assistant") {
      throw_data("the last message must be the user's");
    }
    conversation.push_back({"assistant", "."});  // formats know whole conversations only
    const auto turns = format.render(conversation);
    std::string text;
    for (std::size_t i = 0; i + 1 < turns.size(); ++i) {
      text += turns[i].prompt + turns[i].answer;
    }
    return text + turns.back().prompt;
  };
}

}  // namespace mpitron::inference
