#include "corpus/dataset_report.h"

#include <cstring>

#include <gtest/gtest.h>

#include "io/tokens/token_file_writer.h"
#include "support/corpus.h"
#include "utils/system/files.h"

namespace mpitron::corpus {
namespace dataset_report_test {

class DatasetReportTest : public ::testing::Test {
 protected:
  DatasetReportTest() {
    io::TokenFileWriter writer(folder_ / "c", io::TokenType::u16);
    for (const int length : {1, 3, 0, 5, 5, 20}) {
      std::vector<std::int32_t> tokens(static_cast<std::size_t>(length), length);
      std::vector<std::int32_t> sequences;
      if (length > 1) {
        sequences.push_back(length - 1);
      }
      if (length > 0) {
        sequences.push_back(1);
      }
      writer.add_document(tokens, sequences);
    }
    writer.commit();
  }
  test::TemporaryFolder folder_;
};

TEST_F(DatasetReportTest, CountsAndDraws) {
  const DatasetReport report = inspect_dataset(io::TokenFile(folder_ / "c"));
  EXPECT_EQ(report.documents, 6);
  EXPECT_EQ(report.empty_documents, 1);
  EXPECT_EQ(report.sequences, 9);
  EXPECT_EQ(report.tokens, 34);
  EXPECT_EQ(report.bytes, 68);
  EXPECT_EQ(report.shortest, 1);
  EXPECT_EQ(report.longest, 20);
  EXPECT_EQ(report.median, 5);
  std::vector<Index> counts;
  for (const LengthBucket& bucket : report.histogram) {
    counts.push_back(bucket.documents);
  }
  EXPECT_EQ(counts, (std::vector<Index>{1, 1, 2, 0, 1}));  // 1, 2-3, 4-7, 8-15, 16-31
  EXPECT_EQ(report.histogram.back().from, 16);
  EXPECT_NE(to_text(report).find("6 documents (1 empty), 9 sequences, 34 tokens of"),
            std::string::npos);
  EXPECT_NE(to_json(report).find("\"tokens\":34"), std::string::npos);
}

TEST_F(DatasetReportTest, GivesTheTokensOfADocument) {
  const io::TokenFile corpus(folder_ / "c");
  EXPECT_EQ(document_tokens(corpus, 1), (std::vector<std::int64_t>{3, 3, 3}));
  EXPECT_TRUE(document_tokens(corpus, 2).empty());
  EXPECT_NE(test::message_of([&] { document_tokens(corpus, 6); }).find("documents 0 to 5"),
            std::string::npos);
}

TEST_F(DatasetReportTest, RefusesDocumentsBeyondTheSequences) {
  constexpr std::size_t kDocuments = 34 + 12 * 9;  // header, lengths and places of 9 sequences
  std::string index = read_file(folder_ / "c.idx");
  constexpr std::int64_t kBeyond = 1'000'000;
  std::memcpy(&index[kDocuments + 8 * 2], &kBeyond, sizeof(kBeyond));
  test::write_bytes(folder_ / "c.idx", index);
  const io::TokenFile corpus(folder_ / "c");
  EXPECT_NE(test::message_of([&] { document_tokens(corpus, 1); }).find("document 2 begins at"),
            std::string::npos);
}

// A damaged index is an error, or a report; never a crash.
TEST_F(DatasetReportTest, OfADamagedIndexIsWhatIsLeftOrAnError) {
  const std::string whole = read_file(folder_ / "c.idx");
  int refused = 0;
  test::for_each_mutation(whole, 1000, [&](const std::string& bytes) {
    test::write_bytes(folder_ / "c.idx", bytes);
    refused +=
        test::message_of([&] { to_text(inspect_dataset(io::TokenFile(folder_ / "c"))); }) != "";
  });
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, 1000);
}

}  // namespace dataset_report_test
}  // namespace mpitron::corpus
