#include "data/labelled/labelled_texts.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::data {
namespace labelled_texts_test {

class LabelledTextsTest : public ::testing::Test {
 protected:
  std::vector<LabelledText> read(const std::string& task, const std::string& text) const {
    test::write_bytes(folder_ / "data.tsv", text);
    return read_labelled_texts(task, folder_ / "data.tsv");
  }
  std::string problem(const std::string& task, const std::string& text) const {
    return test::message_of([&] { read(task, text); });
  }
  const test::TemporaryFolder folder_;
};

TEST_F(LabelledTextsTest, KnowsTheColumnsOfEachTask) {
  const std::string two = "index\ta\tb\tlabel\n4\tone .\ttwo\tentailment\n";
  for (const char* task : {"QNLI", "RTE"}) {
    const auto texts = read(task, two);
    ASSERT_EQ(texts.size(), 1U);
    EXPECT_EQ(texts[0].pairs[0].first, "one .");
    EXPECT_EQ(texts[0].pairs[0].second, "two");
    EXPECT_EQ(texts[0].label, 0);
    EXPECT_EQ(texts[0].id, 4);
  }
  const auto cola = read("CoLA", "gj04\t1\t\tA text.\ngj04\t0\t*\tText a.\n");
  ASSERT_EQ(cola.size(), 2U);
  EXPECT_EQ(cola[1].pairs[0].first, "Text a.");
  EXPECT_FALSE(cola[1].pairs[0].second);
  EXPECT_EQ(cola[0].label, 1);
  EXPECT_EQ(cola[1].id, 1);
  EXPECT_EQ(read("CoLA", "index\tsentence\n7\tA text.\n")[0].id, 7);
  EXPECT_EQ(read("SST-2", "sentence\tlabel\nfine\t1\n")[0].label, 1);
  EXPECT_EQ(read("SST-2", "index\tsentence\n3\tfine\n")[0].pairs[0].first, "fine");
  EXPECT_EQ(read("MRPC", "Quality\t#1\t#2\tA\tB\n1\t5\t6\tx\ty\n")[0].label, 1);
  EXPECT_EQ(read("MRPC", "index\t#1\t#2\tA\tB\n1\t5\t6\tx\ty\n")[0].pairs[0].second, "y");
  EXPECT_EQ(
      read("STS-B", "a\tb\tc\td\te\tf\tg\th\ti\tj\n1\tb\tc\td\te\tf\tg\tx\ty\t2.5\n")[0].label,
      2.5);
  EXPECT_EQ(read("WNLI", "index\ta\tb\tlabel\n0\tx\ty\t1\n")[0].label, 1);
}

TEST_F(LabelledTextsTest, SaysWhereAFileIsWrong) {
  EXPECT_NE(problem("RTE", "a\tb\n").find("data.tsv:1: 2 columns; files of RTE have 4"),
            std::string::npos);
  EXPECT_NE(problem("RTE", "i\ta\tb\tl\n0\tx\ty\tmaybe\n")
                .find("data.tsv:2: label \"maybe\"; "
                      "labels of RTE are entailment"),
            std::string::npos);
  EXPECT_NE(problem("RTE", "i\ta\tb\tl\n\n0\tx\t\tentailment\n").find("data.tsv:3: column 3 is "),
            std::string::npos);
  EXPECT_NE(problem("RTE", "i\ta\tb\tl\n0\tx\ty\n").find("data.tsv:2: 3 columns, the first line"),
            std::string::npos);
  EXPECT_NE(problem("STS-B", "a\tb\tc\td\te\tf\tg\th\ti\tj\n1\tb\tc\td\te\tf\tg\tx\ty\tmuch\n")
                .find("score \"much\""),
            std::string::npos);
  EXPECT_NE(problem("RTE", "i\ta\tb\tl\n").find("no samples"), std::string::npos);
  EXPECT_NE(test::message_of([&] { read_labelled_texts("RACE", folder_ / "none"); }).find("none"),
            std::string::npos);
}

TEST(DataName, IsWhatStandsBehindTheTask) {
  EXPECT_EQ(data_name("MNLI", "/data/MNLI/dev_matched.tsv"), "dev-matched");
  EXPECT_EQ(data_name("RACE", "RACE/dev/middle/"), "dev-middle");
  EXPECT_EQ(data_name("RTE", "dev.tsv"), "dev");
}

}  // namespace labelled_texts_test
}  // namespace mpitron::data
