#include "train/parity/recorded_case.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "config/parse/parse.h"
#include "models/bert/bert_batch.h"
#include "models/t5/t5_batch.h"
#include "support/corpus.h"
#include "support/host_runtime.h"
#include "utils/system/files.h"

namespace mpitron::train {
namespace recorded_case_test {

using nlohmann::json;

std::string recorded() {
  return test::golden_folder() + "/curves/gpt-rope-gqa";
}

TEST(RecordedCase, TellsFlagsAndLosses) {
  const RecordedCase recording(recorded());
  const json losses = json::parse(read_file(recorded() + "/losses.json")).at("iterations");
  EXPECT_EQ(recording.name(), "gpt-rope-gqa");
  EXPECT_EQ(recording.model_type(), "gpt");
  ASSERT_EQ(recording.iterations().size(), losses.size());
  for (std::size_t i = 0; i < losses.size(); ++i) {
    EXPECT_EQ(recording.iterations()[i].loss, losses[i].at("lm_loss"));
    EXPECT_EQ(recording.iterations()[i].learning_rate, losses[i].at("learning_rate"));
  }
  EXPECT_EQ(config::parse_run_config(recording.flags()).model.num_query_groups, 2);
}

TEST(RecordedCase, RowsAreTokensAndTheSameOneLater) {
  RecordedCase recording(recorded());
  const HostMicrobatch rows = recording.rows(3, 2);
  ASSERT_EQ(rows.samples, 2);
  ASSERT_EQ(rows.sequence_length, 32);
  EXPECT_EQ(rows.first_sample, 3);
  ASSERT_EQ(rows[models::kTokens].size(), 64U);
  for (std::size_t i = 0; i < 64; ++i) {
    if (i % 32 != 31) {
      EXPECT_EQ(rows[models::kLabels][i], rows[models::kTokens][i + 1]);
    }
  }
  EXPECT_TRUE(rows[models::kPositionIds].empty());  // 0, 1, 2, ...
  const HostMicrobatch second = recording.rows(4, 1);
  EXPECT_TRUE(std::ranges::equal(second[models::kTokens], rows[models::kTokens].subspan(32)));
  EXPECT_NE(test::message_of([&] { recording.rows(1000000, 1); }), "");
}

TEST(RecordedCase, RowsOfBertAndT5HaveTheirParts) {
  RecordedCase bert(test::golden_folder() + "/curves/bert");
  const HostMicrobatch masked = bert.rows(0, 2);
  EXPECT_EQ(masked[models::kTokenTypes].size(), 2U * 48);
  EXPECT_EQ(masked[models::kSentenceOrder].size(), 2U);
  EXPECT_EQ(masked[models::kPaddingMask][36], 1);
  EXPECT_EQ(masked[models::kPaddingMask][37], 0);
  EXPECT_TRUE(bert.iterations()[0].other_losses.contains("sop loss"));
  RecordedCase t5(test::golden_folder() + "/curves/t5");
  const HostMicrobatch streams = t5.rows(1, 2);
  EXPECT_EQ(streams.sequence_length, 32);
  EXPECT_EQ(streams[models::kDecoderTokens].size(), 2U * 24);
  EXPECT_EQ(streams[models::kLabels].size(), 2U * 24);
  for (std::size_t i = 0; i < streams[models::kDecoderTokens].size(); ++i) {
    EXPECT_EQ(streams[models::kDecoderPaddingMask][i],
              streams[models::kDecoderTokens][i] != 0 ? 1 : 0);
  }
  EXPECT_TRUE(t5.iterations()[0].other_losses.empty());
}

TEST(RecordedCase, NamesWhatIsMissingOrBroken) {
  const test::TemporaryFolder folder;
  const std::string copy = folder / "copy";
  std::filesystem::copy(recorded(), copy);
  const auto message = [&] { return test::message_of([&] { RecordedCase{copy}; }); };
  EXPECT_EQ(message(), "");
  test::write_bytes(copy + "/losses.json", R"({"iterations": [{"lm_loss": 1}]})");
  EXPECT_NE(message().find("'learning_rate' is missing"), std::string::npos) << message();
  test::write_bytes(copy + "/losses.json", R"({"iterations": [{"lm_loss": "x"}]})");
  EXPECT_NE(message().find("not a recorded run"), std::string::npos) << message();
  test::write_bytes(copy + "/losses.json", "{");
  EXPECT_NE(message().find("losses.json: not valid JSON"), std::string::npos) << message();
  std::filesystem::remove(copy + "/weights.safetensors");
  EXPECT_NE(message().find("weights.safetensors"), std::string::npos) << message();
}

}  // namespace recorded_case_test

}  // namespace mpitron::train
