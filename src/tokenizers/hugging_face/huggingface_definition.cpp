#include <algorithm>

#include "tokenizers/hugging_face/huggingface_tokenizer.h"
#include "utils/error.h"
#include "utils/system/files.h"
#include "utils/text/hash.h"

// Reads what a Hugging Face tokenizer is: tokenizer.json, tokenizer_config.json and a template.

namespace mpitron::tokenizers {
namespace {

/// Returns the text of a special token: a string, or an object with the string in it.
std::string token_text(const JsonView& value) {
  return value.is_null() ? "" : value.is_object() ? value.at("content").text() : value.text();
}

}  // namespace

/// tokenizer_config.json is read after special_tokens_map.json and wins where both name a token.
HuggingFaceTokenizer::HuggingFaceTokenizer(const std::filesystem::path& path) : path_(path) {
  const bool is_folder = std::filesystem::is_directory(path);
  const std::filesystem::path file = is_folder ? path / "tokenizer.json" : path;
  if (!std::filesystem::is_regular_file(file)) {
    throw_data(
        "--tokenizer-model {}: no such file; a tokenizer.json, or a folder with one, is expected "
        "(names of models on a hub are not looked up: download the folder first)",
        file.string());
  }
  std::string content;
  const auto read = [&](const std::filesystem::path& name, auto&& handle) {
    try {
      const std::string text = read_file(name);
      files_.push_back(name);
      content += hash128_hex(text);
      const JsonDocument document(text);
      handle(document.root());
    } catch (const Error& error) {
      throw_data("--tokenizer-model {}: {}", name.string(), error.what());
    }
  };
  read(file, [&](const JsonView& root) { read_definition(root); });
  for (const char* name : {"special_tokens_map.json", "tokenizer_config.json"}) {
    if (std::filesystem::is_regular_file(file.parent_path() / name)) {
      read(file.parent_path() / name, [&](const JsonView& root) { read_config(root); });
    }
  }
  fingerprint_ = hash128_hex(content);
  note_special_tokens();
  read_chat_template(file.parent_path());
}

/// The order matters: the model must know whether pieces are bytes, added tokens are normalised,
/// and added tokens may take ids of the model's vocabulary over.
void HuggingFaceTokenizer::read_definition(const JsonView& root) {
  normalizer_ = make_hf_normalizer(root.get("normalizer"));
  pre_tokenizer_ = make_hf_pre_tokenizer(root.get("pre_tokenizer"));
  model_ = make_hf_model(root.at("model"), pre_tokenizer_.byte_level);
  added_ = std::make_unique<HfAddedTokens>(root.get("added_tokens"), normalizer_);
  post_processor_ = make_hf_post_processor(root.get("post_processor"));
  decoder_ = make_hf_decoder(root.get("decoder"));
  tokens_ = model_->tokens();
  for (const HfAddedTokens::Token& token : added_->tokens()) {
    const auto at = static_cast<std::size_t>(token.id);
    tokens_.resize(std::max(tokens_.size(), at + 1));
    tokens_[at] = token.content;
  }
  for (const TokenIds* ids : {&post_processor_.before, &post_processor_.after}) {
    for (const TokenId id : *ids) {
      check_token_id(id, vocab_size());
    }
  }
}

/// Members that are absent leave what an earlier file said.
void HuggingFaceTokenizer::read_config(const JsonView& config) {
  const auto read = [&](const char* key, std::optional<TokenId>& id) {
    if (config.has(key)) {
      id = find(token_text(config.get(key)));
    }
  };
  read("bos_token", special_.bos);
  read("eos_token", special_.eos);
  read("pad_token", special_.pad);
  read("cls_token", special_.cls);
  read("sep_token", special_.sep);
  read("mask_token", special_.mask);
  cleans_up_ = config.boolean("clean_up_tokenization_spaces", cleans_up_);
  const JsonView chat = config.get("chat_template");
  if (chat.is_text()) {
    chat_template_ = chat.text();
  } else if (chat.is_array()) {
    chat.for_elements([&](const JsonView& named) {
      if (named.text("name", "") == "default") {
        chat_template_ = named.at("template").text();
      }
    });
  }
}

void HuggingFaceTokenizer::read_chat_template(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "chat_template.jinja";
  if (std::filesystem::is_regular_file(file)) {
    chat_template_ = read_file(file);
    files_.push_back(file);
  }
}

void HuggingFaceTokenizer::note_special_tokens() {
  is_special_.resize(tokens_.size());
  for (const HfAddedTokens::Token& token : added_->tokens()) {
    is_special_[static_cast<std::size_t>(token.id)] = token.special;
  }
  for (const auto id :
       {special_.bos, special_.eos, special_.pad, special_.cls, special_.sep, special_.mask}) {
    if (id) {
      is_special_[static_cast<std::size_t>(*id)] = true;
    }
  }
}

}  // namespace mpitron::tokenizers
