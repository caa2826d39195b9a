#include "corpus/merge_datasets.h"

#include <gtest/gtest.h>

#include "io/tokens/token_file_writer.h"
#include "io/tokens/token_hdf5.h"
#include "support/corpus.h"
#include "utils/system/files.h"

namespace mpitron::corpus {
namespace merge_datasets_test {

class MergeDatasetsTest : public ::testing::Test {
 protected:
  MergeDatasetsTest() { std::filesystem::create_directory(folder_ / "parts"); }

  std::string part(const std::string& name) const { return folder_ / ("parts/" + name); }
  void write(const std::string& prefix, std::vector<int> first_tokens,
             io::TokenType type = io::TokenType::u16) const {
    io::TokenFileWriter writer(prefix, type);
    for (const std::int32_t first : first_tokens) {
      const std::vector<std::int32_t> tokens{first, first + 1, first + 2};
      writer.add_document(tokens, std::vector<std::int32_t>{1, 2});
    }
    writer.commit();
  }
  test::TemporaryFolder folder_;
};

TEST_F(MergeDatasetsTest, CorporaFollowEachOtherByName) {
  write(part("b"), {100, 200});
  write(part("a"), {1});
  write(part("c"), {});
  write(folder_ / "expected", {1, 100, 200});
  const MergeReport report = merge_datasets(folder_ / "parts", folder_ / "all");
  EXPECT_EQ(report.parts.size(), 3U);
  EXPECT_EQ(report.documents, 3);
  EXPECT_EQ(report.sequences, 6);
  EXPECT_EQ(report.tokens, 9);
  EXPECT_EQ(read_file(folder_ / "all.bin"), read_file(folder_ / "expected.bin"));
  EXPECT_EQ(read_file(folder_ / "all.idx"), read_file(folder_ / "expected.idx"));
}

TEST_F(MergeDatasetsTest, Hdf5FilesAreCorporaToo) {
  write(folder_ / "x", {100, 200});
  write(part("a"), {1});
  io::write_token_hdf5(io::TokenFile(folder_ / "x"), part("b.h5"), "one");
  write(folder_ / "expected", {1, 100, 200});
  merge_datasets(folder_ / "parts", folder_ / "all");
  EXPECT_EQ(read_file(folder_ / "all.bin"), read_file(folder_ / "expected.bin"));
  EXPECT_EQ(read_file(folder_ / "all.idx"), read_file(folder_ / "expected.idx"));
  merge_datasets(folder_ / "parts", folder_ / "all.h5");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "all.h5.merged.bin"));
  const io::TokenFile all(folder_ / "all.h5");
  EXPECT_EQ(all.tokenizer_hash(), "");  // a was made with any
  io::write_token_hdf5(all, folder_ / "again.h5", "");
  io::write_token_hdf5(io::TokenFile(folder_ / "expected"), folder_ / "expected.h5", "");
  EXPECT_EQ(read_file(folder_ / "again.h5"), read_file(folder_ / "expected.h5"));
}

TEST_F(MergeDatasetsTest, CorporaOfOneTokenizerKeepItsFingerprint) {
  write(folder_ / "x", {1});
  const auto add = [&](const std::string& name, const std::string& hash) {
    io::write_token_hdf5(io::TokenFile(folder_ / "x"), part(name), hash);
  };
  add("a.h5", "one");
  add("b.h5", "one");
  merge_datasets(folder_ / "parts", folder_ / "all.h5");
  EXPECT_EQ(io::TokenFile(folder_ / "all.h5").tokenizer_hash(), "one");
  const auto message = [&](const std::string& output) {
    return test::message_of([&] { merge_datasets(folder_ / "parts", output); });
  };
  EXPECT_NE(message(part("a.h5")).find("is one of the corpora"), std::string::npos);
  add("c.h5", "two");
  EXPECT_NE(message(folder_ / "all").find("different tokenizers"), std::string::npos);
  write(part("c"), {1});
  EXPECT_NE(message(folder_ / "all").find("merged both"), std::string::npos);
}

TEST_F(MergeDatasetsTest, MistakesLeaveNothing) {
  const auto message = [&](const std::string& output) {
    return test::message_of([&] { merge_datasets(folder_ / "parts", output); });
  };
  EXPECT_NE(message(folder_ / "all").find("holds no .bin"), std::string::npos);
  write(part("a"), {1});
  EXPECT_NE(message(part("a")).find("is one of the corpora"), std::string::npos);
  write(part("b"), {1}, io::TokenType::i32);
  EXPECT_NE(message(folder_ / "all").find("one type"), std::string::npos);
  std::filesystem::remove(part("b.idx"));
  EXPECT_NE(message(folder_ / "all").find("b.idx is missing"), std::string::npos);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

}  // namespace merge_datasets_test
}  // namespace mpitron::corpus
