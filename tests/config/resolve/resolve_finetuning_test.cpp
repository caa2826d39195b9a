#include <gtest/gtest.h>

#include "config/flags.h"

namespace mpitron::config {
namespace resolve_finetuning_test {

ModelConfig model_of(const std::string& flags) {
  return test::parse_base(flags).run.model;
}

TEST(ResolveFinetuning, UpdatesHaveTheirRankAsAlpha) {
  EXPECT_FALSE(model_of("").lora.has_value());
  const auto lora = model_of("--lora-rank 4").lora;
  ASSERT_TRUE(lora.has_value());
  EXPECT_EQ(lora->rank, 4);
  EXPECT_EQ(lora->alpha, 4);
  EXPECT_EQ(model_of("--lora-rank 4 --lora-alpha 16").lora->alpha, 16);
}

TEST(ResolveFinetuning, PreferencesAndFrozenPartsAreAskedFor) {
  const ModelConfig plain = model_of("");
  EXPECT_FALSE(plain.preference.has_value() || plain.frozen.embeddings);
  EXPECT_TRUE(model_of("--freeze-embeddings").frozen.embeddings);
  EXPECT_TRUE(model_of("--dpo").preference.has_value());
}

}  // namespace resolve_finetuning_test
}  // namespace mpitron::config
