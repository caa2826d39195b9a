#include <gtest/gtest.h>

#include "config/parse/parse.h"
#include "support/tiny_flags.h"

namespace mpitron::config {
namespace constraints_nodes_test {

/// Ids of what is wrong with these flags beside a model that is right.
std::vector<std::string> ids_of(const std::vector<std::string>& more) {
  std::vector<std::string> ids;
  for (const Finding& finding : parse_run(test::tiny_flags(more)).findings) {
    ids.push_back(finding.id);
  }
  return ids;
}

using Ids = std::vector<std::string>;

TEST(NodeConstraints, WholeNodesOrOneAlone) {
  EXPECT_EQ(ids_of({"--world-size", "16", "--ranks-per-node", "8"}), Ids());
  EXPECT_EQ(ids_of({"--world-size", "2", "--ranks-per-node", "8"}), Ids());
  EXPECT_EQ(ids_of({"--world-size", "12"}), Ids());
  EXPECT_EQ(ids_of({"--world-size", "12", "--ranks-per-node", "8"}), Ids({"E190"}));
  EXPECT_EQ(ids_of({"--world-size", "12", "--ranks-per-node", "0"}), Ids({"E190"}));
}

TEST(NodeConstraints, TensorRanksShareANode) {
  const auto tensor = [](const char* size, const char* world) {
    return ids_of({"--num-attention-heads", "8", "--world-size", world, "--ranks-per-node", "4",
                   "--tensor-model-parallel-size", size});
  };
  EXPECT_EQ(tensor("4", "8"), Ids());
  EXPECT_EQ(tensor("2", "8"), Ids());
  EXPECT_EQ(tensor("8", "8"), Ids({"E191"}));
  EXPECT_EQ(tensor("2", "2"), Ids());
}

}  // namespace constraints_nodes_test
}  // namespace mpitron::config
