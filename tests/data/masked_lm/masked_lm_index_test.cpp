#include "data/masked_lm/masked_lm_index.h"

#include <gtest/gtest.h>

#include "io/tokens/token_file_writer.h"
#include "support/corpus.h"

namespace mpitron::data {
namespace masked_lm_index_test {

using test::TemporaryFolder;

class MaskedLmIndexTest : public ::testing::Test {
 protected:
  /// `documents` documents of four sentences of ten tokens.
  io::TokenFile corpus(int documents) const {
    io::TokenFileWriter writer(folder_ / "c", io::TokenType::u16);
    for (int i = 0; i < documents; ++i) {
      writer.add_document(std::vector<std::int32_t>(40, 7), std::vector<std::int32_t>(4, 10));
    }
    writer.commit();
    return io::TokenFile(folder_ / "c");
  }
  MaskedLmIndexOptions options(Index end) const {
    MaskedLmIndexOptions options;
    options.description.num_samples = 20;
    options.description.seq_length = 23;
    options.description.masked_lm.emplace();
    options.end = end;
    options.special_tokens = 3;
    options.cache_folder = folder_ / "cache";
    return options;
  }

  TemporaryFolder folder_;
};

TEST_F(MaskedLmIndexTest, RunsLieInTheCorpusAndWantNoMoreThanFits) {
  const io::TokenFile file = corpus(5);
  const MaskedLmIndex index(file, options(3));
  EXPECT_GE(index.size(), 20);
  for (Index i = 0; i < index.size(); ++i) {
    EXPECT_LT(index[i].begin, index[i].end);
    EXPECT_LE(index[i].end, 12);
    EXPECT_LE(index[i].target, 20);
  }
}

/// The number of samples is not known before the index is built: the cache takes any.
TEST_F(MaskedLmIndexTest, IsLoadedForTheSameCorpusOnly) {
  const MaskedLmIndex built(corpus(5), options(5));
  const MaskedLmIndex loaded(corpus(5), options(5));
  const auto rows = [](const MaskedLmIndex& index) {
    const auto bytes = index.rows().bytes();
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  EXPECT_EQ(rows(loaded), rows(built));
  const MaskedLmIndex other(corpus(6), options(6));  // the same name, and another corpus
  Index end = 0;
  for (Index i = 0; i < other.size(); ++i) {
    end = std::max(end, other[i].end);
  }
  EXPECT_EQ(end, 24);
}

TEST_F(MaskedLmIndexTest, ADamagedCacheIsAnError) {
  const io::TokenFile file = corpus(5);
  { const MaskedLmIndex built(file, options(5)); }
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "cache")) {
    if (entry.path().extension() == ".npy") {
      std::string bytes = read_file(entry.path());
      bytes.replace(bytes.size() - 12, 12, std::string(12, '\xff'));
      test::write_bytes(entry.path(), bytes);
    }
  }
  const MaskedLmIndex damaged(file, options(5));
  EXPECT_NE(test::message_of([&] { damaged[damaged.size() - 1]; }).find("delete the files"),
            std::string::npos);
}

}  // namespace masked_lm_index_test
}  // namespace mpitron::data
