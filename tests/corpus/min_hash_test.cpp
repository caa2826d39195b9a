#include "corpus/min_hash.h"

#include <algorithm>
#include <functional>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::corpus {

namespace min_hash_test {

std::vector<std::uint64_t> shingles(std::string_view text, int width = 5) {
  std::vector<std::uint64_t> hashes;
  hash_shingles(text, width, hashes);
  return hashes;
}

TEST(MinHashTest, ShinglesAreRunsOfCharacters) {
  EXPECT_EQ(shingles("abcdefg").size(), 3U);
  EXPECT_EQ(shingles("äöüßéè").size(), 2U);
  EXPECT_EQ(shingles("abc").size(), 1U);
  EXPECT_EQ(shingles("").size(), 1U);
  EXPECT_EQ(shingles("abcdeabcde")[0], shingles("abcdeabcde")[5]);
  const auto hashes = shingles("日本語日本語日本語", 3);
  EXPECT_EQ(hashes.size(), 7U);
  EXPECT_EQ(std::set<std::uint64_t>(hashes.begin(), hashes.end()).size(), 3U);
  const std::string text = "xyzé12";
  for (const std::size_t begin : {0U, 1U}) {
    EXPECT_EQ(shingles(text)[begin], shingles(text.substr(begin, begin + 6))[0]) << begin;
  }
}

TEST(MinHashTest, JaccardOfSets) {
  const std::vector<std::uint64_t> a{1, 2, 3, 4};
  const std::vector<std::uint64_t> b{3, 4, 5};
  EXPECT_DOUBLE_EQ(jaccard(a, b), 0.4);
  EXPECT_DOUBLE_EQ(jaccard(a, a), 1);
  EXPECT_DOUBLE_EQ(jaccard(a, {}), 0);
  EXPECT_DOUBLE_EQ(jaccard({}, {}), 1);
}

// With bands of one row the share of equal keys estimates the similarity: sets of 1000 of which a
// known part is common, and small ones that leave most rows empty.
TEST(MinHashTest, EqualRowsEstimateTheSimilarity) {
  std::mt19937_64 random(3);
  for (const std::size_t size : {std::size_t{1000}, std::size_t{40}}) {
    for (const double share : {0.2, 0.5, 0.9}) {
      double mean = 0;
      for (int repeat = 0; repeat < 20; ++repeat) {
        MinHash hash(400, 400, static_cast<std::uint64_t>(repeat));
        std::vector<std::uint64_t> a(size);
        std::ranges::generate(a, std::ref(random));
        std::vector<std::uint64_t> b = a;
        const auto common = static_cast<std::size_t>(share * static_cast<double>(size));
        std::generate(b.begin() + static_cast<std::ptrdiff_t>(common), b.end(), std::ref(random));
        std::vector<std::uint64_t> keys_a(400);
        std::vector<std::uint64_t> keys_b(400);
        hash.band_keys(a, keys_a);
        hash.band_keys(b, keys_b);
        int equal = 0;
        for (std::size_t i = 0; i < keys_a.size(); ++i) {
          equal += keys_a[i] == keys_b[i];
        }
        mean += equal / 400.0 / 20;
      }
      EXPECT_NEAR(mean, share / (2 - share), 0.06) << size << ' ' << share;
    }
  }
}

TEST(MinHashTest, SeedsMustFillTheBands) {
  EXPECT_NE(test::message_of([] { MinHash(100, 7, 1); }).find("--num-seeds 100 with --num-bands 7"),
            std::string::npos);
  EXPECT_NE(test::message_of([] { MinHash(100, 0, 1); }), "");
}

TEST(DuplicateGroupsTest, JoinsByWayOfOthers) {
  DuplicateGroups groups(8);
  groups.join(5, 2);
  groups.join(7, 6);
  groups.join(5, 3);
  groups.join(3, 2);
  EXPECT_EQ(groups.first(3), 2);
  EXPECT_EQ(groups.first(5), 2);
  EXPECT_EQ(groups.first(4), 4);
  EXPECT_EQ(groups.groups(), (std::vector<std::vector<Index>>{{2, 3, 5}, {6, 7}}));
  groups.join(6, 0);
  EXPECT_EQ(groups.first(7), 0);
}

}  // namespace min_hash_test

}  // namespace mpitron::corpus
