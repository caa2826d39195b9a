#include "convert/model_logits.h"

#include <cmath>

#include <gtest/gtest.h>

#include "config/parse/parse.h"
#include "convert/model_reader.h"
#include "convert/tiny_models.h"
#include "support/host_runtime.h"
#include "support/temporary_folder.h"

namespace mpitron::convert {
namespace model_logits_test {

/// The logits of an implementation that shares nothing with this program (reference_logits.py).
TEST(ModelLogits, AreThoseOfAnIndependentImplementation) {
  for (const std::string& family : test::families()) {
    const test::TemporaryFolder folder;
    test::write_hugging_face_folder(folder.path(), family);
    ModelReader reader(folder.path(),
                       {.format = Format::hugging_face, .make_vocab_size_divisible_by = 8});
    const test::ReferenceModel model = test::reference_model(family);
    const Logits logits = model_logits(reader.description(), reader.ours(), model.tokens);
    ASSERT_EQ(logits.rows, 8);
    ASSERT_EQ(logits.columns, 64);
    Logits expected{.rows = 8, .columns = 61, .values = {}};
    for (const auto& row : model.logits) {
      expected.values.insert(expected.values.end(), row.begin(), row.end());
    }
    const double difference = largest_difference(logits, expected, 61);
    EXPECT_LT(difference, 1e-5) << family;
    expected.values[100] += 1e-3f;
    EXPECT_GT(largest_difference(logits, expected, 61), 5e-4);
    expected.values[3] = NAN;
    EXPECT_EQ(largest_difference(logits, expected, 61), INFINITY);
  }
}

/// An image that was given to Hugging Face's own code (library_logits.py), in double precision.
TEST(ModelLogits, ClassesOfAnImageAreThoseOfTheLibrary) {
  const test::TemporaryFolder folder;
  test::write_hugging_face_folder(folder.path(), "vit");
  ModelReader reader(folder.path(), {.format = Format::hugging_face});
  const Logits logits =
      model_logits(reader.description(), reader.ours(), make_prompt(500, reader.description()));
  const std::vector<std::vector<float>> recorded = test::reference_model("vit").logits;
  ASSERT_EQ(recorded.size(), 1U);
  const Logits expected{.rows = 1, .columns = 5, .values = recorded[0]};
  const double difference = largest_difference(logits, expected, 5);
  std::printf("logits of the library's ViT: at most %.2g apart\n", difference);
  EXPECT_LT(difference, 1e-5);
  EXPECT_GT(std::abs(recorded[0][0] - recorded[0][1]), 1e-3);
}

TEST(ModelLogits, PromptsFitTheModel) {
  ModelDescription description;
  description.model.max_position_embeddings = 20;
  description.model.padded_vocab_size = 64;
  description.vocab_size = 61;
  const auto prompt = make_prompt(500, description);
  EXPECT_EQ(prompt.size(), 20u);
  EXPECT_EQ(prompt, make_prompt(20, description));
  EXPECT_TRUE(std::ranges::all_of(prompt, [](std::int64_t t) { return t >= 0 && t < 61; }));
}

TEST(ModelLogits, BiasesOfExpertsBelongToTheModel) {
  const config::ModelConfig config = config::parse_run_config({"--num-layers",
                                                               "2",
                                                               "--hidden-size",
                                                               "16",
                                                               "--num-attention-heads",
                                                               "2",
                                                               "--seq-length",
                                                               "8",
                                                               "--max-position-embeddings",
                                                               "8",
                                                               "--num-experts",
                                                               "4",
                                                               "--moe-router-enable-expert-bias",
                                                               "--moe-router-score-function",
                                                               "sigmoid",
                                                               "--vocab-size",
                                                               "60",
                                                               "--tokenizer-type",
                                                               "NullTokenizer",
                                                               "--mock-data",
                                                               "--micro-batch-size",
                                                               "1",
                                                               "--train-iters",
                                                               "1",
                                                               "--lr",
                                                               "1e-3"})
                                         .model;
  const auto device = device::make_device("host");
  const auto names = make_model(config, *device);
  test::MemorySource stored;
  for (const autograd::Parameter& parameter : names->parameters()) {
    stored.add(parameter.name, parameter.shape);
  }
  for (const autograd::Buffer& bias : names->parameters().buffers()) {
    stored.add(bias.name, bias.shape, {0.5F, -1, 2, 0.25F});
  }
  const auto model = load_model(config, *device, stored);
  ASSERT_EQ(model->parameters().buffers().size(), 2U);
  for (const autograd::Buffer& bias : model->parameters().buffers()) {
    EXPECT_EQ(bias.value.data<float>()[2], 2) << bias.name;
  }
}

}  // namespace model_logits_test
}  // namespace mpitron::convert
