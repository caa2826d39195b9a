#include <gtest/gtest.h>

#include "cli/run/launch.h"
#include "cli/tiny_run.h"
#include "support/tiny_flags.h"

namespace mpitron::cli {
namespace rank_agreement_test {

using namespace mpitron::test;

std::string lines(const Words& more, const std::string& build = "one") {
  return common_lines(config::parse_run(tiny_flags(more)), build);
}

TEST(RankAgreement, TheFirstOptionThatDiffersIsNamedWithBothValues) {
  EXPECT_EQ(first_difference(lines({}), lines({}), 1), "");
  EXPECT_EQ(first_difference(lines({}), lines({"--lr", "5e-3"}), 3),
            "--lr: 1e-3 on rank 0, 5e-3 on rank 3");
  EXPECT_EQ(first_difference(lines({}), lines({"--save", "x"}), 1),
            "--save: nothing on rank 0, x on rank 1");
  EXPECT_EQ(first_difference(lines({}), lines({}, "two"), 1),
            "the build: one on rank 0, two on rank 1");
}

TEST(RankAgreement, PlacesOfANodesOwnMayDiffer) {
  EXPECT_EQ(first_difference(lines({"--data-path", "/a/x", "--tensorboard-dir", "/a"}),
                             lines({"--data-path", "/b/x", "--tensorboard-dir", "/b"}), 1),
            "");
}

TEST(RankAgreement, CorporaAreComparedByTheirSizes) {
  const TemporaryFolder folder;
  write_bytes(folder / "x.bin", "12345678");
  std::filesystem::create_directory(folder.path() / "other");
  write_bytes(folder / "other/x.bin", "1234");
  const std::string here = folder / "x", there = folder / "other/x";
  EXPECT_EQ(first_difference(lines({"--data-path", here}), lines({"--data-path", there}), 1),
            "bytes of x.bin: 8 on rank 0, 4 on rank 1");
}

TEST(RankAgreement, OneRankAgreesWithItself) {
  const auto world = comm::make_single_world();
  EXPECT_NO_THROW(require_agreement(*world, "--lr\t1\n"));
}

}  // namespace rank_agreement_test
}  // namespace mpitron::cli
