#pragma once
#include "inference/protocol/http_exchange.h"
#include "inference/protocol/served_model.h"

namespace mpitron::inference {

/// The server described in OpenAPI 3.1, as JSON: every route, every field with its type and range,
/// every status.
HttpReply tell_openapi(const ServedModel& model, const HttpRequest& request);

}  // namespace mpitron::inference
