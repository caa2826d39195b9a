#include <gtest/gtest.h>

#include "inference/cached_engine.h"
#include "support/host_runtime.h"
#include "tests/inference/encoded_steps.h"
#include "tests/inference/shared_beginnings.h"
#include "tests/inference/tiny_adapter.h"

namespace mpitron::inference {
namespace gpu_engine_test {

using test::Cut;
using Flags = std::vector<std::string>;

struct GpuEngineCase {
  const char* name;
  Flags flags;
  double tolerance = 1e-5;  // of log-probabilities
  Index drafts = 0;
};
void PrintTo(const GpuEngineCase& one, std::ostream* out) {
  *out << one.name;
}

class GpuEngineTest : public ::testing::TestWithParam<GpuEngineCase> {
 protected:
  static Flags flags() {
    Flags flags = {"--position-embedding-type", "rope"};
    flags.insert(flags.end(), GetParam().flags.begin(), GetParam().flags.end());
    return flags;
  }
  static std::vector<Answer> answers(const test::RandomDecoder& random, const Cut& cut) {
    CachedEngine engine(*random.device, random.model, cut.shape(random.config, GetParam().drafts),
                        test::kDecoderVocabulary);
    return random.answers(engine,
                          {.prefix_cache = cut.prefix_cache, .draft_tokens = GetParam().drafts});
  }
};

/// All prompts in one step; prompts in pieces beside others' answers; blocks that run out, so that
/// requests are put back; prompts that share what is cached, and not.
TEST_P(GpuEngineTest, AnswersAsTheHost) {
  const test::RandomDecoder host(flags()), gpu(flags(), device::make_cuda_device(0));
  const std::vector<Answer> want = answers(host, {8, 40, 4, 64});
  for (const Cut& cut : {Cut{8, 40, 4, 64}, Cut{16, 30, 2, 5}, Cut{8, 7, 4, 9, false}}) {
    SCOPED_TRACE(::testing::Message()
                 << "blocks of " << cut.block_size << ", steps of " << cut.step_tokens);
    test::expect_same(answers(gpu, cut), want, GetParam().tolerance);
  }
}

/// Two adapters and the model alone in one batch, updated experts too.
TEST(GpuAdapters, AnswerAsOnTheHost) {
  for (const Flags& flags :
       {Flags{"--group-query-attention", "--num-query-groups", "2", "--swiglu"},
        Flags{"--num-experts", "4", "--moe-router-topk", "2", "--moe-token-dispatcher-type",
              "alltoall", "--disable-bias-linear"}}) {
    const auto answers_on = [&](const char* device) {
      const test::RandomDecoder random(flags, device::make_device(device));
      const std::vector<AdapterHandle> adapters = {
          test::UpdatedModel(random.config, *random.device, 1).adapter(*random.device),
          test::UpdatedModel(random.config, *random.device, 2).adapter(*random.device)};
      CachedEngine engine(*random.device, random.model, Cut{8, 40, 4, 24}.shape(random.config),
                          test::kDecoderVocabulary);
      return random.answers(engine, {}, adapters);
    };
    test::expect_same(answers_on("cuda"), answers_on("host"), 1e-5);
  }
}

/// States that are kept of beginnings, copied and read again on the device.
TEST(GpuBeginnings, AnswerAsOnTheHost) {
  const auto answers_on = [](const char* device, bool prefix_cache) {
    const test::RandomDecoder random(test::letters("M*G-", 4), device::make_device(device));
    EngineShape shape = Cut{8, 40, 4, 24}.shape(random.config);
    shape.snapshots = 5;
    CachedEngine engine(*random.device, random.model, shape, test::kDecoderVocabulary);
    return test::answers_of_beginnings(engine, {.prefix_cache = prefix_cache});
  };
  const test::SharedAnswers got = answers_on("cuda", true);
  test::expect_same(got.answers, answers_on("host", false).answers, 1e-5);
  EXPECT_GT(got.cached, 20);
}

TEST(GpuEncoder, DecodesWhatWasEncoded) {
  test::expect_decodes_what_was_encoded(*device::make_cuda_device(0));
}

INSTANTIATE_TEST_SUITE_P(
    Models, GpuEngineTest,
    ::testing::Values(
        GpuEngineCase{"dense", {}},
        GpuEngineCase{
            "llama",
            {"--group-query-attention", "--num-query-groups", "2", "--swiglu", "--normalization",
             "RMSNorm", "--qk-layernorm", "--untie-embeddings-and-output-weights"}},
        GpuEngineCase{"llama_bf16",
                      {"--group-query-attention", "--num-query-groups", "2", "--swiglu",
                       "--normalization", "RMSNorm", "--disable-bias-linear", "--bf16"},
                      2e-2},
        GpuEngineCase{"windows_and_sinks", {"--window-size", "5,0", "--softmax-type", "learnable"}},
        GpuEngineCase{"chunks",
                      {"--attention-chunk-size", "16", "--no-rope-freq", "2", "--query-scale-floor",
                       "4", "--query-scale-growth", "0.5"}},
        GpuEngineCase{"output_gate", {"--attention-output-gate", "--softmax-type", "off-by-one"}},
        GpuEngineCase{"latent_attention",
                      {"--multi-latent-attention", "--q-lora-rank", "16", "--kv-lora-rank", "24",
                       "--qk-head-dim", "8", "--qk-pos-emb-head-dim", "4", "--v-head-dim", "12",
                       "--qk-layernorm"}},
        GpuEngineCase{"experts",
                      {"--num-experts", "4", "--moe-router-topk", "2",
                       "--moe-token-dispatcher-type", "alltoall", "--disable-bias-linear"}},
        GpuEngineCase{"drafts", {"--mtp-num-layers", "2"}, 1e-5, 4},
        GpuEngineCase{"mamba", test::letters("M*-M", 4)},
        GpuEngineCase{"delta_nets", test::letters("G*G-", 4)}),
    [](const auto& info) { return info.param.name; });

}  // namespace gpu_engine_test
}  // namespace mpitron::inference
