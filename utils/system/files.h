#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace mpitron {

/// A read-only memory-mapped file. Throws Error(data) naming the file when it cannot be opened or
/// mapped.
class MappedFile {
 public:
  MappedFile() = default;
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(data_), size_}; }
  std::string_view text() const { return {static_cast<const char*>(data_), size_}; }
  const std::filesystem::path& path() const { return path_; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
  std::filesystem::path path_;
};

/// Buffered writer to a temporary name of its own beside `path`; `commit` flushes, fsyncs and
/// renames, so that `path` is either complete or absent. Without commit the temporary file is
/// removed. Every failed write throws Error(data); for a full disk it says what to do.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, std::size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Brings everything to the disk; then `commit` only renames. Writers of several files sync all
  /// of them before they commit the first. Nothing may be written afterwards.
  void sync();
  void commit();

 private:
  void flush();
  void write_through(std::string_view bytes);

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
  bool synced_ = false;
  bool committed_ = false;
  std::string buffer_;
};

/// Whole file as a string; Error(data) when it cannot be read.
std::string read_file(const std::filesystem::path& path);

/// Writes all bytes, in as many pieces as the system wants; false, and errno, where it refuses.
bool write_all(int descriptor, std::string_view bytes);

/// Makes the folder that `option` names, and those above it; Error(data) where that fails.
void make_folder(std::string_view option, const std::filesystem::path& folder);

}  // namespace mpitron
