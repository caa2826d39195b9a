#pragma once

#include "io/tokens/token_file.h"
#include "io/tokens/token_file_writer.h"
#include "utils/error.h"

// A token file of a few sequences.

namespace mpitron::io {

inline std::vector<std::int64_t> sequence_of(const TokenFile& file, Index i) {
  std::vector<std::int64_t> tokens(static_cast<std::size_t>(file.length(i)));
  file.read(i, 0, tokens);
  return tokens;
}

inline void write_small(const std::string& prefix) {
  TokenFileWriter writer(prefix, TokenType::u16);
  writer.add_document(std::vector<std::int32_t>{1, 2, 3, 4, 5}, std::vector<std::int32_t>{2, 3});
  writer.add_document(std::vector<std::int32_t>{6}, std::vector<std::int32_t>{1});
  writer.commit();
}

}  // namespace mpitron::io
