#include "nn/attention/rotary_embedding.h"

#include <cmath>

#include <gtest/gtest.h>

#include "support/golden_tables.h"
#include "support/tensors.h"

namespace mpitron::nn {
namespace rotary_embedding_test {

class RotaryTablesTest : public ::testing::Test {
 protected:
  RotaryTablesTest() { config_.kv_channels = 8; }
  std::unique_ptr<device::Device> device_ = device::make_device("reference");
  config::ModelConfig config_;
};

TEST_F(RotaryTablesTest, HoldCosineAndSineOfEveryPosition) {
  const ops::RotaryTables tables = make_rotary_tables(*device_, config_, 5, DType::f32);
  EXPECT_EQ(tables.cos.shape(), (Shape{5, 4}));
  EXPECT_FALSE(tables.interleaved);
  // Position 3, frequency 10000^(-2/8) = 0.1.
  EXPECT_NEAR(test::values_of(tables.cos)[3 * 4 + 1], std::cos(0.3), 1e-7);
  EXPECT_NEAR(test::values_of(tables.sin)[3 * 4 + 1], std::sin(0.3), 1e-7);
}

TEST_F(RotaryTablesTest, PartialAndInterpolatedRotation) {
  config_.rotary_percent = 0.5;
  config_.rotary_seq_len_interpolation_factor = 4;
  config_.rotary_interleaved = true;
  const ops::RotaryTables tables = make_rotary_tables(*device_, config_, 5, DType::f32);
  EXPECT_EQ(tables.cos.shape(), (Shape{5, 2}));
  EXPECT_TRUE(tables.interleaved);
  EXPECT_NEAR(test::values_of(tables.sin)[2 * 2], std::sin(0.5), 1e-7);
}

/// Heads of 8: two frequencies of rows, then the same two of columns.
TEST_F(RotaryTablesTest, PatchesTurnByRowAndColumn) {
  const ops::RotaryTables tables =
      make_grid_rotary_tables(*device_, config_, {.edge = 3}, DType::f32);
  ASSERT_EQ(tables.cos.shape(), (Shape{9, 4}));
  const std::vector<double> sin = test::values_of(tables.sin);
  const double want[] = {std::sin(2.), std::sin(0.02), std::sin(1.), std::sin(0.01)};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(sin[7 * 4 + i], want[i], 1e-7) << i;  // row 2, column 1
  }
}

/// Of a grid that counts from one, columns first, the class token behind it stays as it is.
TEST_F(RotaryTablesTest, PatchesTurnByColumnAndRow) {
  config_.rotary_interleaved = true;
  const ops::RotaryTables tables = make_grid_rotary_tables(
      *device_, config_, {.edge = 3, .columns_first = true, .first_place = 1, .unturned = 1},
      DType::f32);
  ASSERT_EQ(tables.sin.shape(), (Shape{10, 4}));
  EXPECT_TRUE(tables.interleaved);
  const std::vector<double> sin = test::values_of(tables.sin);
  const double want[] = {std::sin(2.), std::sin(0.02), std::sin(3.), std::sin(0.03)};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(sin[7 * 4 + i], want[i], 1e-7) << i;  // row 3, column 2
    EXPECT_EQ(sin[9 * 4 + i], 0) << i;
  }
}

/// The base of windows is neither stretched nor interpolated.
TEST_F(RotaryTablesTest, LayersWithAWindowHaveABaseOfTheirOwn) {
  EXPECT_FALSE(make_window_rotary_tables(*device_, config_, 5, DType::f32).cos);
  config_.rotary_base_local = 100;
  config_.rotary_seq_len_interpolation_factor = 4;
  config_.use_rope_scaling = true;
  const ops::RotaryTables tables = make_window_rotary_tables(*device_, config_, 5, DType::f32);
  // Position 3, frequency 100^(-4/8) = 0.1.
  EXPECT_NEAR(test::values_of(tables.sin)[3 * 4 + 2], std::sin(0.3), 1e-7);
}

/// Positions 0 to 2 stay as they are; 3 to 6 have ln 2, 7 to 10 ln 3.
TEST_F(RotaryTablesTest, FactorsOfQueriesGrowInSteps) {
  EXPECT_FALSE(make_query_factors(*device_, config_, 8));
  config_.query_scale = {.floor = 4, .growth = 0.5};
  const std::vector<double> factors = test::values_of(make_query_factors(*device_, config_, 8));
  ASSERT_EQ(factors.size(), 8U);
  EXPECT_EQ(factors[2], 1);
  EXPECT_NEAR(factors[3], 1 + 0.5 * std::log(2), 1e-7);
  EXPECT_EQ(factors[6], factors[3]);
  EXPECT_NEAR(factors[7], 1 + 0.5 * std::log(3), 1e-7);
}

/// The reference rounds the tables to the activations' type.
TEST_F(RotaryTablesTest, AreRoundedToTheActivationsType) {
  const ops::RotaryTables half = make_rotary_tables(*device_, config_, 3, DType::bf16);
  const ops::RotaryTables full = make_rotary_tables(*device_, config_, 3, DType::f32);
  const std::vector<double> a = test::values_of(half.cos), b = test::values_of(full.cos);
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i], b[i], std::abs(b[i]) * 0x1p-8);
  }
  EXPECT_NE(a, b);
}

}  // namespace rotary_embedding_test

namespace rotary_frequencies_test {

using nlohmann::json;

/// With a factor of 1 there is nothing between long and short waves.
TEST(RotaryFrequencies, OfLlama3HaveTwoKindsOfWavesAtMost) {
  const std::vector<double> plain = {1, 1e-2, 7.6e-4, 1e-5};
  const std::vector<double> four = llama3_scaled(plain, 16), one = llama3_scaled(plain, 16, 1);
  EXPECT_EQ(one, (std::vector<double>{1, 1e-2, 7.6e-4 / 16, 1e-5 / 16}));
  EXPECT_EQ(four[0], 1);
  EXPECT_EQ(llama3_scaled({2e-3}, 16, 1)[0], 2e-3);
  EXPECT_LT(llama3_scaled({2e-3}, 16)[0], 2e-3);
}

/// fp32 values: a power in fp32 may differ in the last bits between mathematical libraries.
void expect_close(double value, double expected) {
  EXPECT_NEAR(value, expected, std::abs(expected) * 4e-7 + 1e-12);
}

config::ModelConfig config_of(const json& recorded) {
  config::ModelConfig config;
  config.kv_channels = recorded.at("kv_channels").get<Index>();
  config.rotary_percent = recorded.at("percent").get<double>();
  config.rotary_interleaved = recorded.at("interleaved").get<bool>();
  config.rotary_base = recorded.at("base").get<Index>();
  config.use_rope_scaling = recorded.at("llama3_scaling").get<bool>();
  config.rope_scaling_factor = recorded.at("llama3_factor").get<double>();
  if (!recorded.at("interpolation").is_null()) {
    config.rotary_seq_len_interpolation_factor =
        static_cast<Index>(recorded.at("interpolation").get<double>());
  }
  return config;
}

TEST(RotaryFrequencies, PlainAndLlama3AreTheReferences) {
  const json cases = test::golden_table("rope").at("plain");
  ASSERT_FALSE(cases.empty());
  for (const json& recorded : cases) {
    const config::ModelConfig config = config_of(recorded);
    const RotaryFrequencies frequencies = rotary_frequencies(config);
    const json& inverse = recorded.at("inv_freq");
    const json& angles = recorded.at("angles_position_0_to_4").at(3);
    ASSERT_EQ(frequencies.inverse.size(), inverse.size());
    for (std::size_t i = 0; i < inverse.size(); ++i) {
      expect_close(frequencies.inverse[i], inverse.at(i).get<double>());
      const std::size_t at = config.rotary_interleaved ? 2 * i : i;
      expect_close(3 / frequencies.position_divisor * frequencies.inverse[i],
                   angles.at(at).get<double>());
    }
    EXPECT_EQ(frequencies.concentration, 1);
  }
}

TEST(RotaryFrequencies, YarnIsTheReferences) {
  const json cases = test::golden_table("rope").at("yarn");
  ASSERT_FALSE(cases.empty());
  for (const json& recorded : cases) {
    config::ModelConfig plain;
    plain.kv_channels = recorded.at("dim").get<Index>();
    plain.rotary_base = static_cast<Index>(recorded.at("base").get<double>());
    const double factor = recorded.at("factor").get<double>();
    const std::vector<double> scaled =
        yarn_scaled(rotary_frequencies(plain).inverse, recorded.at("base").get<double>(),
                    {.factor = factor,
                     .beta_fast = recorded.at("beta_fast").get<double>(),
                     .beta_slow = recorded.at("beta_slow").get<double>(),
                     .original_positions = recorded.at("original_max").get<double>()});
    for (std::size_t i = 0; i < scaled.size(); ++i) {
      expect_close(scaled[i], recorded.at("angles_position_1").at(i).get<double>());
    }
    expect_close(yarn_mscale(factor, recorded.at("mscale").get<double>()) /
                     yarn_mscale(factor, recorded.at("mscale_all_dim").get<double>()),
                 recorded.at("concentration").get<double>());
  }
}

TEST(RotaryFrequencies, YarnFollowsTheConfiguration) {
  config::ModelConfig config;
  config.kv_channels = 64;
  config.rope_type = config::RopeType::yarn;
  config.rotary_scaling_factor = 40;
  const json recorded = test::golden_table("rope").at("yarn").at(0);
  const RotaryFrequencies frequencies = rotary_frequencies(config);
  expect_close(frequencies.concentration, recorded.at("concentration").get<double>());
  expect_close(frequencies.inverse[20], recorded.at("angles_position_1").at(20).get<double>());
}

TEST(RotaryFrequencies, YarnsMscaleIsTheReferences) {
  const json table = test::golden_table("rope");
  for (const json& recorded : table.at("yarn_mscale")) {
    expect_close(
        yarn_mscale(recorded.at("scale").get<double>(), recorded.at("mscale").get<double>()),
        recorded.at("value").get<double>());
  }
}

}  // namespace rotary_frequencies_test
}  // namespace mpitron::nn
