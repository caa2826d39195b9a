#include "tokenizers/chat/chat_template.h"

// Variables of a chat template: the conversation's lists, special tokens by their names in
// tokenizer_config.json, and what a caller adds. The template itself runs in src/tokenizers/jinja.

namespace mpitron::tokenizers {

ChatTemplate::ChatTemplate(std::string_view source, SpecialTokens tokens)
    : source_(source), tokens_(std::move(tokens)), template_(source) {}

ChatTemplate::SpecialTokens ChatTemplate::tokens_of(const HuggingFaceTokenizer& tokenizer) {
  const Tokenizer::SpecialIds ids = tokenizer.special_ids();
  SpecialTokens tokens;
  const auto add = [&](const char* name, std::optional<TokenId> id) {
    if (id) {
      tokens.emplace_back(name, tokenizer.token(*id));
    }
  };
  add("bos_token", ids.bos);
  add("eos_token", ids.eos);
  add("pad_token", ids.pad);
  add("cls_token", ids.cls);
  add("sep_token", ids.sep);
  add("mask_token", ids.mask);
  return tokens;
}

std::optional<ChatTemplate> ChatTemplate::of(const HuggingFaceTokenizer& tokenizer) {
  if (tokenizer.chat_template().empty()) {
    return std::nullopt;
  }
  return ChatTemplate(tokenizer.chat_template(), tokens_of(tokenizer));
}

jinja::Template::Text ChatTemplate::render(const Conversation& conversation) const {
  jinja::Dict variables;
  for (const auto& [name, text] : tokens_) {
    variables.set(name, text);
  }
  variables.set("messages", conversation.messages);
  variables.set("tools", conversation.tools);
  variables.set("documents", conversation.documents);
  variables.set("add_generation_prompt", conversation.add_generation_prompt);
  for (const auto& [name, value] : conversation.more) {
    variables.set(name, value);
  }
  return template_.render(jinja::Value::of(std::move(variables)));
}

std::string ChatTemplate::render(std::span<const ChatMessage> messages,
                                 bool add_generation_prompt) const {
  jinja::List list;
  for (const ChatMessage& message : messages) {
    jinja::Dict entry;
    entry.set("role", message.role);
    entry.set("content", message.content);
    list.push_back(jinja::Value::of(std::move(entry)));
  }
  return render({.messages = jinja::Value::of(std::move(list)),
                 .tools = {},
                 .documents = {},
                 .add_generation_prompt = add_generation_prompt})
      .text;
}

}  // namespace mpitron::tokenizers
