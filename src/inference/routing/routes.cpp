#include "inference/routing/routes.h"

#include <algorithm>
#include <array>

#include "inference/routing/information.h"

// Lists the server's targets, one row each: method, fields, and how it answers. Names of replies'
// fields are what the OpenAPI document promises.

namespace mpitron::inference {
namespace {

constexpr const char* kAnswerFields = "id object created model choices usage seed";
constexpr const char* kModelFields = "id object created owned_by parent max_model_len";

constexpr std::array kRoutes = {
    Route{.method = "GET",
          .path = "/",
          .summary = "a page to type into",
          .tell = show_page,
          .reply_type = "text/html"},
    Route{.method = "PUT",
          .path = "/api",
          .summary = "Megatron-LM's protocol: continues texts, also by beams",
          .protocol = Protocol::megatron,
          .fields = megatron_fields,
          .reply_fields = "text segments"},
    Route{.method = "POST",
          .path = "/completions",
          .summary = "as /v1/completions, with the checks of Megatron-LM's server",
          .protocol = Protocol::completion,
          .fields = completion_fields,
          .reply_fields = kAnswerFields},
    Route{.method = "POST",
          .path = "/v1/completions",
          .summary = "OpenAI's protocol: continues texts",
          .protocol = Protocol::completion,
          .fields = completion_fields,
          .reply_fields = kAnswerFields},
    Route{.method = "POST",
          .path = "/chat/completions",
          .summary = "as /v1/chat/completions",
          .protocol = Protocol::chat,
          .fields = chat_fields,
          .reply_fields = kAnswerFields},
    Route{.method = "POST",
          .path = "/v1/chat/completions",
          .summary = "OpenAI's protocol: answers conversations by the model's chat template",
          .protocol = Protocol::chat,
          .fields = chat_fields,
          .reply_fields = kAnswerFields},
    Route{.method = "GET",
          .path = "/v1/models",
          .summary = "the models that are served",
          .tell = tell_models,
          .reply_fields = "object data"},
    Route{.method = "GET",
          .path = "/models",
          .summary = "as /v1/models",
          .tell = tell_models,
          .reply_fields = "object data"},
    Route{.method = "GET",
          .path = "/v1/models/{id}",
          .summary = "one of them",
          .tell = tell_model,
          .reply_fields = kModelFields},
    Route{.method = "POST",
          .path = "/v1/load_lora_adapter",
          .summary = "an adapter becomes a model of its own name",
          .tell = load_adapter,
          .fields = load_adapter_fields,
          .reply_fields = kModelFields,
          .changes = true},
    Route{.method = "POST",
          .path = "/v1/unload_lora_adapter",
          .summary = "it is no more; answers on their way go on",
          .tell = unload_adapter,
          .fields = unload_adapter_fields,
          .reply_fields = kModelFields,
          .changes = true},
    Route{.method = "POST",
          .path = "/tokenize",
          .summary = "ids of a text or of a conversation",
          .tell = tokenize,
          .fields = tokenize_fields,
          .reply_fields = "tokens"},
    Route{.method = "POST",
          .path = "/detokenize",
          .summary = "the text of ids",
          .tell = detokenize,
          .fields = detokenize_fields,
          .reply_fields = "prompt"},
    Route{.method = "GET",
          .path = "/tokenizer_info",
          .summary = "the tokenizer's kind, special tokens and chat template",
          .tell = tell_tokenizer,
          .reply_fields = "tokenizer_class eos_token chat_template"},
    Route{.method = "GET",
          .path = "/health",
          .summary = "whether requests are taken",
          .tell = tell_health,
          .reply_fields = "status",
          .open = true},
    Route{.method = "GET",
          .path = "/ping",
          .summary = "as /health",
          .tell = tell_health,
          .reply_fields = "status",
          .open = true},
    Route{.method = "GET",
          .path = "/version",
          .summary = "of the program",
          .tell = tell_version,
          .reply_fields = "version"},
    Route{.method = "GET",
          .path = "/metrics",
          .summary = "counters and times for Prometheus",
          .tell = tell_metrics,
          .reply_type = "text/plain"},
    Route{.method = "GET",
          .path = "/openapi.json",
          .summary = "this description",
          .tell = tell_openapi,
          .reply_fields = "openapi info paths"}};

/// A path that ends in {id} leads to every target that begins like it and goes on.
bool leads_to(const Route& route, std::string_view target) {
  const std::string_view path = route.path;
  const std::size_t open = path.find('{');
  return open == std::string_view::npos
             ? target == path
             : target.size() > open && target.starts_with(path.substr(0, open));
}

}  // namespace

std::span<const Route> routes() {
  return kRoutes;
}

const Route* find_route(std::string_view target) {
  const auto found =
      std::ranges::find_if(kRoutes, [&](const Route& route) { return leads_to(route, target); });
  return found == kRoutes.end() ? nullptr : &*found;
}

}  // namespace mpitron::inference
