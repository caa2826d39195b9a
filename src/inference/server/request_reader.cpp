// Reads requests within limits: of the header, of a body, announced or counted, and of all bodies
// together. A refusal is made while the body arrives, so a client need not send all of it in vain.
#include "inference/server/request_reader.h"

#include <boost/beast/http/read.hpp>

#include "inference/server/http_text.h"

namespace mpitron::inference {

namespace http = boost::beast::http;
using boost::system::error_code;

namespace {

constexpr std::uint32_t kLargestHeader = 32 << 10;

}  // namespace

void RequestReader::read(std::function<void()> awaited, Done done) {
  parser_.emplace();
  held_ = ByteCharge(bodies_);
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
        if (!parser_->is_done()) {
          buffer_.reserve(BodyPieces::kPiece);
        }
        read_body(done);
      });
}

/// Reads a body piece by piece, so that it is refused while it arrives.
void RequestReader::read_body(Done done) {
  if (parser_->is_done()) {
    done(take());
    return;
  }
  http::async_read_some(stream_, buffer_, *parser_,
                        [this, done = std::move(done)](error_code error, std::size_t count) {
                          if (error) {
                            done(failure(error));
                          } else if (!held_.hold(parser_->get().body().memory())) {
                            done(refused(503, "too many large requests arrive at once"));
                          } else {
                            read_more(done, count);
                          }
                        });
}

/// Goes on when the pace of all bodies allows it. The first piece of each is not held up, so small
/// requests pass large ones.
void RequestReader::read_more(Done done, std::size_t count) {
  const auto now = BytePace::Clock::now();
  const auto due = pace_.after(count, now);
  if (due <= now || parser_->is_done() || parser_->get().body().memory() <= BodyPieces::kPiece) {
    read_body(std::move(done));
    return;
  }
  due_.expires_at(due);
  due_.async_wait(
      [this, done = std::move(done)](error_code error) { error ? done({}) : read_body(done); });
}

/// Turns an error of reading into a reply: broken HTTP and what is too large are refused, a client
/// that has left or was too slow gets nothing.
ReadResult RequestReader::failure(error_code error) {
  const bool of_http = error.category() == http::make_error_code(http::error::bad_value).category();
  if (!of_http || error == http::error::end_of_stream || error == http::error::partial_message) {
    held_ = {};
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
  held_ = {};
  return {.refusal = refusal(status, text)};
}

ReadResult RequestReader::take() {
  ReadResult result{.request = parser_->release(), .held = std::move(held_)};
  parser_.reset();
  buffer_.shrink_to_fit();
  return result;
}

}  // namespace mpitron::inference
