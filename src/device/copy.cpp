// Copies between host and device in stream order, and on a lane of its own beside the stream.
#include "device/copy.h"

#include <cstring>

namespace mpitron::device {
namespace {

template <class S>
constexpr bool kOnHost = std::is_same_v<S, HostStream> || std::is_same_v<S, ReferenceStream>;

/// copy(s) on a stream of a device with memory of its own; in the host's memory a plain copy.
template <class Copy>
void copy_or(Stream& stream, void* to, const void* from, Index bytes, const Copy& copy) {
  if (bytes == 0) {
    return;
  }
  std::visit(
      [&]<class S>(S& s) {
        if constexpr (std::is_same_v<S, NullStream>) {
          return;
        } else if constexpr (kOnHost<S>) {
          std::memcpy(to, from, static_cast<std::size_t>(bytes));
        } else {
          copy(s);
        }
      },
      stream);
}

}  // namespace

void copy_bytes(Stream& stream, void* to, const void* from, Index bytes) {
  copy_or(stream, to, from, bytes, [&](auto& s) { copy_bytes(s, to, from, bytes); });
}

void upload_bytes(Stream& stream, void* to, const void* from, Index bytes) {
  copy_or(stream, to, from, bytes, [&](auto& s) { upload_bytes(s, to, from, bytes); });
}

void synchronize(Stream& stream) {
  std::visit(
      []<class S>(S& s) {
        if constexpr (std::is_same_v<S, CudaStream>) {
          synchronize(s);
        }
      },
      stream);
}

std::unique_ptr<CopyLane> make_copy_lane(Stream& stream) {
  return std::visit(
      []<class S>(S& s) -> std::unique_ptr<CopyLane> {
        if constexpr (std::is_same_v<S, CudaStream>) {
          return make_copy_lane(s);
        } else {
          return nullptr;
        }
      },
      stream);
}

}  // namespace mpitron::device
