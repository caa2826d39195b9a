#include <gtest/gtest.h>
#include <poll.h>

#include "inference/server/serving.h"
#include "support/fake_engine.h"
#include "support/fuzz.h"
#include "support/http.h"
#include "tokenizers/core/null_tokenizer.h"

namespace mpitron::inference {
namespace http_server_fuzz_test {

std::string request(const std::string& line, const std::string& more, const std::string& body) {
  return line + " HTTP/1.1\r\nHost: x\r\n" + more +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::vector<std::string> originals() {
  const std::string close = "Connection: close\r\n";
  const std::string complete =
      R"({"prompt": "1 2", "max_tokens": 3, "seed": 1, "logprobs": 2, "stop": ["7"]})";
  return {
      request(
          "PUT /api", close,
          R"({"prompts": ["1 2", "3"], "tokens_to_generate": 2, "top_k": 1, "logprobs": true})"),
      request("POST /v1/completions", close, complete),
      request("POST /v1/completions", close,
              R"({"prompt": [1, 2], "max_tokens": 3, "stream": true, "guided_regex": " [1-4]+"})"),
      request("POST /v1/chat/completions", close + "Expect: 100-continue\r\n",
              R"({"messages": [{"role": "user", "content": "5 7"}], "max_tokens": 2, "stream": true,
                  "response_format": {"type": "json_object"}, "logit_bias": {"3": -5.5}})"),
      request("POST /tokenize", "Authorization: Bearer x\r\n", R"({"prompt": "1 2"})") +
          request("POST /detokenize", close, R"({"tokens": [1, 2]})"),
      "POST /v1/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" + close +
          "\r\n10;a=b\r\n{\"prompt\": \"1 2\",\r\n11\r\n \"max_tokens\": 2 }\r\n0\r\nX: y\r\n\r\n",
      "GET /metrics?x=y HTTP/1.0\r\nAccept: */*\r\nX:\r\n folded\r\n\r\n" +
          request("HEAD /health", close, "")};
}

/// What comes back for a text: a client that is not answered soon ends its side.
std::string exchange(int port, const std::string& text) {
  const int socket = test::connected_socket(port);
  ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
  pollfd poll{.fd = socket, .events = POLLIN, .revents = 0};
  if (::poll(&poll, 1, 20) == 0) {
    ::shutdown(socket, SHUT_WR);
  }
  std::string reply;
  std::array<char, 4096> piece;
  for (ssize_t count = 0; (count = ::recv(socket, piece.data(), piece.size(), 0)) > 0;) {
    reply.append(piece.data(), static_cast<std::size_t>(count));
    if (::poll(&poll, 1, 200) == 0) {
      ::shutdown(socket, SHUT_WR);
    }
  }
  ::close(socket);
  return reply;
}

TEST(Fuzz, HttpRequests) {
  constexpr EngineShape kShape{.block_size = 4,
                               .blocks = 256,
                               .slots = 8,
                               .max_step_tokens = 64,
                               .max_positions = 200,
                               .vocabulary = 60,
                               .padded_vocabulary = 64};
  test::FakeEngine engine(kShape);
  const tokenizers::NullTokenizer tokenizer(59);
  const auto chat = std::make_shared<const tokenizers::ChatTemplate>(
      "{{ messages[0].content }}", tokenizers::ChatTemplate::SpecialTokens{});
  Serving serving(engine, tokenizer,
                  {.http = {.port = 0,
                            .max_body_bytes = 4096,
                            .refusal_pause = std::chrono::milliseconds(0),
                            .patience = std::chrono::seconds(2)},
                   .model_name = "fake",
                   .chat = chat,
                   .version = "1"});
  test::fuzz(originals(), test::FuzzLength::of_ci(300), [&](const std::string& text) {
    const std::string reply = exchange(serving.port(), text);
    EXPECT_TRUE(reply.empty() || reply.starts_with("HTTP/1.1 ")) << text << "\n" << reply;
    EXPECT_EQ(reply.find("HTTP/1.1 5"), std::string::npos) << text << "\n" << reply;
    if (!reply.starts_with("HTTP/1.1 2")) {
      throw_data("refused: {}", reply.substr(0, 12));
    }
  });
  EXPECT_TRUE(exchange(serving.port(), originals()[1]).starts_with("HTTP/1.1 200"));
  EXPECT_TRUE(serving.drain());
  EXPECT_EQ(serving.stats().blocks_free, kShape.blocks);
}

}  // namespace http_server_fuzz_test
}  // namespace mpitron::inference
