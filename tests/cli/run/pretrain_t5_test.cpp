#include <gtest/gtest.h>

#include "cli/sentences.h"

namespace mpitron::cli {
namespace pretrain_t5_test {

using namespace mpitron::test;

class PretrainT5 : public ::testing::Test {
 protected:
  PretrainT5() {
    write_sentences(folder_, 40);
    EXPECT_EQ(preprocess_sentences(folder_).code, 0);
  }
  Finished run(const Words& more) {
    return run_program(
        folder_.path(),
        tiny_encoder("pretrain-t5") +
            Words{"--data-path", "corpus_text_sentence", "--decoder-seq-length", "24"} + more);
  }
  std::string train(const Words& more) {
    const Finished finished = run(more);
    EXPECT_EQ(finished.code, 0) << finished.err;
    return finished.out;
  }

  const TemporaryFolder folder_;
  const Words sentinels_ = {"--vocab-extra-ids", "20"};
};

TEST_F(PretrainT5, TrainsWithEveryKindOfPositions) {
  for (const char* positions : {"learned_absolute", "rope", "relative"}) {
    const std::string out = train(sentinels_ + Words{"--position-embedding-type", positions});
    EXPECT_EQ(losses(out).size(), 4U) << positions;
    EXPECT_TRUE(contains(out, "validation loss at iteration 4")) << out;
  }
}

TEST_F(PretrainT5, GoesOnBitForBit) {
  const Words flags = sentinels_ + Words{"--hidden-dropout", "0.1", "--attention-dropout", "0.1"};
  const Words lines = result_lines(train(flags));
  ASSERT_EQ(lines.size(), 5U);
  train(flags + Words{"--save", "run", "--save-interval", "2", "--exit-interval", "2"});
  EXPECT_EQ(result_lines(train(flags + Words{"--load", "run"})),
            Words(lines.begin() + 2, lines.end()));
}

TEST_F(PretrainT5, SaysWhatIsMissing) {
  const auto expect_refused = [&](const Words& more, const std::string& part) {
    const Finished finished = run(more);
    EXPECT_EQ(finished.code, 2) << finished.err;
    EXPECT_TRUE(contains(finished.err, part)) << finished.err;
  };
  expect_refused({}, "--vocab-extra-ids 100");
  expect_refused({"--vocab-extra-ids", "1"}, "raise it");
  expect_refused(sentinels_ + Words{"--decoder-seq-length", "3"}, "--decoder-seq-length 3");
  expect_refused(sentinels_ + Words{"--full-validation"}, "--full-validation");
}

}  // namespace pretrain_t5_test
}  // namespace mpitron::cli
