#pragma once
#include <memory>
#include <string>

#include "data/golden_gpt.h"
#include "data/masked_lm/masked_lm.h"
#include "data/masked_lm/masked_lm_index.h"

/// The reference data sets of BERT and T5 as options.
namespace mpitron::data {

inline std::shared_ptr<const io::TokenFile> golden_sentences(const nlohmann::json& expected) {
  return std::make_shared<const io::TokenFile>(test::golden_folder() + "/dataset/" +
                                               expected["prefix"].get<std::string>());
}

inline MaskedLmVocabulary golden_vocabulary() {
  const auto json = test::golden_json("dataset/indices.json")["stand_in_tokenizer"];
  MaskedLmVocabulary vocabulary{.pad = json["pad"],
                                .cls = json["cls"],
                                .sep = json["sep"],
                                .mask = json["mask"],
                                .bos = json["bos"],
                                .eos = json["eos"],
                                .size = json["vocab"],
                                .continues = {},
                                .first_sentinel = json["sentinels"][0],
                                .end_sentinel = json["sentinels"][1]};
  for (Index id = 0; id < vocabulary.size; ++id) {
    vocabulary.continues.push_back(id >= 150 && id % 2 == 1);
  }
  return vocabulary;
}

/// body(reference split, index options) for every split of a case.
template <class Body>
void for_each_split(const nlohmann::json& expected, const io::TokenFile& corpus, Body&& body) {
  for (const Split split : kSplits) {
    const auto& reference = expected["splits"][to_string(split)];
    if (reference.is_null()) {
      continue;
    }
    MaskedLmIndexOptions options;
    GptDescription& description = options.description;
    description.dataset_path = expected["prefix"].get<std::string>();
    description.num_samples = expected["num_samples"][static_cast<std::size_t>(split)].get<Index>();
    description.index_split = split;
    description.seed = expected["seed"];
    description.split = expected["split"].get<std::string>();
    description.masked_lm =
        MaskedLmDescription{.masking_probability = expected["mask_prob"],
                            .short_sequence_probability = expected["short_seq_prob"],
                            .classification_head = std::nullopt,
                            .decoder_seq_length = std::nullopt};
    std::tie(options.begin, options.end) =
        split_bounds(*parse_split(expected["split"])[split], corpus.document_count());
    EXPECT_EQ(options.begin, reference["documents"][0]);
    EXPECT_EQ(options.end, reference["documents"][1]);
    body(reference, options);
  }
}

inline void expect_rows(const MaskedLmIndex& index, const nlohmann::json& reference,
                        const io::SafetensorsFile& arrays) {
  const std::string name = reference["arrays"];
  EXPECT_EQ(index.size(), reference["length"]) << name;
  EXPECT_EQ(integers(index.rows()), integers(arrays.at(name + "/sample_index"))) << name;
  EXPECT_EQ(index.rows().type(), arrays.at(name + "/sample_index").type) << name;
}

/// Row `i` of a recorded array, or one number of it.
inline std::vector<Index> golden_row(const io::SafetensorsFile& arrays, const std::string& name,
                                     Index i, Index rows) {
  const std::vector<Index> all = integers(arrays.at(name));
  const auto width = static_cast<std::ptrdiff_t>(all.size()) / rows;
  return {all.begin() + i * width, all.begin() + (i + 1) * width};
}

}  // namespace mpitron::data
