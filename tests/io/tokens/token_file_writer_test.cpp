#include "io/tokens/token_file_writer.h"

#include <csignal>
#include <iterator>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "support/corpus.h"
#include "utils/error.h"

namespace mpitron::io {
namespace token_file_writer_test {

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

TEST(TokenFileWriter, BlocksEqualTheirDocuments) {
  const TemporaryFolder folder;
  TokenFileWriter single(folder / "single", TokenType::u16);
  TokenFileWriter blocks(folder / "blocks", TokenType::u16);
  TokenBlock block(TokenType::u16);
  for (int document = 0; document < 50; ++document) {
    if (document % 7 == 0) {
      blocks.append(block);
      block.clear();
    }
    const std::vector<std::int32_t> tokens(static_cast<std::size_t>(document), 65535 - document);
    const std::vector<std::int32_t> lengths(document > 0 ? 1 : 0, document);
    single.add_document(tokens, lengths);
    block.add_document(tokens, lengths);
  }
  blocks.append(block);
  single.commit();
  blocks.commit();
  EXPECT_EQ(read_file(folder / "blocks.bin"), read_file(folder / "single.bin"));
  EXPECT_EQ(read_file(folder / "blocks.idx"), read_file(folder / "single.idx"));
}

// A file size limit makes write fail as a full disk does (SIGXFSZ ignored). Documents of one token
// make an index that is larger than the tokens.
TEST(TokenFileWriter, ADiskFullAtTheIndexLeavesTheEarlierCorpus) {
  const TemporaryFolder folder;
  TokenFileWriter earlier(folder / "x", TokenType::u16);
  earlier.add_document(std::vector<std::int32_t>{7}, std::vector<std::int32_t>{1});
  earlier.commit();
  const std::string bin = read_file(folder / "x.bin");
  const std::string idx = read_file(folder / "x.idx");
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{10'000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message = test::message_of([&] {
    TokenFileWriter writer(folder / "x", TokenType::u16);
    for (int i = 0; i < 1000; ++i) {
      writer.add_document(std::vector<std::int32_t>{i}, std::vector<std::int32_t>{1});
    }
    writer.commit();
  });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_NE(message.find("x.idx: cannot write"), std::string::npos) << message;
  EXPECT_NE(message.find("and run again"), std::string::npos) << message;
  EXPECT_EQ(read_file(folder / "x.bin"), bin);
  EXPECT_EQ(read_file(folder / "x.idx"), idx);
  const std::filesystem::directory_iterator files(folder.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 2);
}

TEST(TokenFileWriter, AnIndexThatCannotBeReplacedKeepsTheTokens) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "x.idx/inside");
  const std::string message =
      test::message_of([&] { TokenFileWriter(folder / "x", TokenType::u16).commit(); });
  EXPECT_NE(message.find("x.idx: cannot replace"), std::string::npos) << message;
  EXPECT_FALSE(std::filesystem::exists(folder / "x.bin"));
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

}  // namespace token_file_writer_test
}  // namespace mpitron::io
