#include "data/masked_lm/masked_lm_dataset.h"

#include <gtest/gtest.h>

#include "data/golden_masked_lm.h"
#include "utils/error.h"

namespace mpitron::data {
namespace masked_lm_dataset_test {

using enum MaskedLmColumn;

TEST(MaskedLmLayout, ColumnsLieOneBehindTheOther) {
  const MaskedLmLayout bert{.length = 5}, t5{.length = 5, .decoder_length = 3};
  EXPECT_EQ(bert.width(), 5 * 5 + 1);
  EXPECT_EQ(bert.offset(labels), 10);
  EXPECT_EQ(bert.offset(sentence_order), 25);
  EXPECT_EQ(bert.width(decoder_tokens), 0);
  EXPECT_EQ(t5.width(), 2 * 5 + 4 * 3);
  EXPECT_EQ(t5.offset(loss_mask), 13);
  EXPECT_EQ(t5.offset(decoder_padding_mask), 19);
  EXPECT_EQ(t5.width(token_types), 0);
}

/// The recorded samples of a case, column by column, through rows.
template <class Check>
void for_recorded_samples(const char* kind, Check&& check) {
  const auto expected = test::golden_json("dataset/indices.json")[kind][0];
  const auto corpus = golden_sentences(expected);
  const io::SafetensorsFile samples(test::golden_folder() +
                                    "/dataset/masked_lm_samples.safetensors");
  MaskedLmRequest request{.description = {.masking_probability = expected["mask_prob"],
                                          .short_sequence_probability = expected["short_seq_prob"]},
                          .vocabulary = golden_vocabulary()};
  MaskedLmLayout layout;
  if (std::string(kind) == "bert") {
    layout.length = expected["sequence_length"];
    request.description.classification_head = expected["binary_head"].get<bool>();
  } else {
    layout.length = expected["encoder_seq_length"];
    layout.decoder_length = expected["decoder_seq_length"];
    request.description.decoder_seq_length = layout.decoder_length;
    request.description.masking_max_ngram = 10;
    request.description.geometric = true;
  }
  MaskedLmCorpus source;
  source.description.dataset_path = corpus->prefix();
  source.description.seed = expected["seed"];
  source.description.seq_length = layout.length;
  source.description.split = expected["split"].get<std::string>();
  PerSplit<std::optional<Index>> counts;
  for (const Split split : kSplits) {
    counts[split] = expected["num_samples"][static_cast<std::size_t>(split)].get<Index>();
  }
  const auto sets = make_masked_lm_splits(request, source, parse_split(expected["split"]), counts);
  int compared = 0;
  for (const Split split : kSplits) {
    const auto& reference = expected["splits"][to_string(split)];
    if (reference.is_null() || !sets[split]) {
      continue;
    }
    EXPECT_EQ(sets[split]->size(), reference["length"]);
    std::vector<std::int64_t> row(static_cast<std::size_t>(layout.width()));
    for (Index i = 0; i < reference["samples"].get<Index>(); ++i, ++compared) {
      sets[split]->read(i, row);
      const auto column = [&](MaskedLmColumn which) {
        const auto from = row.begin() + layout.offset(which);
        return std::vector<Index>(from, from + layout.width(which));
      };
      check(column, [&](const char* part) {
        return golden_row(samples, reference["arrays"].get<std::string>() + "/" + part, i,
                          reference["samples"]);
      });
    }
  }
  EXPECT_GT(compared, 5);
}

TEST(MaskedLmDataset, RowsAreTheReferencesBertSamples) {
  for_recorded_samples("bert", [](const auto& column, const auto& recorded) {
    ASSERT_EQ(column(tokens), recorded("text"));
    ASSERT_EQ(column(padding_mask), recorded("padding_mask"));
    ASSERT_EQ(column(labels), recorded("labels"));
    ASSERT_EQ(column(loss_mask), recorded("loss_mask"));
    ASSERT_EQ(column(token_types), recorded("types"));
    ASSERT_EQ(column(sentence_order), recorded("is_random"));
  });
}

TEST(MaskedLmDataset, RowsAreTheReferencesT5Samples) {
  for_recorded_samples("t5", [](const auto& column, const auto& recorded) {
    ASSERT_EQ(column(tokens), recorded("text_enc"));
    ASSERT_EQ(column(labels), recorded("labels"));
    ASSERT_EQ(column(loss_mask), recorded("loss_mask"));
    ASSERT_EQ(column(decoder_tokens), recorded("text_dec"));
    std::vector<Index> text = recorded("text_enc");
    for (std::size_t i = 0; i < text.size(); ++i) {
      ASSERT_EQ(column(padding_mask)[i], text[i] != golden_vocabulary().pad ? 1 : 0);
    }
  });
}

TEST(MaskedLmDataset, HasNoNaturalLength) {
  const auto expected = test::golden_json("dataset/indices.json")["bert"][0];
  MaskedLmCorpus source;
  source.description.dataset_path = golden_sentences(expected)->prefix();
  source.description.seq_length = 64;
  const MaskedLmRequest request{.description = {.classification_head = true},
                                .vocabulary = golden_vocabulary()};
  EXPECT_THROW(make_masked_lm_splits(request, source, parse_split("1,1,1"), {}), Error);
}

}  // namespace masked_lm_dataset_test
}  // namespace mpitron::data
