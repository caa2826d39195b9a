#include "inference/server/http_text.h"

#include <gtest/gtest.h>

namespace mpitron::inference {
namespace http_text_test {

TEST(HttpText, WritesReplies) {
  const HttpReply reply{404, "no", "text/plain", {{"Allow", "GET"}}};
  const std::string head =
      "HTTP/1.1 404 Not Found\r\nServer: mpitron\r\nContent-Type: text/plain\r\n"
      "Connection: close\r\nAllow: GET\r\nContent-Length: 2\r\n\r\n";
  EXPECT_EQ(reply_text(reply, false, true), head + "no");
  EXPECT_EQ(reply_text(reply, false, false), head);
  EXPECT_NE(reply_text(reply, true, true).find("\r\nConnection: keep-alive\r\n"),
            std::string::npos);
}

TEST(HttpText, OnlyABusyServerAsksToComeAgain) {
  EXPECT_TRUE(refusal(413, "large").headers.empty());
  EXPECT_EQ(refusal(503, "busy").headers.at(0).first, "Retry-After");
}

}  // namespace http_text_test
}  // namespace mpitron::inference
