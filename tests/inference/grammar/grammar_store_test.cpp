#include "inference/grammar/grammar_store.h"

#include <gtest/gtest.h>

#include "tokenizers/core/null_tokenizer.h"

namespace mpitron::inference {
namespace grammar_store_test {

TEST(GrammarStore, KeepsWhatWasAskedForLast) {
  const tokenizers::NullTokenizer tokenizer(59);
  GrammarStore store(tokenizer);
  int made = 0;
  const auto get = [&](int key) {
    return store.get(std::to_string(key), [&] {
      ++made;
      return Grammar{{Pattern::text(" 12")}};
    });
  };
  const auto first = get(0);
  for (int key = 1; key < 16; ++key) {
    get(key);
  }
  EXPECT_EQ(get(0), first);
  get(16);  // in the place of 1, which nobody asked for again
  EXPECT_EQ(get(0), first);
  EXPECT_EQ(made, 17);
  get(1);
  EXPECT_EQ(made, 18);
}

}  // namespace grammar_store_test
}  // namespace mpitron::inference
