#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "io/packed_array.h"
#include "utils/files.h"
#include "utils/shape.h"

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

/// A tokenised corpus `prefix.bin` + `prefix.idx` (Megatron's IndexedDataset): sequences of tokens,
/// grouped into documents. Opening checks every header field against the size of both files;
/// `verify` checks every entry; each `read` checks its own range, so that a corrupt file is an
/// Error(data) with file, offset and expectation. Reading from several threads is safe. Written by
/// TokenFileWriter.
class TokenFile {
 public:
  explicit TokenFile(const std::string& prefix, BinAccess access = BinAccess::mapped);

  const std::string& prefix() const { return prefix_; }
  TokenType type() const { return type_; }
  Index sequence_count() const { return lengths_.size(); }
  Index document_count() const { return documents_.size() - 1; }
  bool has_modes() const { return modes_.size() > 0; }

  Index length(Index sequence) const { return lengths_[sequence]; }  ///< tokens
  const PackedArray<std::int32_t>& lengths() const { return lengths_; }
  /// First sequence of a document; `document == document_count()` gives the end of the last one.
  Index document_begin(Index document) const { return documents_[document]; }
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

  void read_header();
  void open_bin(BinAccess access);
  void read_bytes(Index start, std::span<std::byte> out) const;
  Index byte_offset(Index sequence, Index offset, Index count) const;
  [[noreturn]] void fail_range(Index sequence, Index offset, Index count) const;

  std::string prefix_;
  MappedFile idx_;
  MappedFile bin_;
  Descriptor descriptor_;
  Index bin_bytes_ = 0;
  TokenType type_ = TokenType::i32;
  PackedArray<std::int32_t> lengths_;
  PackedArray<std::int64_t> pointers_;
  PackedArray<std::int64_t> documents_;
  PackedArray<std::int8_t> modes_;
};

}  // namespace mpitron::io
