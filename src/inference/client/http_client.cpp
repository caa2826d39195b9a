#include "inference/client/http_client.h"

#include <array>
#include <limits>

#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "utils/error.h"

// One request over one connection, with Boost's Beast. Reading stops where the server ends the
// body; a stream's bytes are handed on as they come.

namespace mpitron::inference {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using boost::asio::ip::tcp;

http::request<http::string_body> message_of(const HttpAddress& address,
                                            const HttpRequest& request) {
  http::request<http::string_body> message;
  message.method_string(request.method);
  message.target(request.target);
  message.version(11);
  message.set(http::field::host, address.host + ":" + address.port);
  message.set(http::field::connection, "close");
  if (!request.authorization.empty()) {
    message.set(http::field::authorization, request.authorization);
  }
  if (!request.body.empty()) {
    message.set(http::field::content_type, "application/json");
  }
  message.body() = request.body;
  message.prepare_payload();
  return message;
}

/// Reads an answer's head, then its body piece by piece.
int read_answer(beast::tcp_stream& stream,
                const std::function<void(int, std::string_view)>& hears) {
  beast::flat_buffer buffer;
  http::response_parser<http::buffer_body> parser;
  parser.body_limit(std::numeric_limits<std::uint64_t>::max());  // none is 0 in Boost 1.74
  http::read_header(stream, buffer, parser);
  const int status = static_cast<int>(parser.get().result_int());
  std::array<char, 8192> piece;
  while (!parser.is_done()) {
    auto& body = parser.get().body();
    body.data = piece.data();
    body.size = piece.size();
    boost::system::error_code error;
    http::read_some(stream, buffer, parser, error);
    if (error && error != http::error::need_buffer) {
      throw boost::system::system_error(error);
    }
    hears(status, {piece.data(), piece.size() - body.size});
  }
  return status;
}

}  // namespace

HttpAddress HttpAddress::parse(const std::string& text) {
  const std::string scheme = "http://";
  std::string rest = text.starts_with(scheme) ? text.substr(scheme.size()) : text;
  rest = rest.substr(0, rest.find('/'));
  const std::size_t colon = rest.rfind(':');
  if (text.starts_with("https://")) {
    throw_usage("{}: there is no TLS here; give HOST:PORT of a server without it", text);
  }
  if (colon == std::string::npos || colon == 0 ||
      rest.find_first_not_of("0123456789", colon + 1) != std::string::npos ||
      colon + 1 == rest.size()) {
    throw_usage("{}: where the server is must be HOST:PORT, for example 127.0.0.1:5000", text);
  }
  return {rest.substr(0, colon), rest.substr(colon + 1)};
}

int ask_http(const HttpAddress& address, const HttpRequest& request,
             const std::function<void(int, std::string_view)>& hears) {
  try {
    boost::asio::io_context context;
    beast::tcp_stream stream(context);
    stream.connect(tcp::resolver(context).resolve(address.host, address.port));
    http::write(stream, message_of(address, request));
    return read_answer(stream, hears);
  } catch (const boost::system::system_error& error) {
    throw_environment(
        "{}:{}: no answer: {}. `mpitron serve` starts a server and prints where it is.",
        address.host, address.port, error.code().message());
  }
}

}  // namespace mpitron::inference
