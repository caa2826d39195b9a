#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/allocator.h"
#include "device/launch.h"
#include "utils/numbers/shape.h"
#include "utils/system/machine.h"
#include "utils/trace.h"

namespace mpitron::device {

/// A GPU that this process sees.
struct Gpu {
  std::string name;          // "NVIDIA H200"
  std::string uuid;          // "GPU-5e1c..."
  std::string pci_bus_id;    // "0000:1b:00.0"; tells the GPUs of a machine apart
  int major = 0, minor = 0;  // compute capability
  Index bytes = 0;           // of its memory
};

struct VisibleGpus {
  std::vector<Gpu> gpus;  // in the order of their indices
  std::string why_none;   // a reason and what to do; empty where there are some
};

/// Asks the driver. Defined only where `kHasCuda` (device/cuda).
VisibleGpus visible_gpus();

/// Has an attached profiler of GPUs record while it lives, and shows it the ranges of a trace.
/// Defined only where `kHasCuda` (device/cuda).
std::unique_ptr<TraceRanges> make_gpu_profiler();

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
  /// Observer that is told of launches on the stream; null: nobody.
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

/// The Kokkos that runs the host's kernels; "left out" in builds without it.
LibraryVersion kokkos_version();

/// Place where a rank computes.
struct DeviceChoice {
  std::string name;         // of make_device
  int index = 0;            // of the GPU
  std::string notice = {};  // why it is not a GPU, where one could have been expected
};

/// `wanted`: "auto" (a GPU where there is one, else the host), or a name of make_device. A rank
/// that sees one GPU takes it; of several the one with its number on the node. `gpus`: absent in
/// programs without CUDA. Error(environment) where a GPU is wanted and there is none.
DeviceChoice choose_device(std::string_view wanted, const std::optional<VisibleGpus>& gpus,
                           Index local_rank);

/// The GPUs of a program with CUDA.
std::optional<VisibleGpus> find_gpus();

/// Work that was recorded once and is queued again as a whole.
class Graph {
 public:
  virtual ~Graph() = default;
  virtual void launch() = 0;
};

/// Records what `work` queues on a GPU's stream instead of running it. `work` neither waits nor
/// copies to or from the host. Its memory is used by graphs alone; whatever of it the caller still
/// holds afterwards is overwritten by every launch, and has to be held as long as the graph.
/// Numbers in the arguments of kernels stay what they were. Defined only where `kHasCuda`.
std::unique_ptr<Graph> record(Device& device, const std::function<void()>& work);

}  // namespace mpitron::device
