#include "io/token_file_writer.h"

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "utils/error.h"

namespace mpitron::io {
namespace {

using test::dataset_corpora;
using test::TemporaryFolder;

TEST(TokenFileWriter, RewritesEveryReferenceCorpusByteForByte) {
  const TemporaryFolder folder;
  ASSERT_FALSE(dataset_corpora().empty());
  for (const std::string& prefix : dataset_corpora()) {
    const TokenFile file(prefix);
    file.verify();
    TokenFileWriter writer(folder / "copy", file.type(),
                           file.has_modes() ? Modes::present : Modes::absent);
    for (Index d = 0; d < file.document_count(); ++d) {
      for (Index i = file.document_begin(d); i < file.document_begin(d + 1); ++i) {
        std::vector<std::int64_t> tokens(static_cast<std::size_t>(file.length(i)));
        file.read(i, 0, tokens);
        writer.add_sequence(std::span<const std::int64_t>(tokens), file.mode(i));
      }
      writer.end_document();
    }
    writer.commit();
    EXPECT_EQ(read_file(folder / "copy.bin"), read_file(prefix + ".bin")) << prefix;
    EXPECT_EQ(read_file(folder / "copy.idx"), read_file(prefix + ".idx")) << prefix;
  }
}

TEST(TokenFileWriter, MergedPartsEqualTheReferenceMerge) {
  const TemporaryFolder folder;
  const std::string base = test::golden_folder() + "/dataset/";
  TokenFileWriter writer(folder / "merged", TokenType::i32);
  writer.append(TokenFile(base + "a"));
  writer.append(TokenFile(base + "c"));
  writer.commit();
  EXPECT_EQ(read_file(folder / "merged.bin"), read_file(base + "ac.bin"));
  EXPECT_EQ(read_file(folder / "merged.idx"), read_file(base + "ac.idx"));
}

TEST(TokenFileWriter, RefusesTokensThatDoNotFit) {
  const TemporaryFolder folder;
  TokenFileWriter writer(folder / "x", TokenType::u16);
  EXPECT_THROW(writer.add_sequence(std::vector<std::int32_t>{1, 65536}), Error);
  EXPECT_THROW(writer.add_sequence(std::vector<std::int64_t>{-1}), Error);
}

TEST(TokenFileWriter, LeavesNothingWithoutCommit) {
  const TemporaryFolder folder;
  {
    TokenFileWriter writer(folder / "x", TokenType::i32);
    writer.add_sequence(std::vector<std::int32_t>{1});
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(TokenFileWriter, RefusesPartsOfAnotherType) {
  const TemporaryFolder folder;
  TokenFileWriter(folder / "x", TokenType::u16).commit();
  TokenFileWriter writer(folder / "y", TokenType::i32);
  EXPECT_THROW(writer.append(TokenFile(folder / "x")), Error);
}

TEST(TokenFileWriter, AnEmptyCorpusIsReadable) {
  const TemporaryFolder folder;
  TokenFileWriter(folder / "x", TokenType::i32).commit();
  const TokenFile file(folder / "x");
  EXPECT_EQ(file.sequence_count(), 0);
  EXPECT_EQ(file.document_count(), 0);
}

}  // namespace
}  // namespace mpitron::io
