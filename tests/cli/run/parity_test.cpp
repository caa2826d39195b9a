#include <gtest/gtest.h>

#include "cli/tiny_run.h"

namespace mpitron::cli {
namespace parity_test {

using namespace mpitron::test;

const Words kParity = Words{"parity"} + Words(kTinyMock.begin() + 1, kTinyMock.end());

Finished parity(const Words& more) {
  const TemporaryFolder folder;
  return run_program(folder.path(), kParity + more);
}

TEST(ParityCommand, CertifiesALayout) {
  const Words layout = {"--world-size",
                        "4",
                        "--tensor-model-parallel-size",
                        "2",
                        "--pipeline-model-parallel-size",
                        "2",
                        "--bf16"};
  const Finished text = parity(layout);
  EXPECT_EQ(text.code, 0) << text.err << text.out;
  EXPECT_TRUE(contains(text.out, "PASS on 4 ranks")) << text.out;
  const Finished json = parity(layout + Words{"--json"});
  EXPECT_TRUE(contains(json.out, R"("pass": true, "first_difference": "", "world_size": 4)"))
      << json.out;
}

TEST(ParityCommand, TellsThatTwoReplicasAreEnough) {
  const Finished text = parity({"--world-size", "4", "--global-batch-size", "8"});
  EXPECT_EQ(text.code, 0) << text.err << text.out;
  EXPECT_TRUE(contains(text.out, "PASS on 2 ranks (2 of 4 replicas")) << text.out;
}

TEST(ParityCommand, RefusesMoreRanksThanItCanRun) {
  const Finished finished = parity({"--world-size", "64", "--context-parallel-size", "64",
                                    "--seq-length", "256", "--max-position-embeddings", "256"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_TRUE(contains(finished.err, "at most 64")) << finished.err;
}

}  // namespace parity_test
}  // namespace mpitron::cli
