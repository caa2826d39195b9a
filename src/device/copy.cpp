#include "device/copy.h"

#include <cstring>

namespace mpitron::device {
namespace {

template <class S>
constexpr bool kOnHost = std::is_same_v<S, HostStream> || std::is_same_v<S, ReferenceStream>;

}  // namespace

void copy_bytes(Stream& stream, void* to, const void* from, Index bytes) {
  if (bytes == 0) {
    return;
  }
  std::visit(
      [&]<class S>(S& s) {
        if constexpr (kOnHost<S>) {
          std::memcpy(to, from, static_cast<std::size_t>(bytes));
        } else {
          copy_bytes(s, to, from, bytes);
        }
      },
      stream);
}

void upload_bytes(Stream& stream, void* to, const void* from, Index bytes) {
  if (bytes == 0) {
    return;
  }
  std::visit(
      [&]<class S>(S& s) {
        if constexpr (kOnHost<S>) {
          std::memcpy(to, from, static_cast<std::size_t>(bytes));
        } else {
          upload_bytes(s, to, from, bytes);
        }
      },
      stream);
}

void synchronize(Stream& stream) {
  std::visit(
      []<class S>(S& s) {
        if constexpr (!kOnHost<S>) {
          synchronize(s);
        }
      },
      stream);
}

}  // namespace mpitron::device
