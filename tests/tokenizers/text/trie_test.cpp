#include "tokenizers/text/trie.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

namespace mpitron::tokenizers {
namespace trie_test {

TEST(Trie, FindsWholeAndLongestKeys) {
  const Trie trie({{"a", 1}, {"abc", 2}, {"b", 3}, {"", 9}, {"b", 4}});
  EXPECT_EQ(trie.find("a"), 1);
  EXPECT_EQ(trie.find("ab"), Trie::kNoValue);
  EXPECT_EQ(trie.find("abc"), 2);
  EXPECT_EQ(trie.find("b"), 4);
  EXPECT_EQ(trie.find(""), Trie::kNoValue);
  EXPECT_EQ(trie.longest("abd").bytes, 1U);
  EXPECT_EQ(trie.longest("abcd").value, 2);
  EXPECT_EQ(trie.longest("xabc").bytes, 0U);
}

TEST(Trie, EmptyOnesMatchNothing) {
  const Trie trie;
  EXPECT_TRUE(trie.empty());
  EXPECT_EQ(trie.longest(std::string_view("\0a", 2)).bytes, 0U);
}

// All 256 bytes, shared prefixes, thousands of keys: against a map.
TEST(Trie, AgreesWithAMap) {
  std::mt19937 random(7);
  std::map<std::string, std::int32_t> map;
  for (std::int32_t i = 0; i < 20000; ++i) {
    std::string key(1 + random() % 6, '\0');
    for (char& c : key) {
      c = static_cast<char>(random() % (i % 2 == 0 ? 256 : 4));
    }
    map[key] = i;
  }
  std::vector<std::pair<std::string_view, std::int32_t>> entries(map.begin(), map.end());
  std::shuffle(entries.begin(), entries.end(), random);
  const Trie trie(entries);
  for (const auto& [key, value] : map) {
    ASSERT_EQ(trie.find(key), value);
    ASSERT_EQ(trie.find(key + '\x80') == Trie::kNoValue, !map.contains(key + '\x80'));
    const std::string text = key + "abc";
    std::size_t longest = 0;
    for (std::size_t size = 1; size <= text.size(); ++size) {
      longest = map.contains(text.substr(0, size)) ? size : longest;
    }
    ASSERT_EQ(trie.longest(text).bytes, longest);
  }
}

}  // namespace trie_test
}  // namespace mpitron::tokenizers
