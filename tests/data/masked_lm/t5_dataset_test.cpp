#include "data/masked_lm/t5_dataset.h"

#include <gtest/gtest.h>

#include "data/golden_masked_lm.h"

namespace mpitron::data {
namespace t5_dataset_test {

T5DatasetOptions golden_t5(const nlohmann::json& expected, const MaskedLmIndexOptions& index) {
  T5DatasetOptions options{index, golden_vocabulary()};
  GptDescription& description = options.index.description;
  description.class_name = "T5MaskedWordPieceDataset";
  description.seq_length = expected["encoder_seq_length"];
  description.masked_lm->masking_max_ngram = 10;
  description.masked_lm->geometric = true;
  description.masked_lm->decoder_seq_length = expected["decoder_seq_length"].get<Index>();
  return options;
}

/// body(corpus, reference split, options) for every split of every case.
template <class Body>
void for_each_golden(Body&& body) {
  const auto cases = test::golden_json("dataset/indices.json")["t5"];
  ASSERT_FALSE(cases.empty());
  for (const auto& expected : cases) {
    const auto corpus = golden_sentences(expected);
    for_each_split(expected, *corpus,
                   [&](const auto& reference, const MaskedLmIndexOptions& index) {
                     body(corpus, reference, golden_t5(expected, index));
                   });
  }
}

TEST(T5Dataset, ReproducesEveryReferenceIndexAndSample) {
  const io::SafetensorsFile indices(test::golden_folder() + "/dataset/indices.safetensors");
  const io::SafetensorsFile samples(test::golden_folder() +
                                    "/dataset/masked_lm_samples.safetensors");
  int compared = 0;
  for_each_golden([&](const auto& corpus, const auto& reference, const T5DatasetOptions& options) {
    const T5Dataset dataset(corpus, options);
    expect_rows(dataset.index(), reference, indices);
    const std::string name = reference["arrays"];
    const Index count = reference["samples"];
    T5Sample sample;
    for (Index i = 0; i < count; ++i) {
      const auto row = [&](const char* part) {
        return golden_row(samples, name + "/" + part, i, count);
      };
      dataset.read(i, sample);
      ASSERT_EQ(sample.encoder_text, row("text_enc")) << name << i;
      ASSERT_EQ(sample.decoder_text, row("text_dec")) << name << i;
      ASSERT_EQ(sample.labels, row("labels")) << name << i;
      ASSERT_EQ(sample.loss_mask, row("loss_mask")) << name << i;
      ASSERT_EQ(sample.encoder_mask, row("enc_mask")) << name << i;
      ASSERT_EQ(sample.decoder_mask, row("dec_mask")) << name << i;
      ASSERT_EQ(sample.truncated, row("truncated")[0]) << name << i;
      ++compared;
    }
  });
  EXPECT_GT(compared, 60);
}

TEST(T5Dataset, SaysWhichOptionGivesTooLittleRoom) {
  for_each_golden([&](const auto& corpus, const auto&, T5DatasetOptions options) {
    T5Sample sample;
    options.index.description.masked_lm->decoder_seq_length = 1;
    EXPECT_NE(test::message_of([&] {
                T5Dataset(corpus, options).read(0, sample);
              }).find("--decoder-seq-length 1: sample 0 of"),
              std::string::npos);
    options.index.description.masked_lm->decoder_seq_length = 1000;
    options.vocabulary.end_sentinel = options.vocabulary.first_sentinel;
    EXPECT_NE(test::message_of([&] {
                T5Dataset(corpus, options).read(0, sample);
              }).find("--vocab-extra-ids 0"),
              std::string::npos);
  });
}

}  // namespace t5_dataset_test
}  // namespace mpitron::data
