#include "parallel/bucketed_data_parallel.h"

#include <map>
#include <mutex>

#include <gtest/gtest.h>

#include "autograd/toy_model.h"
#include "support/replicas.h"

namespace mpitron::parallel {
namespace bucketed_data_parallel_test {

using autograd::Context;
using autograd::Tape;
using autograd::Var;
namespace toy = autograd::toy;

std::vector<double> all_pieces(const DataParallel& replicas) {
  std::vector<double> all;
  for (const ParameterPiece& piece : replicas.pieces()) {
    const std::vector<double> values = test::values_of(piece.main_grad);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

/// Two microbatches of the residual network on this rank, as one step.
void run_step(device::Device& device, toy::Model& model, DataParallel& replicas,
              unsigned first_microbatch) {
  replicas.begin_step();
  Tape tape;
  for (unsigned i = 0; i < 2; ++i) {
    Context cx{.device = device, .recorder = {.tape = &tape, .usage = &tape, .keeper = &replicas}};
    cx.recorder.last_microbatch = i == 1;
    const Var y = model.forward(cx, autograd::variable(model.input(first_microbatch + i)), true);
    tape.backward(cx, y.slot, model.input(50 + first_microbatch + i));
    tape.clear();
  }
}

/// Pieces are the parameters, in order of creation, and their gradients one flat run.
TEST(BucketedDataParallel, AloneItIsAPlainBuffer) {
  comm::run_thread_world(1, [](comm::World& world) {
    const auto device = device::make_device("reference");
    toy::Model model(*device);
    BucketedDataParallel replicas(*device, model.parameters().all(), {},
                                  test::replica_groups(world, 1));
    run_step(*device, model, replicas, 0);
    replicas.finish_step();
    ASSERT_EQ(replicas.pieces().size(), model.parameters().size());
    auto parameter = model.parameters().begin();
    for (const ParameterPiece& piece : replicas.pieces()) {
      EXPECT_EQ(piece.parameter, &*parameter);
      EXPECT_EQ(piece.value.view().data, parameter->value.view().data);
      EXPECT_EQ(piece.main_grad.numel(), parameter->value.numel());
      ++parameter;
    }
    const auto all = replicas.gradients([](const Parameter&) { return true; });
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].numel(), model.parameters().numel());  // multiples of 64: no padding
    const auto some = replicas.gradients(
        [&](const Parameter& p) { return &p != &*std::next(model.parameters().begin(), 3); });
    ASSERT_EQ(some.size(), 2u);
    EXPECT_EQ(some[0].numel() + some[1].numel(), model.parameters().numel() - 256);
  });
}

/// With overlap, all but nothing is left to start when the last backward pass ends.
TEST(BucketedDataParallel, ReductionsStartInTheLastBackwardPass) {
  for (const bool overlap : {false, true}) {
    comm::run_thread_world(2, [overlap](comm::World& world) {
      const auto device = device::make_device("reference");
      toy::Model model(*device);
      BucketedDataParallel replicas(*device, model.parameters().all(),
                                    {.overlap_grad_reduce = overlap, .bucket_size = 1},
                                    test::replica_groups(world, 1));
      run_step(*device, model, replicas, 2 * static_cast<unsigned>(world.rank()));
      for (const Parameter& parameter : model.parameters()) {
        EXPECT_EQ(parameter.sink.sent, overlap) << parameter.name;
      }
      replicas.finish_step();
    });
  }
}

/// The sum over ranks of what each has, element by element.
TEST(BucketedDataParallel, GradientsAreTheSumInRankOrder) {
  constexpr Index kRanks = 4;
  std::vector<std::vector<double>> alone(kRanks), together(kRanks);
  comm::run_thread_world(kRanks, [&](comm::World& world) {
    const auto rank = static_cast<std::size_t>(world.rank());
    const auto device = device::make_device("reference");
    for (auto* result : {&alone, &together}) {
      toy::Model model(*device);
      const ReplicaGroups groups = result == &alone
                                       ? ReplicaGroups{world.make_group("me", {world.rank()}),
                                                       world.make_group("me", {world.rank()})}
                                       : test::replica_groups(world, 1);
      BucketedDataParallel replicas(*device, model.parameters().all(), {}, groups);
      run_step(*device, model, replicas, 2 * static_cast<unsigned>(rank));
      replicas.finish_step();
      (*result)[rank] = all_pieces(replicas);
    }
  });
  for (std::size_t i = 0; i < alone[0].size(); ++i) {
    float sum = static_cast<float>(alone[0][i]);
    for (std::size_t rank = 1; rank < kRanks; ++rank) {
      sum += static_cast<float>(alone[rank][i]);
    }
    ASSERT_EQ(together[0][i], static_cast<double>(sum));
  }
  EXPECT_EQ(together[1], together[0]);
}

/// Every element has exactly one owner, also where a shard cuts through a parameter.
TEST(BucketedDataParallel, ShardsCoverEveryElementOnce) {
  constexpr Index kRanks = 4;
  for (const Index bucket : {1, 300, 100000}) {
    std::map<std::pair<std::string, Index>, int> owners;
    std::mutex mutex;
    Index cut = 0;
    comm::run_thread_world(kRanks, [&](comm::World& world) {
      const auto device = device::make_device("reference");
      toy::Model model(*device);
      const BucketedDataParallel replicas(*device, model.parameters().all(),
                                          {.sharding = Sharding::optimizer, .bucket_size = bucket},
                                          test::replica_groups(world, kRanks));
      const std::lock_guard lock(mutex);
      for (const ParameterPiece& piece : replicas.pieces()) {
        cut += piece.main_grad.numel() < piece.parameter->value.numel() ? 1 : 0;
        EXPECT_EQ(piece.value.numel(), piece.main_grad.numel());
        EXPECT_EQ(piece.value.data<float>(), piece.parameter->value.data<float>() + piece.begin);
        for (Index i = 0; i < piece.value.numel(); ++i) {
          ++owners[{piece.parameter->name, piece.begin + i}];
        }
      }
    });
    EXPECT_EQ(cut > 0, bucket < 1000);  // 2048 elements are two parameters a rank
    EXPECT_EQ(owners.size(), 8u * 256);
    for (const auto& [element, count] : owners) {
      ASSERT_EQ(count, 1);
    }
  }
}

/// Whoever uses a parameter waits for what its owner wrote.
TEST(BucketedDataParallel, UsesWaitForGatheredParameters) {
  constexpr Index kRanks = 4;
  comm::run_thread_world(kRanks, [](comm::World& world) {
    const auto device = device::make_device("reference");
    toy::Model model(*device);
    BucketedDataParallel replicas(*device, model.parameters().all(),
                                  {.sharding = Sharding::optimizer,
                                   .overlap_grad_reduce = true,
                                   .overlap_param_gather = true,
                                   .bucket_size = 300},
                                  test::replica_groups(world, kRanks));
    run_step(*device, model, replicas, 2 * static_cast<unsigned>(world.rank()));
    replicas.finish_step();
    for (const ParameterPiece& piece : replicas.pieces()) {
      const std::vector<double> sevens(static_cast<std::size_t>(piece.value.numel()), 7);
      test::set_values(piece.value, sevens);
    }
    replicas.gather_parameters();
    for (Parameter& parameter : model.parameters()) {
      replicas.before_use(parameter);
      EXPECT_EQ(test::values_of(parameter.value), std::vector<double>(256, 7));
    }
    replicas.make_whole();
  });
}

}  // namespace bucketed_data_parallel_test
}  // namespace mpitron::parallel
