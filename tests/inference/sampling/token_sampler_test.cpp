#include "inference/sampling/token_sampler.h"

#include <cmath>
#include <filesystem>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "support/golden_json.h"
#include "support/host_runtime.h"

namespace mpitron::inference {
namespace token_sampler_test {

using nlohmann::json;

SamplingRule rule_of(const json& values) {
  SamplingRule rule{.temperature = values.value("temperature", 1.0),
                    .top_k = values.value("top_k", 0),
                    .top_p = values.value("top_p", 1.0),
                    .min_p = values.value("min_p", 0.0),
                    .repetition_penalty = values.value("repetition_penalty", 1.0),
                    .presence_penalty = values.value("presence_penalty", 0.0),
                    .frequency_penalty = values.value("frequency_penalty", 0.0),
                    .banned = values.value("banned", TokenIds{})};
  const json bias = values.value("logit_bias", json::object());
  for (const auto& [id, value] : bias.items()) {
    rule.bias.emplace_back(std::stoi(id), value.get<double>());
  }
  return rule;
}

void expect_probabilities(const TokenSampler& sampler, const json& expected) {
  double total = 0;
  for (const auto& candidate : sampler.candidates()) {
    total += candidate.weight;
  }
  ASSERT_EQ(sampler.candidates().size(), expected.size());
  for (const auto& candidate : sampler.candidates()) {
    const double probability = expected.at(std::to_string(candidate.id)).get<double>();
    EXPECT_NEAR(candidate.weight / total, probability, 3e-6 * probability) << candidate.id;
  }
}

json recorded(const std::string& name) {
  const std::string path = "generation/" + name;
  return std::filesystem::exists(test::golden_folder() + "/" + path) ? test::golden_json(path)
                                                                     : json();
}

TEST(TokenSampler, RepeatsRecordedDraws) {
  const json file = recorded("draws.json");
  if (file.is_null()) {
    GTEST_SKIP() << "generation/draws.json is absent";
  }
  TokenSampler sampler(file.at("vocab").get<Index>());
  const auto prompt = file.at("prompt").get<TokenIds>();
  const auto answer = file.at("generated").get<TokenIds>();
  for (const json& each : file.at("cases")) {
    const auto row = each.at("row").get<std::size_t>();
    const auto logits = file.at("logits").at(row).get<std::vector<float>>();
    const SamplingRule rule = rule_of(each);
    sampler.sample(logits, rule, prompt, answer);
    expect_probabilities(sampler, each.at("probabilities"));
    for (const json& draw : each.at("draws")) {
      const double uniform = uniform_draw(std::stoull(draw.at("seed").get<std::string>()),
                                          draw.at("choice").get<std::uint32_t>(),
                                          draw.at("position").get<std::uint32_t>());
      if (draw.contains("u")) {
        EXPECT_DOUBLE_EQ(uniform, draw.at("u").get<double>());
      }
      EXPECT_EQ(sampler.draw(uniform), draw.at("token").get<TokenId>()) << draw;
    }
  }
}

TEST(TokenSampler, RepeatsTheReferencesDistributions) {
  const json file = recorded("sampling.json");
  if (file.is_null()) {
    GTEST_SKIP() << "generation/sampling.json is absent";
  }
  TokenSampler sampler(static_cast<Index>(file.at("logits").at(0).size()));
  for (const json& each : file.at("cases")) {
    SamplingRule rule = rule_of(each);
    rule.top_p = rule.top_p == 0 ? 1 : rule.top_p;  // off, as the reference means it
    for (const json& row : each.at("rows")) {
      const auto index = row.at("row").get<std::size_t>();
      sampler.sample(file.at("logits").at(index).get<std::vector<float>>(), rule, {}, {});
      expect_probabilities(sampler, row.at("probabilities"));
    }
  }
}

TEST(TokenSampler, TopPDecaysAfterEachToken) {
  const std::vector<float> logits(100, 0.0f);  // a mass of p keeps p * 100 + 1 ids
  TokenSampler sampler(100);
  SamplingRule rule{.top_p = 0.895, .top_p_decay = 0.5, .top_p_bound = 0.295};
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < 4; ++i) {
    sampler.sample(logits, rule, {}, TokenIds(i, 1));
    kept.push_back(sampler.candidates().size());
  }
  EXPECT_EQ(kept, (std::vector<std::size_t>{90, 45, 30, 30}));
}

TEST(TokenSampler, NeverDrawsPaddedForbiddenOrEarlyIds) {
  const std::vector<float> logits = {1, 9, 8, 7, 50};
  TokenSampler sampler(4);
  SamplingRule rule{.top_k = 1, .stop_ids = {1}, .min_tokens = 2, .never_after = {{5, 2}}};
  EXPECT_EQ(sampler.sample(logits, rule, TokenIds{0}, TokenIds{}), 2);
  EXPECT_EQ(sampler.sample(logits, rule, TokenIds{5}, TokenIds{}), 3);
  EXPECT_EQ(sampler.sample(logits, rule, TokenIds{0}, TokenIds{3, 3}), 1);
  rule.banned = {0, 1, 2, 3};
  EXPECT_EQ(sampler.sample(logits, rule, TokenIds{0}, TokenIds{3, 3}), std::nullopt);
}

TEST(TokenSampler, DrawsFromAMaskOnly) {
  const std::vector<float> logits(100, 0.0f);
  const std::array<std::uint64_t, 2> mask = {1ull << 7, 1ull << (70 - 64)};
  TokenSampler sampler(100);
  std::set<TokenId> drawn;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    drawn.insert(*sampler.sample(logits, {.seed = seed}, {}, {}, mask));
  }
  EXPECT_EQ(drawn, (std::set<TokenId>{7, 70}));
  EXPECT_EQ(sampler.sample(logits, {.banned = {7, 70}}, {}, {}, mask), std::nullopt);
}

/// Rows of logits of one kind.
enum class Rows { random, tied, flat, peaked };

std::vector<float> row_of(Rows kind, std::size_t vocabulary, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> logits(vocabulary);
  for (float& logit : logits) {
    logit = kind == Rows::flat ? 2.5F : normal(random);
    logit = kind == Rows::tied ? std::round(4 * logit) / 4 : logit;
    logit = kind == Rows::peaked ? logit - 20 : logit;
  }
  logits[random() % vocabulary] += kind == Rows::peaked ? 30.0F : 0.0F;
  return logits;
}

/// What the rule leaves of a row, as plain loops would: (logit over temperature, id), ids rising.
std::vector<std::pair<double, TokenId>> kept_by(const SamplingRule& rule,
                                                const std::vector<float>& logits) {
  std::vector<std::pair<double, TokenId>> kept;
  for (const float logit : logits) {
    kept.emplace_back(static_cast<double>(logit) / rule.temperature,
                      static_cast<TokenId>(kept.size()));
  }
  std::ranges::stable_sort(kept, [](auto a, auto b) { return a.first > b.first; });
  const double top = kept[0].first;
  std::erase_if(kept, [&](auto each) { return std::exp(each.first - top) < rule.min_p; });
  if (rule.top_k > 0 && rule.top_k < std::ssize(kept)) {
    const double least = kept[static_cast<std::size_t>(rule.top_k) - 1].first;
    std::erase_if(kept, [&](auto each) { return each.first < least; });
  }
  double all = 0, mass = 0;
  for (const auto& each : kept) {
    all += std::exp(each.first - top);
  }
  std::size_t count = 0;
  while (count < kept.size() && (rule.top_p >= 1 || mass <= rule.top_p * all)) {
    mass += std::exp(kept[count++].first - top);
  }
  kept.resize(count);
  std::ranges::sort(kept, {}, [](auto each) { return each.second; });
  return kept;
}

TEST(TokenSampler, FiltersLongRowsAsSortingWould) {
  constexpr std::size_t kVocabulary = 3000;
  TokenSampler sampler(kVocabulary);
  for (const Rows rows : {Rows::random, Rows::tied, Rows::flat, Rows::peaked}) {
    const std::vector<float> logits = row_of(rows, kVocabulary, 2);
    for (const SamplingRule& rule :
         {SamplingRule{.temperature = 0.7}, SamplingRule{.top_k = 5}, SamplingRule{.top_k = 300},
          SamplingRule{.top_p = 1e-9}, SamplingRule{.top_p = 0.5}, SamplingRule{.top_p = 0.9999},
          SamplingRule{.min_p = 0.1}, SamplingRule{.temperature = 5, .top_p = 0.95},
          SamplingRule{.temperature = 2, .top_k = 100, .top_p = 0.8, .min_p = 0.01},
          SamplingRule{.temperature = 0.8, .top_p = 0.9, .bias = {{7, 0.0}}}}) {
      const auto kept = kept_by(rule, logits);
      sampler.sample(logits, rule, {}, {});
      const auto candidates = sampler.candidates();
      ASSERT_EQ(candidates.size(), kept.size())
          << static_cast<int>(rows) << " " << rule.top_k << " " << rule.top_p;
      double mass = 0;
      for (std::size_t i = 0; i < kept.size(); ++i) {
        ASSERT_EQ(candidates[i].id, kept[i].second) << i;
        ASSERT_EQ(candidates[i].logit, kept[i].first) << i;
        mass += candidates[i].weight;
      }
      for (const double uniform : {0.0, 0.3, 0.77, 0.999999}) {
        double sum = 0;
        std::size_t drawn = 0;
        while (sum <= uniform * mass && drawn < kept.size()) {
          sum += candidates[drawn++].weight;
        }
        EXPECT_EQ(sampler.draw(uniform), kept[drawn - 1].second);
      }
    }
  }
}

/// The border of a nucleus is found by halving: a hundred rows of GPT-2's size keep what sorting
/// them would, ids that are as likely as the last one in the order of ids.
TEST(TokenSampler, NucleiAreWhatSortingLeaves) {
  constexpr std::size_t kVocabulary = 50257;
  TokenSampler sampler(kVocabulary);
  for (unsigned i = 0; i < 100; ++i) {
    const auto rows = static_cast<Rows>(i % 4);
    const std::vector<float> logits = row_of(rows, kVocabulary, i);
    const SamplingRule rule{.temperature = 0.5 + 0.1 * (i % 9), .top_p = 0.02 + 0.0097 * i};
    const auto kept = kept_by(rule, logits);
    sampler.sample(logits, rule, {}, {});
    const auto candidates = sampler.candidates();
    ASSERT_EQ(candidates.size(), kept.size()) << i;
    EXPECT_TRUE(std::ranges::equal(candidates, kept, {}, &TokenSampler::Candidate::id,
                                   [](auto each) { return each.second; }))
        << i;
  }
}

}  // namespace token_sampler_test
}  // namespace mpitron::inference
