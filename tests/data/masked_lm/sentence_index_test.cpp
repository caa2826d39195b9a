#include "data/masked_lm/sentence_index.h"

#include <algorithm>
#include <random>
#include <span>

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::data {
namespace sentence_index_test {

/// Documents of sentences, given by their lengths.
struct Sentences {
  explicit Sentences(const std::vector<std::vector<std::int32_t>>& given) {
    for (const auto& document : given) {
      lengths.insert(lengths.end(), document.begin(), document.end());
      documents.push_back(static_cast<std::int64_t>(lengths.size()));
    }
    request.lengths = {std::as_bytes(std::span(lengths)).data(),
                       static_cast<Index>(lengths.size())};
    request.documents = {std::as_bytes(std::span(documents)).data(),
                         static_cast<Index>(documents.size())};
    request.end = static_cast<Index>(given.size());
    request.short_probability = 0.0;
    request.num_samples = 1;
  }

  std::vector<std::int32_t> lengths;
  std::vector<std::int64_t> documents{0};
  SentenceIndexRequest request;
};

/// The rows, in the order of the corpus.
std::vector<std::vector<Index>> sorted_rows(const SentenceIndexRequest& request) {
  const auto flat = build_sentence_index<std::uint32_t>(request);
  std::vector<std::vector<Index>> rows;
  for (std::size_t i = 0; i < flat.size(); i += 3) {
    rows.push_back({flat[i], flat[i + 1], flat[i + 2]});
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

using Rows = std::vector<std::vector<Index>>;

TEST(SentenceIndex, FillsSamplesUpToTheTokensWanted) {
  Sentences corpus({{4, 4, 4, 4, 4, 4, 4}, {3, 3}});
  corpus.request.max_tokens = 8;
  // One sentence alone is never left over: the third run takes all three.
  EXPECT_EQ(sorted_rows(corpus.request), (Rows{{0, 2, 8}, {2, 4, 8}, {4, 7, 8}, {7, 9, 8}}));
  corpus.request.min_sentences = 3;
  EXPECT_EQ(sorted_rows(corpus.request), (Rows{{0, 3, 8}, {3, 7, 8}}));
}

TEST(SentenceIndex, LeavesOutDocumentsWithALongSentenceUnlessItIsTheOnlyOne) {
  Sentences corpus({{513}, {1, 513}, {}, {512, 1}});
  corpus.request.max_tokens = 8;
  EXPECT_EQ(sorted_rows(corpus.request), (Rows{{0, 1, 8}, {3, 5, 8}}));
}

TEST(SentenceIndex, TakesWholeEpochs) {
  Sentences corpus({{4, 4}, {4, 4}});
  corpus.request.max_tokens = 8;
  corpus.request.num_samples = 3;
  EXPECT_EQ(sorted_rows(corpus.request).size(), 4U);
  corpus.request.num_samples = 0;
  EXPECT_TRUE(sorted_rows(corpus.request).empty());
}

TEST(SentenceIndex, ShortTargetsAppearAboutAsOftenAsAsked) {
  Sentences corpus(std::vector<std::vector<std::int32_t>>(5000, {10, 10}));
  corpus.request.max_tokens = 100;
  corpus.request.short_probability = 0.1;
  const Rows rows = sorted_rows(corpus.request);
  const auto shorter = std::count_if(rows.begin(), rows.end(), [](const auto& row) {
    EXPECT_GE(row[2], 2);
    EXPECT_LE(row[2], 100);
    return row[2] < 100;
  });
  EXPECT_NEAR(static_cast<double>(shorter), 500.0, 100.0);
}

TEST(SentenceIndex, SaysSoWhereNoDocumentServes) {
  Sentences corpus({{4}, {}, {5}});
  corpus.request.max_tokens = 8;
  corpus.request.min_sentences = 2;
  EXPECT_NE(test::message_of([&] {
              build_sentence_index<std::uint32_t>(corpus.request);
            }).find("at least 2 sentences"),
            std::string::npos);
}

TEST(SentenceIndex, BothWidthsHoldTheSame) {
  Sentences corpus({{4, 4, 1, 7}, {3, 3}, {9}});
  corpus.request.max_tokens = 8;
  corpus.request.num_samples = 50;
  corpus.request.seed = 5;
  const auto narrow = build_sentence_index<std::uint32_t>(corpus.request);
  const auto wide = build_sentence_index<std::int64_t>(corpus.request);
  EXPECT_TRUE(std::equal(narrow.begin(), narrow.end(), wide.begin(), wide.end()));
}

}  // namespace sentence_index_test
}  // namespace mpitron::data
