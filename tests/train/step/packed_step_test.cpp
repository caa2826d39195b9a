#include <cmath>

#include <gtest/gtest.h>

#include "data/gpt/packed_sft_dataset.h"
#include "data/loading/batch_loader.h"
#include "support/corpus.h"
#include "train/tiny_run.h"

namespace mpitron::train {
namespace packed_step_test {

constexpr Index kLength = 8;

/// A character a token; answers are learned.
data::EncodedConversation encode(const data::Conversation& conversation) {
  data::EncodedConversation encoded;
  for (const auto& message : conversation) {
    for (const char c : message.content) {
      encoded.tokens.push_back(c % 20);
      encoded.targets.push_back(
          message.role == "assistant" ? c % 20 : data::EncodedConversation::kNotLearned);
    }
  }
  return encoded;
}

/// All samples of a data set as one microbatch.
class WholeSet {
 public:
  explicit WholeSet(const data::Dataset& dataset) : samples_(dataset.size()) {
    batch_.rows = samples_;
    batch_.seq_length = kLength;
    const auto tokens = static_cast<std::size_t>(samples_ * kLength);
    for (auto* values : {&batch_.tokens, &batch_.labels, &batch_.position_ids}) {
      values->resize(tokens);
    }
    batch_.loss_mask.resize(tokens);
    batch_.attention_mask.resize(tokens * kLength);
    std::vector<std::int64_t> text(kLength + 1);
    for (Index i = 0; i < samples_; ++i) {
      dataset.read_row(i, {.seq_length = kLength, .create_attention_mask = true, .pad = 22}, text,
                       batch_.row(i));
    }
  }
  NextMicrobatch next() const {
    return [this] {
      return HostMicrobatch{.samples = samples_,
                            .sequence_length = kLength,
                            .columns = {{models::kTokens, batch_.tokens},
                                        {models::kLabels, batch_.labels},
                                        {models::kPositionIds, batch_.position_ids},
                                        {models::kLossMask, batch_.loss_mask},
                                        {models::kAttentionMask, batch_.attention_mask}}};
    };
  }
  Index samples() const { return samples_; }

 private:
  Index samples_;
  data::Batch batch_;
};

class PackedStep : public ::testing::TestWithParam<const char*> {
 protected:
  PackedStep() {
    test::write_bytes(folder_ / "x.jsonl", R"({"prompt": "ab", "completion": "c"}
{"prompt": "d", "completion": "efgh"}
{"prompt": "pqr", "completion": "st"}
{"prompt": "u", "completion": "v"}
)");
    file_ = std::make_shared<const data::ConversationFile>(folder_ / "x.jsonl");
    options_.end = file_->size();
    options_.eod = 21, options_.pad = 22;
    options_.description.seq_length = kLength;
  }
  /// Loss and gradients of a step over the set, without dropout.
  std::pair<double, std::vector<double>> step_over(const WholeSet& set) const {
    config::RunConfig config = tiny_run(
        {"--hidden-dropout", "0", "--attention-dropout", "0", "--position-embedding-type",
         GetParam(), "--calculate-per-token-loss", "--micro-batch-size",
         std::to_string(set.samples()), "--global-batch-size", std::to_string(set.samples())});
    config.data.sft = config.data.sft_packing = config.model.reset_attention_mask = true;
    const auto device = device::make_device("host");
    TinyTraining training(*device, config);
    const StepReport report = training.step.compute_gradients(1, 1, set.next());
    return {report.loss(), training.gradients()};
  }

  test::TemporaryFolder folder_;
  std::shared_ptr<const data::ConversationFile> file_;
  data::SftDatasetOptions options_;
};

TEST_P(PackedStep, GivesTheGradientOfOneConversationASample) {
  const WholeSet packed(data::PackedSftDataset(file_, options_, encode, 1));
  const WholeSet single(data::SftDataset(file_, options_, encode));
  ASSERT_EQ(packed.samples(), 3);
  ASSERT_EQ(single.samples(), 4);
  const auto [loss, gradients] = step_over(packed);
  const auto [expected_loss, expected] = step_over(single);
  EXPECT_NEAR(loss, expected_loss, 1e-6 * expected_loss);
  ASSERT_EQ(gradients.size(), expected.size());
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference += std::pow(gradients[i] - expected[i], 2);
    size += std::pow(expected[i], 2);
  }
  EXPECT_GT(size, 0);
  EXPECT_LE(std::sqrt(difference / size), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Positions, PackedStep, ::testing::Values("learned_absolute", "rope"));

}  // namespace packed_step_test
}  // namespace mpitron::train
