#include <algorithm>
#include <array>

#include "inference/protocol/fields.h"

// Holds every field of every request in one place: name, type, bounds, and what it does. Parsing,
// refusals and the OpenAPI document read these rows. A field of type `absent` is one of OpenAI's or
// vLLM's that this server does not have: it is refused by name instead of being ignored.

namespace mpitron::inference {
namespace {

constexpr double kTokens = INT32_MAX;
constexpr double kSmallest = 1e-9;  // of what must be above 0

/// Fields that completions and chats have in common.
constexpr std::array kShared = {
    FieldRule{"model", FieldType::text, 0, 0,
              "name of a model of /v1/models, an adapter too; empty: the served one alone"},
    FieldRule{"temperature", FieldType::number, 0, 2, "1 unless given; 0: the likeliest token"},
    FieldRule{"top_p", FieldType::number, kSmallest, 1, "probability to draw from; 1 unless given"},
    FieldRule{"top_k", FieldType::integer, -1, 1 << 30, "tokens to draw from; 0 or -1: all"},
    FieldRule{"min_p", FieldType::number, 0, 1,
              "least probability, as a part of the likeliest token's"},
    FieldRule{"repetition_penalty", FieldType::number, 1e-3, 1e3,
              "for tokens of prompt and answer; 1: none"},
    FieldRule{"presence_penalty", FieldType::number, -2, 2, "for tokens of the answer, once"},
    FieldRule{"frequency_penalty", FieldType::number, -2, 2, "for tokens of the answer, each time"},
    FieldRule{"logit_bias", FieldType::bias, -100, 100,
              "token ids, and what is added to their logits"},
    FieldRule{"seed", FieldType::integer, 0, 0,
              "equal seeds give equal answers; one is drawn unless given"},
    FieldRule{"min_tokens", FieldType::integer, 0, 1 << 30, "nothing ends the answer before"},
    FieldRule{"stop", FieldType::texts, 0, 16, "texts that end the answer before them"},
    FieldRule{"stop_token_ids", FieldType::ids, 0, 0, "token ids that end the answer"},
    FieldRule{"ignore_eos", FieldType::boolean, 0, 0,
              "whether the end of a document is an ordinary token"},
    FieldRule{"include_stop_str_in_output", FieldType::boolean, 0, 0,
              "whether the answer has what ended it"},
    FieldRule{"n", FieldType::integer, 1, 128, "answers to each prompt; 1 unless given"},
    FieldRule{"stream", FieldType::boolean, 0, 0,
              "whether the answer comes as events while it is written"},
    FieldRule{"stream_options", FieldType::object, 0, 0,
              "include_usage: whether the last event tells usage"},
    FieldRule{"response_format", FieldType::object, 0, 0,
              "type text, json_object, or json_schema with one"},
    FieldRule{"guided_json", FieldType::any, 0, 0, "a JSON schema that the answer obeys"},
    FieldRule{"guided_regex", FieldType::text, 0, 0,
              "a regular expression that matches the whole answer"},
    FieldRule{"guided_choice", FieldType::list, 0, 0, "texts of which the answer is one"},
    FieldRule{"guided_grammar", FieldType::text, 0, 0, "a grammar (GBNF) that the answer obeys"},
    FieldRule{"structured_outputs", FieldType::object, 0, 0,
              "json, regex, choice or grammar: other names of the four above"},
    FieldRule{"bad_words", FieldType::texts, 0, 64,
              "words of one token that the answer does not have"},
    FieldRule{"return_tokens_as_token_ids", FieldType::boolean, 0, 0,
              "log-probabilities name token_id:ID"},
    FieldRule{"cache_salt", FieldType::text, 0, 0,
              "shares cached beginnings with equal salts only"},
    FieldRule{"use_beam_search", FieldType::boolean, 0, 0,
              "answers are the likeliest texts as a whole: of best_of (else n) beams the best n"},
    FieldRule{"length_penalty", FieldType::number, -10, 10,
              "of beams: sums of log-probabilities are divided by the length to this power; 1 "
              "unless given"},
    FieldRule{"prompt_logprobs", FieldType::absent},
    FieldRule{"logits_processors", FieldType::absent},
    FieldRule{"functions", FieldType::absent},
    FieldRule{"function_call", FieldType::absent}};

constexpr std::array kCompletion = {
    FieldRule{"prompt", FieldType::prompts, 0, 0, "a text, texts, token ids or lists of them"},
    FieldRule{"suffix", FieldType::text, 0, 0,
              "what follows the answer, for models that fill in the middle"},
    FieldRule{"max_tokens", FieldType::integer, 0, kTokens,
              "16 unless given; 0 with echo scores the prompt"},
    FieldRule{"best_of", FieldType::integer, 1, 128,
              "answers that the n likeliest are chosen from"},
    FieldRule{"logprobs", FieldType::integer, 0, 20,
              "likeliest tokens that are listed beside each"},
    FieldRule{"echo", FieldType::boolean, 0, 0, "whether the prompt stands before the answer"}};

/// Fields that a chat template reads; /tokenize takes them as well.
constexpr std::array kConversation = {
    FieldRule{"chat_template", FieldType::text, 0, 0, "a template in Jinja instead of the model's"},
    FieldRule{"chat_template_kwargs", FieldType::object, 0, 0, "further variables of the template"},
    FieldRule{"add_generation_prompt", FieldType::boolean, 0, 0, "true unless given"},
    FieldRule{"continue_final_message", FieldType::boolean, 0, 0, "goes on with the last message"},
    FieldRule{"tools", FieldType::list, 0, 0, "functions that the template tells the model of"},
    FieldRule{"documents", FieldType::list, 0, 0, "texts that the template tells the model of"}};

constexpr std::array kChat = {
    FieldRule{"messages", FieldType::list, 0, 0, "objects with role and content", true},
    FieldRule{"max_completion_tokens", FieldType::integer, 1, kTokens,
              "what the context leaves unless given"},
    FieldRule{"max_tokens", FieldType::integer, 1, kTokens, "other name of max_completion_tokens"},
    FieldRule{"logprobs", FieldType::boolean, 0, 0, "whether log-probabilities are listed"},
    FieldRule{"top_logprobs", FieldType::integer, 0, 20,
              "likeliest tokens that are listed beside each"},
    FieldRule{"tool_choice", FieldType::any, 0, 0,
              "none, auto, required, or the function that answers call"},
    FieldRule{"parallel_tool_calls", FieldType::boolean, 0, 0,
              "whether an answer may have several calls; true unless given"}};

constexpr std::array kTokenize = {
    FieldRule{"prompt", FieldType::text, 0, 0, "a text"},
    FieldRule{"content", FieldType::text, 0, 0, "a text, answered by its ids alone"},
    FieldRule{"messages", FieldType::list, 0, 0, "a conversation instead of a text"},
    FieldRule{"return_token_strs", FieldType::boolean, 0, 0,
              "whether the reply has the tokens' texts"}};

constexpr std::array kDetokenize = {FieldRule{"tokens", FieldType::ids, 0, 0, "token ids", true}};

constexpr FieldRule kAdapterName{
    "lora_name", FieldType::text, 0, 0, "what requests name as their model", true};
constexpr std::array kLoadAdapter = {kAdapterName,
                                     FieldRule{"lora_path", FieldType::text, 0, 0,
                                               "a folder of PEFT on the server's machine", true}};
constexpr std::array kUnloadAdapter = {kAdapterName};

// Megatron's rows carry the reference's own refusal texts as they are, though some contradict its
// bounds: clients may compare them.
constexpr std::array kMegatron = {
    FieldRule{"prompts", FieldType::list, 1, 128, "texts to continue", true},
    FieldRule{"tokens_to_generate", FieldType::integer, 0, 1e15, "64 unless given", false,
              "tokens_to_generate must be an integer greater than 0"},
    FieldRule{"logprobs", FieldType::boolean, 0, 0, "of prompt and answer, too", false,
              "logprobs must be a boolean value"},
    FieldRule{"temperature", FieldType::number, kSmallest, 100, "1 unless given", false,
              "temperature must be a positive number less than or equal to 1000.0"},
    FieldRule{"top_k", FieldType::integer, 0, 1000, "tokens to draw from; 1: the likeliest; 0: all",
              false,
              "top_k must be an integer equal to or greater than 0 and less than or equal to 1000"},
    FieldRule{"top_p", FieldType::real, 0, 1, "probability to draw from; 0: all", false,
              "top_p must be a positive float less than or equal to 1.0"},
    FieldRule{"top_p_decay", FieldType::real, 0, 1, "factor of top_p after each token", false,
              "top_p_decay must be a positive float less than or equal to 1.0"},
    FieldRule{"top_p_bound", FieldType::real, 0, 1, "least value of top_p", false,
              "top_p_bound must be a positive float less than or equal to top_p"},
    FieldRule{"add_BOS", FieldType::boolean, 0, 0, "whether a token of its own begins the prompts",
              false, "add_BOS must be a boolean value"},
    FieldRule{"stop_on_double_eol", FieldType::boolean, 0, 0, "ends with an empty line", false,
              "stop_on_double_eol must be a boolean value"},
    FieldRule{"stop_on_eol", FieldType::boolean, 0, 0, "ends with a line", false,
              "stop_on_eol must be a boolean value"},
    FieldRule{"prevent_newline_after_colon", FieldType::boolean, 0, 0,
              "no line ends behind a colon", false,
              "prevent_newline_after_colon must be a boolean value"},
    FieldRule{"random_seed", FieldType::integer, 0, 0, "equal seeds give equal answers", false,
              "random_seed must be integer"},
    FieldRule{"no_log", FieldType::boolean, 0, 0, "accepted; requests are never printed", false,
              "no_log must be a boolean value"},
    FieldRule{"beam_width", FieldType::integer, 1, 128, "beams of a search; needs one prompt",
              false, "beam_width must be integer"},
    FieldRule{"stop_token", FieldType::integer, 0, 0,
              "ends beams; the end of documents unless given", false,
              "stop_token must be an integer"},
    FieldRule{"length_penalty", FieldType::real, 0, 0, "of beams; 1.0 unless given", false,
              "length_penalty must be a float"}};

/// Puts tables one behind the other at compile time, so that a shared field has one row.
template <std::size_t... kSizes>
constexpr auto joined(const std::array<FieldRule, kSizes>&... parts) {
  std::array<FieldRule, (kSizes + ...)> all{};
  auto end = all.begin();
  ((end = std::ranges::copy(parts, end).out), ...);
  return all;
}

constexpr auto kAllCompletion = joined(kCompletion, kShared);
constexpr auto kAllChat = joined(kChat, kConversation, kShared);
constexpr auto kAllTokenize = joined(kTokenize, kConversation);

}  // namespace

FieldRules completion_fields() {
  return kAllCompletion;
}

FieldRules chat_fields() {
  return kAllChat;
}

FieldRules tokenize_fields() {
  return kAllTokenize;
}

FieldRules detokenize_fields() {
  return kDetokenize;
}

FieldRules load_adapter_fields() {
  return kLoadAdapter;
}

FieldRules unload_adapter_fields() {
  return kUnloadAdapter;
}

FieldRules megatron_fields() {
  return kMegatron;
}

}  // namespace mpitron::inference
