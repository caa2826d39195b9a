#pragma once
#include <functional>
#include <optional>

#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>

#include "inference/server/byte_budget.h"
#include "inference/server/http_server.h"
#include "inference/server/piece_body.h"

namespace mpitron::inference {

using HttpMessage = boost::beast::http::request<PieceBody>;

/// Result of reading: a request, the reply that refuses it, or neither where the client has left or
/// was too slow.
struct ReadResult {
  std::optional<HttpMessage> request = {};
  ByteCharge held = {};  // by the request's body
  std::optional<HttpReply> refusal = {};
};

/// Reads requests from a connection, one after the other. Between two of them it holds no more than
/// the bytes of the next one that have come already.
class RequestReader {
 public:
  using Done = std::function<void(ReadResult)>;

  RequestReader(boost::beast::tcp_stream& stream, const HttpServerSettings& settings,
                ByteBudget& bodies, BytePace& pace)
      : stream_(stream),
        settings_(settings),
        bodies_(bodies),
        pace_(pace),
        due_(stream.get_executor()) {}
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  /// Reads the next request. `awaited` is called where the client waits for `100 Continue`, `done`
  /// once; both keep alive what this belongs to.
  void read(std::function<void()> awaited, Done done);

 private:
  void read_body(Done done);
  void read_more(Done done, std::size_t count);
  ReadResult failure(boost::system::error_code error);
  ReadResult refused(int status, const std::string& text);
  ReadResult take();

  boost::beast::tcp_stream& stream_;
  const HttpServerSettings& settings_;
  ByteBudget& bodies_;
  BytePace& pace_;
  boost::asio::steady_timer due_;
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<PieceBody>> parser_;
  ByteCharge held_;
};

}  // namespace mpitron::inference
