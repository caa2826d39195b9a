// Reads requests with limits at every step: 32 KiB of headers, a body of the announced or counted
// size, all bodies together. A refusal is made while the body arrives, so a client need not send
// all of it in vain.
#include "inference/server/request_reader.h"

#include <algorithm>

#include <boost/beast/http/read.hpp>

#include "inference/server/http_text.h"

namespace mpitron::inference {

namespace http = boost::beast::http;
using boost::system::error_code;

namespace {

constexpr std::uint32_t kLargestHeader = 32 << 10;
constexpr std::size_t kBodyPiece = std::size_t{16} << 10;  // what one read of a body takes

}  // namespace

void RequestReader::read(std::function<void()> awaited, Done done) {
  parser_.emplace();
  parser_->header_limit(kLargestHeader);
  parser_->body_limit(settings_.max_body_bytes);
  stream_.expires_after(settings_.patience);
  http::async_read_header(
      stream_, buffer_, *parser_,
      [this, awaited = std::move(awaited), done = std::move(done)](error_code error, std::size_t) {
        if (error) {
          done(failure(error));
          return;
        }
        if (parser_->get()[http::field::expect] == "100-continue") {
          awaited();
        }
        parser_->eager(true);
        buffer_.reserve(kBodyPiece);
        read_body(done);
      });
}

/// Reads a body piece by piece, so that it is refused while it arrives.
void RequestReader::read_body(Done done) {
  if (parser_->is_done()) {
    done({.request = take()});
    return;
  }
  http::async_read_some(stream_, buffer_, *parser_,
                        [this, done = std::move(done)](error_code error, std::size_t) {
                          if (error) {
                            done(failure(error));
                          } else if (!charge()) {
                            done(refused(503, "too many large requests arrive at once"));
                          } else {
                            read_body(done);
                          }
                        });
}

/// Turns an error of reading into a reply: broken HTTP is refused with 400, a client that has left
/// gets nothing.
ReadResult RequestReader::failure(error_code error) {
  const bool of_http = error.category() == http::make_error_code(http::error::bad_value).category();
  if (!of_http || error == http::error::end_of_stream || error == http::error::partial_message) {
    give_back();
    return {};
  }
  if (error == http::error::body_limit) {
    return refused(413, "the body is larger than --max-body-mb allows");
  }
  if (error == http::error::header_limit) {
    return refused(431, "the header is larger than 32 kB");
  }
  return refused(400, "this is no HTTP request");
}

ReadResult RequestReader::refused(int status, const std::string& text) {
  parser_.reset();
  buffer_ = {};
  give_back();
  return {.refusal = refusal(status, text)};
}

HttpMessage RequestReader::take() {
  HttpMessage message = parser_->release();
  parser_.reset();
  buffer_.shrink_to_fit();
  give_back();
  return message;
}

/// Charges the budget for what the body has grown by: a string without announced length doubles,
/// one with it has touched little of what it has reserved.
bool RequestReader::charge() {
  const std::string& body = parser_->get().body();
  const std::size_t size = std::min(body.capacity(), 2 * body.size());
  const std::size_t counted = size > BodyBudget::kFree ? size - BodyBudget::kFree : 0;
  if (!bodies_.take(counted - charged_)) {
    return false;
  }
  charged_ = counted;
  return true;
}

void RequestReader::give_back() {
  bodies_.give_back(std::exchange(charged_, 0));
}

}  // namespace mpitron::inference
