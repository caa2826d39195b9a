#include "io/logs/http_server.h"

#include <gtest/gtest.h>

#include "support/http.h"
#include "utils/error.h"

namespace mpitron::io {
namespace http_server_test {

/// Patient: the machine may be busy.
HttpServer echo_server() {
  return HttpServer(
      "127.0.0.1", 0,
      [](const std::string& path) {
        return path == "/missing" ? HttpAnswer{.status = 404, .body = "no"}
                                  : HttpAnswer{.body = "path " + path};
      },
      std::chrono::minutes(2));
}

TEST(HttpServer, AnswersOneRequestAfterTheOther) {
  const HttpServer server = echo_server();
  EXPECT_GT(server.port(), 0);
  EXPECT_EQ(test::http(server.port(), "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 7\r\n"
            "Connection: close\r\n\r\npath /a");
  EXPECT_TRUE(test::http(server.port(), "GET /b?c=d HTTP/1.0\r\n\r\n").ends_with("path /b"));
  EXPECT_TRUE(test::http(server.port(), "GET /missing HTTP/1.1\r\n\r\n")
                  .starts_with("HTTP/1.1 404 Not Found\r\n"));
}

TEST(HttpServer, RefusesOtherRequests) {
  const HttpServer server = echo_server();
  const auto status = [&](const std::string& request) {
    return test::http(server.port(), request).substr(9, 3);
  };
  EXPECT_EQ(status("POST / HTTP/1.1\r\n\r\n"), "405");
  EXPECT_EQ(status("hello\r\n\r\n"), "400");
  EXPECT_EQ(status("GET /\r\n\r\n"), "400");
  EXPECT_EQ(status("GET /" + std::string(20000, 'x')), "400");
  EXPECT_EQ(status("GET / HTTP/1.1\r\n\r\n"), "200") << "it still serves";
}

TEST(HttpServer, LinesMayEndWithoutCarriageReturns) {
  const HttpServer server = echo_server();
  EXPECT_TRUE(test::http(server.port(), "GET /a HTTP/1.1\nHost: x\n\n").ends_with("path /a"));
}

/// Connections that send nothing.
class SilentClients {
 public:
  SilentClients(int port, int count) {
    for (int i = 0; i < count; ++i) {
      sockets_.push_back(test::connected_socket(port));
    }
  }
  ~SilentClients() {
    for (const int socket : sockets_) {
      ::close(socket);
    }
  }
  SilentClients(const SilentClients&) = delete;
  SilentClients& operator=(const SilentClients&) = delete;

 private:
  std::vector<int> sockets_;
};

TEST(HttpServer, SilentClientsHoldUpNobodyAndNotTheEnd) {
  const auto start = std::chrono::steady_clock::now();
  {
    const HttpServer server = echo_server();
    const SilentClients silent(server.port(), 40);
    for (int i = 0; i < 5; ++i) {
      EXPECT_TRUE(test::http(server.port(), "GET /a HTTP/1.1\r\n\r\n").ends_with("path /a"));
    }
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::minutes(1));
}

TEST(HttpServer, MoreSilentClientsThanItHoldsAreClosedInTime) {
  const HttpServer server(
      "127.0.0.1", 0, [](const std::string&) { return HttpAnswer{.body = "yes"}; },
      std::chrono::milliseconds(50));
  const SilentClients silent(server.port(), 100);
  EXPECT_TRUE(test::http(server.port(), "GET /a HTTP/1.1\r\n\r\n").ends_with("yes"));
}

TEST(HttpServer, SaysWhyItCannotListen) {
  const HttpServer server = echo_server();
  for (const auto& [address, port] :
       {std::pair<std::string, int>{"127.0.0.1", server.port()}, {"localhost", 0}}) {
    try {
      const HttpServer second(address, port, {});
      ADD_FAILURE() << address;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::environment);
      EXPECT_NE(std::string(error.what()).find("cannot listen at " + address), std::string::npos);
    }
  }
}

}  // namespace http_server_test
}  // namespace mpitron::io
