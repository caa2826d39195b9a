#include "parallel/bucketed_data_parallel.h"

#include <gtest/gtest.h>

#include "autograd/toy_model.h"
#include "parallel/bucketed_toy.h"
#include "support/replicas.h"

namespace mpitron::parallel {
namespace bucketed_data_parallel_test {

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
