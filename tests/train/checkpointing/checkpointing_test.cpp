#include <fstream>

#include <gtest/gtest.h>

#include "checkpoint/folders/folder.h"
#include "checkpoint/format/writer_files.h"
#include "checkpoint/tools/inspection.h"
#include "support/far_device.h"
#include "train/checkpointing/checkpoint_fixture.h"

namespace mpitron::train {
namespace checkpointing_test {

struct ResumeCase {
  const char* name;
  Index ranks;
  Flags flags;
};
void PrintTo(const ResumeCase& resume, std::ostream* out) {
  *out << resume.name;
}

const Flags kDropout = {"--hidden-dropout", "0.1", "--attention-dropout", "0.1"};

class ResumeTest : public ::testing::TestWithParam<ResumeCase> {
 protected:
  static std::string last_iterations(const std::vector<double>& values, std::size_t count) {
    std::string text;
    for (std::size_t i = values.size() - count; i < values.size(); ++i) {
      text += fmt::format("{:a} ", values[i]);
    }
    return text;
  }
};

TEST_P(ResumeTest, AnInterruptedRunEndsWithTheBitsOfOneThatWasNot) {
  const Flags flags = kDropout + GetParam().flags;
  const Index ranks = GetParam().ranks;
  const test::TemporaryFolder folder;
  const Flags save{"--save", folder.path()}, load{"--load", folder.path()};
  run_with_checkpoints(flags + save, ranks, 3, {3});
  const RunRecord rest = run_with_checkpoints(flags + save + load, ranks, 6);
  const RunRecord whole = run_with_checkpoints(flags + save, ranks, 6);
  EXPECT_EQ(rest.start, 3);
  EXPECT_EQ(last_iterations(rest.losses, 3), last_iterations(whole.losses, 3));
  EXPECT_EQ(last_iterations(rest.grad_norms, 3), last_iterations(whole.grad_norms, 3));
  for (std::size_t rank = 0; rank < whole.state.size(); ++rank) {
    ASSERT_FALSE(whole.state[rank].empty());
    ASSERT_EQ(rest.state[rank].size(), whole.state[rank].size());
    for (const auto& [name, bytes] : whole.state[rank]) {
      EXPECT_TRUE(rest.state[rank].at(name) == bytes) << name << " on rank " << rank;
    }
  }
}

/// Its state is copied to the host for a checkpoint, and back.
TEST_F(ResumeTest, ADeviceWithMemoryOfItsOwnSavesAndLoads) {
  const test::TemporaryFolder folder, far_folder;
  const Flags flags = kDropout + Flags{"--bf16", "--verify-resume"};
  const Flags save{"--save", folder.path()}, load{"--load", folder.path()};
  const Flags save_far = Flags{"--bf16", "--async-save", "--save"} + Flags{far_folder.path()};
  const auto far = [] { return test::make_far_device(); };
  run_with_checkpoints(flags + save, 1, 3, {3}, far);
  const RunRecord rest = run_with_checkpoints(kDropout + save_far + load, 1, 6, {4, 6}, far);
  const RunRecord whole = run_with_checkpoints(flags + save, 1, 6);
  EXPECT_EQ(last_iterations(rest.losses, 3), last_iterations(whole.losses, 3));
  EXPECT_EQ(rest.state[0], whole.state[0]);
  const RunRecord ended =
      run_with_checkpoints(kDropout + Flags{"--bf16", "--load", far_folder.path()}, 1, 6);
  EXPECT_EQ(ended.start, 6);
  EXPECT_EQ(ended.state[0], whole.state[0]);
}

const Flags kSharded = {"--use-distributed-optimizer"};
/// Experts of every layer, kept even by losses and by a bias, which is state too.
const Flags kExperts = {"--disable-bias-linear",
                        "--num-experts",
                        "4",
                        "--moe-router-score-function",
                        "sigmoid",
                        "--moe-router-enable-expert-bias",
                        "--moe-aux-loss-coeff",
                        "0.01",
                        "--moe-input-jitter-eps",
                        "0.1"};
const Flags kHalf = {"--bf16"};
const Flags kTypes = {"--use-precision-aware-optimizer"};
const Flags kNarrow = {"--exp-avg-dtype", "fp8", "--exp-avg-sq-dtype", "fp16"};
/// Scales that follow from earlier steps are state.
const Flags kFp8 = {
    "--bf16", "--fp8-format", "hybrid", "--fp8-amax-history-len", "2", "--fp8-amax-compute-algo",
    "max"};
Flags fully_sharded(const char* strategy) {
  return {"--use-megatron-fsdp", "--data-parallel-sharding-strategy", strategy};
}

std::string name_of(const ::testing::TestParamInfo<ResumeCase>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(
    Precisions, ResumeTest,
    ::testing::Values(
        ResumeCase{"fp32", 1, {}}, ResumeCase{"bf16", 1, kHalf},
        ResumeCase{
            "fp16", 1, {"--fp16", "--initial-loss-scale", "65536", "--loss-scale-window", "2"}},
        ResumeCase{"experts", 1, kExperts}, ResumeCase{"experts_bf16", 1, kExperts + kHalf},
        ResumeCase{"fp8", 1, kFp8},
        ResumeCase{"fp8_tp2_dp2", 4, kFp8 + Flags{"--tensor-model-parallel-size", "2"}},
        ResumeCase{"sgd", 1, {"--optimizer", "sgd"}},
        ResumeCase{"masters_below_parameters", 1, kHalf + kSharded + kTypes},
        ResumeCase{"narrow_states", 2, kHalf + kSharded + kTypes + kNarrow},
        ResumeCase{"narrow_states_async", 2,
                   kHalf + kSharded + kTypes + kNarrow +
                       Flags{"--main-params-dtype", "fp16", "--async-save"}},
        ResumeCase{"narrow_states_fp32", 2, kSharded + kTypes + kNarrow},
        ResumeCase{"sgd_bf16", 1, kHalf + Flags{"--optimizer", "sgd"}},
        ResumeCase{"async", 1, {"--async-save"}},
        ResumeCase{"async_bf16_dp2", 2, kHalf + kSharded + Flags{"--async-save"}},
        ResumeCase{"file_per_writer", 2,
                   kHalf + kSharded + Flags{"--save-file-per-writer", "--verify-resume"}},
        ResumeCase{"small_staging_pool", 2, {"--async-save", "--save-staging-gib", "0.00001"}},
        ResumeCase{"verified", 2, kSharded + Flags{"--verify-resume"}}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Layouts, ResumeTest,
    ::testing::Values(
        ResumeCase{"dp2", 2, {}}, ResumeCase{"experts_dp2_sharded", 2, kExperts + kSharded},
        ResumeCase{"experts_pp2", 2, kExperts + Flags{"--pipeline-model-parallel-size", "2"}},
        ResumeCase{"dp4_sharded", 4, kSharded}, ResumeCase{"dp4_sharded_bf16", 4, kSharded + kHalf},
        ResumeCase{"dp4_sharded_overlap", 4,
                   kSharded + Flags{"--overlap-grad-reduce", "--overlap-param-gather",
                                    "--ddp-bucket-size", "500"}},
        ResumeCase{"dp4_two_instances", 4,
                   kSharded + Flags{"--num-distributed-optimizer-instances", "2"}},
        ResumeCase{"fsdp_optimizer", 2, fully_sharded("optim")},
        ResumeCase{"fsdp_gradients", 2, fully_sharded("optim_grads")},
        ResumeCase{"fsdp_parameters", 4, fully_sharded("optim_grads_params")},
        ResumeCase{"fsdp_parameters_bf16", 2, fully_sharded("optim_grads_params") + kHalf},
        ResumeCase{"fsdp_narrow_states", 2,
                   fully_sharded("optim_grads_params") + kHalf + kTypes + kNarrow},
        ResumeCase{"tp2", 2, {"--tensor-model-parallel-size", "2"}},
        ResumeCase{"tp2_sp_pp2_dp2", 8,
                   kSharded + Flags{"--tensor-model-parallel-size", "2", "--sequence-parallel",
                                    "--pipeline-model-parallel-size", "2"}},
        ResumeCase{"pp2", 2, {"--pipeline-model-parallel-size", "2"}},
        ResumeCase{
            "tp2_fsdp", 4,
            fully_sharded("optim_grads_params") + Flags{"--tensor-model-parallel-size", "2"}},
        ResumeCase{
            "pp2_fsdp", 4,
            fully_sharded("optim_grads_params") + Flags{"--pipeline-model-parallel-size", "2"}},
        ResumeCase{"pp2_zero_bubble",
                   2,
                   {"--pipeline-model-parallel-size", "2", "--pipeline-schedule", "zero-bubble"}},
        ResumeCase{"cp2", 2, {"--context-parallel-size", "2"}}),
    name_of);

using CheckpointingTest = CheckpointFixture;

TEST_F(CheckpointingTest, NothingToLoadIsAnErrorUnlessRandomWeightsAreAllowed) {
  expect_refused(load(), "--allow-random-init");
  EXPECT_EQ(run_with_checkpoints(load() + Flags{"--allow-random-init"}, 1, 2).start, 0);
}

TEST_F(CheckpointingTest, AStepThatIsNotThereIsAnError) {
  run_with_checkpoints(save(), 1, 3, {1, 3});
  EXPECT_EQ(run_with_checkpoints(load() + Flags{"--ckpt-step", "1"}, 1, 2).start, 1);
  expect_refused(load() + Flags{"--ckpt-step", "2"}, "iter_0000002");
}

TEST_F(CheckpointingTest, OldOnesAreDeleted) {
  run_with_checkpoints(save() + Flags{"--save-keep-last", "2"}, 1, 4, {1, 2, 3, 4});
  EXPECT_EQ(checkpoint::Folder(root_ / "a").iterations(), (std::vector<Index>{3, 4}));
  run_with_checkpoints(save("b") + Flags{"--save-retain-interval", "2", "--save-interval", "1"}, 1,
                       5, {1, 2, 3, 4, 5});
  EXPECT_EQ(checkpoint::Folder(root_ / "b").iterations(), (std::vector<Index>{2, 4, 5}));
}

TEST_F(CheckpointingTest, OldOnesLoseTheirOptimizerState) {
  run_with_checkpoints(save() + Flags{"--save-keep-last", "3", "--save-keep-optim-last", "1"}, 1, 4,
                       {1, 2, 3, 4});
  EXPECT_EQ(checkpoint::Folder(root_ / "a").iterations(), (std::vector<Index>{2, 3, 4}));
  EXPECT_EQ(run_with_checkpoints(load(), 1, 5).start, 4);
  expect_refused(load() + Flags{"--ckpt-step", "3"}, "--no-load-optim");
  EXPECT_EQ(run_with_checkpoints(load() + Flags{"--ckpt-step", "3", "--no-load-optim"}, 1, 4).start,
            3);
}

TEST_F(CheckpointingTest, AFilePerWriterIsACheckpointLikeAnyOther) {
  const Flags layout{"--tensor-model-parallel-size", "2", "--use-distributed-optimizer"};
  const Flags own_files{"--save-file-per-writer", "--async-save", "--save-keep-last", "2"};
  const RunRecord whole = run_with_checkpoints(layout, 4, 4);
  run_with_checkpoints(save() + layout + own_files, 4, 3, {1, 2, 3});
  const checkpoint::Folder folder(root_ / "a");
  EXPECT_EQ(folder.iterations(), (std::vector<Index>{2, 3}));
  EXPECT_EQ(run_with_checkpoints(load() + layout, 4, 4).state, whole.state);
  const RunRecord alone = run_with_checkpoints(load() + save("b"), 1, 3, {3});
  EXPECT_EQ(alone.start, 3);
  const checkpoint::File ours(folder.file(3)), theirs(checkpoint::Folder(root_ / "b").file(3));
  EXPECT_EQ(ours.storage().files.size(), 4U);
  EXPECT_TRUE(checkpoint::differences(ours, theirs).empty());

  damage(checkpoint::writer_file(folder.file(3), 2));
  EXPECT_EQ(run_with_checkpoints(load() + layout, 4, 3).start, 2);
  std::filesystem::remove(checkpoint::writer_file(folder.file(2), 1));
  expect_refused(load() + Flags{"--ckpt-step", "2"}, "iter_0000002/writer_00001.h5: cannot open");
}

class NonPersistentTest : public CheckpointFixture {
 protected:
  Flags flags(const char* type) const {
    return save() +
           Flags{"--non-persistent-ckpt-type", type, "--non-persistent-save-interval", "2"};
  }
  Flags local() const {
    return flags("local") + Flags{"--non-persistent-local-ckpt-dir", (root_ / "local").string()};
  }
};

TEST_F(NonPersistentTest, OfGlobalOnesTheNewestIsKeptAndLoaded) {
  const RunRecord whole = run_with_checkpoints({}, 1, 6);
  run_with_checkpoints(flags("global"), 1, 5, {3});
  const checkpoint::Folder folder(root_ / "a/non_persistent");
  EXPECT_EQ(folder.iterations(), std::vector<Index>{4});
  EXPECT_EQ(checkpoint::Folder(root_ / "a").iterations(), std::vector<Index>{3});
  const RunRecord resumed = run_with_checkpoints(flags("global") + load(), 1, 6);
  EXPECT_EQ(resumed.start, 4);
  EXPECT_EQ(resumed.state, whole.state);
  EXPECT_EQ(folder.iterations(), std::vector<Index>{6});
  run_with_checkpoints(flags("global") + load(), 1, 7, {7});
  EXPECT_EQ(run_with_checkpoints(flags("global") + load(), 1, 7).start, 7);
}

TEST_F(NonPersistentTest, LocalOnesGoOnWithTheSameBits) {
  const Flags layout{"--tensor-model-parallel-size", "2", "--use-distributed-optimizer"};
  const RunRecord whole = run_with_checkpoints(layout, 4, 6);
  run_with_checkpoints(local() + layout + Flags{"--async-save", "--save-file-per-writer"}, 4, 5,
                       {3});
  const RunRecord resumed = run_with_checkpoints(local() + layout + load(), 4, 6);
  EXPECT_EQ(resumed.start, 4);
  EXPECT_EQ(resumed.state, whole.state);
  const Flags stages{"--pipeline-model-parallel-size", "2", "--non-persistent-local-ckpt-dir",
                     (root_ / "stages").string()};  // both hold the tied table
  run_with_checkpoints(flags("local") + stages, 2, 5, {3});
  EXPECT_EQ(run_with_checkpoints(flags("local") + stages + load(), 2, 5).start, 4);
  // Another layout cannot take them, and goes on from what all share.
  EXPECT_EQ(run_with_checkpoints(local() + load(), 1, 3).start, 3);
}

TEST_F(NonPersistentTest, ALostLocalOneComesFromItsReplicaOrThePersistentOneIsTaken) {
  const Flags replicas = local() + Flags{"--replication", "--replication-jump", "1"};
  run_with_checkpoints(replicas, 2, 5, {3});
  std::filesystem::remove_all(root_ / "local/rank_00001");
  const RunRecord resumed = run_with_checkpoints(replicas + load(), 2, 6);
  EXPECT_EQ(resumed.start, 4);
  EXPECT_EQ(resumed.state, run_with_checkpoints({}, 2, 6).state);
  std::filesystem::remove_all(root_ / "local");
  EXPECT_EQ(run_with_checkpoints(replicas + load(), 2, 4).start, 3);
}

TEST_F(CheckpointingTest, WhereNoFolderCanBeNothingIsTrained) {
  std::ofstream(root_ / "file") << "no folder";
  expect_refused(save("file"), "file");
}

}  // namespace checkpointing_test
}  // namespace mpitron::train
