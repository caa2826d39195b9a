#include "io/logs/tensorboard.h"

#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "utils/error.h"
#include "utils/log.h"
#include "utils/system/files.h"
#include "utils/system/machine.h"

// Event files without protobuf's library: the few fields of an event are encoded by hand, records
// are framed by masked crc32c as TFRecord has it.

namespace mpitron::io {
namespace {

// Protobuf wire types and the field numbers of event.proto and summary.proto.
enum class Wire : unsigned { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

template <class Value>
void put_raw(std::string& out, Value value) {
  std::array<char, sizeof(Value)> bytes;
  std::memcpy(bytes.data(), &value, sizeof(Value));
  out.append(bytes.data(), bytes.size());
}

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    out += static_cast<char>(value | 0x80);
  }
  out += static_cast<char>(value);
}

void put_key(std::string& out, unsigned field, Wire wire) {
  put_varint(out, field << 3 | static_cast<unsigned>(wire));
}

void put_integer(std::string& out, unsigned field, std::int64_t value) {
  put_key(out, field, Wire::varint);
  put_varint(out, static_cast<std::uint64_t>(value));
}

void put_bytes(std::string& out, unsigned field, std::string_view bytes) {
  put_key(out, field, Wire::bytes);
  put_varint(out, bytes.size());
  out.append(bytes);
}

double wall_time() {
  using Seconds = std::chrono::duration<double>;
  return Seconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string file_name() {
  static std::atomic<int> files{0};
  return fmt::format("events.out.tfevents.{}.{}.{}.{}", static_cast<std::int64_t>(wall_time()),
                     host_name(), ::getpid(), files++);
}

std::string summary(std::string_view value) {
  std::string wrapped;
  put_bytes(wrapped, 1, value);  // Summary.value
  std::string field;
  put_bytes(field, 5, wrapped);  // Event.summary
  return field;
}

}  // namespace

static_assert(std::endian::native == std::endian::little, "the formats here are little-endian");

TensorboardWriter::TensorboardWriter(const std::filesystem::path& folder, std::int64_t queue_size)
    : path_(folder / file_name()), queue_size_(queue_size) {
  std::error_code ignored;  // the open below says what is wrong
  std::filesystem::create_directories(folder, ignored);
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    throw_data("{}: cannot create: {} (--tensorboard-dir)", path_.string(), std::strerror(errno));
  }
  std::string version;
  put_bytes(version, 3, "brain.Event:2");  // Event.file_version
  add_event(0, version);
  flush();
}

TensorboardWriter::~TensorboardWriter() {
  flush();
  ::close(descriptor_);
}

void TensorboardWriter::add_scalar(std::string_view tag, double value, std::int64_t step) {
  std::string scalar;
  put_bytes(scalar, 1, tag);          // Value.tag
  put_key(scalar, 2, Wire::fixed32);  // Value.simple_value
  put_raw(scalar, static_cast<float>(value));
  add_event(step, summary(scalar));
}

void TensorboardWriter::add_text(std::string_view tag, std::string_view text, std::int64_t step) {
  std::string plugin_data;
  put_bytes(plugin_data, 1, "text");  // PluginData.plugin_name
  std::string metadata;
  put_bytes(metadata, 1, plugin_data);  // SummaryMetadata.plugin_data
  std::string tensor;
  put_integer(tensor, 1, 7);   // TensorProto.dtype = DT_STRING
  put_bytes(tensor, 2, "");    // TensorProto.tensor_shape: a scalar
  put_bytes(tensor, 8, text);  // TensorProto.string_val
  std::string value;
  put_bytes(value, 1, tag);
  put_bytes(value, 8, tensor);    // Value.tensor
  put_bytes(value, 9, metadata);  // Value.metadata
  add_event(step, summary(value));
}

void TensorboardWriter::add_event(std::int64_t step, std::string_view what) {
  std::string event;
  put_key(event, 1, Wire::fixed64);  // Event.wall_time
  put_raw(event, wall_time());
  put_integer(event, 2, step);  // Event.step
  event.append(what);
  write_record(event);
  if (++queued_ >= queue_size_) {
    flush();
  }
}

void TensorboardWriter::write_record(std::string_view payload) {
  std::string length;
  put_raw(length, static_cast<std::uint64_t>(payload.size()));
  buffer_ += length;
  put_raw(buffer_, masked_crc32c(length));
  buffer_.append(payload);
  put_raw(buffer_, masked_crc32c(payload));
}

/// Whole records or none: readers stop at a broken one.
void TensorboardWriter::flush() {
  const off_t end = ::lseek(descriptor_, 0, SEEK_END);
  if (!write_all(descriptor_, buffer_)) {
    const int error = errno;
    if (!std::exchange(warned_, true)) {
      log::warning("{}: cannot write: {}; the run goes on, events are missing there",
                   path_.string(), std::strerror(error));
    }
    if (::ftruncate(descriptor_, end) != 0) {
      log::warning("{}: ends within an event: {}", path_.string(), std::strerror(errno));
    }
  }
  buffer_.clear();
  queued_ = 0;
}

}  // namespace mpitron::io
