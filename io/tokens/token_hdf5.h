#pragma once
#include <filesystem>
#include <string>

#include "io/tokens/token_file.h"
#include "utils/numbers/shape.h"
#include "utils/system/files.h"

namespace mpitron::io {

/// Bytes [begin, begin + bytes) of a file.
struct ByteRange {
  Index begin = 0;
  Index bytes = 0;
};

/// Where the arrays of a corpus lie in its HDF5 file. Any HDF5 tool reads them: they are the data
/// sets of these names, neither chunked nor compressed; so we map them instead.
struct TokenHdf5 {
  TokenType type = TokenType::i32;
  std::string tokenizer_hash;  // attribute; empty: unknown
  ByteRange tokens;            // of `type`, all sequences one after the other
  ByteRange lengths;           // int32 [sequences]
  ByteRange offsets;           // int64 [sequences] first token of each
  ByteRange documents;         // int64 [documents + 1] first sequence of each, and the end
  ByteRange modes;             // int8 [sequences], or nothing
};

/// Error(data) for what write_token_hdf5 did not write. The last 128 bytes of a file are a
/// seal: it says where the arrays lie and hashes everything else, because HDF5 may hang or
/// crash on damaged structures; it is checked first, then HDF5 is asked for the places too.
/// Damage inside the arrays is left to TokenFile's checks: hashing them would read the whole
/// file.
TokenHdf5 read_token_hdf5(const MappedFile& file);

/// The content of a corpus (opened `mapped`) as one HDF5 file, complete or not at all.
void write_token_hdf5(const TokenFile& corpus, const std::filesystem::path& path,
                      const std::string& tokenizer_hash);

}  // namespace mpitron::io
