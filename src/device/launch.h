#pragma once
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

/// What an observer is told of a launch.
struct LaunchRecord {
  const char* kernel;
  const char* device;
  Index bytes;  // of all arguments, each counted once
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

template <class Stream, class Kernel>
void run_observed(Stream& stream, const Kernel& kernel) {
  LaunchRecord record{Kernel::name, Stream::name, 0, [&] {
                        std::string text;
                        kernel.views([&](const char* name, const auto& view) {
                          text += (text.empty() ? "" : ", ") + describe(name, view);
                        });
                        return text;
                      }};
  kernel.views([&](const char*, const auto& view) { record.bytes += view.bytes(); });
  stream.observer->before(record);
  run(stream, kernel);
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
        if constexpr (requires { run(s, kernel); }) {
          if (s.observer != nullptr) [[unlikely]] {
            detail::run_observed(s, kernel);
          } else {
            run(s, kernel);
          }
        } else {
          throw NotImplemented(Kernel::name, S::name);
        }
      },
      stream);
}

/// Bytes of scratch memory that the kernel wants on this stream's device; 0 where it declares none.
template <class Kernel>
Index workspace_bytes_of(const Stream& stream, const Kernel& kernel) {
  return std::visit(
      [&](const auto& s) -> Index {
        if constexpr (requires { workspace_bytes(s, kernel); }) {
          return workspace_bytes(s, kernel);
        } else {
          return 0;
        }
      },
      stream);
}

}  // namespace mpitron::device
