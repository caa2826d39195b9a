#pragma once
#include <functional>
#include <optional>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "inference/server/http_server.h"

namespace mpitron::inference {

/// Counts bytes that arriving bodies may take on all connections together. For one thread.
class BodyBudget {
 public:
  /// Bytes at the beginning of each body that are never counted: small requests get in beside large
  /// ones.
  static constexpr std::size_t kFree = std::size_t{64} << 10;

  explicit BodyBudget(std::size_t bytes) : left_(bytes) {}
  /// Takes bytes; false where so many are not left.
  bool take(std::size_t bytes) {
    if (bytes > left_) {
      return false;
    }
    left_ -= bytes;
    return true;
  }
  void give_back(std::size_t bytes) { left_ += bytes; }
  std::size_t left() const { return left_; }

 private:
  std::size_t left_;
};

using HttpMessage = boost::beast::http::request<boost::beast::http::string_body>;

/// Result of reading: a request, the reply that refuses it, or neither where the client has left or
/// was too slow.
struct ReadResult {
  std::optional<HttpMessage> request = {};
  std::optional<HttpReply> refusal = {};
};

/// Reads requests from a connection, one after the other. Between two of them it holds no memory.
class RequestReader {
 public:
  using Done = std::function<void(ReadResult)>;

  RequestReader(boost::beast::tcp_stream& stream, const HttpServerSettings& settings,
                BodyBudget& bodies)
      : stream_(stream), settings_(settings), bodies_(bodies) {}
  ~RequestReader() { give_back(); }
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  /// Reads the next request. `awaited` is called where the client waits for `100 Continue`, `done`
  /// once; both keep alive what this belongs to.
  void read(std::function<void()> awaited, Done done);

 private:
  void read_body(Done done);
  ReadResult failure(boost::system::error_code error);
  ReadResult refused(int status, const std::string& text);
  HttpMessage take();
  bool charge();
  void give_back();

  boost::beast::tcp_stream& stream_;
  const HttpServerSettings& settings_;
  BodyBudget& bodies_;
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  std::size_t charged_ = 0;
};

}  // namespace mpitron::inference
