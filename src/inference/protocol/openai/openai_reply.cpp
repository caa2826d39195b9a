#include "inference/protocol/openai/openai_reply.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "utils/text/utf8.h"

// Answers in OpenAI's JSON. A stream sends parts as they come and must never take anything back, so
// text that may still become a stop text or a tool call is held back until it is decided.

namespace mpitron::inference {
namespace {

using Json = nlohmann::ordered_json;

/// Counts Unicode characters: every byte of UTF-8 but those that continue one. Offsets in replies
/// count these.
std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u; }));
}

Json finish_reason(const Answer& answer) {
  switch (answer.finish) {
    case FinishReason::stop:
      return "stop";
    case FinishReason::length:
      return "length";
    case FinishReason::no_token:
      return "error";
    default:
      return nullptr;
  }
}

Json stop_reason(const Answer& answer, TokenId eod) {
  if (!answer.stop_text.empty()) {
    return answer.stop_text;
  }
  if (answer.finish == FinishReason::no_token) {
    return "no token of the vocabulary goes on with what the answer is held to";
  }
  return answer.stop_id >= 0 && answer.stop_id != eod ? Json(answer.stop_id) : Json(nullptr);
}

/// Names a token in lists: by its text, or by its id, since two ids may have the same text.
std::string name_of(const ServedModel& model, TokenId id, bool by_id) {
  return by_id ? "token_id:" + std::to_string(id) : model.token_text(id);
}

/// Lists of /v1/completions, filled token by token.
struct CompletionLists {
  const ServedModel& model;
  bool by_id;
  Json tokens = Json::array(), values = Json::array(), top = Json::array(), offsets = Json::array();

  void add(TokenId id, const TokenLogProbs* log_probs, std::size_t offset) {
    const std::string text = name_of(model, id, by_id);
    tokens.push_back(text);
    offsets.push_back(offset);
    if (log_probs == nullptr) {
      values.push_back(nullptr);
      top.push_back(nullptr);
      return;
    }
    Json likeliest = Json::object();
    for (const TokenLogProb& each : log_probs->top) {
      const std::string name = name_of(model, each.id, by_id);
      if (!likeliest.contains(name)) {  // the larger value stays
        likeliest[name] = shortest(each.value);
      }
    }
    if (!likeliest.contains(text)) {
      likeliest[text] = shortest(log_probs->token.value);
    }
    values.push_back(shortest(log_probs->token.value));
    top.push_back(likeliest);
  }

  Json json() const {
    return {{"tokens", tokens},
            {"token_logprobs", values},
            {"top_logprobs", top},
            {"text_offset", offsets}};
  }
};

Json chat_token(const ServedModel& model, const TokenLogProb& token, bool by_id) {
  const std::string bytes = model.tokenizer.decode(std::span(&token.id, 1));
  Json values = Json::array();
  for (const char byte : bytes) {
    values.push_back(static_cast<unsigned char>(byte));
  }
  return {{"token", name_of(model, token.id, by_id)},
          {"logprob", shortest(token.value)},
          {"bytes", values}};
}

/// Lists the log-probabilities of an answer's tokens from `from` on, in the form of chats.
Json chat_log_probs(const ServedModel& model, const OpenAiRequest& request, const Answer& answer,
                    std::size_t from) {
  Json content = Json::array();
  for (std::size_t i = from; i < answer.log_probs.size(); ++i) {
    Json entry = chat_token(model, answer.log_probs[i].token, request.names_ids);
    entry["top_logprobs"] = Json::array();
    for (const TokenLogProb& each : answer.log_probs[i].top) {
      entry["top_logprobs"].push_back(chat_token(model, each, request.names_ids));
    }
    content.push_back(entry);
  }
  return {{"content", content}, {"refusal", nullptr}};
}

/// Lists the log-probabilities of a completion from token `from` on. With `echo` the prompt's
/// tokens come first, once; the first of them has none, as nothing stands before it.
Json completion_log_probs(const ServedModel& model, const OpenAiRequest& request,
                          const Answer& answer, std::size_t index, std::size_t from) {
  CompletionLists lists{model, request.names_ids};
  const std::size_t prompt = index / static_cast<std::size_t>(request.best_of);
  std::size_t before = 0;
  if (request.echo) {
    before = characters(request.prompt_texts[prompt]);
    const std::vector<std::string> pieces =
        from == 0 ? model.segments(request.prompts[prompt]) : std::vector<std::string>();
    std::size_t offset = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const bool known = i > 0 && i <= answer.prompt_log_probs.size();
      lists.add(request.prompts[prompt][i], known ? &answer.prompt_log_probs[i - 1] : nullptr,
                offset);
      offset += characters(pieces[i]);
    }
  }
  for (std::size_t i = from; i < answer.log_probs.size(); ++i) {
    const std::size_t bytes = std::min(answer.offsets[i], answer.text.size());
    lists.add(answer.tokens[i], &answer.log_probs[i],
              before + characters(std::string_view(answer.text).substr(0, bytes)));
  }
  return lists.json();
}

/// Counts tokens for billing: a prompt counts once, however many answers it has.
Json usage_of(const OpenAiRequest& request, const std::vector<Answer>& answers) {
  std::size_t prompt = 0, completion = 0;
  Index cached = 0;
  for (const TokenIds& ids : request.prompts) {
    prompt += ids.size();
  }
  for (std::size_t i = 0; i < answers.size(); ++i) {
    completion += answers[i].tokens.size();
    cached += i % static_cast<std::size_t>(request.best_of) == 0 ? answers[i].cached_tokens : 0;
  }
  return {{"prompt_tokens", prompt},
          {"completion_tokens", completion},
          {"total_tokens", prompt + completion},
          {"prompt_tokens_details", {{"cached_tokens", cached}}}};
}

/// Measures how good an answer is for `best_of`: the mean over its tokens, so that long answers are
/// not at a disadvantage.
double mean_log_prob(const Answer& answer) {
  double sum = 0;
  for (const TokenLogProbs& each : answer.log_probs) {
    sum += static_cast<double>(each.token.value);
  }
  return answer.log_probs.empty() ? 0 : sum / static_cast<double>(answer.log_probs.size());
}

/// An entry of `tool_calls`; `place`: the answer's in the reply.
Json call_json(const ToolCall& call, const std::string& id, std::size_t place, std::size_t number) {
  return {{"id", fmt::format("call_{}_{}_{}", id.substr(id.find('-') + 1), place, number)},
          {"type", "function"},
          {"function", {{"name", call.name}, {"arguments", call.arguments}}}};
}

/// The message of a whole answer, whose calls are no text.
Json message_of(const OpenAiRequest& request, const Answer& answer, const std::string& id,
                std::size_t place) {
  const CalledText parts = request.tools.read(answer.text);
  Json message = {{"role", "assistant"}, {"content", parts.text}, {"refusal", nullptr}};
  if (!parts.calls.empty()) {
    message["content"] = parts.text.empty() ? Json(nullptr) : Json(parts.text);
    for (std::size_t i = 0; i < parts.calls.size(); ++i) {
      message["tool_calls"].push_back(call_json(parts.calls[i], id, place, i));
    }
  }
  return message;
}

/// The fields that every reply and event of a request begins with.
Json frame(const OpenAiRequest& request, const std::string& id, std::int64_t created) {
  const char* chat = request.stream ? "chat.completion.chunk" : "chat.completion";
  return {{"id", id},
          {"object", request.chat ? chat : "text_completion"},
          {"created", created},
          {"model", request.model},
          {"choices", Json::array()}};
}

}  // namespace

OpenAiReply::OpenAiReply(const ServedModel& model, OpenAiRequest request, std::string id,
                         std::int64_t created)
    : model_(model), request_(std::move(request)), id_(std::move(id)), created_(created) {
  unfinished_ = request_.prompts.size() * static_cast<std::size_t>(request_.best_of);
  answers_.resize(unfinished_);
  sent_.resize(unfinished_);
  constexpr std::string_view kChoices = "\"choices\":[";  // in no text: quotes of texts are escaped
  Json event = frame(request_, id_, created_);
  if (request_.include_usage) {
    event["usage"] = nullptr;
  }
  const std::string text = dump(event);
  before_choice_ = text.substr(0, text.find(kChoices) + kChoices.size());
  behind_choice_ = text.substr(before_choice_.size());
}

std::string OpenAiReply::event_of(const Json& choice) const {
  return before_choice_ + dump(choice) + behind_choice_;
}

std::vector<std::string> OpenAiReply::update(std::size_t index, const Answer& answer) {
  const bool finished = answer.finish != FinishReason::none;
  unfinished_ -= finished;
  if (!request_.stream) {
    if (finished) {
      answers_[index] = answer;
    }
    return {};
  }
  if (finished) {
    answers_[index] = answer;
  }
  Sent& sent = sent_[index];
  std::vector<ToolCall> calls;
  if (finished) {
    calls = request_.tools.read(answer.text).calls;
  }
  // What may be sent ends before text that could still become a stop text, and before a call of a
  // tool that has begun; the end of the answer decides both.
  const std::size_t whole =
      finished && calls.empty()
          ? answer.settled
          : std::min(answer.settled, text_before_calls(request_.tools.format, answer.text));
  const std::size_t end = std::max(whole, sent.bytes);
  if (!finished && end == sent.bytes) {
    return {};
  }
  std::string text = answer.text.substr(sent.bytes, end - sent.bytes);
  if (request_.echo && sent.tokens == 0) {
    text.insert(0, request_.prompt_texts[index / static_cast<std::size_t>(request_.best_of)]);
  }
  const Json choice =
      request_.chat ? chat_part(index, answer, text, calls) : completion_part(index, answer, text);
  sent = {end, answer.tokens.size()};
  return {event_of(choice)};
}

nlohmann::ordered_json OpenAiReply::chat_part(std::size_t index, const Answer& answer,
                                              const std::string& text,
                                              const std::vector<ToolCall>& calls) const {
  Json choice = {{"index", index}, {"delta", Json::object()}};
  if (!text.empty()) {
    choice["delta"]["content"] = text;
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    Json call = call_json(calls[i], id_, index, i);
    call["index"] = i;
    choice["delta"]["tool_calls"].push_back(call);
  }
  choice["logprobs"] = request_.lists_log_probs()
                           ? chat_log_probs(model_, request_, answer, sent_[index].tokens)
                           : Json(nullptr);
  end_part(choice, answer, !calls.empty());
  return choice;
}

nlohmann::ordered_json OpenAiReply::completion_part(std::size_t index, const Answer& answer,
                                                    const std::string& text) const {
  Json choice = {{"index", index}, {"text", text}};
  choice["logprobs"] = request_.lists_log_probs() ? completion_log_probs(model_, request_, answer,
                                                                         index, sent_[index].tokens)
                                                  : Json(nullptr);
  end_part(choice, answer, false);
  return choice;
}

void OpenAiReply::end_part(nlohmann::ordered_json& choice, const Answer& answer, bool calls) const {
  choice["finish_reason"] = calls ? Json("tool_calls") : finish_reason(answer);
  if (answer.finish != FinishReason::none || !request_.stream) {
    choice["stop_reason"] = stop_reason(answer, model_.tokenizer.eod());
  }
}

std::vector<std::size_t> OpenAiReply::best(std::size_t prompt) const {
  std::vector<std::size_t> order;
  for (Index i = 0; i < request_.best_of; ++i) {
    order.push_back(prompt * static_cast<std::size_t>(request_.best_of) +
                    static_cast<std::size_t>(i));
  }
  if (request_.best_of > request_.n) {
    std::ranges::stable_sort(order, std::greater<>(),
                             [&](std::size_t i) { return mean_log_prob(answers_[i]); });
  }
  order.resize(static_cast<std::size_t>(request_.n));
  return order;
}

std::string OpenAiReply::whole() const {
  Json reply = frame(request_, id_, created_);
  for (std::size_t prompt = 0; prompt < request_.prompts.size(); ++prompt) {
    for (const std::size_t i : best(prompt)) {
      const Answer& answer = answers_[i];
      Json choice = {{"index", reply["choices"].size()}};
      const bool lists = request_.lists_log_probs();
      bool calls = false;
      if (request_.chat) {
        choice["message"] = message_of(request_, answer, id_, choice["index"].get<std::size_t>());
        calls = choice["message"].contains("tool_calls");
        choice["logprobs"] = lists ? chat_log_probs(model_, request_, answer, 0) : Json(nullptr);
      } else {
        choice["text"] = request_.echo ? request_.prompt_texts[prompt] + answer.text : answer.text;
        choice["logprobs"] =
            lists ? completion_log_probs(model_, request_, answer, i, 0) : Json(nullptr);
      }
      end_part(choice, answer, calls);
      reply["choices"].push_back(choice);
    }
  }
  reply["usage"] = usage_of(request_, answers_);
  reply["seed"] = request_.generation.sampling.seed;
  return dump(reply);
}

std::vector<std::string> OpenAiReply::first_events() const {
  std::vector<std::string> events;
  // A chat's stream begins with one event per answer that names the role, as OpenAI's does.
  for (std::size_t i = 0; i < answers_.size() && request_.chat; ++i) {
    Json event = frame(request_, id_, created_);
    event["choices"].push_back({{"index", i},
                                {"delta", {{"role", "assistant"}, {"content", ""}}},
                                {"logprobs", nullptr},
                                {"finish_reason", nullptr}});
    events.push_back(dump(event));
  }
  return events;
}

std::vector<std::string> OpenAiReply::last_events() const {
  if (!request_.include_usage) {
    return {};
  }
  Json event = frame(request_, id_, created_);
  event["usage"] = usage_of(request_, answers_);
  event["seed"] = request_.generation.sampling.seed;
  return {dump(event)};
}

std::string openai_error(const RequestError& error) {
  const char* type = error.status() >= 500   ? "server_error"
                     : error.status() == 401 ? "authentication_error"
                                             : "invalid_request_error";
  const auto or_null = [](const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
  };
  return dump({{"error",
                {{"message", error.what()},
                 {"type", type},
                 {"param", or_null(error.field())},
                 {"code", or_null(error.code())}}}});
}

}  // namespace mpitron::inference
