#include "io/tokens/token_file.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <unistd.h>

#include "utils/error.h"

// Megatron's corpora: `.bin` with the tokens one behind the other, `.idx` with their type, lengths
// of sequences, byte offsets and documents. Every number of the index is checked against the size
// of `.bin` when the file is opened.

namespace mpitron::io {
namespace {

/// `raw` may be the end of `out` itself: element i is read before element i of `out` overwrites it.
template <class T>
void widen(const std::byte* raw, std::span<std::int64_t> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, raw + i * sizeof(T), sizeof(T));
    out[i] = static_cast<std::int64_t>(value);
  }
}

void widen(TokenType type, const std::byte* raw, std::span<std::int64_t> out) {
  switch (type) {
    case TokenType::u8:
      return widen<std::uint8_t>(raw, out);
    case TokenType::i8:
      return widen<std::int8_t>(raw, out);
    case TokenType::i16:
      return widen<std::int16_t>(raw, out);
    case TokenType::i32:
      return widen<std::int32_t>(raw, out);
    case TokenType::i64:
      return widen<std::int64_t>(raw, out);
    case TokenType::u16:
      return widen<std::uint16_t>(raw, out);
    case TokenType::f32:
    case TokenType::f64:
      break;
  }
  throw_data("a corpus of type {} holds features, not token ids", to_string(type));
}

}  // namespace

std::size_t size_of(TokenType type) {
  static constexpr std::size_t kSizes[] = {0, 1, 1, 2, 4, 8, 8, 4, 2};
  return kSizes[static_cast<std::size_t>(type)];
}

const char* to_string(TokenType type) {
  static constexpr const char* kNames[] = {"none",  "uint8",   "int8",    "int16", "int32",
                                           "int64", "float64", "float32", "uint16"};
  return kNames[static_cast<std::size_t>(type)];
}

TokenType token_type_for(Index vocab_size) {
  constexpr Index kVocabLimit = 65500;
  return vocab_size < kVocabLimit ? TokenType::u16 : TokenType::i32;
}

TokenFile::Descriptor::~Descriptor() {
  if (value_ >= 0) {
    ::close(value_);
  }
}

TokenFile::Descriptor::Descriptor(Descriptor&& other) noexcept
    : value_(std::exchange(other.value_, -1)) {}

TokenFile::Descriptor& TokenFile::Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(value_, other.value_);
  return *this;
}

Index TokenFile::byte_offset(Index sequence, Index offset, Index count) const {
  if (sequence < 0 || sequence >= sequence_count()) {
    throw_data("{}: sequence {} asked for, but there are {}", idx_path_, sequence,
               sequence_count());
  }
  const Index width = static_cast<Index>(size_of(type_));
  const Index length = lengths_[sequence];
  const Index pointer = pointers_[sequence];
  const bool inside = length >= 0 && pointer >= 0 && pointer <= bin_bytes_ / pointer_unit_ &&
                      length <= (bin_bytes_ - pointer * pointer_unit_) / width;
  if (!inside || offset < 0 || offset > length || count > length - offset) [[unlikely]] {
    fail_range(sequence, offset, count);
  }
  return pointer * pointer_unit_ + offset * width;
}

void TokenFile::fail_range(Index sequence, Index offset, Index count) const {
  const Index length = lengths_[sequence];
  if (length < 0) {
    throw_data("{}: byte {}: expected a length of at least 0, found {}", idx_path_,
               index_byte(lengths_, sequence), length);
  }
  if (offset > 0 || (count > length && length <= bin_bytes_)) {
    throw_data("{}: tokens [{}, {}) asked of sequence {}, which has {}", prefix_, offset,
               offset + count, sequence, length);
  }
  throw_data(
      "{}: byte {}: sequence {} has {} tokens of {} bytes from {} {} on, but {} has {} bytes of "
      "tokens (truncated, or of another corpus)",
      idx_path_, index_byte(pointers_, sequence), sequence, length, size_of(type_),
      pointer_unit_ == 1 ? "byte" : "token", pointers_[sequence], bin_path_, bin_bytes_);
}

void TokenFile::read(Index sequence, Index offset, std::span<std::int64_t> out) const {
  const Index start = byte_offset(sequence, offset, static_cast<Index>(out.size()));
  if (descriptor_.get() < 0) {
    return widen(type_, tokens_.data() + start, out);
  }
  // The raw tokens are read into the end of `out` and widened in place: no buffer of our own.
  const std::span<std::byte> raw = std::as_writable_bytes(out).last(out.size() * size_of(type_));
  read_bytes(bin_begin_ + start, raw);
  widen(type_, raw.data(), out);
}

void TokenFile::read_bytes(Index start, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t n = ::pread(descriptor_.get(), out.data(), out.size(), start);
    if (n == 0 || (n < 0 && errno != EINTR)) {
      throw_data("{}: byte {}: cannot read: {}", bin_path_, start,
                 n == 0 ? "the file became shorter" : std::strerror(errno));
    }
    start += n > 0 ? n : 0;
    out = out.subspan(n > 0 ? static_cast<std::size_t>(n) : 0);
  }
}

std::span<const std::byte> TokenFile::raw(Index sequence) const {
  MPITRON_CHECK(descriptor_.get() < 0);
  const Index start = byte_offset(sequence, 0, 0);
  return tokens_.subspan(static_cast<std::size_t>(start),
                         static_cast<std::size_t>(lengths_[sequence]) * size_of(type_));
}

void TokenFile::verify() const {
  for (Index i = 0; i < sequence_count(); ++i) {
    byte_offset(i, 0, 0);
  }
  for (Index i = 0; i < document_count(); ++i) {
    if (documents_[i] > documents_[i + 1]) {
      throw_data("{}: byte {}: document {} begins at sequence {}, after its end {}", idx_path_,
                 index_byte(documents_, i), i, documents_[i], documents_[i + 1]);
    }
  }
}

}  // namespace mpitron::io
