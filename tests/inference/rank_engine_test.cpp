#include "inference/rank_engine.h"

#include <gtest/gtest.h>

#include "inference/cached_engine.h"
#include "support/corpus.h"
#include "support/host_runtime.h"
#include "tests/inference/random_decoder.h"
#include "tests/inference/rank_run.h"
#include "tests/inference/shared_beginnings.h"
#include "tests/inference/tiny_adapter.h"

namespace mpitron::inference {
namespace rank_engine_test {

using kernels::CacheType;

constexpr Index kVocabulary = 61;

EngineShape shape_of(const config::ModelConfig& config, CacheType cache = CacheType::model) {
  return {.block_size = 8,
          .blocks = 40,
          .slots = 4,
          .states = states_for(config, 4),
          .max_step_tokens = 24,
          .vocabulary = kVocabulary,
          .cache = cache};
}

using Layout = test::RankLayout;

config::ModelConfig config_of(const std::vector<std::string>& more) {
  std::vector<std::string> flags = {
      "--num-layers", "4", "--init-method-std", "0.2", "--position-embedding-type", "rope"};
  flags.insert(flags.end(), more.begin(), more.end());
  return test::tiny_decoder(flags);
}

/// Requests have the adapters in turn, where there are any, and nobody's.
std::vector<Answer> answers_of(Engine& engine, const SchedulerSettings& settings,
                               const std::vector<AdapterHandle>& adapters = {}) {
  const tokenizers::NullTokenizer tokenizer(kVocabulary - 1);
  std::vector<GenerationRequest> requests;
  for (const Index length : {19, 3, 7, 30, 11}) {
    GenerationRequest request{.max_tokens = 10, .log_probs = 1};
    for (Index i = 0; i < length; ++i) {
      request.prompt.push_back(static_cast<TokenId>((7 * i + length) % 60));
    }
    request.sampling.temperature = static_cast<double>(requests.size() % 2);
    request.prompt_log_probs = length == 7;
    const std::size_t turn = requests.size() % (adapters.size() + 1);
    request.adapter = turn > 0 ? adapters[turn - 1] : nullptr;
    requests.push_back(std::move(request));
  }
  Generator generator(engine, tokenizer, settings);
  return generator.run(std::move(requests));
}

/// Of the share of a rank, as many as are wanted.
std::vector<AdapterHandle> adapters_of(const config::ModelConfig& config, device::Device& device,
                                       const models::Model::Share& share, Index count) {
  std::vector<AdapterHandle> adapters;
  for (Index number = 1; number <= count; ++number) {
    adapters.push_back(
        test::UpdatedModel(config, device, {.groups = share.groups, .part = share.part}, number)
            .adapter(device));
  }
  return adapters;
}

std::vector<Answer> alone(const config::ModelConfig& config, Index adapters,
                          CacheType cache = CacheType::model) {
  const auto device = device::make_device("host");
  models::GptModel model(config, *device);
  model.initialize();
  CachedEngine engine(*device, model, shape_of(config, cache), kVocabulary);
  const models::Model::Share whole{.groups = comm::groups_of_one(*comm::make_single_world()),
                                   .part = nn::whole_model(config)};
  return answers_of(engine, {}, adapters_of(config, *device, whole, adapters));
}

/// Everybody's part: the first rank generates, the others follow.
std::vector<Answer> together(const config::ModelConfig& config, const Layout& layout,
                             const SchedulerSettings& settings, Index count,
                             CacheType cache = CacheType::model) {
  std::vector<Answer> answers;
  test::run_ranks(config, layout, "host", [&](const test::RankModel& rank) {
    const std::vector<AdapterHandle> adapters = adapters_of(config, rank.device, rank.share, count);
    const EngineShape shape = shape_of(config, cache);
    if (rank.world.rank() > 0) {
      return RankEngine::follow(rank.device, rank.model, rank.place, shape, adapters);
    }
    RankEngine engine(rank.device, rank.model, rank.place, rank.grid, shape, adapters);
    engine.idle();
    answers = answers_of(engine, settings, adapters);
  });
  return answers;
}

void expect_layouts_agree(const config::ModelConfig& config, const std::vector<Layout>& layouts,
                          Index adapters = 0, const std::vector<Index>& with_drafts = {0, 3}) {
  const std::vector<Answer> want = alone(config, adapters);
  for (const Layout& layout : layouts) {
    for (const Index drafts : with_drafts) {
      SCOPED_TRACE(::testing::Message() << layout.name << ", drafts " << drafts);
      test::expect_same(together(config, layout, {.draft_tokens = drafts}, adapters), want, 1e-5);
    }
  }
}

const std::vector<Layout>& dense_layouts() {
  static const std::vector<Layout> all = {{"TP2", 2, {.tensor = 2}},
                                          {"PP2", 2, {.pipeline = 2}},
                                          {"DP2", 2, {}},
                                          {"CP2", 2, {.context = 2}},
                                          {"TP2 x PP2", 4, {.tensor = 2, .pipeline = 2}},
                                          {"PP2 x DP2", 4, {.pipeline = 2}}};
  return all;
}

TEST(RankEngine, LayoutsOfDenseModelsAnswerAsOneRank) {
  expect_layouts_agree(config_of({"--group-query-attention", "--num-query-groups", "2"}),
                       dense_layouts());
}

/// Sums of ranks differ in their last bits, which seldom turn a rounding to 8 bits.
TEST(RankEngine, LayoutsAnswerWithACacheOf8BitsAsOneRank) {
  const std::vector<Layout> layouts = {{"TP2 x PP2", 4, {.tensor = 2, .pipeline = 2}},
                                       {"CP2", 2, {.context = 2}}};
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{"--group-query-attention", "--num-query-groups", "2"},
        std::vector<std::string>{"--multi-latent-attention", "--kv-lora-rank", "16",
                                 "--qk-head-dim", "8", "--qk-pos-emb-head-dim", "4", "--v-head-dim",
                                 "8"}}) {
    const config::ModelConfig config = config_of(flags);
    const std::vector<Answer> want = alone(config, 0, CacheType::e4m3);
    for (const Layout& layout : layouts) {
      SCOPED_TRACE(layout.name);
      test::expect_same(together(config, layout, {.draft_tokens = 3}, 0, CacheType::e4m3), want,
                        1e-3);
    }
  }
}

TEST(RankEngine, LayoutsAnswerWithAdaptersAsOneRank) {
  expect_layouts_agree(
      config_of({"--group-query-attention", "--num-query-groups", "2", "--swiglu"}),
      {{"TP2 x PP2", 4, {.tensor = 2, .pipeline = 2}}, {"CP2", 2, {.context = 2}}}, 2, {0});
}

TEST(RankEngine, LayoutsOfLatentsAndExpertsAnswerWithAdaptersAsOneRank) {
  expect_layouts_agree(
      config_of({"--multi-latent-attention", "--kv-lora-rank", "16", "--qk-head-dim", "8",
                 "--qk-pos-emb-head-dim", "4", "--v-head-dim", "8"}),
      {{"TP2", 2, {.tensor = 2}}, {"CP2", 2, {.context = 2}}}, 2, {0});
  expect_layouts_agree(
      config_of({"--num-experts", "4", "--disable-bias-linear", "--moe-router-topk", "2",
                 "--moe-token-dispatcher-type", "alltoall"}),
      {{"EP2", 2, {.expert = 2}}, {"EP2 x PP2", 4, {.pipeline = 2, .expert = 2}}}, 2, {0});
}

/// Both parts of a gated activation, and what they become, are cut where ranks share an expert.
TEST(RankEngine, LayoutsOfExpertsInPiecesAnswerWithAdaptersAsOneRank) {
  expect_layouts_agree(
      config_of({"--num-experts", "4", "--disable-bias-linear", "--moe-router-topk", "2",
                 "--swiglu", "--moe-ffn-hidden-size", "24", "--moe-token-dispatcher-type",
                 "alltoall"}),
      {{"TP2", 2, {.tensor = 2}},
       {"TP2 x EP2 of whole experts", 2, {.tensor = 2, .expert = 2, .expert_tensor = 1}},
       {"TP2 x EP2", 4, {.tensor = 2, .expert = 2}},
       {"TP2 x PP2", 4, {.tensor = 2, .pipeline = 2}}},
      2, {0});
}

TEST(RankEngine, LayoutsOfLatentAttentionAnswerAsOneRank) {
  expect_layouts_agree(
      config_of({"--multi-latent-attention", "--kv-lora-rank", "16", "--qk-head-dim", "8",
                 "--qk-pos-emb-head-dim", "4", "--v-head-dim", "8"}),
      {{"TP2", 2, {.tensor = 2}}, {"CP2", 2, {.context = 2}}});
}

TEST(RankEngine, LayoutsOfLayersWithChunksAnswerAsOneRank) {
  expect_layouts_agree(
      config_of({"--attention-chunk-size", "16", "--no-rope-freq", "2", "--query-scale-floor", "4",
                 "--query-scale-growth", "0.5"}),
      {{"TP2", 2, {.tensor = 2}}, {"CP2", 2, {.context = 2}}, {"PP2 x DP2", 4, {.pipeline = 2}}});
}

TEST(RankEngine, LayoutsOfExpertsAnswerAsOneRank) {
  expect_layouts_agree(
      config_of({"--num-experts", "4", "--disable-bias-linear", "--moe-router-topk", "2",
                 "--moe-token-dispatcher-type", "alltoall"}),
      {{"EP2", 2, {.expert = 2}},
       {"TP2", 2, {.tensor = 2}},
       {"EP2 x PP2", 4, {.pipeline = 2, .expert = 2}}});
}

TEST(RankEngine, LayoutsOfLayersWithStatesAnswerAsOneRank) {
  expect_layouts_agree(
      config_of(test::letters("MG*M", 4)),
      {{"TP2", 2, {.tensor = 2}}, {"CP2", 2, {.context = 2}}, {"PP2 x DP2", 4, {.pipeline = 2}}});
}

/// On several ranks beginnings are shared as on one; what a layout computes does not change a bit.
TEST(RankEngine, LayoutsShareBeginningsOfLayersWithStates) {
  const config::ModelConfig config = config_of(test::letters("MG*M", 4));
  EngineShape shape = shape_of(config);
  shape.snapshots = 5;
  const auto answers_in = [&](const Layout& layout, bool prefix_cache) {
    test::SharedAnswers answers;
    test::run_ranks(config, layout, "host", [&](const test::RankModel& rank) {
      if (rank.world.rank() > 0) {
        return RankEngine::follow(rank.device, rank.model, rank.place, shape);
      }
      RankEngine engine(rank.device, rank.model, rank.place, rank.grid, shape);
      answers = test::answers_of_beginnings(engine, {.prefix_cache = prefix_cache});
    });
    return answers;
  };
  for (const Layout& layout : {Layout{"TP2", 2, {.tensor = 2}}, Layout{"CP2", 2, {.context = 2}},
                               Layout{"PP2 x DP2", 4, {.pipeline = 2}}}) {
    SCOPED_TRACE(layout.name);
    const test::SharedAnswers got = answers_in(layout, true);
    test::expect_same(got.answers, answers_in(layout, false).answers, 0);
    EXPECT_GT(got.cached, 20);
  }
}

/// Adapters come and go while answers of others are written.
TEST(RankEngine, LoadsAdaptersOnAllRanks) {
  const config::ModelConfig config =
      config_of({"--group-query-attention", "--num-query-groups", "2", "--swiglu"});
  const std::vector<Answer> want = alone(config, 2);
  for (const Layout& layout :
       {Layout{"TP2", 2, {.tensor = 2}}, Layout{"PP2", 2, {.pipeline = 2}}, Layout{"DP2", 2, {}}}) {
    SCOPED_TRACE(layout.name);
    test::run_ranks(config, layout, "host", [&](const test::RankModel& rank) {
      Index read = 0;
      std::weak_ptr<autograd::Adapter> first;
      const AdapterReader reader = [&](const std::string& folder) {
        EXPECT_EQ(first.expired(), read != 1) << "the first is freed before the third is read";
        if (folder == "of rank 1" && rank.world.rank() == 1) {
          throw_data("there is no such folder");
        }
        const AdapterHandle adapter =
            test::UpdatedModel(config, rank.device,
                               {.groups = rank.share.groups, .part = rank.share.part}, ++read)
                .adapter(rank.device);
        first = read == 1 ? adapter : first;
        return adapter;
      };
      const EngineShape shape = shape_of(config);
      if (rank.world.rank() > 0) {
        return RankEngine::follow(rank.device, rank.model, rank.place, shape, {}, reader);
      }
      RankEngine engine(rank.device, rank.model, rank.place, rank.grid, shape);
      std::vector<AdapterHandle> adapters = {engine.load_adapter("a long/folder", reader),
                                             engine.load_adapter("another", reader)};
      test::expect_same(answers_of(engine, {}, adapters), want, 1e-5);
      adapters.clear();
      engine.idle();
      EXPECT_EQ(test::message_of([&] { engine.load_adapter("of rank 1", reader); }),
                "rank 1 cannot read it: there is no such folder");
      test::expect_same(answers_of(engine, {}, {}), alone(config, 0), 1e-5);
    });
  }
}

}  // namespace rank_engine_test
}  // namespace mpitron::inference
