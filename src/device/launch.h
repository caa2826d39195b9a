#pragma once
#include <array>
#include <functional>
#include <stdexcept>
#include <string>
#include <variant>

#include "device/tensor_view.h"
#include "devices.h"

namespace mpitron::device {

/// A kernel that has no implementation for the device it was launched on.
class NotImplemented : public std::runtime_error {
 public:
  NotImplemented(const char* kernel, const char* device)
      : std::runtime_error(std::string("kernel ") + kernel + " is not implemented on device " +
                           device) {}
};

/// Facts that an observer is told of a launch.
struct LaunchRecord {
  const char* kernel;
  const char* device;
  Index bytes;                  // of all arguments, each counted once
  double multiply_adds;         // as the kernel tells, or 0 where bytes are its measure
  DType dtype;                  // of the first argument
  std::array<Shape, 2> shapes;  // of the first two
  /// The kernel's arguments: name, type, shape and address of each. Valid until `after` returns.
  std::function<std::string()> arguments;
};

class LaunchObserver {
 public:
  virtual ~LaunchObserver() = default;
  virtual void before(const LaunchRecord& record) = 0;
  virtual void after(const LaunchRecord& record) = 0;
  /// Every argument of the kernel after it ran.
  virtual void argument(const LaunchRecord& record, const char* name,
                        const ConstTensorView& view) = 0;
};

namespace detail {

/// `run_kernel(stream, kernel)` between what an observer is told, where there is one.
template <class Stream, class Kernel, class Run>
void run_observed(Stream& stream, const Kernel& kernel, const Run& run_kernel) {
  if (stream.observer == nullptr) [[likely]] {
    run_kernel(stream, kernel);
    return;
  }
  LaunchRecord record{Kernel::name, Stream::name, 0, 0, {}, {}, [&] {
                        std::string text;
                        kernel.views([&](const char* name, const auto& view) {
                          text += (text.empty() ? "" : ", ") + describe(name, view);
                        });
                        return text;
                      }};
  std::size_t place = 0;
  kernel.views([&](const char*, const auto& view) {
    record.bytes += view.bytes();
    record.dtype = place == 0 ? view.dtype : record.dtype;
    if (place < record.shapes.size()) {
      record.shapes[place++] = view.shape;
    }
  });
  if constexpr (requires { kernel.multiply_adds(); }) {
    record.multiply_adds = kernel.multiply_adds();
  }
  stream.observer->before(record);
  run_kernel(stream, kernel);
  stream.observer->after(record);
  kernel.views(
      [&](const char* name, const auto& view) { stream.observer->argument(record, name, view); });
}

}  // namespace detail

/// The one place where a kernel meets its device. `run` is found by argument-dependent lookup
/// beside the kernel; where no overload is declared for the stream's device, NotImplemented names
/// both.
template <class Kernel>
void launch(Stream& stream, const Kernel& kernel) {
  std::visit(
      [&](auto& s) {
        using S = std::decay_t<decltype(s)>;
        if constexpr (std::is_same_v<S, NullStream> && !requires { run(s, kernel); }) {
          detail::run_observed(s, kernel, [](NullStream&, const Kernel&) {});
        } else if constexpr (requires { run(s, kernel); }) {
          detail::run_observed(s, kernel, [](S& on, const Kernel& what) { run(on, what); });
        } else {
          throw NotImplemented(Kernel::name, S::name);
        }
      },
      stream);
}

/// Bytes of scratch memory that the kernel wants on this stream's device; 0 where it declares none.
/// A device that runs nothing wants what the host does.
template <class Kernel>
Index workspace_bytes_of(const Stream& stream, const Kernel& kernel) {
  return std::visit(
      [&](const auto& s) -> Index {
        if constexpr (requires { workspace_bytes(s, kernel); }) {
          return workspace_bytes(s, kernel);
        } else if constexpr (std::is_same_v<std::decay_t<decltype(s)>, NullStream> &&
                             requires { workspace_bytes(HostStream{}, kernel); }) {
          return workspace_bytes(HostStream{}, kernel);
        } else {
          return 0;
        }
      },
      stream);
}

}  // namespace mpitron::device
