#include "inference/server/http_connection.h"

#include <thread>

#include <gtest/gtest.h>

#include "support/http.h"
#include "utils/error.h"

namespace mpitron::inference {
namespace http_connection_test {

using test::http;
using Client = std::shared_ptr<HttpAnswer>;

std::string get(const std::string& target, const std::string& version = "1.1",
                const std::string& more = {}) {
  return "GET " + target + " HTTP/" + version + "\r\nHost: x\r\n" + more + "\r\n";
}

TEST(HttpConnection, AnswersOneRequestAfterTheOther) {
  HttpServer server({.port = 0}, [](const HttpRequest& request, const Client& client) {
    client->send({200, request.method + request.target + ";"});
  });
  const std::string replies =
      http(server.port(), get("/a?b=c") + get("/b") + "HEAD /c HTTP/1.1\r\n\r\n" +
                              get("/d", "1.1", "Connection: close\r\n") + get("/never"));
  const auto at = [&](const char* text) { return replies.find(text); };
  EXPECT_LT(at("GET/a;"), at("GET/b;"));
  EXPECT_LT(at("GET/b;"), at("GET/d;"));
  EXPECT_NE(at("GET/d;"), std::string::npos);
  EXPECT_EQ(at("HEAD/c;"), std::string::npos);
  EXPECT_EQ(at("never"), std::string::npos);
}

TEST(HttpConnection, StreamsWithoutChunksToOldClients) {
  HttpServer server({.port = 0}, [](const HttpRequest&, const Client& client) {
    client->begin_events();
    client->event("1");
    client->end_events();
  });
  EXPECT_TRUE(http(server.port(), get("/", "1.0")).ends_with("\r\n\r\ndata: 1\n\n"));
  EXPECT_TRUE(http(server.port(), get("/", "1.1", "Connection: close\r\n"))
                  .ends_with("\r\n\r\n9\r\ndata: 1\n\n\r\n0\r\n\r\n"));
}

TEST(HttpConnection, TellsThatTheClientHasLeft) {
  std::atomic<int> left = 0;
  HttpServer server({.port = 0}, [&](const HttpRequest&, const Client& client) {
    client->on_leave([&left] { ++left; });
  });
  const int socket = test::connected_socket(server.port());
  const std::string request = get("/");
  ASSERT_GT(::send(socket, request.data(), request.size(), MSG_NOSIGNAL), 0);
  ::close(socket);
  while (left == 0) {
    std::this_thread::yield();
  }
  server.stop();
  EXPECT_EQ(left, 1);
  EXPECT_EQ(server.connections(), 0u);
}

TEST(HttpConnection, CutsWhoReadsTooSlowlyOrSendsTooSlowly) {
  std::atomic<int> left = 0;
  HttpServer server({.port = 0, .max_unsent_bytes = 1 << 20, .patience = std::chrono::seconds(1)},
                    [&](const HttpRequest&, const Client& client) {
                      client->on_leave([&left] { ++left; });
                      client->begin_events();
                      for (int i = 0; i < 8; ++i) {
                        client->event(std::string(1 << 20, 'x'));
                      }
                    });
  const int socket = test::connected_socket(server.port());
  const std::string request = get("/");
  ASSERT_GT(::send(socket, request.data(), request.size(), MSG_NOSIGNAL), 0);
  while (left == 0) {
    std::this_thread::yield();
  }
  ::close(socket);
  EXPECT_EQ(http(server.port(), "GET / HTTP/1.1\r\nHalf"), "");
}

// Each of both streams could have what is not read; both together may not.
TEST(HttpConnection, StreamsThatAreNotReadShareTheirMemory) {
  constexpr std::size_t kMost = std::size_t{8} << 20;
  std::atomic<int> left = 0;
  HttpServer server({.port = 0, .max_unsent_bytes = kMost, .max_all_unsent_bytes = kMost},
                    [&](const HttpRequest&, const Client& client) {
                      client->on_leave([&left] { ++left; });
                      client->begin_events();
                      client->event(std::string(kMost - (kMost >> 3), 'x'));
                    });
  std::vector<int> sockets;
  for (int i = 0; i < 2; ++i) {
    sockets.push_back(test::connected_socket(server.port()));
    const std::string request = get("/");
    ASSERT_GT(::send(sockets.back(), request.data(), request.size(), MSG_NOSIGNAL), 0);
  }
  while (left == 0) {
    std::this_thread::yield();
  }
  server.stop();
  EXPECT_EQ(left, 1);
  EXPECT_EQ(server.connections(), 1u);
  std::ranges::for_each(sockets, ::close);
}

TEST(HttpConnection, LongRequestsHoldUpNoShortOnes) {
  std::atomic<bool> began = false, goes_on = false;
  HttpServer server({.port = 0}, [&](const HttpRequest& request, const Client& client) {
    began = began || !request.body.empty();
    while (!request.body.empty() && !goes_on) {
      std::this_thread::yield();
    }
    client->send({200, "size " + std::to_string(request.body.size())});
  });
  const std::string body(100 << 10, 'x');
  std::string reply;
  std::thread reader([&] {
    reply = http(server.port(), "POST / HTTP/1.1\r\nConnection: close\r\nContent-Length: " +
                                    std::to_string(body.size()) + "\r\n\r\n" + body);
  });
  while (!began) {
    std::this_thread::yield();
  }
  const std::string last = "Connection: close\r\n";
  EXPECT_TRUE(http(server.port(), get("/", "1.1", last)).ends_with("size 0"));
  goes_on = true;
  reader.join();
  EXPECT_TRUE(reply.ends_with("size 102400")) << reply;
}

TEST(HttpConnection, AFullServerRefuses) {
  HttpServer server({.port = 0, .max_connections = 1},
                    [](const HttpRequest&, const Client& client) {
                      client->send({200, "in"});
                    });
  const int first = test::connected_socket(server.port());
  while (server.connections() == 0) {
    std::this_thread::yield();
  }
  EXPECT_TRUE(http(server.port(), "").starts_with("HTTP/1.1 503"));
  ::close(first);
}

TEST(HttpConnection, AHandlerThatFailsIsAnswered) {
  HttpServer server({.port = 0}, [](const HttpRequest&, const Client&) { throw_data("no"); });
  EXPECT_TRUE(
      http(server.port(), get("/", "1.1", "Connection: close\r\n")).starts_with("HTTP/1.1 500"));
}

}  // namespace http_connection_test
}  // namespace mpitron::inference
