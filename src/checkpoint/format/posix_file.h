#pragma once
#include <filesystem>
#include <string>

#include "utils/numbers/shape.h"

namespace mpitron::checkpoint {

/// An open file that several threads read or write at offsets. Every failure is an Error(data) that
/// names the file; a full disk says what to do.
class PosixFile {
 public:
  enum class Mode { read, modify };

  PosixFile(const std::filesystem::path& path, Mode mode);
  ~PosixFile();
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  Index size() const;
  /// Reads all bytes, or throws: an end of file before them is an error.
  void read(Index offset, void* data, Index bytes) const;
  /// Tells the system that these are read soon; the disk may begin.
  void begin_read(Index offset, Index bytes) const;
  void write(Index offset, const void* data, Index bytes);
  /// Takes the disk's room for the whole file now, where the file system can: what is not there is
  /// told before hours of work depend on it.
  void reserve(Index bytes);
  /// Tells the disk to begin with what was written; `sync` waits for less.
  void begin_sync();
  /// Brings everything written to the disk.
  void sync();

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

/// Throws Error(data) where a new file `path` cannot get so many bytes; leaves no file.
void check_room(const std::filesystem::path& path, Index bytes);

/// Brings the names in a folder to the disk.
void sync_folder(const std::filesystem::path& folder);

/// Gives a file, whose bytes are on the disk, the name `to`, replacing what has it, and brings the
/// new name to the disk. Error(data).
void move_into_place(const std::filesystem::path& from, const std::filesystem::path& to);

/// Throws Error(data) for errno: "PATH: cannot ACTION: REASON", and what to do where that is known.
[[noreturn]] void throw_system_error(const std::filesystem::path& path, const std::string& action,
                                     int error);

}  // namespace mpitron::checkpoint
