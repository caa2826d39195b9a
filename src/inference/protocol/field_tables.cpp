#include "inference/protocol/field_tables.h"

#include <algorithm>
#include <array>

namespace mpitron::inference {
namespace {

constexpr double kTokens = INT32_MAX;
constexpr double kSmallest = 1e-9;  // of what must be above 0
using enum FieldType;

/// Of completions and chats.
constexpr std::array kShared = {
    FieldRule{"model", text, 0, 0, "name of a model of /v1/models; empty: the one that is served"},
    FieldRule{"temperature", number, 0, 2, "1 unless given; 0: the likeliest token"},
    FieldRule{"top_p", number, kSmallest, 1, "probability to draw from; 1 unless given"},
    FieldRule{"top_k", integer, -1, 1 << 30, "tokens to draw from; 0 or -1: all"},
    FieldRule{"min_p", number, 0, 1, "least probability, as a part of the likeliest token's"},
    FieldRule{"repetition_penalty", number, 1e-3, 1e3, "for tokens of prompt and answer; 1: none"},
    FieldRule{"presence_penalty", number, -2, 2, "for tokens of the answer, once"},
    FieldRule{"frequency_penalty", number, -2, 2, "for tokens of the answer, each time"},
    FieldRule{"logit_bias", bias, -100, 100, "token ids, and what is added to their logits"},
    FieldRule{"seed", integer, 0, 0, "equal seeds give equal answers; one is drawn unless given"},
    FieldRule{"min_tokens", integer, 0, 1 << 30, "nothing ends the answer before"},
    FieldRule{"stop", texts, 0, 16, "texts that end the answer before them"},
    FieldRule{"stop_token_ids", ids, 0, 0, "token ids that end the answer"},
    FieldRule{"ignore_eos", boolean, 0, 0, "whether the end of a document is an ordinary token"},
    FieldRule{"include_stop_str_in_output", boolean, 0, 0, "whether the answer has what ended it"},
    FieldRule{"n", integer, 1, 128, "answers to each prompt; 1 unless given"},
    FieldRule{"stream", boolean, 0, 0, "whether the answer comes as events while it is written"},
    FieldRule{"stream_options", object, 0, 0, "include_usage: whether the last event tells usage"},
    FieldRule{"response_format", object, 0, 0, "type text, json_object, or json_schema with one"},
    FieldRule{"guided_json", any, 0, 0, "a JSON schema that the answer obeys"},
    FieldRule{"guided_regex", text, 0, 0, "a regular expression that matches the whole answer"},
    FieldRule{"guided_choice", list, 0, 0, "texts of which the answer is one"},
    FieldRule{"bad_words", texts, 0, 64, "words of one token that the answer does not have"},
    FieldRule{"return_tokens_as_token_ids", boolean, 0, 0, "log-probabilities name token_id:ID"},
    FieldRule{"cache_salt", text, 0, 0, "shares cached beginnings with equal salts only"},
    FieldRule{"guided_grammar", absent},
    FieldRule{"structured_outputs", absent},
    FieldRule{"use_beam_search", absent},
    FieldRule{"prompt_logprobs", absent},
    FieldRule{"logits_processors", absent},
    FieldRule{"functions", absent},
    FieldRule{"function_call", absent}};

constexpr std::array kCompletion = {
    FieldRule{"prompt", prompts, 0, 0, "a text, texts, token ids or lists of them"},
    FieldRule{"suffix", text, 0, 0, "what follows the answer, for models that fill in the middle"},
    FieldRule{"max_tokens", integer, 0, kTokens, "16 unless given; 0 with echo scores the prompt"},
    FieldRule{"best_of", integer, 1, 128, "answers that the n likeliest are chosen from"},
    FieldRule{"logprobs", integer, 0, 20, "likeliest tokens that are listed beside each"},
    FieldRule{"echo", boolean, 0, 0, "whether the prompt stands before the answer"}};

/// What a chat template reads.
constexpr std::array kConversation = {
    FieldRule{"chat_template", text, 0, 0, "a template in Jinja instead of the model's"},
    FieldRule{"chat_template_kwargs", object, 0, 0, "further variables of the template"},
    FieldRule{"add_generation_prompt", boolean, 0, 0, "true unless given"},
    FieldRule{"continue_final_message", boolean, 0, 0, "goes on with the last message"},
    FieldRule{"tools", list, 0, 0, "functions that the template tells the model of"},
    FieldRule{"documents", list, 0, 0, "texts that the template tells the model of"}};

constexpr std::array kChat = {
    FieldRule{"messages", list, 0, 0, "objects with role and content", true},
    FieldRule{"max_completion_tokens", integer, 1, kTokens, "what the context leaves unless given"},
    FieldRule{"max_tokens", integer, 1, kTokens, "other name of max_completion_tokens"},
    FieldRule{"logprobs", boolean, 0, 0, "whether log-probabilities are listed"},
    FieldRule{"top_logprobs", integer, 0, 20, "likeliest tokens that are listed beside each"},
    FieldRule{"tool_choice", any, 0, 0, "none or auto"}};

constexpr std::array kTokenize = {
    FieldRule{"prompt", text, 0, 0, "a text"},
    FieldRule{"content", text, 0, 0, "a text, answered by its ids alone"},
    FieldRule{"messages", list, 0, 0, "a conversation instead of a text"},
    FieldRule{"return_token_strs", boolean, 0, 0, "whether the reply has the tokens' texts"}};

constexpr std::array kDetokenize = {FieldRule{"tokens", ids, 0, 0, "token ids", true}};

constexpr std::array kMegatron = {
    FieldRule{"prompts", list, 1, 128, "texts to continue", true},
    FieldRule{"tokens_to_generate", integer, 0, 1e15, "64 unless given", false,
              "tokens_to_generate must be an integer greater than 0"},
    FieldRule{"logprobs", boolean, 0, 0, "of prompt and answer, too", false,
              "logprobs must be a boolean value"},
    FieldRule{"temperature", number, kSmallest, 100, "1 unless given", false,
              "temperature must be a positive number less than or equal to 1000.0"},
    FieldRule{"top_k", integer, 0, 1000, "tokens to draw from; 1: the likeliest; 0: all", false,
              "top_k must be an integer equal to or greater than 0 and less than or equal to 1000"},
    FieldRule{"top_p", real, 0, 1, "probability to draw from; 0: all", false,
              "top_p must be a positive float less than or equal to 1.0"},
    FieldRule{"top_p_decay", real, 0, 1, "factor of top_p after each token", false,
              "top_p_decay must be a positive float less than or equal to 1.0"},
    FieldRule{"top_p_bound", real, 0, 1, "least value of top_p", false,
              "top_p_bound must be a positive float less than or equal to top_p"},
    FieldRule{"add_BOS", boolean, 0, 0, "whether a token of its own begins the prompts", false,
              "add_BOS must be a boolean value"},
    FieldRule{"stop_on_double_eol", boolean, 0, 0, "ends with an empty line", false,
              "stop_on_double_eol must be a boolean value"},
    FieldRule{"stop_on_eol", boolean, 0, 0, "ends with a line", false,
              "stop_on_eol must be a boolean value"},
    FieldRule{"prevent_newline_after_colon", boolean, 0, 0, "no line ends behind a colon", false,
              "prevent_newline_after_colon must be a boolean value"},
    FieldRule{"random_seed", integer, 0, 0, "equal seeds give equal answers", false,
              "random_seed must be integer"},
    FieldRule{"no_log", boolean, 0, 0, "accepted; requests are never printed", false,
              "no_log must be a boolean value"},
    FieldRule{"beam_width", integer, 1, 128, "beams of a search; needs one prompt", false,
              "beam_width must be integer"},
    FieldRule{"stop_token", integer, 0, 0, "ends beams; the end of documents unless given", false,
              "stop_token must be an integer"},
    FieldRule{"length_penalty", real, 0, 0, "of beams; 1.0 unless given", false,
              "length_penalty must be a float"}};

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

FieldRules megatron_fields() {
  return kMegatron;
}

}  // namespace mpitron::inference
