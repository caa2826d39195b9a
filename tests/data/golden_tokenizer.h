#pragma once
#include <cstdlib>
#include <filesystem>

#include "data/byte_pair_encoding.h"

namespace mpitron::data {

/// Folder `tokenizer` of the golden data ($MPITRON_GOLDEN_DIR, else tests/golden).
inline std::filesystem::path golden_tokenizer_dir() {
  const char* chosen = std::getenv("MPITRON_GOLDEN_DIR");
  const std::filesystem::path fallback = std::filesystem::path(MPITRON_SOURCE_DIR) / "tests/golden";
  return (chosen != nullptr ? std::filesystem::path(chosen) : fallback) / "tokenizer";
}

/// GPT-2's own vocabulary, loaded once.
inline const BytePairEncoding& gpt2_tokenizer() {
  static const BytePairEncoding tokenizer(golden_tokenizer_dir() / "gpt2/vocab.json",
                                          golden_tokenizer_dir() / "gpt2/merges.txt");
  return tokenizer;
}

}  // namespace mpitron::data
