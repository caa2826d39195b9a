#include "inference/server/serving.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/fake_engine.h"
#include "support/http.h"
#include "tokenizers/core/null_tokenizer.h"
#include "utils/error.h"

namespace mpitron::inference {
namespace serving_test {

using nlohmann::json;

constexpr EngineShape kShape{.block_size = 4,
                             .blocks = 256,
                             .slots = 8,
                             .max_step_tokens = 64,
                             .max_positions = 200,
                             .vocabulary = 60,
                             .padded_vocabulary = 64};

/// A served engine without a model; a slow one makes steps that can be interrupted.
class ServingTest : public testing::Test {
 protected:
  class SlowEngine : public test::FakeEngine {
   public:
    using FakeEngine::FakeEngine;
    void start(std::span<const StepPlan* const> plans) override {
      computes_on = std::this_thread::get_id();
      std::this_thread::sleep_for(pause);
      if (broken) {
        throw Error(ExitCode::failure, "the engine broke");
      }
      FakeEngine::start(plans);
    }
    std::chrono::milliseconds pause{0};
    std::atomic<bool> broken = false;
    std::thread::id computes_on;
  };

  static ServingSettings settings() {
    return {.http = {.port = 0, .max_body_bytes = 4096, .patience = std::chrono::seconds(2)},
            .model_name = "fake",
            .chat = std::make_shared<const tokenizers::ChatTemplate>(
                "{{ messages[0].content }}", tokenizers::ChatTemplate::SpecialTokens{}),
            .version = "1"};
  }
  void start(ServingSettings chosen = settings()) {
    serving_ = std::make_unique<Serving>(engine_, tokenizer_, std::move(chosen));
  }
  std::string send(const std::string& method, const std::string& target,
                   const std::string& body = {}, const std::string& more = {}) {
    return test::http(serving_->port(), method + " " + target +
                                            " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + more +
                                            "Content-Length: " + std::to_string(body.size()) +
                                            "\r\n\r\n" + body);
  }
  static int status(const std::string& reply) {
    return reply.size() > 12 ? std::stoi(reply.substr(9, 3)) : 0;
  }
  static json body(const std::string& reply) {
    return json::parse(reply.substr(reply.find("\r\n\r\n") + 4));
  }
  /// The events of a stream, each its JSON; the end mark as null.
  static std::vector<json> events(const std::string& reply) {
    std::vector<json> all;
    for (std::size_t at = 0; (at = reply.find("data: ", at)) != std::string::npos;) {
      at += 6;
      const std::string line = reply.substr(at, reply.find('\n', at) - at);
      all.push_back(line == "[DONE]" ? json() : json::parse(line));
    }
    return all;
  }

  SlowEngine engine_{kShape};
  tokenizers::NullTokenizer tokenizer_{59};
  std::unique_ptr<Serving> serving_;
};

TEST_F(ServingTest, AnswersMegatronsRequests) {
  start();
  const json reply = body(send("PUT", "/api",
                               R"({"prompts": ["1 2 3", "4"], "tokens_to_generate": 5,
                                   "top_k": 1, "logprobs": true})"));
  ASSERT_EQ(reply.at("tokens").size(), 2u);
  EXPECT_EQ(reply.at("logprobs").at(0).size(), reply.at("tokens").at(0).size() - 1);
  EXPECT_EQ(reply.at("logprobs").at(1).size(), reply.at("tokens").at(1).size() - 1);
  std::string joined;
  for (const auto& piece : reply.at("segments").at(0)) {
    joined += piece.get<std::string>();
  }
  EXPECT_EQ(reply.at("segments").at(0).size(), reply.at("tokens").at(0).size());
  EXPECT_EQ(reply.at("text").at(0), joined);
  EXPECT_EQ(body(send("PUT", "/api", R"({"prompts": []})")), "prompts is empty");
  EXPECT_EQ(status(send("PUT", "/api", "{not json")), 400);
  EXPECT_TRUE(body(send("PUT", "/api", "{not json")).contains("message"));
  EXPECT_EQ(status(send("POST", "/api", "{}")), 405);
}

TEST_F(ServingTest, SearchesBeamsForMegatronsClients) {
  start();
  const std::string beams = R"({"prompts": ["1 2 3"], "tokens_to_generate": 4, "beam_width": 3)";
  const json reply = body(send("PUT", "/api", beams + "}"));
  ASSERT_EQ(reply.at("scores").size(), 3u) << reply;
  EXPECT_GE(reply.at("scores").at(0), reply.at("scores").at(2));
  EXPECT_EQ(reply.at("text").at(0).get<std::string>().rfind("1 2 3", 0), 0u);
  const json summed = body(send("PUT", "/api", beams + R"(, "length_penalty": 0.0})"));
  EXPECT_LT(summed.at("scores").at(0), reply.at("scores").at(0));
  EXPECT_EQ(status(send("PUT", "/api", beams + R"(, "stop_on_eol": true})")), 400);
  EXPECT_EQ(body(send("PUT", "/api", R"({"prompts": ["1"], "beam_width": 31})")),
            "beam_width is 31; this server searches up to 30");
  EXPECT_EQ(serving_->stats().blocks_free, kShape.blocks);
}

TEST_F(ServingTest, CompletesWithSeedsLogProbsAndEcho) {
  start();
  const std::string request = R"({"prompt": "1 2 3", "max_tokens": 6, "seed": 9, "n": 2,
                                  "echo": true, "logprobs": 2, "model": "fake"})";
  const json first = body(send("POST", "/v1/completions", request));
  const json again = body(send("POST", "/v1/completions", request));
  ASSERT_EQ(first.at("choices").size(), 2u);
  EXPECT_EQ(first.at("choices"), again.at("choices"));
  EXPECT_NE(first.at("choices").at(0).at("text"), first.at("choices").at(1).at("text"));
  EXPECT_EQ(first.at("usage").at("prompt_tokens"), 3);
  EXPECT_EQ(first.at("usage").at("total_tokens"), 15);
  EXPECT_EQ(first.at("seed"), 9);
  const json& lists = first.at("choices").at(0).at("logprobs");
  ASSERT_EQ(lists.at("tokens").size(), 9u);
  EXPECT_TRUE(lists.at("token_logprobs").at(0).is_null());
  EXPECT_FALSE(lists.at("token_logprobs").at(1).is_null());
  EXPECT_GE(lists.at("top_logprobs").at(8).size(), 2u);
  EXPECT_EQ(lists.at("text_offset").at(3), 5);
}

TEST_F(ServingTest, StreamsWhatItAnswersWhole) {
  start();
  const std::string request = R"("prompt": "7 8", "max_tokens": 9, "seed": 4)";
  const json whole = body(send("POST", "/v1/completions", "{" + request + "}"));
  const auto pieces = events(
      send("POST", "/v1/completions",
           "{" + request + R"(, "stream": true, "stream_options": {"include_usage": true}})"));
  ASSERT_GE(pieces.size(), 4u);
  EXPECT_TRUE(pieces.back().is_null());
  EXPECT_EQ(pieces[pieces.size() - 2].at("usage"), whole.at("usage"));
  std::string text;
  for (std::size_t i = 0; i + 2 < pieces.size(); ++i) {
    text += pieces[i].at("choices").at(0).at("text").get<std::string>();
    EXPECT_EQ(pieces[i].at("choices").at(0).at("finish_reason").is_null(), i + 3 < pieces.size());
  }
  EXPECT_EQ(text, whole.at("choices").at(0).at("text"));
}

TEST_F(ServingTest, Chats) {
  start();
  const std::string request =
      R"("messages": [{"role": "user", "content": "5 7"}], "max_tokens": 4, "seed": 1)";
  const json whole = body(send("POST", "/v1/chat/completions",
                               "{" + request + R"(, "logprobs": true, "top_logprobs": 2})"));
  EXPECT_EQ(whole.at("object"), "chat.completion");
  EXPECT_EQ(whole.at("choices").at(0).at("logprobs").at("content").size(), 4u);
  const auto pieces =
      events(send("POST", "/v1/chat/completions", "{" + request + R"(, "stream": true})"));
  EXPECT_EQ(pieces.at(0).at("choices").at(0).at("delta").at("role"), "assistant");
  std::string text;
  for (const json& piece : pieces) {
    if (!piece.is_null()) {
      text += piece.at("choices").at(0).at("delta").value("content", "");
    }
  }
  EXPECT_EQ(text, whole.at("choices").at(0).at("message").at("content"));
}

TEST_F(ServingTest, HoldsAnswersToALanguage) {
  start();
  const json reply = body(send("POST", "/v1/completions",
                               R"({"prompt": "1", "max_tokens": 9, "guided_choice": [" 3 7"]})"));
  const json& choice = reply.at("choices").at(0);
  EXPECT_NE(choice.at("text").get<std::string>().find("3 7"), std::string::npos) << choice;
  EXPECT_EQ(choice.at("finish_reason"), "stop");
  EXPECT_EQ(reply.at("usage").at("completion_tokens"), 2);
  // No id of this vocabulary writes a letter.
  const json broken = body(send("POST", "/v1/completions",
                                R"({"prompt": "1", "max_tokens": 9, "guided_choice": [" 3x"]})"));
  EXPECT_EQ(broken.at("choices").at(0).at("finish_reason"), "error");
  EXPECT_NE(broken.at("choices").at(0).at("stop_reason").get<std::string>(), "");
}

TEST_F(ServingTest, RefusesBadRequestsByField) {
  start();
  const auto refused = [&](const std::string& request) {
    const std::string reply = send("POST", "/v1/completions", request);
    const json error = body(reply).at("error");
    return std::to_string(status(reply)) + " " +
           (error.at("param").is_null() ? "-" : error.at("param").get<std::string>()) + " " +
           (error.at("code").is_null() ? "-" : error.at("code").get<std::string>());
  };
  EXPECT_EQ(refused(R"({"prompt": "1", "n": 0})"), "400 n -");
  EXPECT_EQ(refused(R"({"prompt": "1", "temperature": "hot"})"), "400 temperature -");
  EXPECT_EQ(refused(R"({"prompt": [60]})"), "400 prompt -");
  EXPECT_EQ(refused(R"({"prompt": "1", "max_tokens": 200})"), "400 prompt context_length_exceeded");
  EXPECT_EQ(refused(R"({"prompt": "1", "model": "other"})"), "404 model model_not_found");
  EXPECT_EQ(refused(R"({"prompt": "1", "guided_regex": "(a"})"), "400 guided_regex -");
  EXPECT_EQ(refused(R"({"prompt": "1", "guided_choice": "a"})"), "400 guided_choice -");
  EXPECT_EQ(refused(R"({"prompt": "1", "guided_grammar": "a"})"), "400 guided_grammar -");
  EXPECT_EQ(refused(R"({"prompt": "1", "structured_outputs": {"regex": "("}})"),
            "400 structured_outputs.regex -");
  EXPECT_EQ(
      refused(R"({"prompt": "1", "guided_regex": "1", "structured_outputs": {"regex": "1"}})"),
      "400 structured_outputs.regex -");
  EXPECT_EQ(refused(R"({"prompt": "1", "suffix": "a"})"), "400 suffix -");
  EXPECT_EQ(refused(R"({"prompt": "1", "bad_words": ["1 2"]})"), "400 bad_words -");
  EXPECT_EQ(refused(R"({"prompt": "1", "stop": 5})"), "400 stop -");
  EXPECT_EQ(refused(R"({"prompt": "1", "logit_bias": {"a": 1}})"), "400 logit_bias -");
  EXPECT_EQ(refused(R"({"prompt": "1", "logprobs": 21})"), "400 logprobs -");
  EXPECT_EQ(refused(R"({"prompt": "1", "max_tokens": 0})"), "400 max_tokens -");
  EXPECT_EQ(refused(R"({"prompt": "1", "stream": 1})"), "400 stream -");
  EXPECT_EQ(refused(R"({"prompt": "1", "stream_options": {"include_usage": 1}})"),
            "400 include_usage -");
  EXPECT_EQ(refused(R"({"prompt": "1", "guided_regex": "1", "guided_choice": ["1"]})"),
            "400 guided_choice -");
  EXPECT_EQ(refused(R"({"prompt": "1", "response_format": {"type": "xml"}})"),
            "400 response_format -");
  EXPECT_EQ(refused(R"({"prompt": "1", "best_of": 2, "n": 3})"), "400 best_of -");
  EXPECT_EQ(refused("{"), "400 - -");
  const std::string wrong_method = send("GET", "/v1/completions");
  EXPECT_EQ(status(wrong_method), 405);
  EXPECT_NE(wrong_method.find("\r\nAllow: POST\r\n"), std::string::npos);
  EXPECT_EQ(status(send("GET", "/nothing")), 404);
  EXPECT_EQ(status(send("POST", "/v1/completions", std::string(5000, ' '))), 413);
  EXPECT_EQ(status(test::http(serving_->port(), "what is this\r\n\r\n")), 400);
}

TEST_F(ServingTest, TellsAboutItself) {
  start();
  EXPECT_EQ(body(send("GET", "/health")).at("status"), "ok");
  EXPECT_EQ(body(send("GET", "/version")).at("version"), "1");
  EXPECT_EQ(body(send("GET", "/v1/models")).at("data").at(0).at("id"), "fake");
  EXPECT_EQ(body(send("GET", "/v1/models/fake")).at("max_model_len"), 200);
  EXPECT_EQ(status(send("GET", "/v1/models/other")), 404);
  EXPECT_EQ(body(send("POST", "/tokenize", R"({"prompt": "1 2"})")).at("count"), 2);
  EXPECT_EQ(body(send("POST", "/detokenize", R"({"tokens": [1, 2]})")).at("prompt"), "1 2");
  EXPECT_EQ(body(send("GET", "/tokenizer_info")).at("tokenizer_class"), "NullTokenizer");
  send("POST", "/v1/completions", R"({"prompt": "1", "max_tokens": 3, "ignore_eos": true})");
  int tries = 1000;  // a step is counted when its answers have been told
  while (send("GET", "/metrics").find("\nmpitron_generation_tokens_total 3\n") ==
             std::string::npos &&
         tries > 0) {
    --tries;
  }
  EXPECT_GT(tries, 0);
  EXPECT_NE(send("GET", "/").find("text/html"), std::string::npos);
  EXPECT_EQ(body(send("GET", "/openapi.json")).at("info").at("version"), "1");
}

TEST_F(ServingTest, MeasuresTimesOfAnswers) {
  start();
  send("POST", "/v1/completions",
       R"({"prompt": "1", "max_tokens": 3, "n": 2, "ignore_eos": true})");
  std::string text;
  for (int i = 0; i < 1000 && text.find("_request_seconds_count 2\n") == std::string::npos; ++i) {
    text = send("GET", "/metrics");  // the last step is told when it has ended
  }
  for (const char* line :
       {"\nmpitron_first_token_seconds_count 2\n", "\nmpitron_between_tokens_seconds_count 4\n",
        "\nmpitron_request_seconds_bucket{le=\"+Inf\"} 2\n", "\nmpitron_queue_seconds_count 2\n",
        "\nmpitron_queue_seconds_bucket{le=\"60\"} 2\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

TEST_F(ServingTest, TellsWhenToComeAgain) {
  engine_.pause = std::chrono::milliseconds(5);
  ServingSettings chosen = settings();
  chosen.max_waiting = 1;
  start(chosen);
  std::thread first([&] {
    send("POST", "/v1/completions", R"({"prompt": "1", "max_tokens": 190, "ignore_eos": true})");
  });
  while (serving_->stats().running == 0) {
    std::this_thread::yield();
  }
  const std::string reply = send("POST", "/v1/completions", R"({"prompt": "1"})");
  EXPECT_EQ(status(reply), 429);
  EXPECT_NE(reply.find("\r\nRetry-After: 1\r\n"), std::string::npos) << reply;
  first.join();
}

TEST_F(ServingTest, AnswersByCallsOfFunctions) {
  ServingSettings chosen = settings();
  chosen.chat = std::make_shared<const tokenizers::ChatTemplate>(
      "{{ messages[0].content }}{% if false %}<tool_call>{% endif %}",
      tokenizers::ChatTemplate::SpecialTokens{});
  start(chosen);
  const std::string request = R"({"messages": [{"role": "user", "content": "1"}], "max_tokens": 4,
                                  "seed": 1, "tools": [{"type": "function"}])";
  const json message =
      body(send("POST", "/v1/chat/completions", request + "}")).at("choices").at(0).at("message");
  EXPECT_FALSE(message.contains("tool_calls"));  // the answer is text
  std::string text;
  for (const json& piece :
       events(send("POST", "/v1/chat/completions", request + R"(, "stream": true})"))) {
    text += piece.is_null() ? "" : piece.at("choices").at(0).at("delta").value("content", "");
  }
  EXPECT_EQ(text, message.at("content"));
  chosen.chat = std::make_shared<const tokenizers::ChatTemplate>(
      "{{ raise_exception('no tools here') }}", tokenizers::ChatTemplate::SpecialTokens{});
  start(chosen);
  const std::string failed = send("POST", "/v1/chat/completions", request + "}");
  EXPECT_EQ(status(failed), 400);
  EXPECT_NE(failed.find("no tools here"), std::string::npos) << failed;
}

TEST_F(ServingTest, WantsItsKey) {
  ServingSettings chosen = settings();
  chosen.api_key = "secret";
  start(chosen);
  const std::string request = R"({"prompt": "1"})";
  EXPECT_EQ(status(send("POST", "/v1/completions", request)), 401);
  EXPECT_EQ(status(send("POST", "/v1/completions", request, "Authorization: Bearer no\r\n")), 401);
  EXPECT_EQ(status(send("POST", "/v1/completions", request, "Authorization: Bearer secret\r\n")),
            200);
  EXPECT_EQ(status(send("GET", "/health")), 200);
}

TEST_F(ServingTest, DrainsWhatIsOpenAndRefusesMore) {
  engine_.pause = std::chrono::milliseconds(5);
  start();
  std::string reply;
  std::thread client([&] {
    reply =
        send("POST", "/v1/completions", R"({"prompt": "1", "max_tokens": 40, "ignore_eos": true})");
  });
  while (serving_->stats().running == 0) {
    std::this_thread::yield();
  }
  std::thread late([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(status(send("POST", "/v1/completions", R"({"prompt": "1"})")), 503);
  });
  EXPECT_TRUE(serving_->drain());
  client.join();
  late.join();
  EXPECT_EQ(status(reply), 200);
  EXPECT_EQ(body(reply).at("usage").at("completion_tokens"), 40);
}

TEST_F(ServingTest, ForgetsClientsThatLeave) {
  engine_.pause = std::chrono::milliseconds(2);
  start();
  {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(serving_->port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    const std::string body =
        R"({"prompt": "1", "max_tokens": 190, "ignore_eos": true, "stream": true})";
    const std::string request =
        "POST /v1/completions HTTP/1.1\r\nContent-Length: " + std::to_string(body.size()) +
        "\r\n\r\n" + body;
    ASSERT_GT(::send(socket, request.data(), request.size(), MSG_NOSIGNAL), 0);
    while (serving_->stats().generated_tokens == 0) {
      std::this_thread::yield();
    }
    ::close(socket);
  }
  for (int i = 0; i < 1000 && serving_->stats().cancelled_groups == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(serving_->stats().cancelled_groups, 1);
  EXPECT_LT(serving_->stats().generated_tokens, 190);
  EXPECT_EQ(serving_->stats().blocks_free, kShape.blocks);
}

TEST_F(ServingTest, TellsThatTheEngineFailed) {
  start();
  engine_.broken = true;
  EXPECT_EQ(status(send("POST", "/v1/completions", R"({"prompt": "1"})")), 500);
  engine_.broken = false;
  EXPECT_EQ(status(send("POST", "/v1/completions", R"({"prompt": "1"})")), 200);
}

/// As a program does whose kernels are fast on its main thread alone.
TEST_F(ServingTest, ComputesOnTheCallersThread) {
  ServingSettings chosen = settings();
  chosen.steps_on = StepsOn::caller;
  start(chosen);
  std::string reply;
  std::thread client([&] {
    reply = send("POST", "/v1/completions", R"({"prompt": "1"})");
    EXPECT_TRUE(serving_->drain());
    serving_->stop();
  });
  serving_->run_steps();
  client.join();
  EXPECT_EQ(status(reply), 200);
  EXPECT_EQ(engine_.computes_on, std::this_thread::get_id());
}

TEST_F(ServingTest, NamesAPortInUse) {
  start();
  ServingSettings chosen = settings();
  chosen.http.port = serving_->port();
  try {
    const Serving second(engine_, tokenizer_, chosen);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::environment);
    EXPECT_NE(std::string(error.what()).find(std::to_string(chosen.http.port)), std::string::npos);
  }
}

}  // namespace serving_test
}  // namespace mpitron::inference
