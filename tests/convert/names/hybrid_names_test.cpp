#include <set>
#include <string>

#include <gtest/gtest.h>

#include "convert/names/name_families.h"

namespace mpitron::convert {
namespace hybrid_names_test {

std::set<std::string> names_of(std::span<const EntryBlock> blocks) {
  std::set<std::string> names;
  for (const EntryBlock& block : blocks) {
    for (const Entry& entry : block) {
      EXPECT_TRUE(names.insert(entry.ours).second) << entry.ours << " has two rows";
    }
  }
  return names;
}

/// Layers of one branch: those of Nemotron-H are Mamba's mixers, attention or MLPs.
TEST(HybridNames, NemotronHAddsAttentionAndMlpsToMamba) {
  const std::set<std::string> mamba = names_of(mamba2_names()), all = names_of(nemotron_h_names());
  for (const std::string& name : mamba) {
    EXPECT_TRUE(all.contains(name)) << name;
  }
  EXPECT_FALSE(mamba.contains("decoder.layers.{}.mlp.linear_fc1.weight"));
  EXPECT_TRUE(all.contains("decoder.layers.{}.mlp.linear_fc1.weight"));
  EXPECT_TRUE(all.contains("decoder.layers.{}.self_attention.linear_qkv.weight"));
}

/// A layer has either a delta net or attention, whose output matrix has one name in each.
TEST(HybridNames, EachMixerOfQwen3NextHasItsLayers) {
  for (const EntryBlock& block : qwen3_next_names()) {
    for (const Entry& entry : block) {
      const std::string theirs = entry.theirs[0].name;
      if (theirs.find(".linear_attn.") != std::string::npos) {
        EXPECT_EQ(entry.when, When::delta_layer) << entry.ours;
      }
      if (theirs.find(".self_attn.") != std::string::npos) {
        EXPECT_EQ(entry.when, When::attention_layer) << entry.ours;
      }
    }
  }
}

}  // namespace hybrid_names_test
}  // namespace mpitron::convert
