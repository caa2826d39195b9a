#include <cmath>

#include <gtest/gtest.h>

#include "support/tiny_gpt.h"
#include "train/step/stage_runner.h"
#include "train/tiny_run.h"

// Loss and gradient scaling of context parallelism (a trap of the reference's users: Megatron-LM
// #673 and #906). Each rank divides by its own tokens unless the loss is per token; gradients are
// then averaged over all replicas, the context parallel ranks among them.

namespace mpitron::train {
namespace context_parallel_loss_test {

constexpr Index kRows = 2;

struct Outcome {
  double loss = 0, tokens = 0;
  std::vector<double> gradients;  // summed over the ranks
};

/// Forward and backward of one microbatch, whose mask `weigh` may replace.
Outcome run(Index ranks, bool per_token, const std::vector<float>& mask) {
  config::RunConfig config = tiny_run();
  config.parallel.context_parallel_size = ranks;
  Outcome outcome;
  comm::run_thread_world(ranks, [&](comm::World& world) {
    const auto device = device::make_device("reference");
    TrainedModel model(*device, config, world);
    const comm::GroupHandle alone = world.make_group("alone", {world.rank()});
    const auto replicas =
        parallel::make_data_parallel(*device, model.parameters().all(), {}, {alone, alone});
    replicas->begin_step();
    Timers timers(0, config::TimingLogOption::max);
    StageRunner runner(
        *device, model, *replicas,
        {.hidden = {},
         .passes = {.per_token_loss = per_token, .seed = 7},
         .schedule = pipeline::make_schedule_options(config.parallel, model.layout(), 1)},
        timers);
    TinyCorpus corpus;
    const LossSums sums = runner.run({.iteration = 1, .seed_scale = 1.0}, [&] {
      HostMicrobatch microbatch = corpus.rows(4, kRows);
      microbatch.columns.set(models::kLossMask, mask);
      return microbatch;
    })[0];
    replicas->finish_step();
    EXPECT_EQ(model.groups().data_context->size(), ranks);
    const double loss = model.groups().data_context->reduce(sums.loss);
    const double tokens = model.groups().data_context->reduce(sums.tokens);
    std::vector<double> gradients;
    for (const autograd::Parameter& parameter : model.parameters()) {
      model.groups().data_context->all_reduce(parameter.sink.main_grad.view()).wait();
      const std::vector<double> values = test::values_of(parameter.sink.main_grad);
      gradients.insert(gradients.end(), values.begin(), values.end());
    }
    if (world.rank() == 0) {
      outcome = {loss, tokens, gradients};
    }
  });
  return outcome;
}

double distance(const std::vector<double>& got, const std::vector<double>& expected) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference += (got[i] - expected[i]) * (got[i] - expected[i]);
    norm += expected[i] * expected[i];
  }
  return std::sqrt(difference / norm);
}

/// Tokens [0, 3) of one sample and [0, 8) of the other count; or only one token of all, so that a
/// rank has none.
std::vector<float> uneven() {
  return {1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
}
std::vector<float> on_rank_zero_only() {
  return {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
}

TEST(ContextParallelLoss, PerTokenIsThatOfOneRank) {
  for (const auto& mask : {uneven(), on_rank_zero_only()}) {
    const Outcome expected = run(1, true, mask), got = run(2, true, mask);
    EXPECT_EQ(got.tokens, expected.tokens);
    EXPECT_NEAR(got.loss, expected.loss, 1e-6 * expected.loss);
    EXPECT_LE(distance(got.gradients, expected.gradients), 1e-6);
  }
}

/// The mean over ranks of each rank's mean: as one rank with those weights. A rank without tokens
/// contributes nothing (and no NaN).
TEST(ContextParallelLoss, OtherwiseItIsAMeanOfMeans) {
  constexpr Index kRanks = 2, kLength = 8;
  for (const auto& mask : {uneven(), on_rank_zero_only()}) {
    std::vector<float> weights(mask.size());
    for (Index rank = 0; rank < kRanks; ++rank) {
      const SequenceSlice slice = zigzag_slice(kLength, kRanks, rank);
      const auto at = [&](Index row, Index i) {
        return static_cast<std::size_t>(row * kLength + slice.map(i));
      };
      float tokens = 0;
      for (Index i = 0; i < kRows * slice.length; ++i) {
        tokens += mask[at(i / slice.length, i % slice.length)];
      }
      for (Index i = 0; i < kRows * slice.length; ++i) {
        const std::size_t place = at(i / slice.length, i % slice.length);
        weights[place] = mask[place] / std::max(tokens, 1.f);
      }
    }
    const Outcome expected = run(1, true, weights), got = run(kRanks, false, mask);
    EXPECT_LE(distance(got.gradients, expected.gradients), 1e-6);
    // The reported loss is weighted by tokens all the same.
    const Outcome one = run(1, false, mask);
    EXPECT_NEAR(got.loss / got.tokens, one.loss / one.tokens, 1e-6);
  }
}

}  // namespace context_parallel_loss_test
}  // namespace mpitron::train
