#include "data/masked_lm/bert_dataset.h"

#include <gtest/gtest.h>

#include "data/golden_masked_lm.h"

namespace mpitron::data {
namespace bert_dataset_test {

BertDatasetOptions with_head(const MaskedLmIndexOptions& index, bool head) {
  BertDatasetOptions options{index, golden_vocabulary()};
  options.index.description.class_name = "BERTMaskedWordPieceDataset";
  options.index.description.masked_lm->classification_head = head;
  return options;
}

TEST(BertDataset, ReproducesEveryReferenceIndexAndSample) {
  const auto cases = test::golden_json("dataset/indices.json")["bert"];
  const io::SafetensorsFile indices(test::golden_folder() + "/dataset/indices.safetensors");
  const io::SafetensorsFile samples(test::golden_folder() +
                                    "/dataset/masked_lm_samples.safetensors");
  int compared = 0;
  for (const auto& expected : cases) {
    const auto corpus = golden_sentences(expected);
    for_each_split(expected, *corpus, [&](const auto& reference, MaskedLmIndexOptions index) {
      index.description.seq_length = expected["sequence_length"];
      const BertDataset dataset(corpus, with_head(index, expected["binary_head"]));
      expect_rows(dataset.index(), reference, indices);
      const std::string name = reference["arrays"];
      const Index count = reference["samples"];
      BertSample sample;
      for (Index i = 0; i < count; ++i) {
        const auto row = [&](const char* part) {
          return golden_row(samples, name + "/" + part, i, count);
        };
        dataset.read(i, sample);
        ASSERT_EQ(sample.text, row("text")) << name << i;
        ASSERT_EQ(sample.types, row("types")) << name << i;
        ASSERT_EQ(sample.labels, row("labels")) << name << i;
        ASSERT_EQ(sample.padding_mask, row("padding_mask")) << name << i;
        ASSERT_EQ(sample.loss_mask, row("loss_mask")) << name << i;
        ASSERT_EQ(sample.is_random, row("is_random")[0]) << name << i;
        ASSERT_EQ(sample.truncated, row("truncated")[0]) << name << i;
        ++compared;
      }
    });
  }
  EXPECT_GT(compared, 80);
}

TEST(BertDataset, KeepsItsIndexUnderANameOfItsOptions) {
  const auto expected = test::golden_json("dataset/indices.json")["bert"][0];
  const auto corpus = golden_sentences(expected);
  for_each_split(expected, *corpus, [&](const auto&, MaskedLmIndexOptions index) {
    const test::TemporaryFolder folder;
    index.cache_folder = folder.path();
    index.description.seq_length = expected["sequence_length"];
    const BertDataset built(corpus, with_head(index, true));
    const auto stamp = std::filesystem::last_write_time(folder.path());
    const BertDataset loaded(corpus, with_head(index, true));
    EXPECT_EQ(std::filesystem::last_write_time(folder.path()), stamp) << "built again";
    EXPECT_EQ(integers(loaded.index().rows()), integers(built.index().rows()));
    const BertDataset other(corpus, with_head(index, false));
    EXPECT_NE(other.index().description(), built.index().description());
  });
}

}  // namespace bert_dataset_test
}  // namespace mpitron::data
