#include <map>
#include <mutex>

#include <gtest/gtest.h>

#include "autograd/toy_model.h"
#include "parallel/bucketed_data_parallel.h"
#include "parallel/bucketed_toy.h"
#include "support/replicas.h"

namespace mpitron::parallel {
namespace bucketed_layout_test {

/// Pieces are the parameters, in order of creation, and their gradients one flat run.
TEST(BucketedLayout, AloneItIsAPlainBuffer) {
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

/// Every element has exactly one owner, also where a shard cuts through a parameter.
TEST(BucketedLayout, ShardsCoverEveryElementOnce) {
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

}  // namespace bucketed_layout_test

}  // namespace mpitron::parallel
