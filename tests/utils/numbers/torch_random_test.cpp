#include "utils/numbers/torch_random.h"

#include <gtest/gtest.h>

#include "support/golden_json.h"

namespace mpitron {
namespace torch_random_test {

void expect_near(std::span<const float> values, const nlohmann::json& expected) {
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(values[i], expected[i].get<double>(),
                1e-7 * std::abs(expected[i].get<double>()) + 4e-9)
        << i;
  }
}

TEST(TorchGenerator, ReproducesEveryReferenceDraw) {
  if (!test::has_golden("tables.json")) {
    GTEST_SKIP() << "the reference data have no tables.json";
  }
  const auto cases = test::golden_json("tables.json")["random_numbers"]["torch"];
  ASSERT_GE(cases.size(), 3u);
  for (const auto& expected : cases) {
    TorchGenerator generator(expected["seed"].get<std::uint64_t>());
    EXPECT_EQ(generator.permutation(17), expected["randperm_17"]);
    std::vector<float> rand(expected["rand_5"].size());
    generator.uniform(rand, 0.0f, 1.0f);
    expect_near(rand, expected["rand_5"]);
    std::vector<float> normal(35);
    generator.normal(normal, 0.0f, 0.02f);
    expect_near(normal, expected["normal_35"]);
    std::vector<float> few(5);
    generator.normal(few, 0.0f, 1.0f);
    expect_near(few, expected["normal_5"]);
    auto first = generator.permutation(1000);
    first.resize(expected["randperm_1000_first"].size());
    EXPECT_EQ(first, expected["randperm_1000_first"]);
    for (const auto& value : expected["randint_0_100"]) {
      EXPECT_EQ(generator.bits32() % 100, value.get<std::uint32_t>());
    }
    std::vector<float> uniform(4);
    generator.uniform(uniform, -2.0f, 3.0f);
    expect_near(uniform, expected["uniform_4"]);
  }
}

}  // namespace torch_random_test
}  // namespace mpitron
