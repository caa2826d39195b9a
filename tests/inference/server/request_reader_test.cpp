#include "inference/server/request_reader.h"

#include <gtest/gtest.h>

#include "support/http.h"
#include "utils/timer.h"

namespace mpitron::inference {
namespace request_reader_test {

using test::http;

constexpr std::size_t kBudget = 200 << 10;

/// A server that answers with the size of what it was sent.
class RequestReaderTest : public testing::Test {
 protected:
  static std::string post(std::size_t announced, std::size_t sent, const std::string& more = {}) {
    return "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + more +
           "Content-Length: " + std::to_string(announced) + "\r\n\r\n" + std::string(sent, 'x');
  }
  static std::string chunks(int count, const std::string& end) {
    std::string text =
        "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (int i = 0; i < count; ++i) {
      text += "4000\r\n" + std::string(0x4000, 'x') + "\r\n";
    }
    return text + end;
  }
  /// A client that has sent a part of a body that the server has counted.
  int begin_large() {
    const int socket = test::connected_socket(server_.port());
    const std::string text = post(200 << 10, 150 << 10);
    EXPECT_EQ(::send(socket, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
    return socket;
  }

  HttpServer server_{{.port = 0, .max_body_bytes = 300 << 10, .max_bodies_bytes = kBudget},
                     [](const HttpRequest& request, const std::shared_ptr<HttpAnswer>& answer) {
                       answer->send({200, "size " + std::to_string(request.body.size())});
                     }};
};

TEST_F(RequestReaderTest, TakesBodiesOfAllKinds) {
  const auto answer = [&](const std::string& request) { return http(server_.port(), request); };
  EXPECT_TRUE(answer("GET / HTTP/1.1\r\nConnection: close\r\n\r\n").ends_with("size 0"));
  EXPECT_TRUE(answer(post(160 << 10, 160 << 10)).ends_with("size 163840"));
  EXPECT_TRUE(answer(chunks(7, "0\r\n\r\n")).ends_with("size 114688"));
  const std::string expected = answer(post(3, 3, "Expect: 100-continue\r\n"));
  EXPECT_TRUE(expected.starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK")) << expected;
}

TEST_F(RequestReaderTest, RefusesWhatIsTooLarge) {
  const auto status = [&](const std::string& request) {
    return http(server_.port(), request).substr(0, 12);
  };
  EXPECT_EQ(status(post(301 << 10, 0)), "HTTP/1.1 413");
  EXPECT_EQ(status(chunks(19, "")), "HTTP/1.1 503");
  EXPECT_EQ(status("GET / HTTP/1.1\r\nX: " + std::string(40 << 10, 'x')), "HTTP/1.1 431");
  EXPECT_EQ(status(chunks(1, "no number\r\n")), "HTTP/1.1 400");
}

TEST_F(RequestReaderTest, AllBodiesTogetherAreBounded) {
  const int first = begin_large();
  std::string late;  // until the server has read what the first one has sent
  for (int i = 0; i < 1000 && !late.starts_with("HTTP/1.1 503"); ++i) {
    late = http(server_.port(), post(150 << 10, 150 << 10));
  }
  EXPECT_TRUE(late.starts_with("HTTP/1.1 503")) << late;
  EXPECT_NE(late.find("\r\nRetry-After: 1\r\n"), std::string::npos) << late;
  EXPECT_TRUE(http(server_.port(), post(60 << 10, 60 << 10)).ends_with("size 61440"));
  ::close(first);
  for (int i = 0; i < 1000 && !late.ends_with("size 153600"); ++i) {
    late = http(server_.port(), post(150 << 10, 150 << 10));
  }
  EXPECT_TRUE(late.ends_with("size 153600")) << late;
}

/// Seconds that a server which reads so many bytes a second takes for a request.
double seconds_of(const std::string& request, std::size_t pace) {
  HttpServer server({.port = 0, .body_bytes_per_second = pace},
                    [](const HttpRequest&, const std::shared_ptr<HttpAnswer>& answer) {
                      answer->send({200, "done"});
                    });
  const Timer timer;
  EXPECT_TRUE(http(server.port(), request).ends_with("done"));
  return timer.seconds();
}

TEST(RequestPace, HoldsUpLargeBodiesAlone) {
  const auto post = [](std::size_t size) {
    return "POST / HTTP/1.1\r\nConnection: close\r\nContent-Length: " + std::to_string(size) +
           "\r\n\r\n" + std::string(size, 'x');
  };
  EXPECT_GT(seconds_of(post(512 << 10), 1 << 20), 0.4);  // but for the burst
  EXPECT_LT(seconds_of(post(8 << 10), 1 << 10), 4);
}

TEST(RequestPace, RefusesBrokenOnesAfterAPause) {
  HttpServer server({.port = 0, .refusal_pause = std::chrono::milliseconds(80)},
                    [](const HttpRequest&, const std::shared_ptr<HttpAnswer>&) {});
  const Timer timer;
  EXPECT_TRUE(http(server.port(), "what is this\r\n\r\n").starts_with("HTTP/1.1 400"));
  EXPECT_GT(timer.seconds(), 0.08);
}

}  // namespace request_reader_test
}  // namespace mpitron::inference
