#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "cli/tiny_run.h"
#include "convert/tiny_models.h"

// Saving and loading as a user sees it.

namespace mpitron::cli {
namespace checkpoint_run_test {

using namespace mpitron::test;

class CheckpointRun : public ::testing::Test {
 protected:
  Finished run(const Words& words, const ProgramEnvironment& environment = {}) {
    return run_program(folder_.path(), kTinyMock + words, environment);
  }
  std::string train(const Words& words) {
    const Finished finished = run(words);
    EXPECT_EQ(finished.code, 0) << finished.err;
    return finished.out;
  }
  void expect_refused(const Words& words, const std::string& part) {
    const Finished finished = run(words);
    EXPECT_EQ(finished.code, 4) << finished.err;
    EXPECT_TRUE(contains(finished.err, part)) << finished.err;
    EXPECT_TRUE(losses(finished.out).empty());
  }
  std::filesystem::path file(const std::string& path) const {
    return std::filesystem::path(folder_.path()) / path;
  }

  const TemporaryFolder folder_;
};

TEST_F(CheckpointRun, AResumedRunPrintsTheSameDigits) {
  const Words half{"--bf16", "--attention-dropout", "0.1", "--save-interval", "2"};
  const Words whole = result_lines(train(half + Words{"--save", "a"}));
  ASSERT_EQ(whole.size(), 6U);  // 4 iterations, validation, test
  const Words rest = result_lines(train(half + Words{"--load", "a", "--ckpt-step", "2"}));
  EXPECT_EQ(rest, Words(whole.begin() + 2, whole.end()));
  EXPECT_EQ(result_lines(train(half + Words{"--load", "a"})),
            Words(whole.begin() + 4, whole.end()));  // nothing is left to train
}

TEST_F(CheckpointRun, ADenseModelBecomesExpertsWhichTrainOn) {
  const Words dense{"--disable-bias-linear", "--ffn-hidden-size", "64"};
  EXPECT_EQ(losses(train(dense + Words{"--save", "dense"})).size(), 4U);
  const Words experts = dense + Words{"--num-experts", "4"};
  const Words upcycle{"--moe-use-upcycling", "--load", "dense", "--save", "sparse"};
  EXPECT_EQ(losses(train(experts + upcycle)).size(), 0U);  // saved, and that is all
  EXPECT_TRUE(std::filesystem::exists(file("sparse/iter_0000001/checkpoint.h5")));
  expect_refused(experts + upcycle, "--moe-use-upcycling begins a new folder");
  EXPECT_EQ(losses(train(experts + Words{"--load", "sparse"})).size(), 3U);
}

TEST_F(CheckpointRun, TellsEverythingThatDoesNotFitAtOnce) {
  train({"--save", "a"});
  const Words other{"--load", "a",    "--ffn-hidden-size", "64",
                    "--lr",   "3e-3", "--norm-epsilon",    "1e-2"};
  expect_refused(other, "does not fit this run");
  expect_refused(other, "other schedules: max_lr");
  expect_refused(other, "another function (norm_epsilon");
}

TEST_F(CheckpointRun, ASignalSavesAndTheNextRunGoesOn) {
  const Words flags{"--save", "a", "--load", "a/", "--exit-interval", "3"};
  const std::string first = train(flags);
  EXPECT_TRUE(contains(first, "could not find a checkpoint in a/: starting from random")) << first;
  EXPECT_TRUE(contains(first, "successfully saved checkpoint from iteration       3"));
  EXPECT_EQ(losses(train({"--load", "a"})).size(), 1U);
}

TEST_F(CheckpointRun, WhatCannotBeLoadedIsNamed) {
  train({"--save", "a"});
  expect_refused({"--load", "b"}, "b: there is no complete checkpoint");
  expect_refused({"--load", "a", "--ckpt-step", "3"}, "iter_0000003");
  expect_refused({"--save", "a", "--num-layers", "3"}, "num_layers 2, here 3");
  expect_refused({"--load", "a", "--num-layers", "3"}, "decoder.layers.2");
  expect_refused({"--load", "a", "--num-attention-heads", "8"}, "num_attention_heads 4, here 8");
  EXPECT_EQ(run({"--load", "a", "--num-attention-heads", "8", "--finetune"}).code, 0);
  const Words vocabulary{"--vocab-size", "99"};
  for (const char* folder : {"--load", "--save"}) {
    expect_refused(Words{folder, "a"} + vocabulary,
                   "(64 tokens, here 100 (vocab_size 63, here 99))");
  }
  const Finished finetuned = run(Words{"--load", "a", "--finetune"} + vocabulary);
  EXPECT_EQ(finetuned.code, 0);
  EXPECT_TRUE(contains(finetuned.err, "64 tokens, here 100")) << finetuned.err;
  expect_refused({"--load", "a/iter_0000004/checkpoint.h5"}, "is no folder");
  EXPECT_EQ(run({"--load", "b", "--exit-on-missing-checkpoint"}).code, 0);
  std::filesystem::resize_file(file("a/iter_0000004/checkpoint.h5"), 10000);
  expect_refused({"--load", "a"}, "a/iter_0000004/checkpoint.h5");
  const Words own{"--load", "a", "--save", "a"};
  expect_refused(own, "--allow-random-init");  // no first start: something was saved there
  expect_refused(own + Words{"--exit-on-missing-checkpoint"}, "iter_0000004/checkpoint.h5");
  std::filesystem::remove_all(file("a/iter_0000004"));
  expect_refused(own, "--allow-random-init");  // the tracker tells of one that is gone
}

TEST_F(CheckpointRun, ADamagedCheckpointIsSkippedForTheOneBefore) {
  train({"--save", "a", "--save-interval", "2"});
  std::fstream damaged(file("a/iter_0000004/checkpoint.h5"),
                       std::ios::in | std::ios::out | std::ios::binary);
  damaged.seekp(static_cast<std::streamoff>(
                    std::filesystem::file_size(file("a/iter_0000004/checkpoint.h5"))) /
                2);
  damaged.put('!');
  damaged.close();
  const Finished finished = run({"--load", "a"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.err, "a/iter_0000004/checkpoint.h5")) << finished.err;
  EXPECT_EQ(losses(finished.out).size(), 2U);
}

TEST_F(CheckpointRun, OptionsThatHaveChangedAreListedAndThoseOfTheFunctionRefused) {
  train({"--save", "a"});
  const Words on{"--load", "a", "--train-iters", "6", "--override-opt_param-scheduler"};
  const std::string lines = train(on + Words{"--seed", "7", "--adam-beta1", "0.8"});
  EXPECT_TRUE(contains(lines, "adam_beta1 0.9, here 0.8; ")) << lines;
  EXPECT_TRUE(contains(lines, "seed 1234, here 7")) << lines;
  for (const Words& changed :
       {Words{"--apply-layernorm-1p"}, {"--squared-relu"}, {"--norm-epsilon", "1e-2"}}) {
    expect_refused(on + changed, "--accept-changes");
  }
  const Words changed = on + Words{"--norm-epsilon", "1e-2"};
  EXPECT_EQ(losses(train(changed + Words{"--accept-changes"})).size(), 2U);
  EXPECT_EQ(losses(train(changed + Words{"--finetune"})).size(), 6U);
}

TEST_F(CheckpointRun, ARunThatHasReachedItsEndSaysSo) {
  train({"--save", "a"});
  EXPECT_TRUE(contains(train({"--load", "a"}), "iteration 4 is reached already"));
}

TEST_F(CheckpointRun, ATrackerThatSaysNothingIsTold) {
  train({"--save", "a"});
  std::ofstream(file("a/latest_checkpointed_iteration.txt")) << "abc";
  const Finished finished = run({"--load", "a"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.err, "holds \"abc\"")) << finished.err;
}

TEST_F(CheckpointRun, AFullDiskDoesNotEndTheTraining) {
  for (const Words& kind : {Words{}, Words{"--async-save"}}) {
    const Finished finished =
        run(kind + Words{"--save", "a", "--save-interval", "2"}, {.largest_file = 100000});
    EXPECT_EQ(finished.code, 4) << "its last state is lost: " << finished.err;
    EXPECT_EQ(losses(finished.out).size(), 4U);
    EXPECT_TRUE(contains(finished.out, "on test set"));
    EXPECT_TRUE(contains(finished.err, "ended at iteration 4, which could not be saved; nothing"))
        << finished.err;
    EXPECT_FALSE(std::filesystem::exists(file("a/iter_0000002")));
  }
}

TEST_F(CheckpointRun, TheModelsOptionsComeFromTheCheckpoint) {
  const std::string whole = train({"--save", "a", "--swiglu", "--num-layers", "3"});
  const std::string loaded = train({"--load", "a", "--use-checkpoint-args", "--finetune"});
  EXPECT_TRUE(contains(loaded, "num_layers ...................................... 3"));
  EXPECT_EQ(losses(loaded).size(), 4U);
}

TEST_F(CheckpointRun, IsConvertedAndTrainedOnFrom) {
  train({"--save", "a", "--exit-interval", "3", "--save-file-per-writer"});
  EXPECT_TRUE(std::filesystem::exists(file("a/iter_0000003/writer_00000.h5")));
  const std::string out =
      train({"--load", "a", "--ckpt-convert-format", "torch_dist", "--ckpt-convert-save", "b"});
  EXPECT_TRUE(contains(out, "> converted checkpoint: b/torch_dist of iteration 3")) << out;
  EXPECT_TRUE(losses(out).empty());
  EXPECT_EQ(run_program(folder_.path(), {"inspect", "a", "b/torch_dist"}).code, 0);
  EXPECT_EQ(losses(train({"--load", "b/torch_dist"})).size(), 1U);
}

/// Of what `convert` wrote, as documentation says.
TEST_F(CheckpointRun, ForeignModelsAreTrainedOn) {
  mpitron::test::write_hugging_face_folder(file("hf"), "llama");
  const Finished hf = run_program(folder_.path(), {"convert", "--from", "hf", "--to", "ours"});
  ASSERT_EQ(hf.code, 0) << hf.err;
  const Finished megatron = run_program(
      folder_.path(),
      {"convert", "--from", mpitron::test::convert_data("megatron") / "dist", "--to", "theirs"});
  ASSERT_EQ(megatron.code, 0) << megatron.err;
  for (const char* from : {"ours", "theirs"}) {
    const Words flags{"pretrain-gpt",
                      "--load",
                      from,
                      "--use-checkpoint-args",
                      "--finetune",
                      "--mock-data",
                      "--train-iters",
                      "2",
                      "--micro-batch-size",
                      "2",
                      "--global-batch-size",
                      "4",
                      "--lr",
                      "1e-4",
                      "--log-interval",
                      "1",
                      "--eval-iters",
                      "1",
                      "--tokenizer-type",
                      "NullTokenizer",
                      "--vocab-size",
                      "60",
                      "--seq-length",
                      "16",
                      "--save",
                      std::string("from_") + from};
    const Finished trained = run_program(folder_.path(), flags);
    EXPECT_EQ(trained.code, 0) << trained.err;
    EXPECT_EQ(losses(trained.out).size(), 2U) << trained.out;
    EXPECT_TRUE(contains(trained.out, "at iteration 0")) << trained.out;
  }
}

}  // namespace checkpoint_run_test
}  // namespace mpitron::cli
