#include "inference/grammar/token_trie.h"

#include <gtest/gtest.h>

#include "inference/grammar/grammar_walk.h"
#include "tokenizers/core/null_tokenizer.h"

namespace mpitron::inference {
namespace token_trie_test {

TEST(TokenTrie, HoldsTextsOfIdsAndNoMarks) {
  const tokenizers::NullTokenizer tokenizer(200);  // ids are numbers with blanks between them
  const TokenTrie trie(tokenizer);
  EXPECT_EQ(trie.bytes(17), " 17");
  EXPECT_EQ(trie.bytes(tokenizer.eod()), "");
  ByteAutomaton automaton(test::network_of({{regex_pattern("( 1\\d)*")}}));
  std::vector<std::uint64_t> mask(trie.mask_words());
  trie.allow(automaton, automaton.start(), mask);
  for (TokenId id = 0; id < 200; ++id) {
    EXPECT_EQ((mask[static_cast<std::size_t>(id) / 64] >> id % 64 & 1) != 0,
              id == 1 || (id >= 10 && id < 20))
        << id;
  }
}

}  // namespace token_trie_test
}  // namespace mpitron::inference
