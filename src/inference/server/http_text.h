#pragma once
#include "inference/protocol/http_exchange.h"

namespace mpitron::inference {

/// Writes the first lines of a reply in HTTP/1.1, up to `Connection`; its other headers follow.
std::string head_text(int status, std::string_view type, bool keep_alive);

/// Writes a whole reply; without its body where HEAD asked for it.
std::string reply_text(const HttpReply& reply, bool keep_alive, bool with_body);

/// Makes a reply of the server itself, which no handler has made; 503 says when to come again.
HttpReply refusal(int status, const std::string& text);

}  // namespace mpitron::inference
