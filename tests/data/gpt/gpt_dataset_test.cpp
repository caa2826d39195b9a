#include "data/gpt/gpt_dataset.h"

#include <gtest/gtest.h>

#include "data/golden_gpt.h"
#include "data/gpt/small_corpus.h"
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

}  // namespace gpt_dataset_test

}  // namespace mpitron::data
