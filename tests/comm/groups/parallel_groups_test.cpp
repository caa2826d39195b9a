#include "comm/groups/parallel_groups.h"

#include <gtest/gtest.h>

#include "utils/error.h"

namespace mpitron::comm {
namespace parallel_groups_test {

using Ranks = std::vector<Index>;

TEST(ParallelGroups, OneOfEachKindForEachRank) {
  // tensor 2 (stride 1), context 2 (stride 2), data 2 (stride 4), pipeline 3 (stride 8)
  const RankGrid grid(24, {.tensor = 2, .context = 2, .pipeline = 3});
  const auto world = make_fake_world(13, 24);
  const ParallelGroups groups = make_parallel_groups(*world, grid);
  EXPECT_EQ(groups.tensor->ranks(), (Ranks{12, 13}));
  EXPECT_EQ(groups.context->ranks(), (Ranks{13, 15}));
  EXPECT_EQ(groups.data->ranks(), (Ranks{9, 13}));
  EXPECT_EQ(groups.data_context->ranks(), (Ranks{9, 11, 13, 15}));
  EXPECT_EQ(groups.pipeline->ranks(), (Ranks{5, 13, 21}));
  EXPECT_EQ(groups.model->ranks(), (Ranks{4, 5, 12, 13, 20, 21}));
  EXPECT_EQ(groups.tensor_context->ranks(), (Ranks{12, 13, 14, 15}));
  EXPECT_EQ(groups.tensor_data->ranks(), (Ranks{8, 9, 12, 13}));
  EXPECT_EQ(groups.tensor_data_context->size(), 8);
  EXPECT_EQ(groups.embedding, nullptr);  // a middle stage
  EXPECT_EQ(groups.position_embedding, nullptr);
  EXPECT_EQ(groups.optimizer_instance->ranks(), groups.data_context->ranks());
  EXPECT_EQ(groups.optimizer_replicas->ranks(), (Ranks{13}));
}

TEST(ParallelGroups, EmbeddingsLieOnTheFirstAndLastStageOrWhereToldTo) {
  const RankGrid grid(4, {.pipeline = 4});
  const auto last = make_fake_world(3, 4);
  const ParallelGroups groups = make_parallel_groups(*last, grid);
  EXPECT_EQ(groups.embedding->ranks(), (Ranks{0, 3}));
  EXPECT_EQ(groups.position_embedding, nullptr);
  const auto third = make_fake_world(2, 4);
  const ParallelGroups told = make_parallel_groups(
      *third, grid, {.embedding_stages = {0, 2, 3}, .position_embedding_stages = {0, 2}});
  EXPECT_EQ(told.embedding->ranks(), (Ranks{0, 2, 3}));
  EXPECT_EQ(told.position_embedding->ranks(), (Ranks{0, 2}));
  const auto first = make_fake_world(0, 4);
  EXPECT_EQ(make_parallel_groups(*first, grid).position_embedding->ranks(), (Ranks{0}));
}

TEST(ParallelGroups, LevelsOfContextAndOfTheOptimizer) {
  const RankGrid grid(8, {.context = 8});
  const auto world = make_fake_world(5, 8);
  const ParallelGroups groups =
      make_parallel_groups(*world, grid, {.context_level_sizes = {2, 4}, .optimizer_instances = 2});
  ASSERT_EQ(groups.context_levels.size(), 2u);
  EXPECT_EQ(groups.context_levels[0]->ranks(), (Ranks{4, 5}));
  EXPECT_EQ(groups.context_levels[1]->ranks(), (Ranks{1, 3, 5, 7}));
  EXPECT_EQ(groups.optimizer_instance->ranks(), (Ranks{4, 5, 6, 7}));
  EXPECT_EQ(groups.optimizer_replicas->ranks(), (Ranks{1, 5}));
  EXPECT_THROW(make_parallel_groups(*world, grid, {.optimizer_instances = 3}), Error);
}

TEST(ParallelGroups, ExpertsHaveAGridOfTheirOwn) {
  // dense: tensor 2, context 2, data 2, pipeline 2; experts: tensor 1, expert 4, data 2, pipeline 2
  const RankGrid grid(16,
                      {.tensor = 2, .context = 2, .pipeline = 2, .expert = 4, .expert_tensor = 1});
  const auto world = make_fake_world(13, 16);
  const ParallelGroups groups = make_parallel_groups(*world, grid);
  EXPECT_EQ(groups.expert->ranks(), (Ranks{12, 13, 14, 15}));
  EXPECT_EQ(groups.expert_tensor->ranks(), (Ranks{13}));
  EXPECT_EQ(groups.expert_layer->ranks(), (Ranks{12, 13, 14, 15}));
  EXPECT_EQ(groups.expert_data->ranks(), (Ranks{9, 13}));
  EXPECT_EQ(groups.data_context->ranks(), (Ranks{9, 11, 13, 15}));
}

TEST(ParallelGroups, ShardsOfAnExpertAreNeighboursAmongThoseOfItsLayer) {
  const RankGrid grid(8, {.expert = 2, .expert_tensor = 2});
  const auto world = make_fake_world(6, 8);
  const ParallelGroups groups = make_parallel_groups(*world, grid, {.optimizer_instances = 2});
  EXPECT_EQ(groups.tensor->size(), 1);
  EXPECT_EQ(groups.expert_tensor->ranks(), (Ranks{6, 7}));
  EXPECT_EQ(groups.expert->ranks(), (Ranks{4, 6}));
  EXPECT_EQ(groups.expert_layer->ranks(), (Ranks{4, 5, 6, 7}));
  EXPECT_EQ(groups.expert_data->ranks(), (Ranks{2, 6}));
  EXPECT_EQ(groups.expert_optimizer_instance->ranks(), (Ranks{6}));
  EXPECT_EQ(groups.expert_optimizer_replicas->ranks(), (Ranks{2, 6}));
  EXPECT_THROW(make_parallel_groups(*world, grid, {.optimizer_instances = 4}), Error);
}

TEST(ParallelGroups, KnowTheReferencesWordsForTheExchange) {
  EXPECT_EQ(context_exchange_of("p2p"), ContextExchange::ring);
  EXPECT_EQ(context_exchange_of("all_gather"), ContextExchange::all_gather);
  EXPECT_EQ(context_exchange_of("a2a"), ContextExchange::heads);
  EXPECT_EQ(context_exchange_of("a2a+p2p"), ContextExchange::heads_in_ring);
  EXPECT_THROW(context_exchange_of("ring"), Error);
}

TEST(ParallelGroups, EachLayerHasItsExchangeOrAllHaveOne) {
  const auto world = make_fake_world(0, 2);
  const RankGrid grid(2, {.context = 2});
  using enum ContextExchange;
  EXPECT_EQ(make_parallel_groups(*world, grid).exchange_of(3), ring);
  EXPECT_EQ(make_parallel_groups(*world, grid, {.context_exchange = {heads}}).exchange_of(3),
            heads);
  const auto groups =
      make_parallel_groups(*world, grid, {.context_exchange = {ring, all_gather, heads}});
  EXPECT_EQ(groups.exchange_of(1), ring);
  EXPECT_EQ(groups.exchange_of(3), heads);
}

TEST(ParallelGroups, RanksOfAWorldAgreeWhateverTheOrderOfFirstUse) {
  run_thread_world(8, [](World& world) {
    const RankGrid grid(8, {.tensor = 2, .pipeline = 2});
    const ParallelGroups groups = make_parallel_groups(world, grid);
    const auto rank = static_cast<double>(world.rank());
    const double stage = world.rank() / 4 == 0 ? 0 : 4;
    EXPECT_EQ(groups.tensor->reduce(rank, Reduction::minimum), world.rank() / 2 * 2);
    EXPECT_EQ(groups.data->reduce(rank), 2 * (stage + world.rank() % 2) + 2);
    EXPECT_EQ(groups.embedding->reduce(rank), 2 * rank + (world.rank() < 4 ? 4 : -4));
  });
}

}  // namespace parallel_groups_test
}  // namespace mpitron::comm
