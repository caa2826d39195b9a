#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "io/tokens/token_file.h"
#include "utils/numbers/shape.h"
#include "utils/system/files.h"

namespace mpitron::io {

/// The `.idx` of a corpus on its way to the disk. Its arrays are added in the order of the
/// functions below, each in any number of pieces.
class TokenIndexWriter {
 public:
  TokenIndexWriter(const std::string& prefix, TokenType type, Index sequences, Index documents);

  /// [sequences] tokens of each.
  void add_lengths(std::span<const std::int32_t> lengths);
  /// [sequences] the same lengths: written is where in `.bin` the sequences begin.
  void add_pointers(std::span<const std::int32_t> lengths);
  /// [documents + 1] first sequence of each, and the end.
  void add_documents(std::span<const std::int64_t> documents);
  /// [sequences] or nothing.
  void add_modes(std::span<const std::int8_t> modes);

  /// Brings the index to the disk (a full one shows while the names still belong to the earlier
  /// corpus or to none), takes away an earlier index, which must not meet the new tokens, calls
  /// `put_tokens`, which puts `.bin` in place, and puts the index in place: a crash leaves none
  /// that looks complete.
  void commit(const std::function<void()>& put_tokens);

 private:
  std::string path_;
  AtomicFile file_;
  std::int64_t token_bytes_;
  std::int64_t pointer_ = 0;
};

}  // namespace mpitron::io
