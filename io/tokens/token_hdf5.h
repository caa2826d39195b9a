#pragma once
#include <filesystem>
#include <string>

#include "io/hdf5/sealed_arrays.h"
#include "io/tokens/token_file.h"

namespace mpitron::io {

/// Where the arrays of a corpus lie in its HDF5 file, as the data sets of these names.
struct TokenHdf5 {
  TokenType type = TokenType::i32;
  std::string tokenizer_hash;  // attribute; empty: unknown
  ByteRange tokens;            // of `type`, all sequences one after the other
  ByteRange lengths;           // int32 [sequences]
  ByteRange offsets;           // int64 [sequences] first token of each
  ByteRange documents;         // int64 [documents + 1] first sequence of each, and the end
  ByteRange modes;             // int8 [sequences], or nothing
};

/// Error(data) for what write_token_hdf5 did not write (sealed_arrays.h). Damage inside the arrays
/// is left to TokenFile's checks: hashing them would read the whole file.
TokenHdf5 read_token_hdf5(const MappedFile& file);

/// The content of a corpus (opened `mapped`) as one HDF5 file, complete or not at all.
void write_token_hdf5(const TokenFile& corpus, const std::filesystem::path& path,
                      const std::string& tokenizer_hash);

}  // namespace mpitron::io
