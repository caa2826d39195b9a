#include "train/model/upcycling.h"

#include "checkpoint/folders/folder.h"
#include "checkpoint/tools/inspection.h"
#include "train/checkpoint_run.h"

// Experts from a dense checkpoint: where theory says so the model computes what it did before, and
// the file does not depend on the layout.

namespace mpitron::train {
namespace upcycling_test {

Flags dense() {
  return {"--num-layers",      "4", "--micro-batch-size", "1", "--disable-bias-linear",
          "--ffn-hidden-size", "32"};
}

/// A model of `experts` experts, of which as many make a dense layer as `parts` says.
Flags sparse(const char* experts, const char* parts, const char* width) {
  return {"--num-experts",         experts, "--moe-upcycling-granularity", parts,
          "--moe-ffn-hidden-size", width,   "--moe-use-upcycling"};
}

class UpcyclingTest : public ::testing::Test {
 protected:
  std::string folder(const std::string& name) const { return (folder_.path() / name).string(); }
  /// Trains a dense model for two iterations.
  void train_dense(const Flags& flags) {
    run_with_checkpoints(dense() + flags + Flags{"--save", folder("dense")}, 1, 2, {2});
  }
  /// The loss of eight samples after loading; `save`: what is loaded is written there.
  double loss_of(const Flags& flags, Index ranks, const std::string& save = "") {
    const config::RunConfig config = tiny_run(flags, ranks);
    const Index replicas = config.parallel.data_parallel_size;
    double loss = 0;
    comm::run_thread_world(ranks, [&](comm::World& world) {
      const auto device = device::make_device("reference");
      TrainedModel model(*device, config, world);
      Timers timers(0, config::TimingLogOption::max);
      TrainStep step(*device, model, config, timers);
      Checkpointing checkpointing(model, step, config, {.configuration = "{}", .build = "test"});
      checkpointing.load();
      if (!save.empty()) {
        checkpointing.convert({.iteration = 1}, save);
      }
      MadeUpCorpus corpus(config.model);
      Index first = model.groups().data->rank();
      const double mean =
          step.evaluate(8 / replicas,
                        [&] { return corpus.rows(std::exchange(first, first + replicas), 1); })
              .loss();
      if (world.rank() == 0) {
        loss = mean;
      }
    });
    return loss;
  }
  Flags upcycled(const Flags& flags) const {
    return dense() + flags + Flags{"--load", folder("dense"), "--save", folder("experts")};
  }

 private:
  test::TemporaryFolder folder_;
};

/// Copies of a whole MLP, weighed by probabilities whose sum is 1.
TEST_F(UpcyclingTest, WholeCopiesComputeTheSame) {
  for (const Flags& kind : {Flags{"--swiglu"}, Flags{}}) {
    train_dense(kind);
    const double before = loss_of(dense() + kind + Flags{"--load", folder("dense")}, 1);
    for (const char* topk : {"2", "4"}) {
      const Flags flags = kind + sparse("4", "1", "32") + Flags{"--moe-router-topk", topk};
      EXPECT_NEAR(loss_of(upcycled(flags), 1), before, 1e-6 * before) << topk;
    }
    std::filesystem::remove_all(folder("dense"));
  }
}

/// Parts grow by the cube root of their number, which squared ReLU turns into that number exactly;
/// and a token that chooses one part chooses its whole.
TEST_F(UpcyclingTest, PartsThatAreChosenTogetherComputeTheSame) {
  const Flags kind{"--squared-relu"};
  train_dense(kind);
  const double before = loss_of(dense() + kind + Flags{"--load", folder("dense")}, 1);
  for (const Flags& router : {Flags{"--moe-router-topk", "2"}, Flags{"--moe-router-topk", "4"},
                              Flags{"--moe-router-topk", "8", "--moe-router-pre-softmax"}}) {
    const Flags flags = kind + sparse("8", "2", "16") + router;
    EXPECT_NEAR(loss_of(upcycled(flags), 1), before, 1e-6 * before) << router[1];
  }
  const Flags one_part =
      kind + sparse("8", "2", "16") + Flags{"--moe-router-topk", "1", "--moe-router-pre-softmax"};
  EXPECT_GT(std::abs(loss_of(upcycled(one_part), 1) - before), 1e-4);
}

TEST_F(UpcyclingTest, EveryLayoutMakesTheSameFile) {
  const Flags kind{"--swiglu", "--bf16"};
  train_dense(kind);
  const Flags flags = kind + sparse("4", "2", "16") +
                      Flags{"--moe-layer-freq", "2", "--moe-shared-expert-intermediate-size", "8"};
  loss_of(upcycled(flags), 1, folder("one"));
  const checkpoint::File one(checkpoint::Folder(folder("one")).file(1));
  const std::pair<Index, Flags> layouts[] = {
      {2, {"--expert-model-parallel-size", "2"}},
      {4,
       {"--expert-model-parallel-size", "2", "--expert-tensor-parallel-size", "2",
        "--use-distributed-optimizer"}},
      {2, {"--tensor-model-parallel-size", "2", "--sequence-parallel"}},
      {4, {"--pipeline-model-parallel-size", "2", "--expert-model-parallel-size", "2"}},
      {2, {"--use-megatron-fsdp", "--data-parallel-sharding-strategy", "optim_grads_params"}}};
  const std::string here = folder("other");
  for (const auto& [ranks, layout] : layouts) {
    loss_of(upcycled(flags + layout), ranks, here);
    const checkpoint::File other(checkpoint::Folder(here).file(1));
    for (const checkpoint::Difference& difference : checkpoint::differences(one, other)) {
      ADD_FAILURE() << ::testing::PrintToString(layout) << difference.name << " "
                    << difference.what;
    }
    std::filesystem::remove_all(here);
  }
}

/// Nothing is known of what experts will see.
TEST_F(UpcyclingTest, HistoriesOfScalesStartEmpty) {
  const Flags kind{"--swiglu", "--bf16", "--fp8-format", "hybrid"};
  train_dense(kind);
  const double before = loss_of(dense() + kind + Flags{"--load", folder("dense")}, 1);
  const double after = loss_of(upcycled(kind + sparse("4", "1", "32")), 1, folder("experts"));
  EXPECT_NEAR(after / before, 1, 0.05);
  const checkpoint::File file(checkpoint::Folder(folder("experts")).file(1));
  const std::string name =
      "fp8/decoder.layers.3.mlp.experts.local_experts.2.linear_fc1.weight.fp8_amax_history";
  EXPECT_NE(file.find(name), nullptr);
}

TEST_F(UpcyclingTest, AnotherWidthOrFilledFolderIsRefused) {
  train_dense({});
  const auto message = [&](const Flags& flags) -> std::string {
    try {
      loss_of(flags, 1);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::data);
      return error.what();
    }
    return "";
  };
  const std::string width = message(upcycled(sparse("4", "1", "24")));
  EXPECT_NE(width.find("decoder.layers.0.mlp.linear_fc1.weight"), std::string::npos) << width;
  const Flags filled = dense() + sparse("4", "1", "32") +
                       Flags{"--load", folder("dense"), "--save", folder("experts")};
  loss_of(filled, 1, folder("experts"));
  EXPECT_NE(message(filled).find("--moe-use-upcycling begins a new folder"), std::string::npos);
}

TEST(Upcycling, WeightsGrowWithTheNumberOfParts) {
  config::ModelConfig model;
  model.moe.emplace();
  model.moe->num_experts = 16;
  model.moe->topk = 4;
  EXPECT_DOUBLE_EQ(expert_scale(model, 1), 1);
  EXPECT_DOUBLE_EQ(expert_scale(model, 4), 2);
  model.gated_linear_unit = true;
  EXPECT_DOUBLE_EQ(expert_scale(model, 8), 2);
  model.moe->pre_softmax = true;
  EXPECT_DOUBLE_EQ(expert_scale(model, 2), 2);  // (8 copies * 2^2 / 4)^(1/3)
}

}  // namespace upcycling_test
}  // namespace mpitron::train
