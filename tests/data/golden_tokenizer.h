#pragma once
#include <filesystem>

#include "data/byte_pair_encoding.h"
#include "support/corpus.h"

namespace mpitron::data {

/// Folder `tokenizer` of the reference data.
inline std::filesystem::path golden_tokenizer_dir() {
  return std::filesystem::path(test::golden_folder()) / "tokenizer";
}

/// GPT-2's own vocabulary, loaded once.
inline const BytePairEncoding& gpt2_tokenizer() {
  static const BytePairEncoding tokenizer(golden_tokenizer_dir() / "gpt2/vocab.json",
                                          golden_tokenizer_dir() / "gpt2/merges.txt");
  return tokenizer;
}

}  // namespace mpitron::data
