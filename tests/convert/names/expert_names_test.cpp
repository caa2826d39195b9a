#include <string>

#include <gtest/gtest.h>

#include "convert/names/name_families.h"

namespace mpitron::convert {
namespace expert_names_test {

/// Returns how many rows name a tensor of each expert, on both sides or on one.
int rows_of_experts(std::span<const EntryBlock> blocks) {
  int rows = 0;
  for (const EntryBlock& block : blocks) {
    for (const Entry& entry : block) {
      const bool ours = std::string(entry.ours).find("{e}") != std::string::npos;
      const bool theirs = std::string(entry.theirs[0].name).find("{e}") != std::string::npos;
      EXPECT_EQ(ours, theirs) << entry.ours;
      rows += ours ? 1 : 0;
    }
  }
  return rows;
}

TEST(ExpertNames, ExpertsHaveTwoMatricesAndSomeTheirBiases) {
  EXPECT_EQ(rows_of_experts(mixtral_names()), 2);
  EXPECT_EQ(rows_of_experts(deepseek_v2_names()), 2);
  EXPECT_EQ(rows_of_experts(llama4_names()), 2);
  EXPECT_EQ(rows_of_experts(gpt_oss_names()), 4);
}

/// Gate and the other half of the first matrix lie one below the other here.
TEST(ExpertNames, TheFirstMatrixIsJoined) {
  for (const EntryBlock& block : mixtral_names()) {
    for (const Entry& entry : block) {
      if (std::string(entry.ours).ends_with("{e}.linear_fc1.weight")) {
        EXPECT_NE(std::string(entry.theirs[0].name).find(".w1."), std::string::npos);
        EXPECT_NE(std::string(entry.theirs[1].name).find(".w3."), std::string::npos);
      }
    }
  }
}

}  // namespace expert_names_test
}  // namespace mpitron::convert
