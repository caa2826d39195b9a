#include "data/labelled/labelled_dataset.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "support/golden_json.h"
#include "tokenizers/make_tokenizer.h"

namespace mpitron::data {
namespace labelled_dataset_test {

LabelledDataset::Options options_of(const tokenizers::Tokenizer& tokenizer) {
  return {.cls = *tokenizer.special_ids().cls,
          .sep = *tokenizer.special_ids().sep,
          .pad = *tokenizer.special_ids().pad,
          .encode = [&tokenizer](std::string_view text) {
            const tokenizers::TokenIds ids = tokenizer.encode(text);
            return std::vector<std::int64_t>(ids.begin(), ids.end());
          }};
}

/// Recorded rows of a sample, or of its choices, one behind the other.
std::vector<std::int64_t> flat(const nlohmann::json& rows) {
  std::vector<std::int64_t> values;
  for (const auto& row : rows) {
    if (row.is_array()) {
      const auto own = row.get<std::vector<std::int64_t>>();
      values.insert(values.end(), own.begin(), own.end());
    } else {
      values.push_back(row);
    }
  }
  return values;
}

TEST(LabelledDataset, SamplesAreTheRecordedOnes) {
  const std::string folder = "generation/heads/data";
  if (!std::filesystem::exists(test::golden_folder() + "/" + folder)) {
    GTEST_SKIP() << folder << " is not in MPITRON_GOLDEN_DIR";
  }
  const auto tokenizer = tokenizers::make_tokenizer(
      {.type = "BertWordPieceLowerCase",
       .vocab_file = test::golden_folder() + "/" + folder + "/vocab.txt"});
  const nlohmann::json recorded = test::golden_json(folder + "/samples.json");
  for (const auto& [name, expected] : recorded.items()) {
    SCOPED_TRACE(name);
    const std::string task = name.substr(0, 4) == "QQP_" ? "QQP" : name.substr(0, 4);
    LabelledDataset::Options options = options_of(*tokenizer);
    options.length = expected["max_seq_length"];
    options.choices = task == "RACE" ? 4 : 1;
    options.longest_choice =
        expected["max_qa_length"].is_null() ? Index{128} : expected["max_qa_length"].get<Index>();
    const LabelledDataset set(
        name, read_labelled_texts(task, test::golden_folder() + "/" + folder + "/" + name),
        options);
    const auto& samples = expected["samples"];
    ASSERT_EQ(set.size(), static_cast<Index>(samples.size()));
    for (Index i = 0; i < set.size(); ++i) {
      const auto& sample = samples[static_cast<std::size_t>(i)];
      LabelledRows rows;
      set.read_sample(i, rows);
      EXPECT_EQ(rows.tokens, flat(sample["text"])) << i;
      EXPECT_EQ(rows.token_types, flat(sample["types"])) << i;
      EXPECT_EQ(rows.padding_mask, flat(sample["padding_mask"])) << i;
      EXPECT_EQ(rows.label, sample["label"].get<double>()) << i;
      EXPECT_EQ(set.text(i).id, sample["uid"].get<Index>()) << i;
      if (sample.contains("text_a")) {
        EXPECT_EQ(set.text(i).pairs[0].first, sample["text_a"]) << i;
        EXPECT_EQ(set.text(i).pairs[0].second, sample["text_b"]) << i;
      }
    }
  }
}

/// Letters as ids from 1 on.
LabelledDataset letters(bool encoder, const TextPair& pair) {
  return {"letters",
          {{.pairs = {pair}, .label = 1}},
          {.length = 8,
           .encoder = encoder,
           .cls = 30,
           .sep = 31,
           .pad = 0,
           .eod = 40,
           .encode = [](std::string_view text) {
             std::vector<std::int64_t> ids;
             for (const char c : text) {
               ids.push_back(c - 'a' + 1);
             }
             return ids;
           }}};
}

LabelledRows rows_of(const LabelledDataset& set) {
  LabelledRows rows;
  set.read_sample(0, rows);
  return rows;
}

using Ids = std::vector<std::int64_t>;

TEST(LabelledDataset, DecodersReadTheLastToken) {
  const LabelledRows pair = rows_of(letters(false, {"ab", "c"}));
  EXPECT_EQ(pair.tokens, (Ids{1, 2, 40, 3, 40, 40, 40, 40}));
  EXPECT_EQ(pair.last_tokens, Ids{4});
  const LabelledRows alone = rows_of(letters(false, {"ab"}));
  EXPECT_EQ(alone.last_tokens, Ids{2});
  EXPECT_EQ(rows_of(letters(false, {"abcdefghij"})).last_tokens, Ids{7});
}

TEST(LabelledDataset, LongTextsEndWithTheSeparator) {
  EXPECT_EQ(rows_of(letters(true, {"abc"})).tokens, (Ids{30, 1, 2, 3, 31, 0, 0, 0}));
  EXPECT_EQ(rows_of(letters(true, {"abcdefgh"})).tokens, (Ids{30, 1, 2, 3, 4, 5, 6, 31}));
  const LabelledRows cut = rows_of(letters(true, {"abcdefgh", "i"}));
  EXPECT_EQ(cut.token_types, (Ids{0, 0, 0, 0, 0, 0, 0, 1}));
}

}  // namespace labelled_dataset_test
}  // namespace mpitron::data
