#pragma once
#include "inference/protocol/http_exchange.h"
#include "inference/protocol/served_model.h"

namespace mpitron::inference {

// Handlers of the routes that need no answer of the model. Each returns the reply, and throws
// RequestError for what is not allowed.
HttpReply tell_health(const ServedModel& model, const HttpRequest& request);
HttpReply tell_version(const ServedModel& model, const HttpRequest& request);
HttpReply tell_metrics(const ServedModel& model, const HttpRequest& request);
HttpReply tell_models(const ServedModel& model, const HttpRequest& request);
HttpReply tell_model(const ServedModel& model, const HttpRequest& request);
/// Loads an adapter from a folder of the server's machine, or takes one away; the reply describes
/// it. Both run on the engine's thread.
HttpReply load_adapter(const ServedModel& model, const HttpRequest& request);
HttpReply unload_adapter(const ServedModel& model, const HttpRequest& request);
/// The server described in OpenAPI 3.1, as JSON: every route, every field with its type and range,
/// every status.
HttpReply tell_openapi(const ServedModel& model, const HttpRequest& request);
HttpReply tell_tokenizer(const ServedModel& model, const HttpRequest& request);
HttpReply tokenize(const ServedModel& model, const HttpRequest& request);
HttpReply detokenize(const ServedModel& model, const HttpRequest& request);
/// The page to type into: one file, which asks nobody but its own server.
HttpReply show_page(const ServedModel& model, const HttpRequest& request);

}  // namespace mpitron::inference
