#include "inference/protocol/megatron_api.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "support/golden_json.h"

namespace mpitron::inference {
namespace megatron_api_test {

std::string refusal_of(const std::string& body) {
  try {
    parse_megatron_request(Fields::parse(body));
  } catch (const RequestError& error) {
    EXPECT_EQ(error.status(), 400);
    return error.what();
  }
  return {};
}

TEST(MegatronApi, RefusesWithTheReferencesTexts) {
  if (!std::filesystem::exists(test::golden_folder() + "/generation/api.json")) {
    GTEST_SKIP() << "generation/api.json is absent";
  }
  const auto file = test::golden_json("generation/api.json");
  int refused = 0, served = 0;
  for (const auto& call : file.at("calls")) {
    if (call.at("path") != "/api" || call.at("method") != "PUT" ||
        !call.at("request").is_object()) {
      continue;
    }
    const auto& request = call.at("request");
    if (request.contains("top_k") && request.at("top_k").is_boolean()) {
      continue;  // the reference takes true for 1
    }
    const std::string body = call.at("request").dump();
    const auto& reply = call.at("reply");
    EXPECT_EQ(refusal_of(body), reply.is_string() ? reply.get<std::string>() : "") << body;
    ++(reply.is_string() ? refused : served);
  }
  EXPECT_GE(refused, 40);
  EXPECT_GE(served, 6);
}

TEST(MegatronApi, TakesTrueForNoInteger) {
  EXPECT_NE(refusal_of(R"({"prompts": ["a"], "top_k": true})"), "");
  EXPECT_EQ(refusal_of(R"({"prompts": ["a", 1]})"), "prompts is not a list of strings");
}

TEST(MegatronApi, ReadsDefaultsAndFields) {
  const MegatronRequest plain = parse_megatron_request(Fields::parse(R"({"prompts": ["a"]})"));
  EXPECT_EQ(plain.tokens, 64);
  EXPECT_EQ(plain.sampling.top_p, 1);  // 0 means off
  EXPECT_FALSE(plain.seeded);
  const MegatronRequest all = parse_megatron_request(Fields::parse(
      R"({"prompts": ["a"], "tokens_to_generate": 3, "top_p": 0.5, "top_p_decay": 0.9,
          "top_p_bound": 0.1, "random_seed": 7, "stop_on_eol": true, "add_BOS": true})"));
  EXPECT_EQ(all.tokens, 3);
  EXPECT_EQ(all.sampling.top_p_decay, 0.9);
  EXPECT_EQ(all.sampling.top_p_bound, 0.1);
  EXPECT_EQ(all.sampling.seed, 7u);
  EXPECT_TRUE(all.stop_on_eol && all.add_bos && all.seeded);
}

}  // namespace megatron_api_test
}  // namespace mpitron::inference
