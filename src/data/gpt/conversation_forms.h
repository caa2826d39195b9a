#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tokenizers/chat/chat_format.h"

namespace mpitron::data {

/// The messages of one conversation in their order.
using Conversation = std::vector<tokenizers::ChatMessage>;

/// Two conversations that differ in their last answer.
struct AnswerPair {
  Conversation chosen, rejected;
};

/// Returns OpenAI's word for a role of ShareGPT, and any other word as it is.
std::string openai_role(const std::string& word);

/// Reads a conversation of one line of JSON, in one of the forms that ConversationFile names.
/// Returns what is wrong with it, an empty text where nothing is.
std::string parse_conversation(std::string_view line, Conversation& conversation);

/// Reads a pair, of which each part is a text, a message or a list of messages:
///   {"prompt": ..., "chosen": ..., "rejected": ...}
///   {"chosen": ..., "rejected": ...}                     the prompt is in both
/// The prompt may be called "messages" or "conversations", too. Both end with an answer that is not
/// empty. Returns what is wrong with it, an empty text where nothing is.
std::string parse_pair(std::string_view line, AnswerPair& pair);

/// Forms that lines may have, for messages of errors.
inline constexpr const char* kConversationForms =
    R"(expected on one line {"messages": [{"role": "...", "content": "..."}, ...]}, )"
    R"({"conversations": [{"from": "...", "value": "..."}, ...]}, )"
    R"({"prompt": "...", "completion": "..."} or )"
    R"({"instruction": "...", "input": "...", "output": "..."})";
/// Forms that lines of pairs may have.
inline constexpr const char* kPairForms =
    R"(expected on one line {"prompt": "...", "chosen": "...", "rejected": "..."}, whose parts may )"
    R"(also be lists of {"role": "...", "content": "..."})";

}  // namespace mpitron::data
