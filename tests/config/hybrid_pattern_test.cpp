#include <gtest/gtest.h>

#include "config/layer_pattern.h"
#include "support/golden_tables.h"

namespace mpitron::config {
namespace hybrid_pattern_test {

TEST(HybridPattern, SpreadsLettersAsTheReference) {
  Index cases = 0;
  for (const auto& recorded : test::golden_table("hybrid_allocation")) {
    if (!recorded.at("override").is_null()) {
      continue;
    }
    EXPECT_EQ(pattern_of_ratios(recorded.at("layers").get<Index>(),
                                recorded.at("attention_ratio").get<double>(),
                                recorded.at("mlp_ratio").get<double>()),
              recorded.at("pattern").get<std::string>());
    ++cases;
  }
  EXPECT_GT(cases, 5);
}

TEST(HybridPattern, BarsEndSegmentsAndSlashesBeginDepths) {
  const HybridPattern plain = read_pattern("M*-M");
  EXPECT_EQ(plain.letters, "M*-M");
  EXPECT_TRUE(plain.segments.empty() && plain.depths.empty());
  const HybridPattern cut = read_pattern("M*||-M|M/MM/M*");
  EXPECT_EQ(cut.letters, "M*-MM");
  EXPECT_EQ(cut.segments, (std::vector<Index>{2, 0, 2, 1}));
  EXPECT_EQ(cut.depths, (std::vector<std::string>{"MM", "M*"}));
  EXPECT_EQ(read_pattern("M/").depths, std::vector<std::string>{""});
}

TEST(HybridPattern, CountsLetters) {
  EXPECT_EQ(count_letter("M*-M", 'M'), 2);
  EXPECT_EQ(count_letter("", 'M'), 0);
}

}  // namespace hybrid_pattern_test

}  // namespace mpitron::config
