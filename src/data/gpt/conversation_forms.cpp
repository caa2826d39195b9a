#include "data/gpt/conversation_forms.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

// Forms of conversations in JSON lines: OpenAI's messages, ShareGPT, prompts with completions,
// Alpaca, and pairs for preferences. Functions return an empty text, or a problem as a sentence
// that the caller completes with the line.

namespace mpitron::data {
namespace {

using Json = nlohmann::json;

/// The keys of a form of messages, with what its roles are called here.
struct MessageForm {
  const char* list;
  const char* role;
  const char* content;
};
constexpr MessageForm kMessageForms[] = {{"messages", "role", "content"},
                                         {"conversations", "from", "value"}};

bool has_text(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_string();
}

std::string text_of(const Json& object, const char* key) {
  return object[key].get<std::string>();
}

/// Appends a list of messages. ShareGPT's roles are renamed; others stay as the template knows
/// them.
std::string read_messages(const Json& list, const MessageForm& form, Conversation& conversation) {
  if (!list.is_array()) {
    return fmt::format("\"{}\" is no list", form.list);
  }
  const bool renames = std::string_view(form.role) == "from";
  for (const Json& message : list) {
    if (!has_text(message, form.role) || !has_text(message, form.content)) {
      return fmt::format("a message without the texts \"{}\" and \"{}\"", form.role, form.content);
    }
    const std::string role = text_of(message, form.role);
    conversation.push_back({renames ? openai_role(role) : role, text_of(message, form.content)});
  }
  return conversation.empty() ? "a conversation without messages" : "";
}

/// Reads a question and an answer; Alpaca's input goes below its instruction.
std::string read_pair(const Json& json, const char* question, const char* answer,
                      Conversation& conversation) {
  if (!has_text(json, question) || !has_text(json, answer)) {
    return fmt::format("\"{}\" and \"{}\" are not both texts", question, answer);
  }
  std::string text = text_of(json, question);
  if (json.contains("input") && std::string_view(question) == "instruction") {
    if (!has_text(json, "input")) {
      return "\"input\" is no text";
    }
    const std::string input = text_of(json, "input");
    text += input.empty() ? "" : "\n\n" + input;
  }
  conversation = {{"user", text}, {"assistant", text_of(json, answer)}};
  return text_of(json, answer).empty() ? fmt::format("the answer \"{}\" is empty", answer) : "";
}

/// Parses an object of JSON, or returns why it is none.
std::string read_object(std::string_view line, Json& json) {
  json = Json::parse(line, nullptr, false);
  return json.is_discarded() ? "no valid JSON" : json.is_object() ? "" : "no object";
}

/// Appends a text by `role`, a message, or a list of messages.
std::string read_part(const Json& json, const char* key, const char* role,
                      Conversation& conversation) {
  const Json& part = json[key];
  if (part.is_string()) {
    conversation.push_back({role, part.get<std::string>()});
    return "";
  }
  const Json list = part.is_object() ? Json::array({part}) : part;
  const bool renames = list.is_array() && !list.empty() && list[0].contains("from");
  const MessageForm form =
      renames ? MessageForm{key, "from", "value"} : MessageForm{key, "role", "content"};
  return read_messages(list, form, conversation);
}

/// Appends the answer of this key, and checks that the whole conversation ends with it.
std::string read_answer(const Json& json, const char* key, Conversation& conversation) {
  if (!json.contains(key)) {
    return fmt::format("\"{}\" is missing", key);
  }
  const std::string problem = read_part(json, key, "assistant", conversation);
  if (!problem.empty()) {
    return fmt::format("\"{}\": {}", key, problem);
  }
  return conversation.back().role != "assistant" ? fmt::format("\"{}\" ends with no answer", key)
         : conversation.back().content.empty()   ? fmt::format("the answer \"{}\" is empty", key)
                                                 : "";
}

}  // namespace

std::string openai_role(const std::string& word) {
  return word == "human" ? "user" : word == "gpt" ? "assistant" : word;
}

std::string parse_conversation(std::string_view line, Conversation& conversation) {
  Json json;
  if (const std::string problem = read_object(line, json); !problem.empty()) {
    return problem;
  }
  for (const MessageForm& form : kMessageForms) {
    if (json.contains(form.list)) {
      return read_messages(json[form.list], form, conversation);
    }
  }
  if (json.contains("prompt") || json.contains("completion")) {
    return read_pair(json, "prompt", "completion", conversation);
  }
  if (json.contains("instruction") || json.contains("output")) {
    return read_pair(json, "instruction", "output", conversation);
  }
  return "none of the known columns";
}

std::string parse_pair(std::string_view line, AnswerPair& pair) {
  Json json;
  if (const std::string problem = read_object(line, json); !problem.empty()) {
    return problem;
  }
  for (const char* key : {"prompt", "messages", "conversations"}) {
    if (json.contains(key)) {
      const std::string problem = read_part(json, key, "user", pair.chosen);
      if (!problem.empty()) {
        return fmt::format("\"{}\": {}", key, problem);
      }
      break;
    }
  }
  pair.rejected = pair.chosen;
  const std::string problem = read_answer(json, "chosen", pair.chosen);
  return problem.empty() ? read_answer(json, "rejected", pair.rejected) : problem;
}

}  // namespace mpitron::data
