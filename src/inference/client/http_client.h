#pragma once
#include "inference/protocol/http_exchange.h"

namespace mpitron::inference {

/// Address at which a server listens.
struct HttpAddress {
  std::string host;
  std::string port;

  /// Parses "HOST:PORT", also behind "http://" and before a slash. Error(usage) for anything else.
  static HttpAddress parse(const std::string& text);
};

/// Asks a server once, over a connection of its own, and waits for the whole answer. `hears` gets
/// the body's bytes as they come. Returns the status. Error(environment) where nobody listens or
/// the answer breaks off.
int ask_http(const HttpAddress& address, const HttpRequest& request,
             const std::function<void(int status, std::string_view bytes)>& hears);

}  // namespace mpitron::inference
