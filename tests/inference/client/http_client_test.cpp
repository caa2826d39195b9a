#include "inference/client/http_client.h"

#include <gtest/gtest.h>

#include "inference/server/http_server.h"
#include "utils/error.h"

namespace mpitron::inference {
namespace http_client_test {

TEST(HttpClient, ReadsAddresses) {
  const HttpAddress address = HttpAddress::parse("http://node7:5000/v1");
  EXPECT_EQ(address.host, "node7");
  EXPECT_EQ(address.port, "5000");
  for (const char* wrong : {"node7", ":5000", "node7:", "node7:port", "https://node7:5000"}) {
    EXPECT_THROW(HttpAddress::parse(wrong), Error) << wrong;
  }
}

TEST(HttpClient, HearsBodiesAndStreams) {
  HttpServer server(
      {.port = 0}, [](const HttpRequest& request, const std::shared_ptr<HttpAnswer>& client) {
        if (request.target == "/stream") {
          client->begin_events();
          client->event("one");
          client->event("two");
          client->end_events();
        } else {
          client->send({404, request.method + " " + request.authorization + " " + request.body});
        }
      });
  const HttpAddress address{"127.0.0.1", std::to_string(server.port())};
  std::string body;
  const auto hears = [&](int, std::string_view bytes) { body += bytes; };
  EXPECT_EQ(ask_http(address, {"PUT", "/a", "Bearer k", "text"}, hears), 404);
  EXPECT_EQ(body, "PUT Bearer k text");
  body.clear();
  EXPECT_EQ(ask_http(address, {"GET", "/stream", "", ""}, hears), 200);
  EXPECT_EQ(body, "data: one\n\ndata: two\n\n");
}

TEST(HttpClient, SaysThatNobodyListens) {
  try {
    ask_http({"127.0.0.1", "1"}, {"GET", "/", "", ""}, [](int, std::string_view) {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::environment);
    EXPECT_NE(std::string(error.what()).find("127.0.0.1:1"), std::string::npos);
  }
}

}  // namespace http_client_test
}  // namespace mpitron::inference
