#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/arrays/packed_array.h"
#include "utils/numbers/shape.h"
#include "utils/system/files.h"

namespace mpitron::io {

/// Element types of a `.bin` file; the values are the codes in the `.idx` header.
enum class TokenType : std::uint8_t { u8 = 1, i8, i16, i32, i64, f64, f32, u16 };

std::size_t size_of(TokenType type);
const char* to_string(TokenType type);

/// The type a corpus is written with: u16 below 65500 ids, else i32 (as Megatron's
/// preprocess_data).
TokenType token_type_for(Index vocab_size);

inline constexpr std::string_view kTokenIndexMagic{"MMIDIDX\0\0", 9};
inline constexpr std::uint64_t kTokenIndexVersion = 1;

enum class BinAccess { mapped, read };  ///< `read`: pread, for file systems where mapping is slow

/// A tokenised corpus: sequences of tokens, grouped into documents. `prefix.bin` + `prefix.idx`
/// (Megatron's IndexedDataset), or the same in one HDF5 file: a name that ends in `.h5`, or
/// that of a prefix without `.idx` beside which `prefix.h5` lies (token_hdf5.h). Opening checks
/// every header field against the size of both files; `verify` checks every entry; each `read`
/// checks its own range, so that a corrupt file is an Error(data) with file, offset and
/// expectation. Reading from several threads is safe. Written by TokenFileWriter and
/// write_token_hdf5.
class TokenFile {
 public:
  explicit TokenFile(const std::string& prefix, BinAccess access = BinAccess::mapped);

  /// The name as given.
  const std::string& prefix() const { return prefix_; }
  /// The file of the tokens, and the byte in it of the first token of a sequence.
  const std::string& token_path() const { return bin_path_; }
  Index byte_position(Index sequence) const { return bin_begin_ + byte_offset(sequence, 0, 0); }
  /// Tokenizer::fingerprint of who wrote the corpus; empty where it is not known (`.bin` + `.idx`
  /// do not tell).
  const std::string& tokenizer_hash() const { return tokenizer_hash_; }
  TokenType type() const { return type_; }
  Index sequence_count() const { return lengths_.size(); }
  Index document_count() const { return documents_.size() - 1; }
  bool has_modes() const { return modes_.size() > 0; }

  Index length(Index sequence) const { return lengths_[sequence]; }  ///< tokens
  const PackedArray<std::int32_t>& lengths() const { return lengths_; }
  /// First sequence of a document; `document == document_count()` gives the end of the last one.
  Index document_begin(Index document) const { return documents_[document]; }
  /// [documents + 1] what document_begin gives.
  const PackedArray<std::int64_t>& documents() const { return documents_; }
  int mode(Index sequence) const { return modes_.size() > 0 ? modes_[sequence] : 0; }

  /// Tokens [offset, offset + out.size()) of a sequence, widened to int64.
  void read(Index sequence, Index offset, std::span<std::int64_t> out) const;
  /// The whole sequence as it lies in the file (`mapped` only).
  std::span<const std::byte> raw(Index sequence) const;

  /// Checks every length, pointer and document boundary.
  void verify() const;

 private:
  class Descriptor {  // closes itself
   public:
    Descriptor() = default;
    explicit Descriptor(int value) : value_(value) {}
    ~Descriptor();
    Descriptor(Descriptor&& other) noexcept;
    Descriptor& operator=(Descriptor&& other) noexcept;
    int get() const { return value_; }

   private:
    int value_ = -1;
  };

  void open_index();
  void open_hdf5();
  void read_header();
  void open_bin(BinAccess access);
  template <class T>
  Index index_byte(const PackedArray<T>& array, Index i) const;
  void read_bytes(Index start, std::span<std::byte> out) const;
  Index byte_offset(Index sequence, Index offset, Index count) const;
  [[noreturn]] void fail_range(Index sequence, Index offset, Index count) const;

  std::string prefix_;
  std::string idx_path_, bin_path_;  // one file in HDF5
  std::string tokenizer_hash_;
  MappedFile idx_;  // HDF5: holds the tokens too
  MappedFile bin_;
  Descriptor descriptor_;
  std::span<const std::byte> tokens_;  // mapped
  Index bin_begin_ = 0;                // of the tokens in their file
  Index bin_bytes_ = 0;
  Index pointer_unit_ = 1;  // bytes: `.idx` counts bytes, HDF5 tokens
  TokenType type_ = TokenType::i32;
  PackedArray<std::int32_t> lengths_;
  PackedArray<std::int64_t> pointers_;
  PackedArray<std::int64_t> documents_;
  PackedArray<std::int8_t> modes_;
};

/// Names of corpora that were probably meant by a prefix without `.idx`: the prefix without an
/// ending that it must not have, else those beside it that continue it (`wiki` for
/// `wiki_text_document`), at most three in the order of their names.
std::vector<std::string> similar_corpora(const std::string& prefix);

}  // namespace mpitron::io
