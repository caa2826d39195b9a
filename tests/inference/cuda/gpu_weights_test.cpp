#include <gtest/gtest.h>

#include "inference/cached_engine.h"
#include "support/host_runtime.h"
#include "tests/inference/random_decoder.h"

// Weights of 8 and 4 bits that lie packed in a GPU's memory, in place of their values.

namespace mpitron::inference {
namespace gpu_weights_test {

using kernels::WeightFormat;
using test::Cut;
using Flags = std::vector<std::string>;

struct GpuWeightsCase {
  const char* name;
  Flags flags;
  WeightFormat format;
  // Of log-probabilities. Inputs that differ by rounding in fp32 may be rounded to neighbouring
  // integers of 8 bits.
  double tolerance = 1e-3;
};
void PrintTo(const GpuWeightsCase& one, std::ostream* out) {
  *out << one.name;
}

/// Packs the weights of a model as a server does that loads it.
std::unique_ptr<autograd::PackedWeights> packed_in_place(test::RandomDecoder& random,
                                                         WeightFormat format) {
  auto packed = std::make_unique<autograd::PackedWeights>(*random.device, format);
  for (autograd::Parameter& parameter : random.model.parameters()) {
    if (in_products_alone(parameter)) {
      packed->take(parameter);
    }
  }
  return packed;
}

class GpuWeightsTest : public ::testing::TestWithParam<GpuWeightsCase> {
 protected:
  std::vector<Answer> answers(const char* name, const Cut& cut) const {
    Flags flags = {"--position-embedding-type", "rope"};
    flags.insert(flags.end(), GetParam().flags.begin(), GetParam().flags.end());
    test::RandomDecoder random(flags, device::make_device(name));
    EngineShape shape = cut.shape(random.config);
    shape.weights = GetParam().format;
    std::unique_ptr<autograd::PackedWeights> packed;
    if (!random.device->tensors_on_host()) {
      packed = packed_in_place(random, GetParam().format);
      shape.packed = packed.get();
    }
    CachedEngine engine(*random.device, random.model, shape, test::kDecoderVocabulary);
    return random.answers(engine, {});
  }
};

TEST_P(GpuWeightsTest, AnswersAsTheHostDoes) {
  const Cut whole{8, 40, 4, 64};
  test::expect_same(answers("cuda", whole), answers("host", whole), GetParam().tolerance);
}

/// A row's products are the same bits in any step.
TEST_P(GpuWeightsTest, AnswersDoNotDependOnSteps) {
  test::expect_same(answers("cuda", {16, 30, 2, 5}), answers("cuda", {8, 40, 4, 64}), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Models, GpuWeightsTest,
    ::testing::Values(
        GpuWeightsCase{"int8",
                       {"--group-query-attention", "--num-query-groups", "2", "--swiglu",
                        "--untie-embeddings-and-output-weights"},
                       WeightFormat::int8},
        GpuWeightsCase{"q4", {}, WeightFormat::q4},
        GpuWeightsCase{
            "q4_bf16",
            {"--swiglu", "--normalization", "RMSNorm", "--disable-bias-linear", "--bf16"},
            WeightFormat::q4,
            2e-2},
        GpuWeightsCase{"latent_attention",
                       {"--multi-latent-attention", "--q-lora-rank", "16", "--kv-lora-rank", "24",
                        "--qk-head-dim", "8", "--qk-pos-emb-head-dim", "4", "--v-head-dim", "12"},
                       WeightFormat::int8},
        GpuWeightsCase{"experts",
                       {"--num-experts", "4", "--moe-router-topk", "2",
                        "--moe-token-dispatcher-type", "alltoall", "--disable-bias-linear"},
                       WeightFormat::q4},
        GpuWeightsCase{"states", test::letters("M*G-", 4), WeightFormat::int8}),
    [](const auto& info) { return info.param.name; });

/// Recorded steps have the bits of single launches.
TEST(GpuWeights, AreReadByRecordedSteps) {
  const auto answers = [](bool graphs) {
    test::RandomDecoder random({"--position-embedding-type", "rope", "--swiglu"},
                               device::make_device("cuda"));
    EngineShape shape = Cut{8, 40, 4, 64}.shape(random.config);
    const auto packed = packed_in_place(random, WeightFormat::q4);
    shape.packed = packed.get();
    shape.graphs = graphs;
    CachedEngine engine(*random.device, random.model, shape, test::kDecoderVocabulary);
    std::vector<Answer> all = random.answers(engine, {});
    EXPECT_EQ(engine.runner().recordings() > 0, graphs);
    return all;
  };
  test::expect_same(answers(true), answers(false), 0);
}

/// What is left in the GPU's memory: a byte a weight and less than half of one, with scales.
TEST(GpuWeights, TakeThePlaceOfValues) {
  for (const auto& [format, bits] : {std::pair{WeightFormat::int8, 8.5}, {WeightFormat::q4, 5.0}}) {
    test::RandomDecoder random({"--hidden-size", "256", "--untie-embeddings-and-output-weights"},
                               device::make_device("cuda"));
    Index weights = 0;
    for (const autograd::Parameter& parameter : random.model.parameters()) {
      weights += in_products_alone(parameter) ? parameter.shape.numel() : 0;
    }
    const auto in_use = [&] { return random.device->allocator().statistics().bytes_in_use; };
    const Index before = in_use();
    const auto packed = packed_in_place(random, format);
    const auto most = static_cast<Index>(static_cast<double>(weights) * bits / 8);
    EXPECT_LE(packed->bytes(), most);
    EXPECT_LE(in_use() - before + weights * 4, most + most / 4) << kernels::facts(format).name;
  }
}

}  // namespace gpu_weights_test
}  // namespace mpitron::inference
