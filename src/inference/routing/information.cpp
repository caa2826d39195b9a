#include "inference/routing/information.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "inference/protocol/fields.h"
#include "inference/protocol/metrics.h"

// Replies that need no generation: health, version, models, metrics, tokenisation.

namespace mpitron::inference {
namespace {

using Json = nlohmann::ordered_json;

/// Describes a model in the form of OpenAI's /v1/models, with vLLM's `max_model_len`.
Json description(const ServedModel& model) {
  return {{"id", model.name},
          {"object", "model"},
          {"created", model.created},
          {"owned_by", "mpitron"},
          {"root", model.name},
          {"parent", nullptr},
          {"max_model_len", model.shape.max_positions}};
}

Json description(const ServedModel& model, const ServedAdapter& adapter) {
  // Every adapter is listed beside the model, with the model as its parent, as vLLM lists them.
  Json json = description(model);
  json["id"] = adapter.name;
  json["created"] = adapter.created;
  json["root"] = adapter.folder;
  json["parent"] = model.name;
  return json;
}

HttpReply json_reply(const Json& json) {
  return {200, dump(json)};
}

}  // namespace

HttpReply tell_health(const ServedModel& /*model*/, const HttpRequest& /*request*/) {
  return json_reply({{"status", "ok"}});
}

HttpReply tell_version(const ServedModel& model, const HttpRequest& /*request*/) {
  return json_reply({{"version", model.version}});
}

HttpReply tell_metrics(const ServedModel& model, const HttpRequest& /*request*/) {
  return {200, metrics(model), "text/plain; version=0.0.4; charset=utf-8"};
}

HttpReply tell_models(const ServedModel& model, const HttpRequest& /*request*/) {
  Json all = Json::array({description(model)});
  for (const ServedAdapter& adapter : model.adapters->all()) {
    all.push_back(description(model, adapter));
  }
  return json_reply({{"object", "list"}, {"data", all}});
}

/// Finds the model that the target's last part names; RequestError(404) with the names that exist.
HttpReply tell_model(const ServedModel& model, const HttpRequest& request) {
  const std::string name = request.target.substr(request.target.rfind("/models/") + 8);
  if (const auto adapter = model.adapters->find(name)) {
    return json_reply(description(model, *adapter));
  }
  if (name != model.name) {
    throw model.no_model(name);
  }
  return json_reply(description(model));
}

HttpReply load_adapter(const ServedModel& model, const HttpRequest& request) {
  const Fields fields = Fields::parse(request.body, load_adapter_fields());
  const std::string name = fields.text("lora_name", "");
  if (name == model.name) {
    throw RequestError(400, fmt::format("{} is the name of the model itself", name), "lora_name");
  }
  return json_reply(description(model, model.adapters->load(name, fields.text("lora_path", ""))));
}

HttpReply unload_adapter(const ServedModel& model, const HttpRequest& request) {
  const Fields fields = Fields::parse(request.body, unload_adapter_fields());
  return json_reply(description(model, model.adapters->unload(fields.text("lora_name", ""))));
}

HttpReply tokenize(const ServedModel& model, const HttpRequest& request) {
  const Fields fields = Fields::parse(request.body, tokenize_fields());
  const bool content = fields.has("content");
  std::vector<PromptImage> images;
  const TokenIds ids =
      fields.has("messages")
          ? model.chat_prompt(fields, images)
          : model.tokenizer.encode(fields.text(content ? "content" : "prompt", ""));
  if (content) {
    return json_reply({{"tokens", ids}});
  }
  Json reply = {
      {"count", ids.size()}, {"max_model_len", model.shape.max_positions}, {"tokens", ids}};
  if (fields.boolean("return_token_strs", false)) {
    reply["token_strs"] = Json::array();
    for (const TokenId id : ids) {
      reply["token_strs"].push_back(model.token_text(id));
    }
  }
  return json_reply(reply);
}

HttpReply detokenize(const ServedModel& model, const HttpRequest& request) {
  const TokenIds ids = Fields::parse(request.body, detokenize_fields()).ids("tokens");
  for (const TokenId id : ids) {
    if (id >= model.tokenizer.vocab_size()) {
      throw RequestError(400,
                         fmt::format("tokens has the id {}; ids are 0 to {}", id,
                                     model.tokenizer.vocab_size() - 1),
                         "tokens");
    }
  }
  const std::string text = model.tokenizer.decode(ids);
  return json_reply({{"prompt", text}, {"content", text}});
}

HttpReply tell_tokenizer(const ServedModel& model, const HttpRequest& /*request*/) {
  const auto special = model.tokenizer.special_ids();
  const auto text = [&](std::optional<TokenId> id) {
    return id ? Json(model.token_text(*id)) : Json(nullptr);
  };
  return json_reply({{"tokenizer_class", model.tokenizer.name()},
                     {"bos_token", text(special.bos)},
                     {"eos_token", text(model.tokenizer.eod())},
                     {"pad_token", text(special.pad)},
                     {"chat_template", model.chat ? Json(model.chat->source()) : Json(nullptr)}});
}

}  // namespace mpitron::inference
