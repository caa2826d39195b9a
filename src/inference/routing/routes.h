#pragma once
#include <span>

#include "inference/protocol/fields.h"
#include "inference/protocol/http_exchange.h"
#include "inference/protocol/served_model.h"

namespace mpitron::inference {

/// How a route answers with the model; `none`: at once, by `tell`.
enum class Protocol { none, megatron, completion, chat };

/// A target, the fields it takes and the reply it gives. The router goes by these rows, and the
/// OpenAPI document is made of them.
struct Route {
  const char* method;
  const char* path;  // "{id}" at its end: anything
  const char* summary;
  Protocol protocol = Protocol::none;
  HttpReply (*tell)(const ServedModel&, const HttpRequest&) = nullptr;
  FieldRules (*fields)() = nullptr;  // of the body
  const char* reply_fields = "";     // that every JSON reply has, separated by blanks
  const char* reply_type = "application/json";
  bool open = false;  // without an API key
  bool changes =
      false;  // what is served: `tell` runs on the engine's thread, and only where allowed
};

std::span<const Route> routes();

/// The route of a target; null where there is none.
const Route* find_route(std::string_view target);

}  // namespace mpitron::inference
