#include "inference/protocol/openai/openai_request.h"

#include <fmt/format.h>

#include "inference/protocol/openai/openai_beams.h"
#include "inference/protocol/openai/structured_output.h"
#include "inference/templates/infill_prompt.h"
#include "utils/error.h"

// From the fields of a completion or a chat to requests of answers: sampling, stops, constraint,
// images, and how many tokens the context leaves.

namespace mpitron::inference {
namespace {

/// Reads how tokens are drawn. top_k -1 means all, as in vLLM. Without `seed` a fresh one is drawn,
/// and told in the reply.
void read_sampling(const Fields& fields, SamplingRule& rule) {
  rule.temperature = fields.number("temperature", 1);
  rule.top_p = fields.number("top_p", 1);
  rule.top_k = std::max<Index>(0, fields.integer("top_k", 0));
  rule.min_p = fields.number("min_p", 0);
  rule.repetition_penalty = fields.number("repetition_penalty", 1);
  rule.presence_penalty = fields.number("presence_penalty", 0);
  rule.frequency_penalty = fields.number("frequency_penalty", 0);
  rule.bias = fields.bias("logit_bias");
  rule.min_tokens = fields.integer("min_tokens", 0);
  rule.seed =
      fields.has("seed") ? static_cast<std::uint64_t>(fields.integer("seed", 0)) : random_seed();
}

void read_stops(const ServedModel& model, const Fields& fields, GenerationRequest& generation) {
  generation.stop_ids = fields.ids("stop_token_ids");
  if (!fields.boolean("ignore_eos", false)) {
    generation.stop_ids.push_back(model.tokenizer.eod());
  }
  generation.show_stop_id = fields.boolean("include_stop_str_in_output", false);
  if (fields.has("stop")) {
    (generation.show_stop_id ? generation.stop_texts.after : generation.stop_texts.before) =
        *fields.texts("stop");
  }
}

/// Reads words that must not appear, each as it is and behind a blank. Only words of one token are
/// taken; longer ones would need a look at the tokens before.
void read_bad_words(const ServedModel& model, const Fields& fields, SamplingRule& rule) {
  for (const std::string& word : fields.texts("bad_words").value_or(std::vector<std::string>())) {
    const std::size_t before = rule.banned.size();
    for (const std::string& form : {word, " " + word}) {
      const TokenIds ids = model.tokenizer.encode_part(form);
      if (ids.size() == 1) {
        rule.banned.push_back(ids[0]);
      }
    }
    if (rule.banned.size() == before) {
      throw RequestError(400, fmt::format("bad_words: \"{}\" is not one token", word), "bad_words");
    }
  }
}

/// Reads whether the answer is streamed. A best_of above n needs whole answers before it chooses,
/// so the two exclude each other.
void read_stream(const Fields& fields, OpenAiRequest& request) {
  request.stream = fields.boolean("stream", false);
  if (request.stream && request.best_of > request.n) {
    throw RequestError(400, "best_of above n cannot be streamed", "best_of");
  }
  const Fields options = fields.object("stream_options");
  request.include_usage = options.boolean("include_usage", false);
  if (options.boolean("continuous_usage_stats", false)) {
    throw RequestError(400, "stream_options: continuous_usage_stats is not available",
                       "stream_options");
  }
}

void read_shared(const ServedModel& model, const Fields& fields, OpenAiRequest& request) {
  request.generation.adapter = model.choose(fields.text("model", ""));
  request.model = request.generation.adapter ? fields.text("model", "") : model.name;
  read_sampling(fields, request.generation.sampling);
  read_bad_words(model, fields, request.generation.sampling);
  read_stops(model, fields, request.generation);
  request.generation.constraint = structured_output(model, fields, request.generation.stop_ids);
  request.generation.salt = fields.text("cache_salt", "");
  request.n = fields.integer("n", 1);
  request.best_of = request.chat ? request.n : fields.integer("best_of", request.n);
  if (request.best_of < request.n) {
    throw RequestError(400, "best_of must be at least n", "best_of");
  }
  read_stream(fields, request);
  request.names_ids = fields.boolean("return_tokens_as_token_ids", false);
}

/// Holds answers to calls of the functions that `tool_choice` names.
void hold_to_calls(const ServedModel& model, OpenAiRequest& request) {
  GenerationRequest& generation = request.generation;
  if (generation.constraint) {
    throw RequestError(400, "tool_choice and a form of the answer exclude each other",
                       "tool_choice");
  }
  const ToolChoice& tools = request.tools;
  generation.constraint = held_to(
      model, "tools", tools.described(),
      [&] { return tool_call_grammar(tools.format, tools.forced_functions, tools.several); },
      generation.stop_ids);
}

/// Sets how many tokens an answer may have, which the longest prompt decides, and checks the ids of
/// all prompts.
void limit_tokens(const ServedModel& model, OpenAiRequest& request, Index fallback) {
  Index longest = 0;
  for (const TokenIds& prompt : request.prompts) {
    longest = std::max(longest, static_cast<Index>(prompt.size()));
    for (const TokenId id : prompt) {
      if (id >= model.shape.vocabulary) {
        throw RequestError(
            400,
            fmt::format("prompt has the id {}; ids are 0 to {}", id, model.shape.vocabulary - 1),
            "prompt");
      }
    }
  }
  const Index left = std::max<Index>(model.shape.max_positions - longest, 0);
  const Index wanted = request.max_tokens.value_or(std::min(fallback, left));
  if (wanted > left || (left == 0 && !request.max_tokens)) {
    throw RequestError(
        400,
        fmt::format("This model's maximum context length is {} tokens. However, you requested {} "
                    "tokens ({} in the prompt, {} in the answer).",
                    model.shape.max_positions, longest + wanted, longest, wanted),
        request.chat ? "messages" : "prompt", "context_length_exceeded");
  }
  request.generation.max_tokens = wanted;
}

/// An empty text becomes the token that begins documents, since a pass needs at least one row.
TokenIds encode(const ServedModel& model, const std::string& text) {
  TokenIds ids = model.tokenizer.encode(text);
  if (ids.empty()) {
    ids.push_back(model.bos());
  }
  return ids;
}

/// Makes the prompt of a text before `suffix` in the order of tokens that the model was trained to
/// fill in with.
TokenIds infill(const ServedModel& model, const Fields& fields, const Prompt& prompt) {
  if (prompt.ids || fields.boolean("echo", false)) {
    throw RequestError(400, "suffix needs a prompt that is a text, and no echo", "suffix");
  }
  const auto ids = infill_prompt(model.tokenizer, prompt.text, fields.text("suffix", ""));
  if (!ids) {
    throw RequestError(
        400, "suffix is not available: the tokenizer has no tokens for what is in the middle",
        "suffix");
  }
  return *ids;
}

}  // namespace

std::vector<GenerationRequest> OpenAiRequest::answers() const {
  std::vector<GenerationRequest> requests;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    for (Index j = 0; j < best_of; ++j) {
      GenerationRequest each = generation;
      each.prompt = prompts[i];
      // Prompts are scored once, by the first of their answers. `choice` gives each answer its own
      // random numbers under one seed, and `leader` lets it share the first one's cached prompt.
      each.prompt_log_probs = echo && lists_log_probs() && j == 0;
      each.sampling.choice = static_cast<std::uint32_t>(static_cast<Index>(i) * best_of + j);
      each.leader = j > 0 ? i * static_cast<std::size_t>(best_of) + 1 : 0;
      if (best_of > n && each.log_probs < 0) {
        each.log_probs = 0;  // they decide which is best
      }
      requests.push_back(std::move(each));
    }
  }
  return requests;
}

OpenAiRequest parse_completion(const ServedModel& model, const Fields& fields) {
  OpenAiRequest request;
  read_shared(model, fields, request);
  request.generation.log_probs = fields.integer("logprobs", -1);
  request.echo = fields.boolean("echo", false);
  request.max_tokens = fields.integer("max_tokens", 16);
  if (*request.max_tokens == 0 && !request.echo) {
    throw RequestError(400, "max_tokens must be at least 1 unless echo is true", "max_tokens");
  }
  if (!fields.has("max_tokens")) {
    request.max_tokens.reset();
  }
  for (const Prompt& prompt : fields.prompts("prompt")) {
    request.prompts.push_back(fields.has("suffix") ? infill(model, fields, prompt)
                              : prompt.ids         ? *prompt.ids
                                                   : encode(model, prompt.text));
  }
  limit_tokens(model, request, 16);
  request.beams = beam_rule(model, fields, request);
  for (std::size_t i = 0; i < request.prompts.size() && request.echo; ++i) {
    request.prompt_texts.push_back(model.tokenizer.decode(request.prompts[i]));
  }
  return request;
}

OpenAiRequest parse_chat(const ServedModel& model, const Fields& fields) {
  OpenAiRequest request{.chat = true};
  read_shared(model, fields, request);
  const Index top = fields.integer("top_logprobs", 0);
  request.generation.log_probs = fields.boolean("logprobs", false) ? top : -1;
  if (top > 0 && !request.lists_log_probs()) {
    throw RequestError(400, "top_logprobs needs logprobs", "top_logprobs");
  }
  const char* name = fields.has("max_completion_tokens") ? "max_completion_tokens" : "max_tokens";
  if (fields.has(name)) {
    request.max_tokens = fields.integer(name, 1);
  }
  request.prompts.push_back(model.chat_prompt(fields, request.generation.images));
  if (request.prompts.back().empty()) {
    request.prompts.back().push_back(model.bos());
  }
  request.tools = tool_choice(model, fields);
  if (request.tools.forced()) {
    hold_to_calls(model, request);
  }
  limit_tokens(model, request, model.shape.max_positions);
  request.beams = beam_rule(model, fields, request);
  return request;
}

}  // namespace mpitron::inference
