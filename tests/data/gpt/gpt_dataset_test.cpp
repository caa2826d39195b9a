#include "data/gpt/gpt_dataset.h"

#include <cstring>

#include <gtest/gtest.h>

#include "data/golden_gpt.h"
#include "io/tokens/token_file_writer.h"
#include "utils/error.h"
#include "utils/system/files.h"

namespace mpitron::data {
namespace gpt_dataset_test {

using test::message_of;
using test::TemporaryFolder;

class GoldenSplits {
 public:
  GoldenSplits() : json_(test::golden_json("dataset/indices.json")["gpt"]) {}

  /// body(case, reference split, data set) for every split of every case.
  template <class Body>
  int for_each(Body&& body) const {
    int count = 0;
    for (const auto& expected : json_) {
      const auto source = golden_corpus(expected["prefix"]);
      for (const Split split : kSplits) {
        const auto& reference = expected["splits"][to_string(split)];
        if (!reference.is_null()) {
          const auto& wanted = expected["num_samples"][static_cast<std::size_t>(split)];
          body(reference, source,
               golden_options(expected, split, wanted, source->lengths().size()));
          ++count;
        }
      }
    }
    return count;
  }

 private:
  nlohmann::json json_;
};

TEST(GptDataset, ReproducesEveryReferenceIndex) {
  const io::SafetensorsFile arrays(test::golden_folder() + "/dataset/indices.safetensors");
  const int count = GoldenSplits().for_each(
      [&](const auto& expected, const auto& source, const GptDatasetOptions& options) {
        const std::string name = expected["arrays"];
        const GptDataset dataset(source, options);
        EXPECT_EQ(options.begin, expected["sequences"][0]) << name;
        EXPECT_EQ(options.end, expected["sequences"][1]) << name;
        EXPECT_EQ(dataset.size(), expected["length"]) << name;
        EXPECT_EQ(dataset.plan().epochs, expected["epochs"]) << name;
        EXPECT_EQ(dataset.plan().separate_final_epoch, expected["separate_final_epoch"]) << name;
        const auto& document = arrays.at(name + "/document_index");
        const auto& sample = arrays.at(name + "/sample_index");
        const auto& shuffle = arrays.at(name + "/shuffle_index");
        EXPECT_EQ(integers(dataset.document_index()), integers(document)) << name;
        EXPECT_EQ(integers(dataset.sample_index()), integers(sample)) << name;
        EXPECT_EQ(integers(dataset.shuffle_index()), integers(shuffle)) << name;
        EXPECT_EQ(dataset.document_index().type(), document.type) << name;
        EXPECT_EQ(dataset.sample_index().type(), sample.type) << name;
        EXPECT_EQ(dataset.shuffle_index().type(), shuffle.type) << name;
        EXPECT_EQ(dataset.description(), expected["description"]) << name;
      });
  EXPECT_GT(count, 0);
}

TEST(GptDataset, ReproducesEveryReferenceSample) {
  const io::SafetensorsFile arrays(test::golden_folder() + "/dataset/gpt_samples.safetensors");
  int samples = 0;
  GoldenSplits().for_each(
      [&](const auto& expected, const auto& source, const GptDatasetOptions& options) {
        if (!expected.contains("samples")) {
          return;
        }
        GptSampleOptions sample_options{options.description.seq_length, options.add_extra_token};
        sample_options.eod = test::golden_eod();
        const GptDataset dataset(source, options);
        SampleBuffers buffers(sample_options);
        for (const Index i : expected["samples"]) {
          dataset.read(i, buffers.text);
          make_gpt_sample(buffers.text, sample_options, buffers.view());
          const std::string prefix =
              fmt::format("{}/{}", expected["arrays"].template get<std::string>(), i);
          ASSERT_NE(arrays.find(prefix + "/tokens"), nullptr) << prefix;
          EXPECT_EQ(integers(std::span(buffers.tokens)), integers(arrays.at(prefix + "/tokens")));
          EXPECT_EQ(integers(std::span(buffers.labels)), integers(arrays.at(prefix + "/labels")));
          if (const auto* mask = arrays.find(prefix + "/loss_mask")) {
            EXPECT_EQ(integers(std::span(buffers.loss_mask)), integers(*mask)) << prefix;
          }
          ++samples;
        }
      });
  EXPECT_GT(samples, 0);
}

TEST(GptDataset, WritesTheCacheUnderTheReferenceNamesAndReadsItBack) {
  GoldenSplits().for_each([&](const auto& expected, const auto& source, GptDatasetOptions options) {
    const TemporaryFolder folder;
    options.cache_folder = folder / "made/on/demand";
    const GptDataset built(source, options);
    const std::string stem = expected["hash"].template get<std::string>() + "-GPTDataset-" +
                             to_string(options.description.index_split);
    if (options.add_extra_token && options.drop_last_partial) {
      for (const char* name : {"document_index", "sample_index", "shuffle_index"}) {
        EXPECT_TRUE(std::filesystem::exists(options.cache_folder / (stem + "-" + name + ".npy")));
      }
      EXPECT_EQ(read_file(options.cache_folder / (stem + "-description.txt")),
                expected["description"]);
    }
    const auto stamp = std::filesystem::last_write_time(options.cache_folder);
    const GptDataset loaded(source, options);
    EXPECT_EQ(std::filesystem::last_write_time(options.cache_folder), stamp) << "built again";
    EXPECT_EQ(integers(loaded.document_index()), integers(built.document_index()));
    EXPECT_EQ(integers(loaded.sample_index()), integers(built.sample_index()));
    EXPECT_EQ(integers(loaded.shuffle_index()), integers(built.shuffle_index()));
  });
}

GptDatasetOptions small_options(Index sequences) {
  GptDatasetOptions options;
  options.description.num_samples = 5;
  options.description.seq_length = 4;
  options.description.split = "1,0,0";
  options.end = sequences;
  return options;
}

std::shared_ptr<const CorpusSource> small_corpus(const std::string& prefix,
                                                 const std::vector<std::int32_t>& lengths) {
  io::TokenFileWriter writer(prefix, io::TokenType::i32);
  std::int32_t token = 0;
  for (const std::int32_t length : lengths) {
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(length));
    std::generate(tokens.begin(), tokens.end(), [&] { return token++; });
    writer.add_document(tokens, std::vector<std::int32_t>{length});
  }
  writer.commit();
  return std::make_shared<const CorpusSource>(prefix, io::BinAccess::mapped);
}

TEST(GptDataset, TooFewTokensAreAnErrorNotALoop) {
  const TemporaryFolder folder;
  for (const std::vector<std::int32_t>& lengths :
       {std::vector<std::int32_t>{}, std::vector<std::int32_t>{0}, std::vector<std::int32_t>{1}}) {
    const auto source = small_corpus(folder / "x", lengths);
    const auto options = small_options(source->lengths().size());
    EXPECT_NE(message_of([&] { GptDataset(source, options); }).find("too few for a sample"),
              std::string::npos);
  }
}

TEST(GptDataset, NegativeLengthsAreNamedWhateverTheOthersSumUpTo) {
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

TEST(GptDataset, EveryTokenOfAnEpochIsReadOnce) {
  const TemporaryFolder folder;
  const auto source = small_corpus(folder / "x", {7, 0, 3, 1, 0, 0, 12, 2});
  auto options = small_options(8);
  options.description.num_samples = std::nullopt;
  const GptDataset dataset(source, options);
  ASSERT_EQ(dataset.size(), 6);  // (25 - 1) / 4
  std::vector<int> seen(25);
  std::vector<std::int64_t> text(5);
  for (Index i = 0; i < dataset.size(); ++i) {
    dataset.read(i, text);
    for (std::size_t k = 0; k < 4; ++k) {
      ++seen[static_cast<std::size_t>(text[k])];
    }
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), 24);
}

TEST(GptDataset, NamesATokenOutsideTheVocabulary) {
  const TemporaryFolder folder;
  const auto source = small_corpus(folder / "x", {20});
  auto options = small_options(1);
  options.vocab_size = 10;
  const GptDataset dataset(source, options);
  std::vector<std::int64_t> text(5);
  const std::string message = message_of([&] {
    for (Index i = 0; i < dataset.size(); ++i) {
      dataset.read(i, text);
    }
  });
  EXPECT_NE(message.find("another tokenizer"), std::string::npos) << message;
}

/// As many sequences and samples as before, but others.
TEST(GptDataset, ACorpusMadeAnewUnderItsNameGetsANewIndex) {
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

TEST(GptDataset, ACorruptCacheIsNamedOrBuiltAnew) {
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

}  // namespace gpt_dataset_test
}  // namespace mpitron::data
