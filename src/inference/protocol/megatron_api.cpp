#include "inference/protocol/megatron_api.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "inference/protocol/fields.h"
#include "inference/protocol/served_beams.h"

// Megatron's text generation protocol (megatron/core/inference/text_generation_server): its checks
// in its order with its texts, then answers by the same generator as OpenAI's protocol.

namespace mpitron::inference {
namespace {

using Json = nlohmann::ordered_json;
using Kind = Fields::Kind;

void check(bool holds, const char* text) {
  if (!holds) {
    throw RequestError(400, text);
  }
}

/// Finds the row that holds a field's refusal text.
const FieldRule& rule_of(const std::string& name) {
  return *std::ranges::find(megatron_fields(), name, &FieldRule::name);
}

/// A flag that is present must be a boolean: null, which OpenAI's form allows, is refused here.
bool read_flag(const Fields& fields, const std::string& name) {
  const Kind kind = fields.kind(name);
  check(kind == Kind::absent || kind == Kind::boolean, rule_of(name).wrong);
  return fields.boolean(name, false);
}

/// A number of its rule's type, `fallback` where it is absent.
double read_number(const Fields& fields, const std::string& name, double fallback) {
  const Kind kind = fields.kind(name);
  const FieldRule& rule = rule_of(name);
  check(kind == Kind::absent || (kind == Kind::integer && rule.type != FieldType::real) ||
            (kind == Kind::real && rule.type != FieldType::integer),
        rule.wrong);
  return fields.number(name, fallback);
}

/// Checks the prompts, and names of fields that older clients send, in the reference's order.
void read_prompts(const Fields& fields, MegatronRequest& request) {
  check(fields.kind("prompts") != Kind::absent, "prompts argument required");
  check(fields.kind("max_len") == Kind::absent,
        "max_len is no longer used.  Replace with tokens_to_generate");
  check(fields.kind("sentences") == Kind::absent,
        "sentences is no longer used.  Replace with prompts");
  const auto texts = fields.texts("prompts");
  check(fields.kind("prompts") == Kind::list && texts, "prompts is not a list of strings");
  check(!texts->empty(), "prompts is empty");
  check(texts->size() <= 128, "Maximum number of prompts is 128");
  request.prompts = *texts;
}

/// Reads top_p and its decay; 0 stands for all tokens, where OpenAI's form has 1.
void read_top_p(const Fields& fields, SamplingRule& rule) {
  const double top_p = read_number(fields, "top_p", 0);
  check(top_p <= 0 || rule.top_k == 0, "cannot set both top-k and top-p samplings.");
  check(top_p >= 0 && top_p <= 1, "top_p must be less than or equal to 1.0");
  rule.top_p_decay = read_number(fields, "top_p_decay", 0);
  if (fields.kind("top_p_decay") != Kind::absent) {
    check(top_p > 0, "top_p_decay cannot be set without top_p");
    check(rule.top_p_decay >= 0 && rule.top_p_decay <= 1,
          "top_p_decay must be less than or equal to 1.0");
  }
  rule.top_p_bound = read_number(fields, "top_p_bound", 0);
  if (fields.kind("top_p_bound") != Kind::absent) {
    check(top_p > 0, "top_p_bound cannot be set without top_p");
    check(rule.top_p_bound > 0 && rule.top_p_bound <= top_p,
          "top_p_bound must be greater than 0 and less than top_p");
  }
  rule.top_p = top_p > 0 ? top_p : 1;
}

void read_sampling(const Fields& fields, MegatronRequest& request) {
  SamplingRule& rule = request.sampling;
  rule.temperature = read_number(fields, "temperature", 1);
  check(rule.temperature > 0 && rule.temperature <= 100,
        "temperature must be a positive number less than or equal to 100.0");
  const double top_k = read_number(fields, "top_k", 0);
  check(top_k >= 0 && top_k <= 1000,
        "top_k must be equal to or greater than 0 and less than or equal to 1000");
  rule.top_k = static_cast<Index>(top_k);
  read_top_p(fields, rule);
}

/// Reads the fields of a beam search; the reference takes them last.
void read_beams(const Fields& fields, MegatronRequest& request) {
  if (fields.kind("beam_width") != Kind::absent) {
    const double width = read_number(fields, "beam_width", 0);
    check(width >= 1, "beam_width must be an integer > 1");
    check(request.prompts.size() == 1, "When doing beam_search, batch size must be 1");
    request.beam_width = static_cast<Index>(std::min(width, 1e6));
  }
  const double stop = read_number(fields, "stop_token", -1);
  if (fields.kind("stop_token") != Kind::absent) {
    request.stop_token = static_cast<TokenId>(std::clamp(stop, -1.0, 1e9));
  }
  request.length_penalty = read_number(fields, "length_penalty", 1);
}

/// Makes the generator's request of one prompt. Like the reference, an end of line as stop replaces
/// the end of the document instead of standing beside it.
GenerationRequest generation_of(const ServedModel& model, const MegatronRequest& request,
                                std::size_t index) {
  GenerationRequest generation{.prompt = model.tokenizer.encode(request.prompts[index]),
                               .max_tokens = request.tokens,
                               .sampling = request.sampling,
                               .log_probs = request.log_probs ? 0 : -1,
                               .prompt_log_probs = request.log_probs};
  if (request.add_bos) {
    generation.prompt.insert(generation.prompt.begin(), model.bos());
  }
  generation.sampling.choice = static_cast<std::uint32_t>(index);
  if (request.stop_on_double_eol) {
    generation.stop_texts.after.emplace_back("\n\n");
  }
  if (request.stop_on_eol) {
    generation.stop_texts.after.emplace_back("\n");
  }
  if (generation.stop_texts.after.empty()) {
    generation.stop_ids = {model.tokenizer.eod()};
  }
  if (request.prevent_newline_after_colon) {
    generation.sampling.never_after = {model.tokenizer.encode(":").back(),
                                       model.tokenizer.encode("\n").back()};
  }
  return generation;
}

/// A request under way and what has come of it, held by the callbacks until the last answer is
/// complete.
struct Exchange {
  MegatronRequest request;
  std::vector<TokenIds> prompts;
  std::vector<Answer> answers;
  std::size_t unfinished = 0;
};

/// Makes the reply of sampled answers. Neither the end of the document nor a begin that was added
/// belongs to its lists.
std::string reply_of(const ServedModel& model, const Exchange& exchange) {
  Json text = Json::array(), tokens = Json::array(), segments = Json::array();
  Json log_probs = Json::array();
  for (std::size_t i = 0; i < exchange.answers.size(); ++i) {
    const Answer& answer = exchange.answers[i];
    const std::size_t begin = exchange.request.add_bos ? 1 : 0;
    const std::size_t end = answer.stop_id >= 0 ? 1 : 0;
    TokenIds ids(exchange.prompts[i].begin() + static_cast<std::ptrdiff_t>(begin),
                 exchange.prompts[i].end());
    ids.insert(ids.end(), answer.tokens.begin(),
               answer.tokens.end() - static_cast<std::ptrdiff_t>(end));
    text.push_back(exchange.request.prompts[i] + answer.text);
    segments.push_back(model.segments(ids));
    tokens.push_back(ids);
    if (exchange.request.log_probs) {
      Json values = Json::array();
      for (std::size_t j = begin; j < answer.prompt_log_probs.size(); ++j) {
        values.push_back(shortest(answer.prompt_log_probs[j].token.value));
      }
      for (std::size_t j = 0; j + end < answer.log_probs.size(); ++j) {
        values.push_back(shortest(answer.log_probs[j].token.value));
      }
      log_probs.push_back(values);
    }
  }
  Json reply = {{"text", text}, {"segments", segments}, {"tokens", tokens}};
  if (exchange.request.log_probs) {
    reply["logprobs"] = log_probs;
  }
  return dump(reply);
}

/// Makes the reply of a beam search. A hypothesis includes its prompt, so texts are made of all its
/// tokens.
std::string reply_of(const ServedModel& model, const MegatronRequest& request,
                     const std::vector<Hypothesis>& best) {
  Json text = Json::array(), segments = Json::array(), scores = Json::array();
  for (const Hypothesis& each : best) {
    const std::vector<std::string> pieces =
        model.segments({each.tokens.begin() + (request.add_bos ? 1 : 0), each.tokens.end()});
    text.push_back(fmt::format("{}", fmt::join(pieces, "")));
    segments.push_back(pieces);
    scores.push_back(shortest(static_cast<float>(each.score)));
  }
  return dump({{"text", text}, {"segments", segments}, {"scores", scores}});
}

HttpReply refusal(int status, const std::string& text) {
  return {status, dump(Json(text))};
}

/// RequestError(400) where a prompt and its answer are longer than the model's positions.
void check_length(const ServedModel& model, std::size_t number, std::size_t size, Index tokens) {
  if (static_cast<Index>(size) + tokens > model.shape.max_positions) {
    throw RequestError(
        400, fmt::format("prompt {} has {} tokens; with {} to generate it is longer than {}",
                         number, size, tokens, model.shape.max_positions));
  }
}

/// RequestError(400) for settings that beams cannot honour, and for more beams than the vocabulary
/// has continuations for (a step takes the best 2 x width tokens of each).
void check_beams(const ServedModel& model, const MegatronRequest& request) {
  check(request.tokens > 0, "beam_width needs tokens_to_generate of at least 1");
  check(!request.stop_on_eol && !request.stop_on_double_eol && !request.prevent_newline_after_colon,
        "beam_width cannot be set with stop_on_eol, stop_on_double_eol or "
        "prevent_newline_after_colon; stop_token ends beams");
  const Index most = std::min<Index>(128, model.shape.vocabulary / 2);
  if (request.beam_width > most) {
    throw RequestError(400, fmt::format("beam_width is {}; this server searches up to {}",
                                        request.beam_width, most));
  }
}

void start_beams(const ServedModel& model, const MegatronRequest& request,
                 const std::shared_ptr<HttpAnswer>& client) {
  check_beams(model, request);
  TokenIds prompt = generation_of(model, request, 0).prompt;
  check_length(model, 0, prompt.size(), request.tokens);
  const BeamRule rule{.width = request.beam_width,
                      .tokens = request.tokens,
                      .stop = request.stop_token.value_or(model.tokenizer.eod()),
                      .length_penalty = request.length_penalty};
  client->on_leave(search_beams(
      model.service, {.prompt = std::move(prompt)}, rule,
      {.found =
           [&model, request, client](const std::vector<Hypothesis>& best) {
             client->send({200, reply_of(model, request, best)});
           },
       .failed = [client](int status,
                          const std::string& text) { client->send(refusal(status, text)); }}));
}

void start(const ServedModel& model, const MegatronRequest& request,
           const std::shared_ptr<HttpAnswer>& client) {
  auto exchange = std::make_shared<Exchange>();
  AnswerGroup group;
  for (std::size_t i = 0; i < request.prompts.size(); ++i) {
    group.requests.push_back(generation_of(model, request, i));
    check_length(model, i, group.requests.back().prompt.size(), request.tokens);
    exchange->prompts.push_back(group.requests.back().prompt);
  }
  exchange->request = request;
  exchange->answers.resize(request.prompts.size());
  exchange->unfinished = request.prompts.size();
  group.answered = [&model, exchange, client](std::size_t i, const Answer& answer) {
    if (answer.finish == FinishReason::none) {
      return;
    }
    exchange->answers[i] = answer;
    if (--exchange->unfinished == 0) {
      client->send({200, reply_of(model, *exchange)});
    }
  };
  group.failed = [client](int status, const std::string& text) {
    client->send(refusal(status, text));
  };
  const std::uint64_t id = model.service.submit(std::move(group));
  client->on_leave([&model, id] { model.service.cancel(id); });
}

}  // namespace

MegatronRequest parse_megatron_request(const Fields& fields) {
  MegatronRequest request;
  read_prompts(fields, request);
  request.tokens =
      static_cast<Index>(std::min(1e15, read_number(fields, "tokens_to_generate", 64)));
  check(request.tokens >= 0, "tokens_to_generate must be an integer greater than or equal to 0");
  request.log_probs = read_flag(fields, "logprobs");
  check(request.tokens > 0 || request.log_probs,
        "tokens_to_generate=0 implies logprobs should be True");
  read_sampling(fields, request);
  request.add_bos = read_flag(fields, "add_BOS");
  const bool some_empty = std::ranges::find(request.prompts, "") != request.prompts.end();
  check(!some_empty || request.add_bos, "Empty prompts require add_BOS=true");
  request.stop_on_double_eol = read_flag(fields, "stop_on_double_eol");
  request.stop_on_eol = read_flag(fields, "stop_on_eol");
  request.prevent_newline_after_colon = read_flag(fields, "prevent_newline_after_colon");
  request.seeded = fields.kind("random_seed") != Kind::absent;
  const double seed = read_number(fields, "random_seed", 0);
  check(seed >= 0, "random_seed must be a positive integer");
  request.sampling.seed =
      request.seeded ? static_cast<std::uint64_t>(fields.integer("random_seed", 0)) : random_seed();
  read_flag(fields, "no_log");
  read_beams(fields, request);
  return request;
}

void check_megatron_completion(const Fields& fields) {
  check(fields.has("max_tokens"), "max_tokens is required");
  const bool generates = fields.integer("max_tokens", 0) > 0;
  check(generates || fields.boolean("echo", false),
        "echo=False not supported when tokens_to_generate == 0");
  check(fields.integer("best_of", 1) <= 1, "best_of > 1 not supported");
  check(fields.integer("n", 1) <= 1, "num_completions > 1 not supported");
  const Index top = fields.integer("logprobs", 0);
  check(top <= 0 || !generates, "cannot return top-k unless tokens_to_generate=0 at this time");
  check(top <= 10, "return_topk_logprobs > 10 not supported");
}

void answer_megatron(const ServedModel& model, const HttpRequest& request,
                     const std::shared_ptr<HttpAnswer>& client) {
  std::optional<Fields> fields;
  try {
    fields.emplace(Fields::parse(request.body));
  } catch (const RequestError& error) {
    // A body that cannot be read is answered by an object with a message, as by the reference; all
    // other refusals are JSON strings.
    client->send({400, Json{{"message", error.what()}}.dump()});
    return;
  }
  try {
    const MegatronRequest parsed = parse_megatron_request(*fields);
    (parsed.beam_width > 0 ? start_beams : start)(model, parsed, client);
  } catch (const RequestError& error) {
    client->send(refusal(error.status(), error.what()));
  }
}

}  // namespace mpitron::inference
