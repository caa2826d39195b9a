#include "data/gpt/conversation_file.h"

#include <algorithm>
#include <optional>

#include <nlohmann/json.hpp>

#include "utils/check.h"
#include "utils/error.h"

namespace mpitron::data {
namespace {

using Json = nlohmann::json;

constexpr const char* kExpected =
    R"(expected on one line {"messages": [{"role": "...", "content": "..."}, ...]}, )"
    R"({"conversations": [{"from": "...", "value": "..."}, ...]}, )"
    R"({"prompt": "...", "completion": "..."} or )"
    R"({"instruction": "...", "input": "...", "output": "..."})";

/// The keys of a form of messages, with what its roles are called here.
struct MessageForm {
  const char* list;
  const char* role;
  const char* content;
};
constexpr MessageForm kMessageForms[] = {{"messages", "role", "content"},
                                         {"conversations", "from", "value"}};

std::string role_of(const std::string& name) {
  return name == "human" ? "user" : name == "gpt" ? "assistant" : name;
}

bool has_text(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_string();
}

std::string text_of(const Json& object, const char* key) {
  return object[key].get<std::string>();
}

/// Empty, or what is wrong. Here and below.
std::string read_messages(const Json& json, const MessageForm& form, Conversation& conversation) {
  if (!json[form.list].is_array()) {
    return fmt::format("\"{}\" is no list", form.list);
  }
  const bool renames = std::string_view(form.role) == "from";
  for (const Json& message : json[form.list]) {
    if (!has_text(message, form.role) || !has_text(message, form.content)) {
      return fmt::format("a message without the texts \"{}\" and \"{}\"", form.role, form.content);
    }
    const std::string role = text_of(message, form.role);
    conversation.push_back({renames ? role_of(role) : role, text_of(message, form.content)});
  }
  return conversation.empty() ? "a conversation without messages" : "";
}

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

std::string parse(std::string_view line, Conversation& conversation) {
  const Json json = Json::parse(line, nullptr, false);
  if (json.is_discarded()) {
    return "no valid JSON";
  }
  if (!json.is_object()) {
    return "no object";
  }
  for (const MessageForm& form : kMessageForms) {
    if (json.contains(form.list)) {
      return read_messages(json, form, conversation);
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

}  // namespace

ConversationFile::ConversationFile(const std::string& path) : path_(path), file_(path) {
  const std::string_view text = file_.text();
  Index number = 1;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (line.find_first_not_of(" \t\r") != line.npos) {
      lines_.push_back({static_cast<Index>(begin), static_cast<Index>(line.size()), number});
    }
    begin = end + 1;
  }
  if (lines_.empty()) {
    throw_data("{}: no conversation in the file; {}", path, kExpected);
  }
}

Conversation ConversationFile::read(Index conversation) const {
  MPITRON_CHECK(conversation >= 0 && conversation < size(), conversation, size());
  const Line& line = lines_[static_cast<std::size_t>(conversation)];
  Conversation messages;
  const std::string problem = parse(file_.text().substr(static_cast<std::size_t>(line.begin),
                                                        static_cast<std::size_t>(line.bytes)),
                                    messages);
  if (!problem.empty()) {
    throw_data("{}: line {} (byte {}): {}; {}", path_, line.number, line.begin, problem, kExpected);
  }
  return messages;
}

EncodedConversation ConversationFile::read_encoded(Index conversation,
                                                   const EncodeConversation& encode) const {
  const Conversation messages = read(conversation);
  try {
    return encode(messages);
  } catch (const Error& error) {
    throw Error(error.code(),
                fmt::format("{}: line {}: {}", path_,
                            lines_[static_cast<std::size_t>(conversation)].number, error.what()));
  }
}

void choose_targets(EncodedConversation& conversation, LearnedTurns turns) {
  std::vector<std::int64_t>& targets = conversation.targets;
  if (turns == LearnedTurns::everything) {
    targets = conversation.tokens;
  }
  if (turns == LearnedTurns::last_answer) {
    const auto learned = [](std::int64_t target) {
      return target != EncodedConversation::kNotLearned;
    };
    const auto end = std::find_if(targets.rbegin(), targets.rend(), learned);
    const auto begin = std::find_if_not(end, targets.rend(), learned);
    std::fill(begin, targets.rend(), EncodedConversation::kNotLearned);
  }
}

}  // namespace mpitron::data
