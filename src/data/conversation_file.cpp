#include "data/conversation_file.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "utils/check.h"
#include "utils/error.h"

namespace mpitron::data {
namespace {

constexpr const char* kExpected =
    R"(expected {"messages": [{"role": "...", "content": "..."}, ...]} on one line)";

/// Empty, or what is wrong.
std::string parse(std::string_view line, Conversation& conversation) {
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
  if (json.is_discarded()) {
    return "no valid JSON";
  }
  if (!json.is_object() || !json.contains("messages") || !json["messages"].is_array()) {
    return "no list \"messages\"";
  }
  for (const auto& message : json["messages"]) {
    const auto text = [&](const char* key) {
      return message.is_object() && message.contains(key) && message[key].is_string();
    };
    if (!text("role") || !text("content")) {
      return "a message without the texts \"role\" and \"content\"";
    }
    conversation.push_back(
        {message["role"].get<std::string>(), message["content"].get<std::string>()});
  }
  return conversation.empty() ? "a conversation without messages" : "";
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

}  // namespace mpitron::data
