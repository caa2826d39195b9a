#include "inference/tasks/detokenizer.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "support/golden_json.h"
#include "utils/error.h"

namespace mpitron::inference {
namespace detokenizer_test {

TEST(Detokenizer, GivesTheRecordedTexts) {
  const std::string name = "generation/tasks/detokenizer.json";
  if (!std::filesystem::exists(test::golden_folder() + "/" + name)) {
    GTEST_SKIP() << name << " is not in MPITRON_GOLDEN_DIR";
  }
  const nlohmann::json cases = test::golden_json(name);
  ASSERT_GE(cases.at("wikitext").size(), 13u);
  for (const auto& pair : cases.at("wikitext")) {
    EXPECT_EQ(detokenize_wikitext(pair.at("given")), pair.at("gives").get<std::string>());
  }
  for (const auto& pair : cases.at("ptb")) {
    EXPECT_EQ(detokenize_ptb(pair.at("given")), pair.at("gives").get<std::string>());
  }
}

TEST(Detokenizer, TightensPairsAcrossLinesAndLeavesWhatIsOpen) {
  EXPECT_EQ(detokenize_wikitext("a ( b\n) ( c"), "a (b) ( c");
  EXPECT_EQ(detokenize_wikitext("( )"), "()");
  EXPECT_EQ(detokenize_wikitext("x ( ( y ) )"), "x (( y) )");
}

TEST(Detokenizer, ThePathNamesTheCorpus) {
  EXPECT_EQ(detokenize_corpus("ptb/wiki.txt", "is n't , so"), "isn't , so");
  EXPECT_EQ(detokenize_corpus("wiki.txt", "so , it 's"), "so, it's");
  EXPECT_EQ(detokenize_corpus("lambada.jsonl", "so , it"), "so , it");
  EXPECT_THROW(detokenize_corpus("other.txt", "so"), Error);
}

}  // namespace detokenizer_test
}  // namespace mpitron::inference
