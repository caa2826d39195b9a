#include "inference/client/question.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "utils/error.h"

namespace mpitron::inference {
namespace question_test {

using nlohmann::json;

TEST(Question, SaysOnlyWhatIsWanted) {
  const HttpRequest chat = request_of({.text = "Why?", .system = "Be brief."}, "key");
  EXPECT_EQ(chat.target, "/v1/chat/completions");
  EXPECT_EQ(chat.authorization, "Bearer key");
  const json body = json::parse(chat.body);
  EXPECT_EQ(body.at("messages").size(), 2u);
  EXPECT_EQ(body.at("messages").at(1).at("content"), "Why?");
  EXPECT_EQ(body.size(), 2u);  // and stream
  const HttpRequest plain =
      request_of({.text = "a", .chat = false, .max_tokens = 3, .temperature = 0, .seed = 7}, "");
  EXPECT_EQ(plain.target, "/v1/completions");
  EXPECT_EQ(json::parse(plain.body).at("seed"), 7);
}

/// However the bytes are cut, the texts of the events are heard in order.
TEST(Question, ReadsStreamsInAnyPieces) {
  const std::string stream =
      "data: {\"choices\": [{\"index\": 0, \"delta\": {\"role\": \"assistant\", \"content\": "
      "\"\"}}]}\n\n: ping\n\ndata: {\"choices\": [{\"index\": 0, \"delta\": {\"content\": "
      "\"f\\u00fcr\"}}]}\n\ndata: {\"choices\": [{\"index\": 0, \"text\": \" all\"}]}\n\n"
      "data: [DONE]\n\n";
  for (std::size_t size = 1; size < stream.size(); size += 7) {
    std::string text;
    ReplyReader reader([&](std::string_view piece) { text += piece; });
    for (std::size_t at = 0; at < stream.size(); at += size) {
      reader.take(std::string_view(stream).substr(at, size));
    }
    EXPECT_EQ(text, "für all") << size;
  }
}

TEST(Question, TellsThatAStreamBroke) {
  ReplyReader reader([](std::string_view) {});
  EXPECT_THROW(reader.take("data: {\"error\": {\"message\": \"the server ends\"}}\n"), Error);
}

TEST(Question, KeepsBodiesWhole) {
  ReplyReader reader([](std::string_view) {});
  reader.take("{\"error\": {\"mess");
  reader.take("age\": \"n must be 1\"}}");
  EXPECT_EQ(message_of(reader.body()), "n must be 1");
  EXPECT_EQ(message_of("\"prompts is empty\""), "prompts is empty");
  EXPECT_EQ(message_of("no JSON"), "no JSON");
  EXPECT_EQ(text_of(R"({"text": ["a b"]})"), "a b");
  EXPECT_EQ(text_of(R"({"choices": [{"message": {"content": "c"}}]})"), "c");
  EXPECT_EQ(text_of("no JSON"), std::nullopt);
}

}  // namespace question_test
}  // namespace mpitron::inference
