#pragma once
#include <memory>
#include <string_view>

#include "device/allocator.h"
#include "device/launch.h"

namespace mpitron::device {

/// A device of this process: its stream and its memory. Tensors keep a pointer to its allocators,
/// so it outlives them.
class Device {
 public:
  /// `staging` and `arrivals`: of a device whose tensors do not lie in the host's memory.
  Device(Stream stream, std::unique_ptr<Allocator> allocator,
         std::unique_ptr<Allocator> staging = nullptr,
         std::unique_ptr<Allocator> arrivals = nullptr)
      : stream_(std::move(stream)),
        allocator_(std::move(allocator)),
        staging_(std::move(staging)),
        arrivals_(std::move(arrivals)) {}

  Stream& stream() { return stream_; }
  /// Who is told of launches on the stream; null: nobody.
  LaunchObserver*& observer() {
    return *std::visit([](auto& stream) { return &stream.observer; }, stream_);
  }
  Allocator& allocator() { return *allocator_; }
  /// False: kernels do nothing, and memory is only counted (make_null_device).
  bool computes() const { return !std::holds_alternative<NullStream>(stream_); }
  /// Whether the host reads and writes tensors where they lie.
  bool tensors_on_host() const { return staging_ == nullptr; }
  /// Host memory that is copied to the device or from it. A released block is handed out again when
  /// the stream has done what was queued before.
  Allocator& staging() { return staging_ == nullptr ? *allocator_ : *staging_; }
  /// Memory of the device for what comes from the host beside the stream's work; like that of
  /// `staging` never in use by what is still queued.
  Allocator& arrivals() { return arrivals_ == nullptr ? *allocator_ : *arrivals_; }
  /// Memory for what travels between ranks again and again: that of `allocator`, unless somebody
  /// knows better (--use-nccl-ub).
  Allocator& buffers() { return buffers_ == nullptr ? *allocator_ : *buffers_; }
  void set_buffers(std::unique_ptr<Allocator> buffers) { buffers_ = std::move(buffers); }

 private:
  Stream stream_;
  std::unique_ptr<Allocator> allocator_;
  std::unique_ptr<Allocator> staging_;
  std::unique_ptr<Allocator> arrivals_;
  std::unique_ptr<Allocator> buffers_;
};

/// "host" or "reference" ("cuda" in a build that has it); anything else is Error(usage) that lists
/// what there is. `memory`: where host tensors lie, by default this process' own.
std::unique_ptr<Device> make_device(std::string_view name,
                                    std::unique_ptr<Allocator> memory = nullptr);

/// Runs nothing. Its memory is handed out by the host's allocator and is zero as long as nobody
/// writes to it, so that terabytes of it cost nothing.
std::unique_ptr<Device> make_null_device();

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
