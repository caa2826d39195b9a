#include "config/model_config.h"

#include <gtest/gtest.h>

#include "support/golden_tables.h"

namespace mpitron::config {

TEST(ModelConfig, VocabularyPaddingEqualsTheReferenceTable) {
  const nlohmann::json cases = test::golden_table("vocab_padding");
  ASSERT_GE(cases.size(), 128U);
  for (const auto& c : cases) {
    EXPECT_EQ(pad_vocab_size(c.at("vocab"), c.at("divisible_by"), c.at("tp")), c.at("padded")) << c;
  }
}

}  // namespace mpitron::config
