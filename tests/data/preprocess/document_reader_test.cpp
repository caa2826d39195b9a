#include "data/preprocess/document_reader.h"

#include <fstream>

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::data {
namespace document_reader_test {

struct Found {
  std::string text;
  Index line;
  Index offset;
  bool operator==(const Found&) const = default;
};

class DocumentReaderTest : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  static std::vector<Found> read(const std::string& path, TextDocuments how,
                                 std::size_t batch_bytes) {
    DocumentReader reader({path}, how, batch_bytes);
    DocumentBatch batch;
    std::vector<Found> found;
    while (reader.next(batch)) {
      for (const RawDocument& document : batch.documents) {
        found.push_back({std::string(document.text), document.line, document.offset});
      }
    }
    return found;
  }

  test::TemporaryFolder folder_;
};

TEST_F(DocumentReaderTest, CutsTheSameForAnyBatchSize) {
  const std::string text = "\n\none\ntwo\n\n  \nthree\r\n\r\nfour\n\n\nfive";
  const std::string plain = file("a.txt", text);
  const std::string json = file("a.jsonl", text);
  for (std::size_t bytes = 1; bytes < 50; ++bytes) {
    EXPECT_EQ(read(plain, TextDocuments::paragraphs, bytes),
              (std::vector<Found>{
                  {"one\ntwo", 3, 2}, {"three\r", 7, 14}, {"four", 9, 23}, {"five", 12, 30}}));
    EXPECT_EQ(read(plain, TextDocuments::file, bytes), (std::vector<Found>{{text, 1, 0}}));
    EXPECT_EQ(read(plain, TextDocuments::lines, bytes), read(json, TextDocuments::file, bytes));
    EXPECT_EQ(read(json, TextDocuments::paragraphs, bytes).size(), 5U);
  }
}

TEST_F(DocumentReaderTest, CountsBlankLinesAndBytes) {
  DocumentReader reader({file("a.jsonl", "{}\n\n \n{}\n"), file("b.jsonl", "{}")},
                        TextDocuments::paragraphs);
  EXPECT_EQ(reader.total_bytes(), 11);
  DocumentBatch batch;
  ASSERT_TRUE(reader.next(batch));
  EXPECT_EQ(batch.blank_lines, 2);
  EXPECT_EQ(batch.file_bytes, 9);
  EXPECT_EQ(batch.number, 0);
  ASSERT_TRUE(reader.next(batch));
  EXPECT_EQ(batch.number, 1);
  EXPECT_EQ(batch.documents[0].line, 1);
  EXPECT_FALSE(reader.next(batch));
}

TEST_F(DocumentReaderTest, ComplaintsNameFileLineAndByte) {
  const std::string path = file("a.txt", "one\n\ntwo\n");
  DocumentReader reader({path}, TextDocuments::lines);
  DocumentBatch batch;
  ASSERT_TRUE(reader.next(batch));
  EXPECT_EQ(batch.complaint(batch.documents.at(1), "too short"),
            path + ":3: document at byte 5: too short");
}

TEST_F(DocumentReaderTest, RefusesWhatItCannotRead) {
  const auto message = [](const std::string& path) {
    return test::message_of([&] { DocumentReader({path}, TextDocuments::lines); });
  };
  EXPECT_NE(message(folder_ / "none.jsonl").find("none.jsonl: No such file"), std::string::npos);
  EXPECT_NE(message(folder_.path()).find("is a folder"), std::string::npos);
}

TEST_F(DocumentReaderTest, GoesOnFromTheEndOfAnyBatch) {
  const std::string first = file("a.jsonl", "{\"a\": 1}\n\n{\"b\": 2}\n{\"c\": 3}\n");
  const std::string second = file("b.txt", "one\ntwo\n\nthree\n");
  const auto rest = [&](const InputPosition& from) {
    DocumentReader reader({first, second}, TextDocuments::paragraphs, 1);
    reader.start_at(from);
    DocumentBatch batch;
    std::vector<Found> found;
    while (reader.next(batch)) {
      EXPECT_EQ(batch.first_document, from.documents + std::ssize(found));
      for (const RawDocument& document : batch.documents) {
        found.push_back({std::string(document.text), document.line, document.offset});
      }
    }
    return found;
  };
  const std::vector<Found> all = rest({});
  ASSERT_EQ(all.size(), 5U);
  DocumentReader reader({first, second}, TextDocuments::paragraphs, 1);
  DocumentBatch batch;
  int places = 0;
  for (; reader.next(batch); ++places) {
    const std::vector<Found> expected(all.begin() + batch.end.documents, all.end());
    EXPECT_EQ(rest(batch.end), expected) << places;
  }
  EXPECT_GE(places, 4);
}

TEST_F(DocumentReaderTest, RefusesADocumentThatNeverEnds) {
  const std::string endless = file("a.jsonl", "{}\n");
  std::filesystem::resize_file(endless, std::uintmax_t{1} << 32);  // a hole: no disk is taken
  DocumentReader reader({endless}, TextDocuments::paragraphs);
  DocumentBatch batch;
  try {
    while (reader.next(batch)) {
    }
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("a.jsonl:2: no document ends within 128 MiB"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(DocumentReaderTest, EmptyFilesHaveNoDocuments) {
  EXPECT_TRUE(read(file("e.jsonl", ""), TextDocuments::lines, 10).empty());
  EXPECT_TRUE(read(file("e.txt", "\n\n"), TextDocuments::paragraphs, 1).empty());
}

}  // namespace document_reader_test
}  // namespace mpitron::data
