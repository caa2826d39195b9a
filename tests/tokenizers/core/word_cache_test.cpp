#include "tokenizers/core/word_cache.h"

#include <numeric>
#include <string>

#include <gtest/gtest.h>

namespace mpitron::tokenizers {
namespace word_cache_test {

WordKey key(const std::string& word) {
  return WordCache::key_of(word, false);
}

std::vector<TokenId> remembered(const WordCache& cache, const std::string& word) {
  const WordCache::Entry* entry = cache.find(key(word));
  if (entry == nullptr) {
    return {-1};
  }
  const TokenId* ids = cache.ids_of(*entry);
  return {ids, ids + entry->count};
}

TEST(WordCache, RemembersShortAndLongLists) {
  WordCache cache;
  const std::vector<TokenId> few = {1, 2, 3}, many = {4, 5, 6, 7, 8};
  cache.insert(key("few"), few);
  cache.insert(key("many"), many);
  EXPECT_EQ(remembered(cache, "few"), few);
  EXPECT_EQ(remembered(cache, "many"), many);
  EXPECT_EQ(remembered(cache, "man"), std::vector<TokenId>{-1});
}

TEST(WordCache, KeysTellLengthsApartAndNotWhatLiesBehind) {
  EXPECT_NE(key("a"), key(std::string("a\0", 2)));
  const std::string text = "abcdefghijklmnopqrstuvwxyz";
  for (std::size_t length = 1; length <= WordCache::kMaxBytes; ++length) {
    const std::string_view inside = std::string_view(text).substr(0, length);
    EXPECT_EQ(WordCache::key_of(inside, true), key(std::string(inside))) << length;
  }
}

TEST(WordCache, IsAlwaysRightHoweverFull) {
  WordCache cache;
  const auto ids_of = [](int i) {  // 1 to 6 ids
    std::vector<TokenId> ids(static_cast<std::size_t>(1 + i % 6));
    std::iota(ids.begin(), ids.end(), i);
    return ids;
  };
  constexpr int kWords = 600000;  // more than entries and pool hold
  for (int i = 0; i < kWords; ++i) {
    cache.insert(key(std::to_string(i)), ids_of(i));
    ASSERT_EQ(remembered(cache, std::to_string(i)), ids_of(i));
  }
  int kept = 0;
  for (int i = 0; i < kWords; ++i) {
    const std::vector<TokenId> ids = remembered(cache, std::to_string(i));
    if (ids != std::vector<TokenId>{-1}) {
      ASSERT_EQ(ids, ids_of(i)) << i;
      ++kept;
    }
  }
  EXPECT_GT(kept, 1000);
  EXPECT_LT(kept, kWords);
}

}  // namespace word_cache_test
}  // namespace mpitron::tokenizers
