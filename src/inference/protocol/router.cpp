#include "inference/protocol/router.h"

#include <chrono>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "inference/protocol/megatron_api.h"
#include "inference/protocol/openai_reply.h"
#include "utils/error.h"

namespace mpitron::inference {
namespace {

using Json = nlohmann::ordered_json;

Json description(const ServedModel& model) {
  return {{"id", model.name},
          {"object", "model"},
          {"created", model.created},
          {"owned_by", "mpitron"},
          {"root", model.name},
          {"parent", nullptr},
          {"max_model_len", model.shape.max_positions}};
}

std::string metrics(const ServedModel& model) {
  const ServiceStats stats = model.service.stats();
  std::string text;
  const auto add = [&](const char* name, const char* type, const char* help, Index value) {
    text += fmt::format("# HELP mpitron_{0} {2}\n# TYPE mpitron_{0} {1}\nmpitron_{0} {3}\n", name,
                        type, help, value);
  };
  add("requests_running", "gauge", "answers in the batch", stats.running);
  add("requests_waiting", "gauge", "answers that wait for a place", stats.waiting);
  add("requests_preempted_total", "counter", "answers that gave their blocks back",
      stats.preemptions);
  add("prompt_tokens_total", "counter", "tokens of prompts", stats.prompt_tokens);
  add("generation_tokens_total", "counter", "tokens of answers", stats.generated_tokens);
  add("cached_tokens_total", "counter", "tokens of prompts found in the cache",
      stats.cached_tokens);
  add("requests_finished_total", "counter", "requests answered", stats.finished_groups);
  add("requests_cancelled_total", "counter", "requests whose client left", stats.cancelled_groups);
  add("cache_blocks", "gauge", "blocks of the cache", stats.blocks);
  add("cache_blocks_free", "gauge", "blocks that nobody uses", stats.blocks_free);
  return text;
}

std::string tokenize(const ServedModel& model, const Fields& fields) {
  const bool content = fields.has("content");
  const TokenIds ids =
      fields.has("messages")
          ? model.chat_prompt(fields)
          : model.tokenizer.encode(fields.text(content ? "content" : "prompt", ""));
  if (content) {
    return dump({{"tokens", ids}});
  }
  Json reply = {
      {"count", ids.size()}, {"max_model_len", model.shape.max_positions}, {"tokens", ids}};
  if (fields.boolean("return_token_strs", false)) {
    reply["token_strs"] = Json::array();
    for (const TokenId id : ids) {
      reply["token_strs"].push_back(model.token_text(id));
    }
  }
  return dump(reply);
}

std::string detokenize(const ServedModel& model, const Fields& fields) {
  const TokenIds ids = fields.ids("tokens");
  for (const TokenId id : ids) {
    if (id >= model.tokenizer.vocab_size()) {
      throw RequestError(400,
                         fmt::format("tokens has the id {}; ids are 0 to {}", id,
                                     model.tokenizer.vocab_size() - 1),
                         "tokens");
    }
  }
  const std::string text = model.tokenizer.decode(ids);
  return dump({{"prompt", text}, {"content", text}});
}

std::string tokenizer_info(const ServedModel& model) {
  const auto special = model.tokenizer.special_ids();
  const auto text = [&](std::optional<TokenId> id) {
    return id ? Json(model.token_text(*id)) : Json(nullptr);
  };
  return dump({{"tokenizer_class", model.tokenizer.name()},
               {"bos_token", text(special.bos)},
               {"eos_token", text(model.tokenizer.eod())},
               {"pad_token", text(special.pad)},
               {"chat_template", model.chat ? Json(model.chat->source()) : Json(nullptr)}});
}

constexpr const char* kPage = R"(<!doctype html><meta charset="utf-8"><title>mpitron</title>
<style>body{font:16px sans-serif;max-width:50em;margin:2em auto}textarea{width:100%}
#out{white-space:pre-wrap;border:1px solid #ccc;padding:.5em;min-height:6em}</style>
<h1>mpitron</h1><textarea id="prompt" rows="6" aria-label="Prompt"></textarea>
<p><label>Tokens <input id="tokens" type="number" value="64" min="1"></label>
<label>Temperature <input id="heat" type="number" value="0.8" min="0" max="2" step="0.1"></label>
<button id="go">Generate</button></p><div id="out" aria-live="polite"></div>
<script>
const $ = id => document.getElementById(id);
$("go").onclick = async () => {
  $("out").textContent = $("prompt").value;
  const reply = await fetch("/v1/completions", {method: "POST", body: JSON.stringify(
    {prompt: $("prompt").value, max_tokens: +$("tokens").value, temperature: +$("heat").value,
     stream: true})});
  if (!reply.ok) { $("out").textContent = (await reply.json()).error.message; return; }
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let part; !(part = await reader.read()).done;) {
    const lines = (rest + part.value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (line.startsWith("data: {")) {
        for (const c of JSON.parse(line.slice(6)).choices) $("out").textContent += c.text;
      }
    }
  }
};
</script>
)";

/// Targets and the methods they take, for what is no such method.
const std::map<std::string, std::string, std::less<>>& methods() {
  static const std::map<std::string, std::string, std::less<>> all = {
      {"/", "GET"},
      {"/api", "PUT"},
      {"/completions", "POST"},
      {"/chat/completions", "POST"},
      {"/v1/completions", "POST"},
      {"/v1/chat/completions", "POST"},
      {"/v1/models", "GET"},
      {"/models", "GET"},
      {"/health", "GET"},
      {"/ping", "GET"},
      {"/version", "GET"},
      {"/metrics", "GET"},
      {"/tokenize", "POST"},
      {"/detokenize", "POST"},
      {"/tokenizer_info", "GET"}};
  return all;
}

/// In a time that does not tell how much of it fits.
bool same_secret(std::string_view given, std::string_view wanted) {
  unsigned different = given.size() != wanted.size();
  for (std::size_t i = 0; i < given.size(); ++i) {
    different |= static_cast<unsigned char>(given[i] ^ wanted[i % wanted.size()]);
  }
  return different == 0;
}

}  // namespace

void Router::answer(const HttpRequest& request, const Client& client) {
  try {
    route(request, client);
  } catch (const RequestError& error) {
    HttpReply reply{error.status(), openai_error(error)};
    if (error.status() == 429) {
      reply.headers.emplace_back("Retry-After", "1");
    }
    client->send(std::move(reply));
  } catch (const Error& error) {  // of the tokenizer
    client->send({400, openai_error(RequestError(400, error.what()))});
  }
}

void Router::route(const HttpRequest& request, const Client& client) {
  const std::string& target = request.target;
  const bool is_model = target.starts_with("/v1/models/");
  const auto known = methods().find(target);
  if (known == methods().end() && !is_model) {
    throw RequestError(404, fmt::format("there is no {}", target));
  }
  const std::string& method = is_model ? methods().at("/v1/models") : known->second;
  if (request.method != method && !(request.method == "HEAD" && method == "GET")) {
    throw RequestError(405, fmt::format("{} takes {}", target, method));
  }
  const bool open = target == "/health" || target == "/ping";
  if (!api_key_.empty() && !open && !same_secret(request.authorization, "Bearer " + api_key_)) {
    throw RequestError(401, "the API key is missing or wrong");
  }
  const bool generates = target == "/api" || target.ends_with("completions");
  if (stopping_ && (generates || open)) {
    throw RequestError(503, "the server is stopping");
  }
  if (generates && model_.service.open_groups() >= model_.max_waiting) {
    throw RequestError(429, fmt::format("{} requests are open already", model_.max_waiting));
  }
  if (target == "/api") {
    answer_megatron(model_, request, client);
  } else if (generates) {
    complete(request, target.ends_with("chat/completions"), client);
  } else {
    client->send(tell(request));
  }
}

HttpReply Router::tell(const HttpRequest& request) const {
  const std::string& target = request.target;
  if (target == "/health" || target == "/ping") {
    return {200, R"({"status": "ok"})"};
  }
  if (target == "/version") {
    return {200, dump({{"version", model_.version}})};
  }
  if (target == "/metrics") {
    return {200, metrics(model_), "text/plain; version=0.0.4; charset=utf-8"};
  }
  if (target == "/") {
    return {200, kPage, "text/html; charset=utf-8"};
  }
  if (target == "/tokenize") {
    return {200, tokenize(model_, Fields::parse(request.body))};
  }
  if (target == "/detokenize") {
    return {200, detokenize(model_, Fields::parse(request.body))};
  }
  if (target == "/tokenizer_info") {
    return {200, tokenizer_info(model_)};
  }
  if (target == "/v1/models" || target == "/models") {
    return {200, dump({{"object", "list"}, {"data", Json::array({description(model_)})}})};
  }
  if (target.substr(std::string_view("/v1/models/").size()) != model_.name) {
    throw RequestError(
        404, fmt::format("there is no model {}; there is {}", target.substr(11), model_.name),
        "model", "model_not_found");
  }
  return {200, dump(description(model_))};
}

void Router::complete(const HttpRequest& request, bool chat, const Client& client) {
  const Fields fields = Fields::parse(request.body);
  if (request.target == "/completions") {
    check_megatron_completion(fields);
  }
  OpenAiRequest parsed = chat ? parse_chat(model_, fields) : parse_completion(model_, fields);
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(
      std::chrono::system_clock::now().time_since_epoch());
  const std::string id = fmt::format("{}-{:016x}{:08x}", chat ? "chatcmpl" : "cmpl",
                                     parsed.generation.sampling.seed, next_++);
  const bool stream = parsed.stream;
  AnswerGroup group{.requests = parsed.answers(), .answered = {}, .failed = {}};
  auto reply = std::make_shared<OpenAiReply>(model_, std::move(parsed), id, now.count());
  const auto send_events = [client](const std::vector<std::string>& events) {
    for (const std::string& event : events) {
      client->event(event);
    }
  };
  if (stream) {
    client->begin_events();
    send_events(reply->first_events());
  }
  group.answered = [=](std::size_t index, const Answer& answer) {
    send_events(reply->update(index, answer));
    if (reply->complete() && stream) {
      send_events(reply->last_events());
      client->event("[DONE]");
      client->end_events();
    } else if (reply->complete()) {
      client->send({200, reply->whole()});
    }
  };
  group.failed = [=](int status, const std::string& text) {
    const std::string error = openai_error(RequestError(status, text));
    if (stream) {
      client->event(error);
      client->end_events();
    } else {
      client->send({status, error});
    }
  };
  const std::uint64_t number = model_.service.submit(std::move(group));
  client->on_leave([this, number] { model_.service.cancel(number); });
}

}  // namespace mpitron::inference
