#pragma once
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "data/gpt/gpt_dataset.h"
#include "data/gpt/gpt_sample.h"
#include "io/arrays/safetensors.h"
#include "support/golden_json.h"

/// The reference data sets as options and arrays.
namespace mpitron::data {

inline std::optional<Index> optional_index(const nlohmann::json& value) {
  return value.is_null() ? std::nullopt : std::optional<Index>(value);
}

inline std::shared_ptr<const CorpusSource> golden_corpus(const std::string& prefix) {
  return std::make_shared<const CorpusSource>(test::golden_folder() + "/dataset/" + prefix,
                                              io::BinAccess::mapped);
}

/// Options of a split of a case of indices.json; `count` is its number of samples.
inline GptDatasetOptions golden_options(const nlohmann::json& expected, Split split,
                                        const nlohmann::json& count, Index sequences) {
  GptDatasetOptions options;
  options.description.dataset_path = expected["prefix"].get<std::string>();
  options.description.num_samples = optional_index(count);
  options.description.index_split = split;
  options.description.seed = expected["seed"];
  options.description.seq_length = expected["sequence_length"];
  options.description.split = expected["split"].get<std::string>();
  options.description.tokenizer.options = {{"vocab_size", std::to_string(test::golden_eod())}};
  std::tie(options.begin, options.end) =
      split_bounds(*parse_split(expected["split"])[split], sequences);
  options.vocab_size = test::golden_eod() + 1;
  if (expected.contains("options")) {
    const auto& given = expected["options"];
    options.add_extra_token = given.value("add_extra_token_to_sequence", true);
    options.drop_last_partial =
        split != Split::valid || given.value("drop_last_partial_validation_sequence", true);
  }
  return options;
}

inline std::vector<Index> integers(const io::SafetensorsFile::Tensor& tensor) {
  std::vector<Index> values;
  const auto copy = [&](const auto& packed) {
    for (Index i = 0; i < packed.size(); ++i) {
      values.push_back(static_cast<Index>(packed[i]));
    }
  };
  switch (tensor.type) {
    case io::ElementType::i16:
      copy(tensor.as<std::int16_t>());
      break;
    case io::ElementType::i32:
      copy(tensor.as<std::int32_t>());
      break;
    case io::ElementType::u32:
      copy(tensor.as<std::uint32_t>());
      break;
    case io::ElementType::u8:
      copy(tensor.as<std::uint8_t>());
      break;
    case io::ElementType::f32:
      copy(tensor.as<float>());
      break;
    default:
      copy(tensor.as<std::int64_t>());
  }
  return values;
}

inline std::vector<Index> integers(const IndexArray& array) {
  std::vector<Index> values;
  for (Index i = 0; i < array.size(); ++i) {
    values.push_back(array[i]);
  }
  return values;
}

template <class T>
std::vector<Index> integers(std::span<T> values) {
  return {values.begin(), values.end()};
}

/// Buffers for one sample.
struct SampleBuffers {
  explicit SampleBuffers(const GptSampleOptions& options)
      : text(static_cast<std::size_t>(options.text_length())),
        tokens(static_cast<std::size_t>(options.seq_length)),
        labels(tokens.size()),
        positions(tokens.size()),
        loss_mask(tokens.size()),
        mask(options.create_attention_mask ? tokens.size() * tokens.size() : 0) {}
  GptSample view() { return {tokens, labels, loss_mask, positions, mask}; }

  std::vector<std::int64_t> text, tokens, labels, positions;
  std::vector<float> loss_mask;
  std::vector<std::uint8_t> mask;
};

/// Compares every array that the reference recorded under `prefix`.
inline void expect_sample(const io::SafetensorsFile& file, const std::string& prefix,
                          SampleBuffers& sample) {
  ASSERT_NE(file.find(prefix + "/tokens"), nullptr) << prefix;
  const GptSample view = sample.view();
  EXPECT_EQ(integers(view.tokens), integers(file.at(prefix + "/tokens"))) << prefix;
  EXPECT_EQ(integers(view.labels), integers(file.at(prefix + "/labels"))) << prefix;
  EXPECT_EQ(integers(view.position_ids), integers(file.at(prefix + "/position_ids"))) << prefix;
  EXPECT_EQ(integers(view.loss_mask), integers(file.at(prefix + "/loss_mask"))) << prefix;
  const auto* mask = file.find(prefix + "/attention_mask");
  EXPECT_EQ(mask == nullptr, sample.mask.empty()) << prefix;
  if (mask != nullptr) {
    EXPECT_EQ(integers(view.attention_mask), integers(*mask)) << prefix;
  }
}

}  // namespace mpitron::data
