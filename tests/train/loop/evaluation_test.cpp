#include "train/loop/evaluation.h"

#include <cmath>
#include <mutex>

#include <gtest/gtest.h>

#include "io/tokens/token_file_writer.h"
#include "support/corpus.h"
#include "train/mock_training.h"
#include "train/tiny_run.h"

namespace mpitron::train {
namespace evaluation_test {

using Flags = std::vector<std::string>;
using Losses = std::vector<std::optional<double>>;

class CountingDataset : public data::Dataset {
 public:
  explicit CountingDataset(Index size) : size_(size) {}
  Index size() const override { return size_; }
  void read(Index, std::span<std::int64_t>) const override {}
  const std::string& description() const override { return description_; }

 private:
  Index size_;
  std::string description_;
};

TEST(Evaluation, APartHasWhatTheOptionsSay) {
  config::TrainingConfig training;
  training.global_batch_size = 8;
  training.eval_iters = 3;
  const auto data = std::make_shared<CountingDataset>(1000);
  const Evaluation part = part_of(data, training, 16);
  EXPECT_TRUE(part);
  EXPECT_EQ(part.samples(), 24);
  EXPECT_EQ(part.consumed, 16);
  EXPECT_FALSE(part_of(nullptr, training, 0));
  training.eval_iters = 0;
  EXPECT_FALSE(part_of(data, training, 0));
}

TEST(Evaluation, AWholeSetIsFilledUpToWholeBatches) {
  config::TrainingConfig training;
  training.global_batch_size = 8;
  training.eval_iters = 0;
  for (const auto& [samples, iterations] : {std::pair<Index, Index>{1, 1}, {8, 1}, {9, 2}}) {
    const Evaluation whole = whole_of(std::make_shared<CountingDataset>(samples), training);
    EXPECT_TRUE(whole);
    EXPECT_EQ(whole.iterations, iterations) << samples;
    EXPECT_EQ(whole.samples(), 8 * iterations);
  }
  EXPECT_FALSE(whole_of(nullptr, training));
}

/// Corpora of tokens below 23; the reference device, since ranks are threads.
class ValidationSets : public ::testing::Test {
 protected:
  void write(const std::string& name, int tokens) const {
    std::vector<std::int32_t> text;
    for (int i = 0; i < tokens; ++i) {
      text.push_back((i * i + 5 * i) % 23);
    }
    const std::vector<std::int32_t> lengths = {tokens};
    io::TokenFileWriter writer(folder_ / name, io::TokenType::u16);
    writer.add_document(text, lengths);
    writer.commit();
  }

  Flags flags(const Flags& more = {}) const {
    Flags all = {"--train-data-path",
                 folder_ / "train",
                 "--valid-data-path",
                 folder_ / "a",
                 folder_ / "b",
                 "--eval-iters",
                 "1"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  config::RunConfig config(const Flags& more, Index ranks) const {
    Flags all = tiny_flags();
    std::erase(all, "--mock-data");
    const Flags data = flags(more);
    all.insert(all.end(), data.begin(), data.end());
    config::RunConfig run = config::parse_run_config(all, ranks);
    run.model.padded_vocab_size = 24;
    return run;
  }

  Losses losses(const Flags& more = {}, Index ranks = 1) const {
    const config::RunConfig run = config(more, ranks);
    const TrainingData data = make_training_data(run);
    Losses found;
    std::mutex mutex;
    comm::run_thread_world(ranks, [&](comm::World& world) {
      const auto device = device::make_device("reference");
      TrainedModel model(*device, run, world);
      Timers timers(0, config::TimingLogOption::max);
      TrainStep step(*device, model, run, timers);
      Losses own;
      for (const auto& report : Evaluator(step, model, data, run).on_validation_sets(0)) {
        own.push_back(report ? std::optional(report->loss()) : std::nullopt);
      }
      const std::lock_guard lock(mutex);
      EXPECT_TRUE(found.empty() || found == own);  // every rank knows them
      found = own;
    });
    return found;
  }

  void SetUp() override {
    write("train", 400);
    write("a", 11 * 8 + 1);  // 11 samples of 8 tokens
    write("b", 3 * 8 + 5);   // 3
    write("empty", 8);
  }

  test::TemporaryFolder folder_;
};

TEST_F(ValidationSets, TheWholeSetIsSeenOnce) {
  const Flags whole = {"--full-validation"};
  const auto in_batches = losses(whole);
  // One sample at a time: nothing is filled up.
  const auto one_by_one =
      losses({"--full-validation", "--global-batch-size", "1", "--micro-batch-size", "1"});
  ASSERT_EQ(in_batches.size(), 1u);
  EXPECT_NEAR(*in_batches[0], *one_by_one[0], 1e-6 * *one_by_one[0]);
  EXPECT_NE(*losses()[0], *in_batches[0]);
  // Shuffled training data do not change what is seen.
  EXPECT_EQ(losses({"--full-validation", "--dataloader-type", "cyclic"}), in_batches);
}

TEST_F(ValidationSets, EachSetOnItsOwn) {
  const auto sets = losses({"--full-validation", "--multiple-validation-sets"});
  ASSERT_EQ(sets.size(), 2u);
  EXPECT_NE(*sets[0], *sets[1]);
  // Weighted by their samples they are the blend.
  const double together = *losses({"--full-validation"})[0];
  EXPECT_NEAR((11 * *sets[0] + 3 * *sets[1]) / 14, together, 1e-6 * together);
}

TEST_F(ValidationSets, AreTheSameInEveryLayout) {
  const Flags both = {"--full-validation", "--multiple-validation-sets"};
  const auto alone = losses(both);
  const std::vector<std::pair<Index, Flags>> layouts = {
      {2, {}},
      {4, {}},
      {2, {"--pipeline-model-parallel-size", "2"}},
      {2, {"--context-parallel-size", "2"}},
      {2, {"--tensor-model-parallel-size", "2", "--sequence-parallel"}},
      {4, {"--pipeline-model-parallel-size", "2", "--tensor-model-parallel-size", "2"}},
      {4, {"--pipeline-model-parallel-size", "2", "--context-parallel-size", "2"}},
      {2, {"--data-parallel-sharding-strategy", "optim_grads_params", "--use-megatron-fsdp"}}};
  for (const auto& [ranks, layout] : layouts) {
    Flags more = both;
    more.insert(more.end(), layout.begin(), layout.end());
    const auto found = losses(more, ranks);
    ASSERT_EQ(found.size(), alone.size());
    for (std::size_t i = 0; i < alone.size(); ++i) {
      EXPECT_NEAR(*found[i], *alone[i], 1e-6 * *alone[i])
          << i << " on " << ranks << ::testing::PrintToString(layout);
    }
  }
}

TEST_F(ValidationSets, ASetWithoutASampleIsAMistake) {
  const std::string message = test::message_of([&] {
    losses({"--full-validation", "--multiple-validation-sets", "--valid-data-path", folder_ / "a",
            folder_ / "empty"});
  });
  EXPECT_NE(message.find("--full-validation: validation set 1"), std::string::npos) << message;
}

}  // namespace evaluation_test

namespace unigram_test {

void add(UnigramLoss& unigram, const std::vector<std::int64_t>& labels,
         const std::vector<float>& mask) {
  HostMicrobatch microbatch{.samples = 1, .sequence_length = static_cast<Index>(labels.size())};
  microbatch.columns = {{models::kLabels, labels}, {models::kLossMask, mask}};
  unigram.add(microbatch);
}

TEST(UnigramLoss, IsTheEntropyOfTheLabels) {
  UnigramLoss unigram;
  add(unigram, {1, 1, 2}, {1, 1, 1});
  add(unigram, {3}, {1});  // frequencies 1/2, 1/4, 1/4
  EXPECT_NEAR(unigram.loss(), 1.5 * std::log(2), 1e-12);
}

TEST(UnigramLoss, CountsOnlyWhatTheMaskKeeps) {
  UnigramLoss unigram;
  add(unigram, {1, 2, 3, 4}, {1, 0, 1, 0});
  EXPECT_NEAR(unigram.loss(), std::log(2), 1e-12);
}

TEST(UnigramLoss, IsZeroForOneTokenAndForNone) {
  UnigramLoss unigram;
  EXPECT_EQ(unigram.loss(), 0);
  add(unigram, {7, 7, 7}, {1, 1, 1});
  EXPECT_EQ(unigram.loss(), 0);
}

TEST(UnigramLoss, OfTheMockTextIsBelowUniform) {
  const MockTraining tiny;
  const auto loss = unigram_loss(tiny.data, tiny.config);
  ASSERT_TRUE(loss.has_value());
  EXPECT_GT(*loss, 1);
  EXPECT_LE(*loss, std::log(32));
}

TEST(UnigramLoss, IsNothingWithoutEvaluations) {
  const MockTraining blind({"--eval-iters", "0"});
  EXPECT_FALSE(unigram_loss(blind.data, blind.config));
}

}  // namespace unigram_test
}  // namespace mpitron::train
