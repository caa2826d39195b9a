#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "utils/error.h"

namespace mpitron::io {

/// Reads little-endian numbers and texts from bytes that nobody has checked. Every read is inside
/// the bytes, or Error(data) names the source and the position.
class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, const std::string& source)
      : bytes_(bytes), source_(source) {}

  std::size_t position() const { return position_; }
  std::size_t remaining() const { return bytes_.size() - position_; }
  void seek(std::uint64_t position) {
    if (position > bytes_.size()) {
      fail("a position inside the file", position);
    }
    position_ = static_cast<std::size_t>(position);
  }

  template <class T>
  T number() {
    T value{};
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::span<const std::byte> take(std::uint64_t size) {
    if (size > remaining()) {
      fail("so many bytes until the end", size);
    }
    const auto part = bytes_.subspan(position_, static_cast<std::size_t>(size));
    position_ += part.size();
    return part;
  }
  std::string_view text(std::uint64_t size) {
    const auto part = take(size);
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }
  /// Up to the next line feed, which is left out.
  std::string_view line() {
    const std::string_view rest(reinterpret_cast<const char*>(bytes_.data()) + position_,
                                remaining());
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) {
      fail("the end of a line", position_);
    }
    position_ += end + 1;
    return rest.substr(0, end);
  }

  [[noreturn]] void fail(std::string_view expected, std::uint64_t found) const {
    throw_data("{}: byte {}: expected {}, found {}: truncated or corrupt", source_, position_,
               expected, found);
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& source_;
  std::size_t position_ = 0;
};

}  // namespace mpitron::io
