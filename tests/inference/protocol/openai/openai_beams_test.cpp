#include "inference/protocol/openai/openai_beams.h"

#include <future>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "inference/scheduling/beam_requests.h"
#include "support/fake_engine.h"
#include "tokenizers/core/null_tokenizer.h"

namespace mpitron::inference {
namespace openai_beams_test {

using nlohmann::json;

class Client : public HttpAnswer {
 public:
  void send(HttpReply reply) override { reply_.set_value(std::move(reply)); }
  void begin_events() override {}
  void event(std::string_view /*data*/) override {}
  void end_events() override {}
  void on_leave(std::function<void()> /*call*/) override {}
  HttpReply wait() { return reply_.get_future().get(); }

 private:
  std::promise<HttpReply> reply_;
};

class OpenAiBeamsTest : public testing::Test {
 protected:
  OpenAiRequest parse(const std::string& fields) const {
    return parse_completion(
        model_, Fields::parse("{\"prompt\": \"1 2 3\", \"max_tokens\": 6, " + fields + "}",
                              completion_fields()));
  }
  json search(const std::string& fields) const {
    const auto client = std::make_shared<Client>();
    answer_with_beams(model_, std::make_shared<OpenAiReply>(model_, parse(fields), "cmpl-1", 0),
                      client);
    return json::parse(client->wait().body);
  }
  std::string refusal(const std::string& fields) const {
    try {
      parse(fields);
    } catch (const RequestError& error) {
      EXPECT_EQ(error.status(), 400);
      return error.what();
    }
    return "";
  }

  static constexpr EngineShape kShape{.block_size = 4,
                                      .blocks = 64,
                                      .slots = 3,
                                      .max_positions = 40,
                                      .vocabulary = 60,
                                      .padded_vocabulary = 64};
  tokenizers::NullTokenizer tokenizer_{59};
  test::FakeEngine engine_{kShape};
  GenerationService service_{engine_, tokenizer_, {}};
  ServedModel model_{.name = "base", .tokenizer = tokenizer_, .shape = kShape, .service = service_};
};

/// The best n of best_of beams, best first, as a search alone finds them.
TEST_F(OpenAiBeamsTest, AnswersAreTheBestTexts) {
  test::FakeEngine alone(kShape);
  Generator generator(alone, tokenizer_, {});
  const std::vector<Hypothesis> want = search_beams(
      generator, {1, 2, 3}, {.width = 4, .tokens = 6, .stop = 59, .length_penalty = 0.5});
  const json reply =
      search(R"("use_beam_search": true, "n": 2, "best_of": 4, "length_penalty": 0.5)");
  ASSERT_EQ(reply.at("choices").size(), 2U) << reply;
  for (std::size_t i = 0; i < 2; ++i) {
    const TokenIds ids(want[i].tokens.begin() + 3, want[i].tokens.end());
    const json& choice = reply.at("choices").at(i);
    EXPECT_EQ(choice.at("index"), i);
    EXPECT_EQ(tokenizer_.encode(choice.at("text").get<std::string>()), ids);
    EXPECT_EQ(choice.at("finish_reason"), ids.size() < 6 ? "stop" : "length");
  }
  EXPECT_EQ(reply.at("usage").at("prompt_tokens"), 3);
}

TEST_F(OpenAiBeamsTest, RefuseWhatASearchCannotHonour) {
  EXPECT_FALSE(parse(R"("n": 2)").beams);
  EXPECT_TRUE(parse(R"("use_beam_search": true, "temperature": 0, "stream": false)").beams);
  const std::string beams = R"("use_beam_search": true, )";
  EXPECT_EQ(refusal(beams + R"("stop": "4")"), "stop cannot be set with use_beam_search");
  EXPECT_EQ(refusal(beams + R"("temperature": 1)"),
            "temperature cannot be set with use_beam_search");
  EXPECT_EQ(refusal(beams + R"("stream": true)"), "stream cannot be set with use_beam_search");
  EXPECT_EQ(refusal(beams + R"("n": 31)"), "n is 31; this server searches with up to 30 beams");
  EXPECT_EQ(refusal(R"("length_penalty": 2)"), "length_penalty needs use_beam_search");
}

}  // namespace openai_beams_test
}  // namespace mpitron::inference
