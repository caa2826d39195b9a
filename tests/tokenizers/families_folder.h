#pragma once
#include <filesystem>

#include "support/corpus.h"

namespace mpitron::tokenizers {

/// Models and vectors of tokenizer families: those beside the reference data, else the project's.
inline std::filesystem::path families_folder() {
  const std::filesystem::path given =
      std::filesystem::path(test::golden_folder()) / "tokenizer/families";
  return std::filesystem::exists(given) ? given
                                        : MPITRON_SOURCE_DIR "/tests/golden/tokenizer/families";
}

}  // namespace mpitron::tokenizers
