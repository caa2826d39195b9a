#include "convert/model_logits.h"

#include <cmath>

#include <gtest/gtest.h>

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

}  // namespace model_logits_test
}  // namespace mpitron::convert
