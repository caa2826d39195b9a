#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "utils/numbers/shape.h"
#include "utils/system/files.h"

namespace mpitron::train {

/// A teacher's words for the rows of batches: of each token its likeliest words and their natural
/// log-probabilities. An HDF5 file: a table `rows` of keys (RowValues::key_of), arrays `ids`,
/// [rows, s, k] int32, and `log_probs`, [rows, s, k] fp32.
class TeacherFile {
 public:
  /// Offsets of the arrays of a new file, in bytes.
  struct Layout {
    Index ids = 0, log_probs = 0;
  };
  /// Makes a file with room for the rows, whose arrays are to be written.
  static Layout create(const std::filesystem::path& path, std::span<const std::uint64_t> keys,
                       Index seq_length, Index words);

  /// Error(data) for another or a damaged file, or one of another sequence length.
  TeacherFile(const std::filesystem::path& path, Index seq_length);

  const std::filesystem::path& path() const { return file_.path(); }
  Index words() const { return words_; }  // k
  /// Finds a row; nothing where it is not in the file.
  std::optional<Index> find(std::uint64_t key) const;
  std::span<const std::int32_t> ids(Index row) const { return numbers(ids_, row); }
  std::span<const float> log_probs(Index row) const { return numbers(log_probs_, row); }

 private:
  template <class T>
  std::span<const T> numbers(const T* array, Index row) const {
    const auto each = static_cast<std::size_t>(seq_length_ * words_);
    return {array + static_cast<std::size_t>(row) * each, each};
  }

  MappedFile file_;
  Index seq_length_, words_ = 0;
  std::unordered_map<std::uint64_t, Index> rows_;
  const std::int32_t* ids_ = nullptr;
  const float* log_probs_ = nullptr;
};

}  // namespace mpitron::train
