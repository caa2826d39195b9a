#include "data/gpt/sequence_source.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::data {
namespace sequence_source_test {

std::vector<std::int64_t> read(const SequenceSource& source, Index sequence, Index offset,
                               std::size_t count) {
  std::vector<std::int64_t> tokens(count);
  source.read(sequence, offset, tokens);
  return tokens;
}

TEST(MockSource, SequencesCountUpAndEndWithEod) {
  const MockSource source(99, 0);
  ASSERT_EQ(source.lengths().size(), 100000);
  for (Index i = 0; i < 200; ++i) {
    const Index length = source.lengths()[i];
    ASSERT_TRUE(length >= 1 && length < 4096) << length;
    const auto tokens = read(source, i, 0, static_cast<std::size_t>(length));
    EXPECT_EQ(tokens.back(), 99);
    for (Index t = 0; t + 1 < length; ++t) {
      ASSERT_EQ(tokens[static_cast<std::size_t>(t)], t + 1);
    }
  }
}

TEST(MockSource, StaysInsideAVocabulary) {
  const MockSource source(9, 10);
  Index longest = 0;
  while (source.lengths()[longest] < 100) {
    ++longest;
  }
  const auto tokens = read(source, longest, 0, 25);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    EXPECT_EQ(tokens[i], static_cast<std::int64_t>(i + 1) % 10);
  }
  EXPECT_EQ(read(source, longest, 7, 3), (std::vector<std::int64_t>{8, 9, 0}));
}

TEST(MockSource, IsTheSameEveryTime) {
  const MockSource a(1, 5), b(1, 5);
  for (Index i = 0; i < a.lengths().size(); ++i) {
    ASSERT_EQ(a.lengths()[i], b.lengths()[i]);
  }
}

TEST(CorpusSource, ReadsTheSameMappedOrNot) {
  for (const std::string& prefix : test::dataset_corpora()) {
    const CorpusSource mapped(prefix, io::BinAccess::mapped), plain(prefix, io::BinAccess::read);
    mapped.verify();
    EXPECT_EQ(mapped.name(), prefix);
    ASSERT_EQ(mapped.lengths().size(), plain.lengths().size());
    for (Index i = 0; i < mapped.lengths().size(); ++i) {
      const auto length = static_cast<std::size_t>(mapped.lengths()[i]);
      ASSERT_EQ(read(mapped, i, 0, length), read(plain, i, 0, length)) << prefix << ' ' << i;
    }
  }
}

TEST(CorpusSource, KnowsTheDocumentAndTheBytesOfEverySequence) {
  for (const std::string& prefix : test::dataset_corpora()) {
    const CorpusSource source(prefix, io::BinAccess::mapped);
    const auto width = static_cast<Index>(io::size_of(source.file().type()));
    Index byte = 0;
    for (Index document = 0; document < source.document_count(); ++document) {
      const auto [begin, end] = source.sequences_of(document);
      for (Index i = begin; i < end; ++i) {
        EXPECT_EQ(source.document_of(i), document) << prefix << ' ' << i;
        const auto place = source.place(i, 0, source.lengths()[i]);
        EXPECT_EQ(place->begin, byte);
        EXPECT_EQ(place->file, prefix + ".bin");
        byte += place->bytes;
        EXPECT_EQ(place->bytes, source.lengths()[i] * width);
      }
    }
  }
}

}  // namespace sequence_source_test
}  // namespace mpitron::data
