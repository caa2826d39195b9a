#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "inference/engine_interface.h"
#include "inference/grammar/grammar_store.h"
#include "inference/protocol/fields.h"
#include "inference/protocol/generation_service.h"
#include "inference/protocol/served_adapters.h"
#include "inference/templates/prompt_images.h"
#include "tokenizers/chat/chat_template.h"

namespace mpitron::inference {

/// A model as all protocols see it: its tokenizer, its limits, and the service that answers.
struct ServedModel {
  std::string name;
  const tokenizers::Tokenizer& tokenizer;
  EngineShape shape;
  GenerationService& service;
  std::shared_ptr<GrammarStore> grammars;
  std::shared_ptr<const tokenizers::ChatTemplate> chat;  // null where the model has no template
  std::shared_ptr<const PromptImages> images = {};       // null where the model sees none
  std::shared_ptr<ServedAdapters> adapters = std::make_shared<ServedAdapters>();
  std::int64_t created = 0;  // seconds since 1970
  std::string version;
  Index max_waiting = 1024;  // groups of answers open at once; more are refused with 429

  /// Returns the adapter that a request names, and counts the request; null for the model itself,
  /// also by no name. RequestError(404) for a name that is not served.
  AdapterHandle choose(const std::string& name) const;
  /// The refusal (404) of a model that is not served.
  RequestError no_model(const std::string& name) const;
  /// All names that requests may give, for messages.
  std::string names() const;
  /// The token that begins a text; models without one begin with the end of a document, as
  /// Megatron's data does.
  TokenId bos() const { return tokenizer.special_ids().bos.value_or(tokenizer.eod()); }
  /// The prompt of a request with `messages`: `tools`, `documents`, `chat_template_kwargs`,
  /// `chat_template` (instead of the model's), `add_generation_prompt` and `continue_final_message`
  /// change it. Images of its messages are appended to `shown`. RequestError(400) tells also what
  /// the template raises.
  TokenIds chat_prompt(const Fields& fields, std::vector<PromptImage>& shown) const;
  /// A token's bytes as valid UTF-8; a part of a character becomes U+FFFD.
  std::string token_text(TokenId id) const;
  /// The text of ids, cut at each token's first character; the pieces add up to the whole text.
  std::vector<std::string> segments(const TokenIds& ids) const;
};

/// A fresh seed for a request that gives none.
std::uint64_t random_seed();

/// The double whose shortest decimal is that of the fp32 value; -9999 for minus infinity.
double shortest(float value);

}  // namespace mpitron::inference
