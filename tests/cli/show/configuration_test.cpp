#include <gtest/gtest.h>

#include "cli/commands.h"
#include "utils/error.h"

namespace mpitron::cli {
namespace configuration_test {

std::string shown(const Arguments& more) {
  Arguments words = {"show", "--num-layers",
                     "4",    "--hidden-size",
                     "64",   "--num-attention-heads",
                     "4",    "--seq-length",
                     "32",   "--max-position-embeddings",
                     "32",   "--micro-batch-size",
                     "2",    "--train-iters",
                     "5",    "--lr",
                     "1e-3"};
  words.insert(words.end(), more.begin(), more.end());
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(configuration(words), 0);
  return ::testing::internal::GetCapturedStdout();
}

TEST(Configuration, ShowsDerivedValues) {
  EXPECT_NE(shown({}).find("ffn_hidden_size ................................. 256\n"),
            std::string::npos);
  EXPECT_NE(shown({"--provenance"}).find("# derived: = 4 * hidden_size"), std::string::npos);
  EXPECT_EQ(shown({"--json"}).front(), '{');
}

TEST(Configuration, RefusesOtherWordsAndBrokenRuns) {
  EXPECT_THROW(configuration({}), Error);
  EXPECT_THROW(configuration({"list"}), Error);
  ::testing::internal::CaptureStdout();
  EXPECT_THROW(configuration({"show", "--num-layers", "4"}), Error);
  EXPECT_NE(::testing::internal::GetCapturedStdout().find("num_layers"), std::string::npos);
}

}  // namespace configuration_test
}  // namespace mpitron::cli
