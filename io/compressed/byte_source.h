#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "utils/numbers/shape.h"

namespace mpitron::io {

/// Bytes that come one after the other: a file, a pipe, what a compressed file holds.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Puts at least one byte at `out` and at most `bytes` (> 0); 0 at the end. Error(data) names the
  /// file.
  virtual std::size_t read(char* out, std::size_t bytes) = 0;
  /// Leaves out the next `bytes`. Error(data) where the source ends before.
  virtual void skip(Index bytes);
};

/// Opens a file, or standard input by the name "-". What begins as gzip or zstd data is given
/// decompressed, whatever its name; xz and bzip2 are refused by name. `stop` is asked while a pipe
/// has nothing to read, or nobody at its other end yet: true ends the input there. Error(data) for
/// everything that cannot be read, also for a file that ends in `.gz` or `.zst` and holds something
/// else.
std::unique_ptr<ByteSource> open_source(const std::string& file,
                                        const std::function<bool()>& stop = {});

/// What the members of a gzip file hold (RFC 1952). Error(data) with the place for data that are
/// damaged or end in the middle.
std::unique_ptr<ByteSource> gunzip(std::unique_ptr<ByteSource> compressed, std::string name);

/// What the frames of a zstd file hold (RFC 8878). Errors as `gunzip`.
std::unique_ptr<ByteSource> unzstd(std::unique_ptr<ByteSource> compressed, std::string name);

/// True for names of compressed files (`.gz`, `.zst`).
bool names_compressed(const std::string& file);

}  // namespace mpitron::io
