#pragma once
#include <filesystem>

#include "support/corpus.h"
#include "tokenizers/bpe/byte_pair_encoding.h"

namespace mpitron::tokenizers {

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

}  // namespace mpitron::tokenizers
