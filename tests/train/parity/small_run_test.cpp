#include "train/parity/small_run.h"

#include <gtest/gtest.h>

#include "config/flags.h"

namespace mpitron::train {
namespace small_run_test {

constexpr const char* kDino =
    "--model vit --vision-pretraining-type dino --img-h 224 --img-w 224 --patch-dim 16 "
    "--class-token-length 4 --dino-local-img-size 64 --dino-local-crops-number 10 --num-layers 2 "
    "--hidden-size 64 --num-attention-heads 8 --seq-length 200 --max-position-embeddings 200 "
    "--dino-freeze-last-layer 3 --micro-batch-size 2 --global-batch-size 64 ";

config::RunConfig run_of(const std::string& flags) {
  return test::parse_base(flags).run;
}

TEST(SmallRun, KeepsTheLayoutAndFewReplicas) {
  const config::RunConfig run = small_run(
      run_of("--tensor-model-parallel-size 2 --num-layers 4 --pipeline-model-parallel-size 2 "
             "--global-batch-size 32 --world-size 32"));
  EXPECT_EQ(run.parallel.world_size, 8);
  EXPECT_EQ(run.parallel.data_parallel_size, 2);
  EXPECT_EQ(run.parallel.pipeline_model_parallel_size, 2);
  EXPECT_EQ(run.model.num_layers, 4);
  EXPECT_EQ(run.training.micro_batch_size, 1);
  const config::RunConfig alone = on_one_rank(run);
  EXPECT_EQ(alone.parallel.world_size, 1);
  EXPECT_EQ(alone.parallel.tensor_model_parallel_size, 1);
  EXPECT_EQ(alone.training.micro_batch_size, 1);
  EXPECT_EQ(alone.training.global_batch_size, run.training.global_batch_size);
}

/// Positions of images and of small crops can be shared among tensor ranks, whatever they were.
TEST(SmallRun, TensorRanksShareCrops) {
  for (const char* ranks : {"1", "2", "4", "8"}) {
    const config::RunConfig run = small_run(
        run_of(std::string(kDino) + "--tensor-model-parallel-size " + ranks + " --world-size 8"));
    const config::VisionConfig& vision = run.model.vision;
    const Index tensor = run.parallel.tensor_model_parallel_size;
    EXPECT_EQ(vision.positions() % tensor, 0) << ranks;
    EXPECT_EQ(vision.of_local_crops().positions() % tensor, 0) << ranks;
    EXPECT_EQ(run.model.seq_length, vision.positions());
    EXPECT_EQ(vision.dino->iterations_per_epoch, 1);
    EXPECT_EQ(vision.dino->frozen_epochs, 1);  // what comes behind is trained, too
  }
}

/// The centre moves with each microbatch, by the mean over all replicas.
TEST(SmallRun, OneRankMovesTheCentreOfDinoAsOftenAsTheLayout) {
  const config::RunConfig run = small_run(run_of(std::string(kDino) + "--world-size 8"));
  const config::RunConfig alone = on_one_rank(run);
  const auto moves = [](const config::RunConfig& r) {
    return r.training.global_batch_size /
           (r.training.micro_batch_size * r.parallel.data_parallel_size);
  };
  EXPECT_EQ(run.parallel.data_parallel_size, 2);
  EXPECT_EQ(alone.training.micro_batch_size, 2);
  EXPECT_EQ(moves(alone), moves(run));
}

}  // namespace small_run_test
}  // namespace mpitron::train
