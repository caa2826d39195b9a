#include "corpus/record.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::corpus {
namespace record_test {

TEST(RecordTest, KeepsWhatIsNotChanged) {
  Record record;
  const std::string line = R"({"url": "u", "text": "a\nb", "n": [1, 2.5, null, {"x": true}]})";
  record.parse(line);
  ASSERT_NE(record.text("text"), nullptr);
  EXPECT_EQ(*record.text("text"), "a\nb");
  EXPECT_EQ(record.text("n"), nullptr);
  EXPECT_EQ(record.text("none"), nullptr);
  EXPECT_EQ(record.tail_with({}), line.substr(1));
  EXPECT_EQ(record.tail_with({{"text", "c\"d"}, {"new", "ä"}}),
            R"("url": "u", "text": "c\"d", "n": [1,2.5,null,{"x":true}], "new": "ä"})");
}

TEST(RecordTest, RefusesWhatIsNoObject) {
  Record record;
  EXPECT_NE(test::message_of([&] { record.parse("{\"a\": "); }).find("not valid JSON"),
            std::string::npos);
  EXPECT_NE(test::message_of([&] { record.parse("[1]"); }).find("object"), std::string::npos);
  record.parse("{}\r");
  EXPECT_EQ(record.tail_with({}), "}");
  EXPECT_EQ(record.tail_with({{"a", "b"}}), R"("a": "b"})");
}

TEST(RecordTest, MutationsAreErrorsOrObjects) {
  Record record;
  const std::string line = R"({"url": "http://x.org", "text": "a\u00e9\n", "n": [1, 2.5]})";
  test::for_each_mutation(line, 3000, [&](const std::string& bytes) {
    const bool failed = !test::message_of([&] { record.parse(bytes); }).empty();
    if (!failed) {
      Record again;
      again.parse("{" + record.tail_with({{"text", "t"}}));
      EXPECT_EQ(*again.text("text"), "t");
    }
  });
}

}  // namespace record_test
}  // namespace mpitron::corpus
