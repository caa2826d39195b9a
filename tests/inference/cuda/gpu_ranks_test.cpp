#include <gtest/gtest.h>

#include "inference/cached_engine.h"
#include "support/host_runtime.h"
#include "tests/inference/random_decoder.h"
#include "tests/inference/rank_run.h"

namespace mpitron::inference {
namespace gpu_ranks_test {

struct GpuRanksCase {
  test::RankLayout layout;
  std::vector<std::string> flags;
};
void PrintTo(const GpuRanksCase& one, std::ostream* out) {
  *out << one.layout.name;
}

class GpuRanksTest : public ::testing::TestWithParam<GpuRanksCase> {};

/// Activations travel by NCCL, plans and logits through the host: the answers of one host.
TEST_P(GpuRanksTest, AnswerAsOneHost) {
  std::vector<std::string> flags = {"--position-embedding-type", "rope"};
  flags.insert(flags.end(), GetParam().flags.begin(), GetParam().flags.end());
  const test::RandomDecoder alone(flags);
  const EngineShape shape = [&] {
    EngineShape shape = test::Cut{8, 40, 4, 24}.shape(alone.config);
    shape.vocabulary = test::kDecoderVocabulary;
    return shape;
  }();
  CachedEngine engine(*alone.device, alone.model, shape, test::kDecoderVocabulary);
  const std::vector<Answer> want = alone.answers(engine, {});
  std::vector<Answer> got;
  test::run_ranks(alone.config, GetParam().layout, "cuda", [&](const test::RankModel& rank) {
    if (rank.world.rank() > 0) {
      return RankEngine::follow(rank.device, rank.model, rank.place, shape);
    }
    RankEngine together(rank.device, rank.model, rank.place, rank.grid, shape);
    got = alone.answers(together, {});
  });
  test::expect_same(got, want, 1e-5);
}

/// Answers of a model on ranks of a device, whose weights are packed in 8 bits.
std::vector<Answer> packed_answers(const test::RandomDecoder& asking, const char* device) {
  EngineShape shape = test::Cut{8, 40, 4, 24}.shape(asking.config);
  shape.vocabulary = test::kDecoderVocabulary;
  shape.weights = kernels::WeightFormat::int8;
  std::vector<Answer> got;
  const test::RankLayout layout{"TP2_PP2", 4, {.tensor = 2, .pipeline = 2}};
  test::run_ranks(asking.config, layout, device, [&](const test::RankModel& rank) {
    if (rank.world.rank() > 0) {
      return RankEngine::follow(rank.device, rank.model, rank.place, shape);
    }
    RankEngine together(rank.device, rank.model, rank.place, rank.grid, shape);
    got = asking.answers(together, {});
  });
  return got;
}

/// Within what inputs make that are rounded to neighbouring integers.
TEST(GpuRanks, PackedWeightsAnswerAsOnHosts) {
  const test::RandomDecoder asking({"--position-embedding-type", "rope", "--swiglu"});
  test::expect_same(packed_answers(asking, "cuda"), packed_answers(asking, "host"), 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Layouts, GpuRanksTest,
                         ::testing::Values(GpuRanksCase{{"TP2", 2, {.tensor = 2}},
                                                        {"--group-query-attention",
                                                         "--num-query-groups", "2", "--swiglu"}},
                                           GpuRanksCase{
                                               {"TP2_PP2", 4, {.tensor = 2, .pipeline = 2}}, {}},
                                           GpuRanksCase{{"PP2_DP2", 4, {.pipeline = 2}}, {}},
                                           GpuRanksCase{{"CP2", 2, {.context = 2}}, {}},
                                           GpuRanksCase{{"EP2", 2, {.expert = 2}},
                                                        {"--num-experts", "4", "--moe-router-topk",
                                                         "2", "--moe-token-dispatcher-type",
                                                         "alltoall", "--disable-bias-linear"}}),
                         [](const auto& info) { return info.param.layout.name; });

}  // namespace gpu_ranks_test
}  // namespace mpitron::inference
