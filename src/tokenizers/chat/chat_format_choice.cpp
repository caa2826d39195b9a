#include <algorithm>
#include <utility>

#include "tokenizers/chat/chat_format.h"
#include "utils/error.h"

// Which format of conversations is meant: by name, or by what a tokenizer's template says.

namespace mpitron::tokenizers {
namespace {

constexpr std::string_view kNames[] = {
    "nemotron-h-aligned", "nemotron-nano-v2", "chatml", "llama2", "llama3", "mistral"};

std::string joined_names() {
  std::string names;
  for (const std::string_view name : kNames) {
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return names;
}

}  // namespace

ChatFormat ChatFormat::named(std::string_view name, Ends ends) {
  if (std::find(std::begin(kNames), std::end(kNames), name) == std::end(kNames)) {
    throw_usage(
        "--sft-tokenizer-prompt-format {}: supported are {}, identity, or default for the "
        "tokenizer's own template",
        name, joined_names());
  }
  return {name, std::move(ends)};
}

std::optional<std::string_view> ChatFormat::recognise(std::string_view chat_template) {
  const auto has = [&](std::string_view part) {
    return chat_template.find(part) != std::string_view::npos;
  };
  // Words that no template of one of the plain formats has.
  for (const char* extra : {"tool", "strftime", "date", "You are", "macro", "think", "image"}) {
    if (has(extra)) {
      return std::nullopt;
    }
  }
  if (has("<|im_start|>") && has("<|im_end|>") && !has("trim") && !has("strip")) {
    return "chatml";
  }
  if (has("<|start_header_id|>") && has("<|eot_id|>") && has("trim")) {
    return "llama3";
  }
  if (has("<<SYS>>") && has("[INST]")) {
    return "llama2";
  }
  if (has("'[INST] '") && has("' [/INST]'")) {
    return "mistral";
  }
  if (has("<SPECIAL_10>System") && has("'<SPECIAL_11>Assistant\\n'")) {
    return "nemotron-h-aligned";
  }
  return std::nullopt;
}

}  // namespace mpitron::tokenizers
