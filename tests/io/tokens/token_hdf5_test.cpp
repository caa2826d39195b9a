#include "io/tokens/token_hdf5.h"

#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "io/tokens/token_file_writer.h"
#include "support/corpus.h"
#include "support/full_disk.h"
#include "utils/text/hash.h"

namespace mpitron::io {
namespace token_hdf5_test {

using test::message_of;
using test::TemporaryFolder;

void expect_equal(const TokenFile& a, const TokenFile& b) {
  ASSERT_EQ(a.sequence_count(), b.sequence_count());
  ASSERT_EQ(a.document_count(), b.document_count());
  EXPECT_EQ(a.type(), b.type());
  EXPECT_EQ(a.has_modes(), b.has_modes());
  for (Index i = 0; i < a.sequence_count(); ++i) {
    ASSERT_EQ(a.length(i), b.length(i));
    EXPECT_EQ(a.mode(i), b.mode(i));
    std::vector<std::int64_t> x(static_cast<std::size_t>(a.length(i))), y(x.size());
    a.read(i, 0, x);
    b.read(i, 0, y);
    ASSERT_EQ(x, y) << i;
  }
  for (Index i = 0; i <= a.document_count(); ++i) {
    EXPECT_EQ(a.document_begin(i), b.document_begin(i));
  }
}

TEST(TokenHdf5, HoldsEveryReferenceCorpusAndGivesItBackByteForByte) {
  const TemporaryFolder folder;
  for (const std::string& prefix : test::dataset_corpora()) {
    const TokenFile corpus(prefix);
    const std::string path = folder / "x.h5";
    write_token_hdf5(corpus, path, "0123");
    for (const BinAccess access : {BinAccess::mapped, BinAccess::read}) {
      const TokenFile hdf5(path, access);
      EXPECT_NO_THROW(hdf5.verify());
      EXPECT_EQ(hdf5.tokenizer_hash(), "0123");
      expect_equal(corpus, hdf5);
    }
    const TokenFile hdf5(folder / "x");  // no x.idx yet: the prefix means x.h5
    EXPECT_EQ(hdf5.token_path(), path);
    TokenFileWriter writer(folder / "back", hdf5.type(),
                           hdf5.has_modes() ? Modes::present : Modes::absent);
    writer.append(hdf5);
    writer.commit();
    EXPECT_EQ(read_file(folder / "back.idx"), read_file(prefix + ".idx")) << prefix;
    EXPECT_EQ(read_file(folder / "back.bin"), read_file(prefix + ".bin")) << prefix;
  }
}

TEST(TokenHdf5, TheTokensAreMappedWhereHdf5SaysTheyLie) {
  const TemporaryFolder folder;
  write_token_hdf5(TokenFile(test::golden_folder() + "/dataset/a"), folder / "x.h5", "");
  const MappedFile file(folder / "x.h5");
  const TokenHdf5 layout = read_token_hdf5(file);
  EXPECT_EQ(layout.tokens.begin % 4096, 0);
  const TokenFile corpus(folder / "x.h5");
  EXPECT_EQ(corpus.byte_position(0), layout.tokens.begin);
  const std::string bin = read_file(test::golden_folder() + "/dataset/a.bin");
  EXPECT_EQ(file.text().substr(static_cast<std::size_t>(layout.tokens.begin), bin.size()), bin);
}

TEST(TokenHdf5, AnEmptyCorpusIsACorpus) {
  const TemporaryFolder folder;
  TokenFileWriter(folder / "none", TokenType::u16).commit();
  write_token_hdf5(TokenFile(folder / "none"), folder / "x.h5", "");
  const TokenFile corpus(folder / "x.h5");
  EXPECT_EQ(corpus.sequence_count(), 0);
  EXPECT_EQ(corpus.type(), TokenType::u16);
}

TEST(TokenHdf5, EqualCorporaGiveEqualFiles) {
  const TemporaryFolder folder;
  const TokenFile corpus(test::golden_folder() + "/dataset/d");
  write_token_hdf5(corpus, folder / "x.h5", "");
  write_token_hdf5(corpus, folder / "y.h5", "");
  EXPECT_EQ(read_file(folder / "x.h5"), read_file(folder / "y.h5"));
  Index files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    ++files;
  }
  EXPECT_EQ(files, 2) << "something temporary is left";
}

TEST(TokenHdf5, AFullDiskLeavesNothing) {
  const TemporaryFolder folder;
  const TokenFile corpus(test::golden_folder() + "/dataset/d");
  for (const rlim_t bytes : {1000, 10'000}) {
    const test::FullDisk full(bytes);
    const std::string message = message_of([&] { write_token_hdf5(corpus, folder / "x.h5", ""); });
    EXPECT_TRUE(message.ends_with("File too large") ||
                message.find("File too large;") != std::string::npos)
        << message;
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  }
}

class DamagedHdf5 : public ::testing::Test {
 protected:
  DamagedHdf5() {
    write_token_hdf5(TokenFile(test::golden_folder() + "/dataset/d"), folder_ / "x.h5", "hash");
    bytes_ = read_file(folder_ / "x.h5");
  }
  std::string open(const std::string& bytes) const {
    test::write_bytes(folder_ / "y.h5", bytes);
    return message_of([&] {
      const TokenFile corpus(folder_ / "y.h5");
      corpus.verify();
      for (Index i = 0; i < corpus.sequence_count(); ++i) {
        std::vector<std::int64_t> tokens(static_cast<std::size_t>(corpus.length(i)));
        corpus.read(i, 0, tokens);
      }
    });
  }

  TemporaryFolder folder_;
  std::string bytes_;
};

TEST_F(DamagedHdf5, IsRefusedWithFilePlaceAndExpectation) {
  const auto expect = [&](const std::string& bytes, const std::string& part) {
    const std::string message = open(bytes);
    EXPECT_NE(message.find(folder_ / "y.h5"), std::string::npos) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  EXPECT_EQ(open(bytes_), "");
  expect("", "expected the seal");
  expect(bytes_.substr(0, bytes_.size() / 2), "expected the seal");
  expect(bytes_.substr(1), "bytes before the seal");
  std::string damaged = bytes_;
  damaged[damaged.size() - 20] ^= 1;  // the hash in the seal
  expect(damaged, "does not fit its own hash");
  damaged = bytes_;
  damaged[9] ^= 1;  // HDF5's superblock
  expect(damaged, "what describes the arrays is damaged");
  const MappedFile file(folder_ / "x.h5");
  const TokenHdf5 layout = read_token_hdf5(file);
  damaged = bytes_;
  damaged[static_cast<std::size_t>(layout.lengths.begin) + 3] = '\x7f';
  expect(damaged, "token 0 on");
  damaged = bytes_;
  damaged[static_cast<std::size_t>(layout.documents.begin)] = 1;
  expect(damaged, "expected document indices from 0");
}

/// The hash in a seal is no secret: whoever makes a file can make one that fits.
TEST_F(DamagedHdf5, ArraysWithoutBytesLieInsideTheFileToo) {
  constexpr std::size_t kSealBytes = 128, kModes = 88, kCheck = 120;
  const std::size_t seal = bytes_.size() - kSealBytes;
  for (const Index begin : {Index{1} << 40, std::numeric_limits<Index>::min(), Index{-1}}) {
    std::string damaged = bytes_;
    std::memcpy(&damaged[seal + kModes], &begin, sizeof(begin));
    const std::uint64_t check = hash64({&damaged[seal], kCheck});
    std::memcpy(&damaged[seal + kCheck], &check, sizeof(check));
    EXPECT_NE(open(damaged).find("what describes the arrays is damaged"), std::string::npos)
        << begin;
  }
}

/// Whatever the damage: an error, or other tokens; never a crash or a hang.
TEST_F(DamagedHdf5, FuzzedFilesNeverCrash) {
  int refused = 0;
  test::for_each_mutation(
      bytes_, 300, [&](const std::string& bytes) { refused += open(bytes).empty() ? 0 : 1; });
  EXPECT_GT(refused, 150);
}

}  // namespace token_hdf5_test
}  // namespace mpitron::io
