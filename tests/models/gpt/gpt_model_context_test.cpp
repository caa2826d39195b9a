#include <gtest/gtest.h>

#include "models/gpt/gpt_model.h"
#include "support/tiny_gpt.h"

// A model whose sequences are shared by the ranks of a context group: losses, gradients and dropout
// are those of one rank.

namespace mpitron::models {
namespace gpt_model_context_test {

using autograd::Context;
using autograd::Tape;
using autograd::Var;
using comm::ContextExchange;

constexpr Index kLength = 16, kBatch = 2;

struct Layout {
  std::vector<ContextExchange> exchange;
  Index ranks = 2, inner = 1;
};

/// Loss of every token [s, b] in the order of the sequence, and all gradients of its weighted sum.
struct Result {
  std::vector<double> losses = std::vector<double>(kLength * kBatch, NAN);
  std::map<std::string, std::vector<double>> gradients;
};

/// Weights of the tokens in the objective: of every kind, also 0.
double weight_of(Index position, Index sample) {
  return static_cast<double>((position * 3 + sample) % 4) / 4;
}

std::vector<std::int64_t> ids_of(const tensor::Tensor& x) {
  return {x.data<std::int64_t>(), x.data<std::int64_t>() + x.numel()};
}

Batch batch_of(device::Device& device, const SequenceSlice& slice) {
  const Batch whole = test::tiny_batch(device, kLength, 5, kBatch);
  const auto cut = [&](const tensor::Tensor& x) {
    const std::vector<std::int64_t> all = ids_of(x);
    std::vector<std::int64_t> ids;
    for (Index i = 0; i < slice.length; ++i) {
      const auto from = all.begin() + slice.map(i) * kBatch;
      ids.insert(ids.end(), from, from + kBatch);
    }
    return test::make_ids(device, {slice.length, kBatch}, ids);
  };
  return {{kTokens, cut(whole[kTokens])},
          {kPositionIds, cut(whole[kPositionIds])},
          {kLabels, cut(whole[kLabels])}};
}

void run(device::Device& device, const config::ModelConfig& config, comm::ParallelGroups groups,
         Result& to) {
  comm::Group& context_group = *groups.context;
  const SequenceSlice slice = zigzag_slice(kLength, context_group.size(), context_group.rank());
  GptModel model(config, device, {.groups = std::move(groups), .part = nn::whole_model(config)});
  model.initialize();
  test::make_main_grads(device, model.parameters());
  Tape tape;
  Context context{.device = device,
                  .seed = 3,
                  .iteration = 4,
                  .position = {.first_sample = 5, .sequence = slice.map},
                  .recorder = {.tape = &tape, .usage = &tape}};
  const Var loss = model.loss(context, batch_of(device, slice));
  const std::vector<double> losses = test::values_of(loss.value);
  std::vector<double> weights;
  for (Index i = 0; i < slice.length * kBatch; ++i) {
    const Index position = slice.map(i / kBatch), sample = i % kBatch;
    to.losses[static_cast<std::size_t>(position * kBatch + sample)] =
        losses[static_cast<std::size_t>(i)];
    weights.push_back(weight_of(position, sample));
  }
  tape.backward(context, loss.slot, test::make_tensor(device, loss.shape(), DType::f32, weights));
  for (const autograd::Parameter& parameter : model.parameters()) {
    context_group.all_reduce(parameter.sink.main_grad.view()).wait();
    if (context_group.rank() == 0) {
      to.gradients[parameter.name] = test::values_of(parameter.sink.main_grad);
    }
  }
}

Result on_one_rank(const config::ModelConfig& config) {
  Result result;
  const auto device = device::make_device("reference");
  run(*device, config, comm::groups_of_one(*comm::make_single_world()), result);
  return result;
}

Result on_ranks(const config::ModelConfig& config, const Layout& layout) {
  Result result;
  comm::run_thread_world(layout.ranks, [&](comm::World& world) {
    const auto device = device::make_device("reference");
    const auto alone = comm::make_single_world();
    comm::ParallelGroups groups = comm::groups_of_one(*alone);
    groups.context = groups.data_context = world.all();
    groups.context_exchange = layout.exchange;
    std::vector<Index> inner, outer;
    for (Index rank = 0; rank < layout.ranks; ++rank) {
      if (rank / layout.inner == world.rank() / layout.inner) {
        inner.push_back(rank);
      }
      if (rank % layout.inner == world.rank() % layout.inner) {
        outer.push_back(rank);
      }
    }
    groups.context_levels = {world.make_group("inner", inner), world.make_group("outer", outer)};
    run(*device, config, groups, result);
  });
  return result;
}

double distance(const std::vector<double>& got, const std::vector<double>& expected) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference += (got[i] - expected[i]) * (got[i] - expected[i]);
    norm += expected[i] * expected[i];
  }
  return norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
}

config::ModelConfig config_of(config::PositionEmbedding positions) {
  config::ModelConfig config = test::tiny_gpt();
  config.seq_length = config.max_position_embeddings = kLength;
  config.position_embedding_type = positions;
  return config;
}

void check(const config::ModelConfig& config, const Layout& layout) {
  const Result expected = on_one_rank(config), got = on_ranks(config, layout);
  EXPECT_LE(distance(got.losses, expected.losses), 1e-6);
  ASSERT_EQ(got.gradients.size(), expected.gradients.size());
  // A key's bias moves all scores of a row alike: its gradient is nothing but rounding, so the norm
  // of the whole tensor counts.
  for (const auto& [name, gradient] : expected.gradients) {
    EXPECT_LE(distance(got.gradients.at(name), gradient), 1e-6) << name;
  }
}

constexpr auto kLearned = config::PositionEmbedding::learned_absolute;
constexpr auto kRope = config::PositionEmbedding::rope;

TEST(GptModelContext, EachKindOfExchangeTrainsLikeOneRank) {
  for (const auto exchange :
       {ContextExchange::ring, ContextExchange::all_gather, ContextExchange::heads}) {
    check(config_of(kLearned), {.exchange = {exchange}});
    check(config_of(kRope), {.exchange = {exchange}});
  }
  check(config_of(kRope), {.exchange = {ContextExchange::heads_in_ring}, .ranks = 4, .inner = 2});
}

TEST(GptModelContext, EachLayerHasItsOwnKind) {
  check(config_of(kRope),
        {.exchange = {ContextExchange::ring, ContextExchange::all_gather}, .ranks = 4});
  check(config_of(kRope), {.exchange = {}, .ranks = 4});
}

TEST(GptModelContext, WindowsReachIntoOtherRanks) {
  config::ModelConfig config = config_of(kRope);
  config.window_size = {{5, 0}};
  check(config, {.exchange = {ContextExchange::ring}, .ranks = 4});
}

/// Trap: a position that is not the global one would draw another mask or angle.
TEST(GptModelContext, DropoutIsOnAndDependsOnThePosition) {
  config::ModelConfig config = config_of(kLearned);
  const Result with = on_one_rank(config);
  config.attention_dropout = config.hidden_dropout = 0;
  EXPECT_GT(distance(on_one_rank(config).losses, with.losses), 1e-3);
}

}  // namespace gpt_model_context_test
}  // namespace mpitron::models
