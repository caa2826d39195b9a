#include "inference/server/http_text.h"

#include <boost/beast/http/status.hpp>
#include <fmt/format.h>

#include "inference/protocol/openai/openai_reply.h"

namespace mpitron::inference {

std::string head_text(int status, std::string_view type, bool keep_alive) {
  namespace http = boost::beast::http;
  return fmt::format(
      "HTTP/1.1 {} {}\r\nServer: mpitron\r\nContent-Type: {}\r\nConnection: {}\r\n", status,
      http::obsolete_reason(http::int_to_status(static_cast<unsigned>(status))).to_string(), type,
      keep_alive ? "keep-alive" : "close");
}

std::string reply_text(const HttpReply& reply, bool keep_alive, bool with_body) {
  std::string text = head_text(reply.status, reply.type, keep_alive);
  for (const auto& [name, value] : reply.headers) {
    text += fmt::format("{}: {}\r\n", name, value);
  }
  text += fmt::format("Content-Length: {}\r\n\r\n", reply.body.size());
  return with_body ? text + reply.body : text;
}

HttpReply refusal(int status, const std::string& text) {
  HttpReply reply{status, openai_error(RequestError(status, text))};
  if (status == 503) {
    reply.headers.emplace_back("Retry-After", "1");
  }
  return reply;
}

}  // namespace mpitron::inference
