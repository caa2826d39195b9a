#include "data/index/description.h"

#include <gtest/gtest.h>

#include "support/golden_json.h"
#include "utils/text/hash.h"

namespace mpitron::data {
namespace description_test {

GptDescription description_of(const nlohmann::json& expected, Split split) {
  const auto count = expected["num_samples"][static_cast<std::size_t>(split)];
  GptDescription description;
  description.dataset_path = expected["prefix"].get<std::string>();
  description.num_samples = count.is_null() ? std::nullopt : std::optional<Index>(count);
  description.index_split = split;
  description.seed = expected["seed"];
  description.seq_length = expected["sequence_length"];
  description.split = expected["split"].get<std::string>();
  description.tokenizer.options = {{"vocab_size", std::to_string(test::golden_eod())}};
  return description;
}

TEST(Description, EqualsEveryReferenceText) {
  int count = 0;
  const auto json = test::golden_json("dataset/indices.json");
  for (const auto& expected : json["gpt"]) {
    for (const Split split : kSplits) {
      const auto& reference = expected["splits"][to_string(split)];
      if (!reference.is_null()) {
        const std::string text = describe(description_of(expected, split));
        EXPECT_EQ(text, reference["description"]);
        EXPECT_EQ(md5_hex(text), reference["hash"]);
        ++count;
      }
    }
  }
  EXPECT_GT(count, 0);
}

TEST(Description, EscapesAsPythonDoes) {
  GptDescription description;
  description.dataset_path = "a\"b\\c\u00fc\u4e2d\U0001F600\n";
  const std::string text = describe(description);
  EXPECT_NE(text.find(R"("a\"b\\c\u00fc\u4e2d\ud83d\ude00\n")"), std::string::npos) << text;
  EXPECT_NE(text.find("\"split\": null,\n    \"split_matrix\": null"), std::string::npos) << text;
}

}  // namespace description_test
}  // namespace mpitron::data
