#include <gtest/gtest.h>

#include "io/tokens/token_file.h"
#include "support/corpus.h"

namespace mpitron::io {
namespace similar_corpora_test {

using Names = std::vector<std::string>;

class SimilarCorporaTest : public ::testing::Test {
 protected:
  SimilarCorporaTest() {
    for (const char* name : {"wiki_text_document", "wiki_title_document", "books_text_document"}) {
      test::write_bytes(folder_ / (std::string(name) + ".idx"), "x");
    }
  }
  test::TemporaryFolder folder_;
};

TEST_F(SimilarCorporaTest, AnEndingIsLeftOut) {
  const Names books{folder_ / "books_text_document"};
  EXPECT_EQ(similar_corpora(folder_ / "books_text_document.bin"), books);
  EXPECT_EQ(similar_corpora(folder_ / "books_text_document.idx"), books);
}

TEST_F(SimilarCorporaTest, TheBeginningOfNamesIsEnough) {
  EXPECT_EQ(similar_corpora(folder_ / "wiki"),
            (Names{folder_ / "wiki_text_document", folder_ / "wiki_title_document"}));
  EXPECT_EQ(similar_corpora(folder_ / "web"), Names{});
  EXPECT_EQ(similar_corpora(folder_ / "none/wiki"), Names{});
}

TEST_F(SimilarCorporaTest, AreProposedWhereACorpusIsMissing) {
  const auto message = [&](const char* name) {
    return test::message_of([&] { TokenFile file(folder_ / name); });
  };
  EXPECT_NE(message("books").find("such as " + folder_ / "books_text_document"), std::string::npos);
  test::write_bytes(folder_ / "web.jsonl", "{}");
  EXPECT_NE(message("web.jsonl").find("mpitron preprocess --input"), std::string::npos);
}

}  // namespace similar_corpora_test
}  // namespace mpitron::io
