#include "parallel/data_parallel.h"

#include <cmath>

#include <gtest/gtest.h>

#include "parallel/weight_hash.h"
#include "train/layouts/data_parallel_training.h"
#include "utils/error.h"

// Every way of sharing the batch, the gradients, the optimizer and the parameters trains as one
// rank does with the whole batch.

namespace mpitron::train {
namespace data_parallel_test {

using parallel::DataParallelOptions;
using parallel::Sharding;
using Tensors = std::map<std::string, std::vector<double>>;

double norm(const std::vector<double>& x) {
  double sum = 0;
  for (const double value : x) {
    sum += value * value;
  }
  return std::sqrt(sum);
}

void expect_near(const Tensors& tensors, const Tensors& expected, double tolerance) {
  ASSERT_EQ(tensors.size(), expected.size());
  for (const auto& [name, values] : tensors) {
    std::vector<double> difference = expected.at(name);
    ASSERT_EQ(values.size(), difference.size());
    const double scale = norm(difference);
    for (std::size_t i = 0; i < values.size(); ++i) {
      difference[i] -= values[i];
    }
    EXPECT_LE(norm(difference), tolerance * scale) << name;
  }
}

void expect_near(const Outcome& outcome, const Outcome& expected, double tolerance = 1e-6) {
  for (std::size_t step = 0; step < expected.losses.size(); ++step) {
    EXPECT_NEAR(outcome.losses[step], expected.losses[step], tolerance * expected.losses[step]);
    EXPECT_NEAR(outcome.norms[step], expected.norms[step], tolerance * expected.norms[step]);
    EXPECT_NEAR(outcome.parameters_norms[step], expected.parameters_norms[step],
                tolerance * expected.parameters_norms[step]);
  }
  expect_near(outcome.gradients, expected.gradients, tolerance);
  expect_near(outcome.weights, expected.weights, tolerance);
}

void expect_same_bits(const Outcome& outcome, const Outcome& expected) {
  EXPECT_EQ(outcome.losses, expected.losses);
  EXPECT_EQ(outcome.norms, expected.norms);
  EXPECT_EQ(outcome.parameters_norms, expected.parameters_norms);
  EXPECT_EQ(outcome.zeros, expected.zeros);
  EXPECT_EQ(outcome.gradients, expected.gradients);
  EXPECT_EQ(outcome.weights, expected.weights);
}

/// Every option that may change how the work is shared but not what comes out, in turn.
std::vector<Sharing> ways_of(Index ranks) {
  std::vector<Sharing> ways;
  for (const Sharding sharding :
       {Sharding::none, Sharding::optimizer, Sharding::gradients, Sharding::parameters}) {
    for (const bool overlap : {false, true}) {
      Sharing way{.ranks = ranks,
                  .shard_size = sharding == Sharding::none ? 1 : ranks,
                  .options = {.sharding = sharding,
                              .overlap_grad_reduce = overlap,
                              .overlap_param_gather = overlap && sharding != Sharding::none}};
      way.name =
          "sharding " + std::to_string(static_cast<int>(sharding)) + (overlap ? " overlapped" : "");
      if (overlap) {
        way.options.bucket_size = 500;
      }
      ways.push_back(way);
    }
  }
  return ways;
}

class OnRanks : public ::testing::TestWithParam<Index> {};

TEST_P(OnRanks, EveryWayTrainsLikeOneRank) {
  for (const bool special : {false, true}) {  // recompute and per-token loss of unequal counts
    const Outcome alone =
        DataParallelTraining::run({.recompute = special, .uneven_tokens = special});
    EXPECT_GT(alone.norms[0], Sharing().clip);  // so that clipping takes part
    for (Sharing way : ways_of(GetParam())) {
      SCOPED_TRACE(way.name + (special ? " recompute per token" : ""));
      way.recompute = way.uneven_tokens = special;
      expect_near(DataParallelTraining::run(way), alone);
    }
  }
}

/// Sums are per element in rank order and norms are exact: neither buckets nor overlap nor who
/// updates what can move a bit.
TEST_P(OnRanks, BucketsOverlapAndShardsChangeNoBit) {
  const Outcome plain = DataParallelTraining::run({.ranks = GetParam()});
  for (const Sharding sharding : {Sharding::none, Sharding::optimizer}) {
    for (const Index bucket : {1, 300, 1000, 100000}) {
      for (const bool overlap : {false, true}) {
        SCOPED_TRACE(::testing::Message() << "sharding " << static_cast<int>(sharding) << " bucket "
                                          << bucket << " overlap " << overlap);
        expect_same_bits(
            DataParallelTraining::run({.ranks = GetParam(),
                                       .shard_size = sharding == Sharding::none ? 1 : GetParam(),
                                       .options = {.sharding = sharding,
                                                   .overlap_grad_reduce = overlap,
                                                   .overlap_param_gather = overlap,
                                                   .bucket_size = bucket}}),
            plain);
      }
    }
  }
}

/// In half precision too: parameters, masters and gradients of a rank's shard.
TEST_P(OnRanks, ShardsChangeNoBitInHalfPrecision) {
  for (const DType gradients : {DType::f32, DType::bf16}) {
    Sharing way{.ranks = GetParam(),
                .options = {.gradients = {.main_grad_dtype = gradients,
                                          .fused_linear_gradients = gradients == DType::f32}},
                .untied = true,
                .dtype = DType::bf16};
    const Outcome plain = DataParallelTraining::run(way);
    way.shard_size = GetParam();
    way.options.sharding = Sharding::optimizer;
    way.options.overlap_grad_reduce = way.options.overlap_param_gather = true;
    way.options.bucket_size = 700;
    expect_same_bits(DataParallelTraining::run(way), plain);
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, OnRanks, ::testing::Values(1, 2, 4, 8));

/// Two copies of the sharded state: a shard is reduced inside its instance, then over the copies.
TEST(DataParallelTrainingTest, SeveralOptimizerInstances) {
  const Outcome alone = DataParallelTraining::run({});
  for (Sharing way : ways_of(4)) {
    if (way.options.sharding != Sharding::none) {
      SCOPED_TRACE(way.name);
      way.shard_size = 2;
      expect_near(DataParallelTraining::run(way), alone);
    }
  }
}

/// Whoever trains the same microbatches gets the same bits from fully sharded training with one
/// microbatch a rank.
TEST(DataParallelTrainingTest, FullShardsOfOneMicrobatchChangeNoBit) {
  Sharing way{.ranks = 4, .micro_batch = 2};
  const Outcome plain = DataParallelTraining::run(way);
  way.shard_size = 4;
  for (const Sharding sharding : {Sharding::gradients, Sharding::parameters}) {
    for (const bool overlap : {false, true}) {
      way.options = {
          .sharding = sharding, .overlap_grad_reduce = overlap, .overlap_param_gather = overlap};
      expect_same_bits(DataParallelTraining::run(way), plain);
    }
  }
}

TEST(DataParallelTrainingTest, ReplicasThatDriftApartAreNamed) {
  try {
    comm::run_thread_world(4, [](comm::World& world) {
      DataParallelTraining training(world, {.ranks = 4});
      training.step(0);
      parallel::check_weight_hashes(training.device(), training.model().parameters().all(),
                                    *world.all());
      if (world.rank() == 2) {
        const tensor::Tensor& value =
            training.model().parameters().find("decoder.final_layernorm.weight")->value;
        value.data<float>()[3] = std::nextafter(value.data<float>()[3], 2.f);
      }
      parallel::check_weight_hashes(training.device(), training.model().parameters().all(),
                                    *world.all());
    });
    FAIL();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("decoder.final_layernorm.weight has other values on rank 2 than on rank 0"),
              std::string::npos)
        << text;
  }
}

/// Bytes that stay between steps, for each element: what the state is shared for.
double bytes_per_parameter(DType dtype, DType gradients, Sharding sharding, Index ranks) {
  double result = 0;
  comm::run_thread_world(ranks, [&](comm::World& world) {
    DataParallelTraining training(
        world, {.ranks = ranks,
                .shard_size = sharding == Sharding::none ? 1 : ranks,
                .options = {.gradients = {.main_grad_dtype = gradients,
                                          .fused_linear_gradients = gradients == DType::f32},
                            .sharding = sharding},
                .dtype = dtype,
                .wide = true});
    if (world.rank() == 0) {
      result = static_cast<double>(training.device().allocator().statistics().bytes_in_use) /
               static_cast<double>(training.model().parameters().numel());
    }
  });
  return result;
}

/// The reference's table: fp16 4 + 16/d (ours needs no fp32 copy of the gradients: 4 + 12/d), bf16
/// with fp32 gradients 6 + 12/d, fp32 8 + 8/d; and without shares 20 (16), 18, 16.
TEST(DataParallelTrainingTest, BytesPerParameterAreThoseOfTheTable) {
  constexpr DType h = DType::f16, b = DType::bf16, f = DType::f32;
  constexpr double kSlack = 1.15;  // padding to 64 elements for each rank, headers, size classes
  for (const Index d : {1, 2, 4, 8}) {
    const auto n = static_cast<double>(d);
    const auto expect = [&](DType dtype, DType gradients, Sharding sharding, double bytes) {
      const double measured = bytes_per_parameter(dtype, gradients, sharding, d);
      EXPECT_LE(measured, kSlack * bytes) << name_of(dtype) << " ranks " << d;
      EXPECT_GE(measured, bytes) << name_of(dtype) << " ranks " << d;
    };
    expect(h, h, Sharding::optimizer, 4 + 12 / n);
    expect(b, f, Sharding::optimizer, 6 + 12 / n);
    expect(f, f, Sharding::optimizer, 8 + 8 / n);
    expect(b, f, Sharding::gradients, 2 + 16 / n);
    expect(b, f, Sharding::parameters, 18 / n);
  }
}

}  // namespace data_parallel_test
}  // namespace mpitron::train
