#pragma once
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace mpitron::io {

/// A zip archive whose entries are stored, not compressed, as torch.save writes it; also ZIP64.
/// Nothing is copied: entries are views into the bytes given. Every offset and size is checked
/// against them. Error(data) names `source` and the entry.
class ZipArchive {
 public:
  ZipArchive(std::span<const std::byte> bytes, std::string source);

  const std::map<std::string, std::span<const std::byte>, std::less<>>& entries() const {
    return entries_;
  }
  /// Error(data) where there is no such entry.
  std::span<const std::byte> at(std::string_view name) const;
  const std::string& source() const { return source_; }

 private:
  std::string source_;
  std::map<std::string, std::span<const std::byte>, std::less<>> entries_;
};

}  // namespace mpitron::io
