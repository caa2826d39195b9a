#include "corpus/cleaner.h"

#include <gtest/gtest.h>

#include "corpus/sample_texts.h"
#include "support/corpus.h"

namespace mpitron::corpus {

namespace cleaner_test {

class CleanerTest : public ::testing::Test {
 protected:
  /// A batch of one document.
  const CleanBatch& clean(std::string_view text, bool json) {
    batch_.raw.file = &file_;
    batch_.raw.json = json;
    batch_.raw.documents = {{.text = text, .line = 7, .offset = 90}};
    Cleaner(options_, urls_, NgramFilter(options_.ngrams)).clean(batch_);
    return batch_;
  }
  Index count(Fate fate) const { return batch_.fates[static_cast<std::size_t>(fate)]; }

  std::string file_ = "in.jsonl";
  UrlFilter urls_;
  CleanOptions options_{.language = "", .min_tokens = 3};
  CleanBatch batch_;
};

TEST_F(CleanerTest, WritesWhatItKeepsWithoutTheBrace) {
  const std::string text = sample_text(1, 40);
  EXPECT_EQ(clean("{\"n\": 1.50, \"text\": \"" + text + "\"}", true).out,
            "\"n\": 1.50, \"text\": \"" + text + "\"}");
  EXPECT_EQ(clean(text, false).out, "\"text\": \"" + text + "\"}");
  EXPECT_EQ(batch_.ends, (std::vector<std::size_t>{batch_.out.size()}));
  EXPECT_EQ(count(Fate::kept), 1);
  EXPECT_EQ(batch_.fixed, 0);
}

TEST_F(CleanerTest, ForgetsTheBatchBefore) {
  clean(sample_text(1, 40), false);
  EXPECT_EQ(clean("the and", false).out, "");
  EXPECT_EQ(count(Fate::kept), 0);
  EXPECT_EQ(count(Fate::too_short), 1);
}

TEST_F(CleanerTest, ALineThatIsNoDocumentIsToldOrLeftOut) {
  const std::string where =
      "in.jsonl:7: document at byte 90: the object has no text under \"text\"";
  EXPECT_TRUE(test::message_of([&] { clean("{}", true); }).starts_with(where));
  options_.skip_bad_lines = true;
  ASSERT_EQ(clean("{}", true).complaints.size(), 1u);
  EXPECT_TRUE(batch_.complaints[0].starts_with(where)) << batch_.complaints[0];
  EXPECT_EQ(count(Fate::bad_line), 1);
}

}  // namespace cleaner_test

}  // namespace mpitron::corpus
