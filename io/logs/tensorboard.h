#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace mpitron::io {

/// Writes a TensorBoard event file `events.out.tfevents.<seconds>.<host>.<pid>.<n>` into a folder.
/// A record is u64 length, u32 masked crc32c of the length, a protobuf `Event`, u32 masked crc32c
/// of it. Not thread safe.
class TensorboardWriter {
 public:
  /// Creates the folder and the file; Error(data) when that fails. Events are written to disk in
  /// groups of `queue_size`
  /// (--tensorboard-queue-size), by `flush` and at the end.
  explicit TensorboardWriter(const std::filesystem::path& folder, std::int64_t queue_size = 1000);
  ~TensorboardWriter();
  TensorboardWriter(const TensorboardWriter&) = delete;
  TensorboardWriter& operator=(const TensorboardWriter&) = delete;

  void add_scalar(std::string_view tag, double value, std::int64_t step);
  /// Text as shown in TensorBoard's Text tab (the arguments of the run).
  void add_text(std::string_view tag, std::string_view text, std::int64_t step);
  /// A run does not end for its log: events that a full disk does not take are left out, with one
  /// warning.
  void flush();

  const std::filesystem::path& path() const { return path_; }

 private:
  void add_event(std::int64_t step, std::string_view what);
  void write_record(std::string_view payload);

  std::filesystem::path path_;
  int descriptor_ = -1;
  bool warned_ = false;  // once
  std::string buffer_;
  std::int64_t queued_ = 0;
  std::int64_t queue_size_;
};

/// CRC-32C (Castagnoli) of the bytes.
std::uint32_t crc32c(std::string_view bytes);

/// The form stored in TFRecord files, where a checksum may be part of checksummed data.
std::uint32_t masked_crc32c(std::string_view bytes);

}  // namespace mpitron::io
