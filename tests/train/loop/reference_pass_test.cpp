#include "train/loop/reference_pass.h"

#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

#include "data/gpt/pair_dataset.h"
#include "support/corpus.h"
#include "train/loop/pretrain.h"
#include "train/mock_training.h"
#include "utils/error.h"

namespace mpitron::train {
namespace reference_pass_test {

/// A character a token; the answers are learned.
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

class ReferencePassTest : public ::testing::Test {
 protected:
  ReferencePassTest() {
    write_pairs(R"({"prompt": "ab", "chosen": "cd", "rejected": "e"}
{"prompt": "d", "chosen": "ef", "rejected": "gh"}
{"prompt": "pq", "chosen": "s", "rejected": "tu"}
{"prompt": "u", "chosen": "vw", "rejected": "x"})");
  }
  void write_pairs(const std::string& lines) { test::write_bytes(folder_ / "x.jsonl", lines); }

  /// The losses and accuracies of each iteration of a run that goes on from a folder or begins.
  struct Curve {
    std::vector<double> losses, accuracies;
  };
  Curve run(Index iterations, const std::vector<std::string>& flags) const {
    MockTraining tiny(flags);
    tiny.config.training.train_iters = iterations;
    tiny.config.data.sft = tiny.config.data.sft_pairs = true;
    tiny.config.model.reset_attention_mask = true;
    tiny.config.model.preference = config::PreferenceConfig{.beta = 0.5};
    tiny.model = std::make_unique<TrainedModel>(*tiny.device, tiny.config, *tiny.world);
    const auto file = std::make_shared<const data::ConversationFile>(folder_ / "x.jsonl");
    data::SftDatasetOptions options{.end = file->size(), .eod = 21, .pad = 22};
    options.description.seq_length = tiny.config.training.seq_length;
    options.description.num_samples = 80;
    tiny.data.sets = {
        std::make_shared<const data::PairDataset>(file, options, encode, false), {}, nullptr};
    tiny.data.reference = std::make_shared<RowValues>();
    Pretraining pretraining(*tiny.device, *tiny.model, tiny.data, tiny.config);
    ::testing::internal::CaptureStdout();
    const auto captured = [] { return ::testing::internal::GetCapturedStdout(); };
    try {
      pretraining.run();
    } catch (...) {
      captured();
      throw;
    }
    const std::string out = captured();
    EXPECT_EQ(tiny.data.reference->size(), 4U);
    return {figures(out, "dpo loss: "), figures(out, "accuracy: ")};
  }
  static std::vector<double> figures(const std::string& text, const std::string& name) {
    std::vector<double> values;
    for (auto at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
      values.push_back(std::stod(text.substr(at + name.size())));
    }
    return values;
  }

  test::TemporaryFolder folder_;
};

TEST_F(ReferencePassTest, PreferencesAreLearnedFromWhereTheModelStands) {
  const Curve curve =
      run(20, {"--hidden-dropout", "0", "--attention-dropout", "0", "--lr-decay-iters", "20"});
  ASSERT_EQ(curve.losses.size(), 20U);
  EXPECT_NEAR(curve.losses.front(), std::log(2.0), 1e-6);
  EXPECT_LT(curve.losses.back(), 0.3);
  EXPECT_EQ(curve.accuracies.back(), 1);
}

TEST_F(ReferencePassTest, ARunGoesOnWithTheSameReference) {
  const std::string whole = folder_ / "whole", first = folder_ / "first";
  const auto go = [&](Index iterations, std::vector<std::string> flags) {
    flags.insert(flags.end(), {"--lr-decay-iters", "6"});
    return run(iterations, flags).losses;
  };
  const std::vector<double> all = go(6, {"--save", whole});
  go(3, {"--save", first});
  const std::vector<double> rest = go(6, {"--load", first, "--save", first});
  ASSERT_EQ(rest.size(), 3U);
  EXPECT_EQ(rest, std::vector<double>(all.begin() + 3, all.end()));

  std::filesystem::remove(first + "/reference.h5");
  EXPECT_NE(test::message_of([&] {
              go(8, {"--load", first});
            }).find("4 pairs of the data"),
            std::string::npos);
}

}  // namespace reference_pass_test
}  // namespace mpitron::train
