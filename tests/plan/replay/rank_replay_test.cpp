#include "plan/replay/rank_replay.h"

#include <mutex>

#include <gtest/gtest.h>

#include "config/global_batch_size.h"
#include "plan/planned_run.h"
#include "support/host_runtime.h"
#include "train/step/train_step.h"

namespace mpitron::plan {
namespace rank_replay_test {

/// Steps of a rank on a device that computes.
device::AllocatorStatistics train(const config::RunConfig& run, comm::World& world, Index steps) {
  const auto device = device::make_device("host", world.make_allocator());
  train::TrainedModel model(*device, run, world);
  train::Timers timers(0, config::TimingLogOption::max);
  train::TrainStep step(*device, model, run, timers);
  const train::NextMicrobatch next = made_up_batches(run, model);
  const Index microbatches =
      config::num_microbatches(run.training, run.parallel.data_parallel_size);
  for (Index i = 1; i <= steps; ++i) {
    step.run(i, microbatches, run.training.global_batch_size, next);
  }
  step.replicas().make_whole();  // peers read what this rank holds
  return device->allocator().statistics();
}

TEST(RankReplay, MemoryIsThatOfTheAllocatorToTheByte) {
  for (const char* more :
       {"", "--bf16",
        "--bf16 --recompute-granularity full --recompute-method uniform "
        "--recompute-num-layers 1",
        "--recompute-granularity selective --recompute-modules layernorm mlp",
        "--swiglu --group-query-attention --num-query-groups 2 --normalization RMSNorm",
        "--bf16 --accumulate-allreduce-grads-in-fp32 --untie-embeddings-and-output-weights"}) {
    const config::RunConfig run = test::tiny_run(more);
    const device::AllocatorStatistics real = train(run, *comm::make_single_world(), 2);
    const RankReplay replay = replay_rank(run, 0, {.steps = 2});
    EXPECT_EQ(replay.memory.peak, real.high_water) << more;
    EXPECT_GT(replay.memory.activations(), 0) << more;
    EXPECT_GT(replay.launches, replay.peak_launch);
  }
}

/// A world whose operations are written down, and done.
class TappedWorld final : public comm::World {
 public:
  TappedWorld(comm::World& real, comm::RankRecord& record) : real_(real), record_(record) {}

  Index rank() const override { return real_.rank(); }
  Index size() const override { return real_.size(); }
  void progress() override { real_.progress(); }
  std::shared_ptr<comm::ProgressEngine> engine() override { return real_.engine(); }
  std::unique_ptr<device::Allocator> make_allocator() override { return real_.make_allocator(); }
  std::shared_ptr<comm::Group> make_group(const std::string& name,
                                          const std::vector<Index>& ranks) override {
    return std::make_shared<Tapped>(real_.make_group(name, ranks), record_);
  }

 private:
  class Tapped final : public comm::Group {
   public:
    Tapped(std::shared_ptr<comm::Group> real, comm::RankRecord& record)
        : Group(real->name(), real->ranks(), real->rank()), real_(real), record_(record) {}

   private:
    void run_alone(const comm::Request& request) override { real_->run(request); }
    comm::Work start(const comm::Request& request) override {
      record_.events.push_back(comm::event_of(*this, request));
      record_.groups.push_back({name(), ranks()});
      return real_->run(request);
    }

    std::shared_ptr<comm::Group> real_;
    comm::RankRecord& record_;
  };

  comm::World& real_;
  comm::RankRecord& record_;
};

TEST(RankReplay, OperationsAreThoseOfRealRanksCallByCall) {
  for (const char* layout :
       {"--world-size 2 --tensor-model-parallel-size 2 --sequence-parallel",
        "--world-size 4 --pipeline-model-parallel-size 2 --use-distributed-optimizer "
        "--overlap-grad-reduce --overlap-param-gather",
        "--world-size 2 --context-parallel-size 2",
        "--world-size 8 --tensor-model-parallel-size 2 --pipeline-model-parallel-size 2 "
        "--num-virtual-stages-per-pipeline-rank 2"}) {
    const config::RunConfig run = test::tiny_run(layout);
    std::vector<comm::RankRecord> real(static_cast<std::size_t>(run.parallel.world_size));
    comm::run_thread_world(run.parallel.world_size, [&](comm::World& world) {
      TappedWorld tapped(world, real[static_cast<std::size_t>(world.rank())]);
      train(run, tapped, 1);
    });
    for (Index rank = 0; rank < run.parallel.world_size; ++rank) {
      const comm::RankRecord& done = real[static_cast<std::size_t>(rank)];
      const RankReplay replay = replay_rank(run, rank);
      std::vector<comm::GroupEvent> started;
      for (const comm::GroupEvent& event : replay.record.events) {
        if (!event.waits) {
          started.push_back(event);
        }
      }
      ASSERT_EQ(started.size(), done.events.size()) << layout;
      for (std::size_t i = 0; i < started.size(); ++i) {
        comm::GroupEvent told = started[i];
        EXPECT_EQ(replay.record.groups[told.group].name, done.groups[i].name);
        EXPECT_EQ(replay.record.groups[told.group].ranks, done.groups[i].ranks);
        told.group = told.call = 0;
        EXPECT_EQ(told, done.events[i]) << layout << ", operation " << i;
      }
    }
  }
}

/// Muon and SOAP bring pieces of matrices together that other ranks hold.
TEST(RankReplay, MuonAndSoapRunWhereMatricesLieInPieces) {
  const config::RunConfig soap = test::tiny_run("--world-size 2 --optimizer soap");
  EXPECT_GT(replay_rank(soap, 0).memory.optimizer, 0);
  for (const char* layout :
       {"--world-size 2 --tensor-model-parallel-size 2",
        "--world-size 2 --use-distributed-optimizer",
        "--world-size 4 --tensor-model-parallel-size 2 --use-distributed-optimizer",
        "--world-size 4 --tensor-model-parallel-size 4 --group-query-attention "
        "--num-query-groups 2"}) {
    const config::RunConfig run =
        test::tiny_run(std::string("--optimizer adaptive_muon ") + layout);
    const RankReplay replay = replay_rank(run, 0);
    EXPECT_GT(replay.memory.optimizer, 0) << layout;
    EXPECT_GT(replay.memory.activations(), 0) << layout;
  }
}

TEST(RankReplay, LargeModelsTakeNoMemory) {
  const config::RunConfig run = test::tiny_run(
      "--world-size 64 --hidden-size 8192 --num-attention-heads 64 --seq-length 4096 "
      "--max-position-embeddings 4096 --tensor-model-parallel-size 8 --sequence-parallel "
      "--pipeline-model-parallel-size 4 --global-batch-size 8 --bf16 --vocab-size 50000");
  const RankReplay replay = replay_rank(run, 0);
  EXPECT_GT(replay.memory.peak, Index{1} << 30);
}

}  // namespace rank_replay_test
}  // namespace mpitron::plan
