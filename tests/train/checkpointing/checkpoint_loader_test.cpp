#include "train/checkpointing/checkpoint_loader.h"

#include "checkpoint/folders/folder.h"
#include "train/checkpointing/checkpoint_fixture.h"

namespace mpitron::train {
namespace checkpoint_loader_test {

using CheckpointLoaderTest = CheckpointFixture;

TEST_F(CheckpointLoaderTest, FinetuningTakesTheWeightsOnly) {
  run_with_checkpoints(save(), 1, 2, {2});
  const RunRecord finetuned = run_with_checkpoints(load() + Flags{"--finetune"}, 1, 1);
  const RunRecord fresh = run_with_checkpoints({}, 1, 1);
  const RunRecord resumed = run_with_checkpoints(load(), 1, 3);
  EXPECT_EQ(finetuned.start, 0);
  EXPECT_NE(finetuned.losses, fresh.losses);
  EXPECT_NE(finetuned.losses, resumed.losses);
  EXPECT_EQ(run_with_checkpoints({"--pretrained-checkpoint", (root_ / "a").string()}, 1, 1).losses,
            finetuned.losses);
}

TEST_F(CheckpointLoaderTest, OptimizerStateCanBeLeftOut) {
  run_with_checkpoints(save() + Flags{"--no-save-optim"}, 1, 2, {2});
  expect_refused(load(), "--no-load-optim");
  EXPECT_EQ(run_with_checkpoints(load() + Flags{"--no-load-optim"}, 1, 3).start, 2);
}

TEST_F(CheckpointLoaderTest, AnotherModelsTensorsAreListed) {
  run_with_checkpoints(save(), 1, 1, {1});
  expect_refused(load() + Flags{"--num-layers", "3"}, "decoder.layers.2.mlp.linear_fc1.weight");
  expect_refused(load() + Flags{"--num-layers", "1"}, "unexpected: model/decoder.layers.1");
  expect_refused(load() + Flags{"--ffn-hidden-size", "24"}, "mismatched");
  EXPECT_EQ(run_with_checkpoints(
                load() + Flags{"--num-layers", "3", "--dist-ckpt-strictness", "log_all"}, 1, 1)
                .start,
            1);
}

TEST_F(CheckpointLoaderTest, DamageIsFoundWhileLoadingAndTheOneBeforeIsTaken) {
  for (const Index ranks : {1, 2}) {
    const char* where = ranks == 1 ? "one" : "two";
    run_with_checkpoints(save(where), ranks, 2, {1, 2});
    const RunRecord expected = run_with_checkpoints(load(where) + Flags{"--ckpt-step", "1"}, 1, 3);
    damage(checkpoint::Folder(root_ / where).file(2));
    const RunRecord found = run_with_checkpoints(load(where), 1, 3);
    EXPECT_EQ(found.start, 1);
    EXPECT_EQ(found.losses, expected.losses);
    EXPECT_EQ(found.state, expected.state);
    expect_refused(load(where) + Flags{"--ckpt-step", "2"}, "iter_0000002");
    damage(checkpoint::Folder(root_ / where).file(1));
    expect_refused(load(where), "iter_0000001");
  }
}

TEST_F(CheckpointLoaderTest, PrecisionMayChange) {
  const RunRecord half = run_with_checkpoints(save() + Flags{"--bf16"}, 1, 2, {2});
  run_with_checkpoints(load() + save("single"), 1, 2);
  const RunRecord single = run_with_checkpoints(load(), 1, 2);
  for (const auto& [name, bytes] : single.state[0]) {
    if (name.starts_with("model/")) {
      EXPECT_TRUE(bytes == half.state[0].at("optimizer/fp32_param/" + name.substr(6))) << name;
    }
  }
}

}  // namespace checkpoint_loader_test
}  // namespace mpitron::train
