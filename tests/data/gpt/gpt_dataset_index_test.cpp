#include <cstring>

#include <gtest/gtest.h>

#include "data/golden_gpt.h"
#include "data/gpt/gpt_dataset.h"
#include "data/gpt/small_corpus.h"
#include "utils/error.h"
#include "utils/system/files.h"

namespace mpitron::data {
namespace gpt_dataset_index_test {

using test::message_of;
using test::TemporaryFolder;

TEST(GptDatasetIndex, TooFewTokensAreAnErrorNotALoop) {
  const TemporaryFolder folder;
  for (const std::vector<std::int32_t>& lengths :
       {std::vector<std::int32_t>{}, std::vector<std::int32_t>{0}, std::vector<std::int32_t>{1}}) {
    const auto source = small_corpus(folder / "x", lengths);
    const auto options = small_options(source->lengths().size());
    EXPECT_NE(message_of([&] { GptDataset(source, options); }).find("too few for a sample"),
              std::string::npos);
  }
}

TEST(GptDatasetIndex, NegativeLengthsAreNamedWhateverTheOthersSumUpTo) {
  constexpr std::size_t kLengths = 34;  // of the header of an .idx file
  const TemporaryFolder folder;
  const auto message_with = [&](std::size_t sequence) {
    small_corpus(folder / "x", {3, 20, 5});
    std::string index = read_file(folder / "x.idx");
    constexpr std::int32_t kNegative = -100;
    std::memcpy(&index[kLengths + 4 * sequence], &kNegative, sizeof(kNegative));
    test::write_bytes(folder / "x.idx", index);
    const auto source = std::make_shared<const CorpusSource>(folder / "x", io::BinAccess::mapped);
    return message_of([&] { GptDataset(source, small_options(3)); });
  };
  for (const std::size_t sequence : {0, 1}) {
    EXPECT_NE(message_with(sequence).find("expected a length of at least 0, found -100"),
              std::string::npos)
        << message_with(sequence);
  }
}

/// As many sequences and samples as before, but others.
TEST(GptDatasetIndex, ACorpusMadeAnewUnderItsNameGetsANewIndex) {
  const TemporaryFolder folder;
  auto options = small_options(2);
  options.cache_folder = folder / "cache";
  const GptDataset before(small_corpus(folder / "x", {20, 30}), options);
  const auto source = small_corpus(folder / "x", {29, 21});
  const GptDataset after(source, options);
  options.cache_folder = "";
  const GptDataset without(source, options);
  EXPECT_EQ(integers(after.sample_index()), integers(without.sample_index()));
  EXPECT_NE(integers(after.sample_index()), integers(before.sample_index()));
}

TEST(GptDatasetIndex, ACorruptCacheIsNamedOrBuiltAnew) {
  const TemporaryFolder folder;
  const auto source = small_corpus(folder / "x", {20, 30});
  auto options = small_options(2);
  options.cache_folder = folder / "cache";
  const GptDataset built(source, options);
  std::vector<std::int64_t> text(5);
  for (const auto& entry : std::filesystem::directory_iterator(options.cache_folder)) {
    if (entry.path().extension() != ".npy") {
      continue;
    }
    test::for_each_mutation(read_file(entry.path()), 100, [&](const std::string& bytes) {
      test::write_bytes(entry.path(), bytes);
      try {
        const GptDataset dataset(source, options);
        std::vector<Index> samples;
        dataset.find(source->name(), 0, 1, samples);
        for (Index i = 0; i < dataset.size(); ++i) {
          dataset.read(i, text);
        }
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::data);
      }
    });
    std::filesystem::remove(entry.path());
    GptDataset(source, options);  // makes it whole again
  }
}

}  // namespace gpt_dataset_index_test

}  // namespace mpitron::data
