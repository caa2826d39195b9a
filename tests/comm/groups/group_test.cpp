#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "comm/worlds.h"

namespace mpitron::comm {
namespace group_test {

using Values = std::vector<float>;

/// Element i of rank r's data.
float element(Index rank, Index i) {
  return static_cast<float>(rank + 1) * 0.1f + static_cast<float>(i % 97);
}
Values values_of(Index rank, Index n) {
  Values values(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    values[static_cast<std::size_t>(i)] = element(rank, i);
  }
  return values;
}
Floats data_of(Index rank, Index n) {
  return Floats(values_of(rank, n));
}

class InWorldsOf : public ::testing::TestWithParam<WorldKind> {};

TEST_P(InWorldsOf, SumsRunInRankOrder) {
  for (const Index n : {1, 7, 64, 1000, 70001}) {
    run_world(GetParam(), [n](World& world) {
      Floats x = data_of(world.rank(), n);
      world.all()->all_reduce(x.view()).wait();
      const Values& y = x.read();
      for (Index i = 0; i < n; ++i) {
        float sum = element(0, i);
        for (Index rank = 1; rank < world.size(); ++rank) {
          sum += element(rank, i);
        }
        ASSERT_EQ(y[static_cast<std::size_t>(i)], sum);
      }
    });
  }
}

TEST_P(InWorldsOf, ReduceScatterThenGatherIsTheAllReduceAlsoInPlace) {
  const Index piece = 33;
  run_world(GetParam(), [piece](World& world) {
    const auto group = world.all();
    Floats whole = data_of(world.rank(), piece * world.size());
    Floats expected = data_of(world.rank(), piece * world.size());
    group->all_reduce(expected.view()).wait();
    const TensorView mine =
        device::slice(whole.view(), 0, piece * world.rank(), piece * (world.rank() + 1));
    group->reduce_scatter(whole.view(), mine).wait();
    group->all_gather(mine, whole.view()).wait();
    EXPECT_EQ(whole.read(), expected.read());
  });
}

TEST_P(InWorldsOf, AllToAllTransposes) {
  run_world(GetParam(), [](World& world) {
    Floats x = data_of(world.rank(), 3 * world.size());
    Floats y(3 * world.size());
    world.all()->all_to_all(x.view(), y.view()).wait();
    const Values& received = y.read();
    for (Index from = 0; from < world.size(); ++from) {
      for (Index i = 0; i < 3; ++i) {
        EXPECT_EQ(received[static_cast<std::size_t>(3 * from + i)],
                  element(from, 3 * world.rank() + i));
      }
    }
  });
}

TEST_P(InWorldsOf, AllToAllOfUnequalPieces) {
  run_world(GetParam(), [](World& world) {
    // Rank r sends r + j elements to rank j.
    std::vector<Index> sent, expected;
    for (Index j = 0; j < world.size(); ++j) {
      sent.push_back(world.rank() + j);
      expected.push_back(world.rank() + j);
    }
    const Index n = std::accumulate(sent.begin(), sent.end(), Index{0});
    Floats x(n, static_cast<float>(world.rank()));
    Floats y(n, -1);
    world.all()->all_to_all(x.view(), y.view(), sent, expected).wait();
    const Values& received = y.read();
    std::size_t at = 0;
    for (Index from = 0; from < world.size(); ++from) {
      for (Index i = 0; i < from + world.rank(); ++i) {
        EXPECT_EQ(received[at++], static_cast<float>(from));
      }
    }
  });
}

TEST_P(InWorldsOf, BroadcastAndScalars) {
  run_world(GetParam(), [](World& world) {
    const Index root = world.size() - 1;
    Floats x = data_of(world.rank(), 5);
    world.all()->broadcast(x.view(), root).wait();
    EXPECT_EQ(x.read(), values_of(root, 5));
    const double last = static_cast<double>(world.size() - 1);
    EXPECT_EQ(world.all()->reduce(static_cast<double>(world.rank())), last * (last + 1) / 2);
    EXPECT_EQ(world.all()->reduce(static_cast<double>(world.rank()), Reduction::maximum), last);
  });
}

TEST_P(InWorldsOf, MessagesAroundTheRingArriveInOrder) {
  run_world(GetParam(), [](World& world) {
    const auto group = world.all();
    if (group->size() == 1) {
      return;
    }
    const Index next = (world.rank() + 1) % world.size();
    const Index previous = (world.rank() + world.size() - 1) % world.size();
    std::vector<Floats> sent, received;
    std::vector<Work> works;
    for (Index m = 0; m < 40; ++m) {  // more than the ring holds
      sent.push_back(data_of(100 * world.rank() + m, 3));
      received.emplace_back(3);
    }
    for (std::size_t m = 0; m < 40; ++m) {
      works.push_back(group->send(sent[m].view(), next));
      works.push_back(group->receive(received[m].view(), previous));
    }
    for (Work& work : works) {
      work.wait();
    }
    for (Index m = 0; m < 40; ++m) {
      EXPECT_EQ(received[static_cast<std::size_t>(m)].read(), values_of(100 * previous + m, 3));
    }
  });
}

TEST_P(InWorldsOf, ManyUnderWayEndInAnyOrderOfWaiting) {
  run_world(GetParam(), [](World& world) {
    const auto group = world.all();
    const auto other = world.make_group("other", group->ranks());
    std::vector<Floats> x;
    for (Index k = 0; k < 50; ++k) {
      x.push_back(data_of(world.rank() + k, 100));
    }
    std::vector<Work> works;
    for (std::size_t k = 0; k < 50; ++k) {
      works.push_back((k % 2 == 0 ? group : other)->all_reduce(x[k].view()));
    }
    for (auto work = works.rbegin(); work != works.rend(); ++work) {
      work->wait();
    }
    for (Index k = 0; k < 50; ++k) {
      float sum = element(k, 5);
      for (Index rank = 1; rank < world.size(); ++rank) {
        sum += element(rank + k, 5);
      }
      EXPECT_EQ(x[static_cast<std::size_t>(k)][5], sum);
    }
  });
}

/// Memory that the others reach, and so much of it that shares take several steps and blocks.
TEST_P(InWorldsOf, LargeTensorsOfTheWorldsOwnMemory) {
  run_world(GetParam(), [](World& world) {
    const auto group = world.all();
    const auto allocator = world.make_allocator();
    const Index piece = 400'001;
    const Index n = piece * world.size();
    std::size_t capacity = 0;
    auto* const data =
        static_cast<float*>(allocator->allocate(static_cast<std::size_t>(2 * n) * 4, capacity));
    const TensorView x(data, DType::f32, {n});
    const TensorView y(data + n, DType::f32, {n});
    std::generate_n(data, n, [&, i = Index{0}]() mutable { return element(world.rank(), i++); });
    group->all_to_all(x, y).wait();
    const Index from = world.size() - 1;
    EXPECT_EQ(data[n + from * piece + 17], element(from, world.rank() * piece + 17));
    group->all_gather(device::slice(x, 0, 0, piece), y).wait();
    EXPECT_EQ(data[2 * n - 1], element(from, piece - 1));
    const TensorView mine = device::slice(y, 0, 0, piece);
    group->reduce_scatter(x, mine).wait();
    group->all_reduce(x).wait();
    EXPECT_TRUE(std::equal(data + n, data + n + piece, data + world.rank() * piece));
    for (Index i = 0; i < n; i += 4999) {
      float sum = element(0, i);
      for (Index rank = 1; rank < world.size(); ++rank) {
        sum += element(rank, i);
      }
      ASSERT_EQ(data[i], sum) << i;
    }
    group->barrier();
    allocator->release(data, capacity);
  });
}

TEST_P(InWorldsOf, SubgroupsWorkSideBySide) {
  run_world(GetParam(), [](World& world) {
    std::vector<Index> same_parity;
    for (Index rank = world.rank() % 2; rank < world.size(); rank += 2) {
      same_parity.push_back(rank);
    }
    const auto group = world.make_group("parity", same_parity);
    Floats x = data_of(world.rank(), 1000);
    Floats y = data_of(world.rank(), 1000);
    Work all = world.all()->all_reduce(x.view(), Reduction::maximum);
    group->all_reduce(y.view()).wait();
    all.wait();
    EXPECT_EQ(x[7], element(world.size() - 1, 7));
    float sum = element(same_parity[0], 7);
    for (std::size_t i = 1; i < same_parity.size(); ++i) {
      sum += element(same_parity[i], 7);
    }
    EXPECT_EQ(y[7], sum);
    const Index first = world.rank() / 2 * 2;
    if (first + 1 < world.size()) {
      const auto neighbours = world.make_group("neighbours", {first, first + 1});
      EXPECT_EQ(neighbours->reduce(static_cast<double>(world.rank())),
                static_cast<double>(2 * first + 1));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, InWorldsOf, ::testing::ValuesIn(worlds_to_test()), name_of_world);
INSTANTIATE_TEST_SUITE_P(Gpus, InWorldsOf, ::testing::ValuesIn(gpu_worlds_to_test()),
                         name_of_world);

TEST(Group, HalfTypesAreAddedInSinglePrecisionAndRoundedOnce) {
  run_thread_world(3, [](World& world) {
    // 1 + 2^-8 + 2^-8 is 1 if every sum is rounded, 1 + 2^-7 if only the last.
    BFloat16 x = static_cast<BFloat16>(world.rank() == 0 ? 1.f : 0x1p-8f);
    world.all()->all_reduce({&x, DType::bf16, {1}}).wait();
    EXPECT_EQ(static_cast<float>(x), 1 + 0x1p-7f);
  });
}

TEST(Group, DifferentCallsOfMembersAreAnError) {
  EXPECT_THROW(run_thread_world(2,
                                [](World& world) {
                                  Floats x(world.rank() == 0 ? 4 : 5);
                                  world.all()->all_reduce(x.view()).wait();
                                }),
               InternalError);
}

TEST(Group, AFailureOfOneRankEndsTheOthers) {
  EXPECT_THROW(run_thread_world(4,
                                [](World& world) {
                                  if (world.rank() == 2) {
                                    throw std::runtime_error("rank 2 is unhappy");
                                  }
                                  world.all()->barrier();
                                }),
               std::runtime_error);
}

TEST(Group, AFakeWorldHasGroupsAndMovesNothing) {
  const auto world = make_fake_world(5, 6144);
  Floats x = data_of(5, 4);
  const auto group = world->all();
  group->all_reduce(x.view()).wait();
  EXPECT_EQ(x.read(), values_of(5, 4));
  EXPECT_EQ(group->rank(), 5);
  EXPECT_EQ(group->size(), 6144);
}

}  // namespace group_test
}  // namespace mpitron::comm
