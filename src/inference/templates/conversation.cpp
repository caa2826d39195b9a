#include "inference/templates/conversation.h"

#include <nlohmann/json.hpp>

#include "inference/templates/chat_prompt.h"

// The memory of `mpitron chat`: turns by a template, or one running text without one.

namespace mpitron::inference {
namespace {

using Json = nlohmann::ordered_json;

Json message(const char* role, const std::string& content) {
  return {{"role", role}, {"content", content}};
}

}  // namespace

Conversation::Conversation(const tokenizers::Tokenizer& tokenizer,
                           std::shared_ptr<const tokenizers::ChatTemplate> chat, std::string system)
    : tokenizer_(tokenizer), chat_(std::move(chat)), system_(std::move(system)) {}

tokenizers::TokenIds Conversation::prompt(const std::string& text) const {
  tokenizers::TokenIds ids =
      chat_ ? tokenizer_.encode_part(chat_prompt(*chat_, {.messages = messages(text)}))
            : tokenizer_.encode(running_text(text));
  if (ids.empty()) {
    ids.push_back(tokenizer_.special_ids().bos.value_or(tokenizer_.eod()));
  }
  return ids;
}

void Conversation::add(const std::string& text, const std::string& answer) {
  turns_.push_back({text, answer});
}

void Conversation::reset(std::string system) {
  system_ = std::move(system);
  reset();
}

std::string Conversation::running_text(const std::string& text) const {
  std::string all = system_.empty() ? "" : system_ + "\n";
  for (const Turn& turn : turns_) {
    all += turn.text + turn.answer + "\n";
  }
  return all + text;
}

std::string Conversation::messages(const std::string& text) const {
  Json list = Json::array();
  if (!system_.empty()) {
    list.push_back(message("system", system_));
  }
  for (const Turn& turn : turns_) {
    list.push_back(message("user", turn.text));
    list.push_back(message("assistant", turn.answer));
  }
  list.push_back(message("user", text));
  return list.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace mpitron::inference
