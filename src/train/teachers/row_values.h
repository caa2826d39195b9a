#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <unordered_map>

namespace mpitron::train {

/// Keeps a number for each row of the batches, by the row's tokens and weights. So it does not
/// matter in which order, blend or layout rows come. Stored in an HDF5 file: a table `rows` of
/// (key, bits of the number in fp64).
class RowValues {
 public:
  /// Returns the key of a row; equal rows have equal keys.
  static std::uint64_t key_of(std::span<const std::int64_t> tokens, std::span<const float> weights);

  bool contains(std::uint64_t key) const { return values_.contains(key); }
  void set(std::uint64_t key, double value) { values_[key] = value; }
  /// Returns a row's number, 0 where there is none.
  double of(std::uint64_t key) const;
  std::size_t size() const { return values_.size(); }

  /// Adds the rows of a file; Error(data) for one of another kind.
  void read(const std::filesystem::path& path);
  /// Replaces the file, with the rows in the order of their keys: complete and on the disk, or as
  /// it was before. Error(data).
  void write(const std::filesystem::path& path) const;

 private:
  std::unordered_map<std::uint64_t, double> values_;
};

}  // namespace mpitron::train
