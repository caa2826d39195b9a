#include "inference/templates/chat_prompt.h"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "data/images/image_conversations.h"
#include "utils/error.h"

// From the messages of a request to the prompt. Contents may be texts or lists of parts, of which
// an image becomes a text that stands for it.

namespace mpitron::inference {
namespace {

using Json = nlohmann::ordered_json;
namespace jinja = tokenizers::jinja;

constexpr std::array kRoles = {"system", "user", "assistant", "tool"};
constexpr std::size_t kLongestArguments = 16384;  // of a call that is read
constexpr const char* kBlanks = " \t\n\r\f\v";

/// Finds the address of {"type": "image_url", "image_url": {"url": ".."}}; null for another part.
Json image_of(const Json& part) {
  const Json none;
  const bool shown = part.is_object() && part.value("type", Json()) == "image_url";
  const Json& address = shown && part.contains("image_url") ? part.at("image_url") : none;
  const Json& url = address.is_object() && address.contains("url") ? address.at("url") : address;
  return url.is_string() ? url : none;
}

/// Reads a content: a string, null, or parts of type text and image_url, which are joined.
Json content_of(const Json& content, const std::string& image_text) {
  if (content.is_null() || content.is_string()) {
    return content;
  }
  std::string text;
  for (const Json& part : content) {
    if (!image_text.empty() && image_of(part).is_string()) {
      text += image_text;
      continue;
    }
    if (!content.is_array() || !part.is_object() || part.value("type", "") != "text" ||
        !part.contains("text") || !part.at("text").is_string()) {
      throw_data("content must be a string, or a list of parts of type text");
    }
    text += part.at("text").get<std::string>();
  }
  return text;
}

/// Parses arguments of calls, because templates write them as JSON and need the object, not its
/// text.
void read_arguments(Json& message) {
  const auto calls = message.find("tool_calls");
  if (calls == message.end() || !calls->is_array()) {
    return;
  }
  for (Json& call : *calls) {
    const Json::json_pointer place("/function/arguments");
    if (!call.is_object() || !call.contains(place) || !call.at(place).is_string()) {
      continue;
    }
    const auto text = call.at(place).get<std::string>();
    Json read = Json::parse(text.substr(0, kLongestArguments + 1), nullptr, false);
    if (read.is_object() && text.size() <= kLongestArguments) {
      jinja::value_of_json(text);  // refuses what is nested too deep to be written again
      call.at(place) = std::move(read);
    }
  }
}

Json message_of(Json message, const std::string& image_text) {
  const auto role = message.is_object() ? message.find("role") : message.end();
  if (!message.is_object() || role == message.end() || !role->is_string()) {
    throw_data("every message is an object with a role");
  }
  if (*role == "developer") {
    *role = "system";
  }
  if (std::ranges::find(kRoles, role->get<std::string>()) == kRoles.end()) {
    throw_data(
        "the role {} is not available; there are system, developer, user, assistant and "
        "tool",
        role->get<std::string>());
  }
  message["content"] = content_of(message.value("content", Json()), image_text);
  read_arguments(message);
  return message;
}

Json conversation_of(const std::string& messages, const std::string& image_text) {
  Json list = Json::parse(messages, nullptr, false);
  if (!list.is_array() || list.empty()) {
    throw_data("messages must be a list of at least one message");
  }
  for (Json& message : list) {
    message = message_of(std::move(message), image_text);
  }
  return list;
}

/// Cuts a text behind its last content, with its blanks at the end if the template kept them, as
/// Hugging Face does.
std::string up_to_content(std::string text, const Json& content) {
  std::string last = content.is_string() ? content.get<std::string>() : "";
  last.erase(0, std::min(last.find_first_not_of(kBlanks), last.size()));
  const std::string stripped = last.substr(0, last.find_last_not_of(kBlanks) + 1);
  const std::size_t at = text.rfind(stripped);
  if (stripped.empty() || at == std::string::npos) {
    throw_data("continue_final_message: the template does not write the last message's content");
  }
  text.resize(at + (text.compare(at, last.size(), last) == 0 ? last.size() : stripped.size()));
  return text;
}

}  // namespace

/// Looks for images; most chats have none, and are not parsed for them.
std::vector<std::string> chat_images(const std::string& messages) {
  if (messages.find("image_url") == std::string::npos) {
    return {};
  }
  std::vector<std::string> images;
  const Json list = Json::parse(messages, nullptr, false);
  for (const Json& message : list.is_array() ? list : Json::array()) {
    const Json none;
    const Json& content =
        message.is_object() && message.contains("content") ? message.at("content") : none;
    for (const Json& part : content.is_array() ? content : Json::array()) {
      if (const Json url = image_of(part); url.is_string()) {
        images.push_back(url.get<std::string>());
      }
    }
  }
  return images;
}

std::vector<tokenizers::ChatMessage> chat_turns(const std::string& messages) {
  std::vector<tokenizers::ChatMessage> turns;
  for (const Json& message : conversation_of(messages, std::string(data::kImageWord))) {
    const Json& content = message.at("content");
    turns.push_back({message.at("role").get<std::string>(),
                     content.is_string() ? content.get<std::string>() : ""});
  }
  return turns;
}

std::string chat_prompt(const tokenizers::ChatTemplate& chat, const ChatRequest& request) {
  if (request.add_generation_prompt && request.continue_final_message) {
    throw_data("continue_final_message needs add_generation_prompt to be false");
  }
  const Json messages = conversation_of(request.messages, request.image_text);
  tokenizers::ChatTemplate::Conversation conversation{
      .messages = jinja::value_of_json(messages.dump()),
      .tools = jinja::value_of_json(request.tools),
      .documents = jinja::value_of_json(request.documents),
      .add_generation_prompt = request.add_generation_prompt};
  const Json variables = Json::parse(request.variables, nullptr, false);
  if (variables.is_object()) {
    for (const auto& [name, value] : variables.items()) {
      conversation.more.emplace_back(name, jinja::value_of_json(value.dump()));
    }
  }
  std::string text = chat.render(conversation).text;
  return request.continue_final_message
             ? up_to_content(std::move(text), messages.back().at("content"))
             : text;
}

}  // namespace mpitron::inference
