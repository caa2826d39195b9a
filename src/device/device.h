#pragma once
#include <memory>
#include <string_view>

#include "device/allocator.h"
#include "device/launch.h"

namespace mpitron::device {

/// A device of this process: its stream and its memory. Tensors keep a pointer to its allocator, so
/// it outlives them.
class Device {
 public:
  Device(Stream stream, std::unique_ptr<Allocator> allocator)
      : stream_(std::move(stream)), allocator_(std::move(allocator)) {}

  Stream& stream() { return stream_; }
  Allocator& allocator() { return *allocator_; }

 private:
  Stream stream_;
  std::unique_ptr<Allocator> allocator_;
};

/// "host" or "reference" ("cuda" in a build that has it); anything else is Error(usage) that lists
/// what there is. `memory`: where host tensors lie, by default this process' own.
std::unique_ptr<Device> make_device(std::string_view name,
                                    std::unique_ptr<Allocator> memory = nullptr);

/// The GPU `index` of those that this process sees; Error(environment) where there is none or no
/// driver. Defined only where `kHasCuda` (device/cuda).
std::unique_ptr<Device> make_cuda_device(int index);

/// Owns Kokkos and the number of threads while it lives; made once by the program, before the first
/// host kernel.
class HostRuntime {
 public:
  /// `threads` 0: as the environment says (OMP_NUM_THREADS), else the cores this process may use.
  explicit HostRuntime(int threads = 0);
  ~HostRuntime();
  HostRuntime(const HostRuntime&) = delete;
  HostRuntime& operator=(const HostRuntime&) = delete;

  static int threads();

 private:
  bool owns_kokkos_ = false;
};

}  // namespace mpitron::device
