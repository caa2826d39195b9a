// Emulates the part of the CUDA runtime that counts devices, tells their properties and checks
// launches. Variables of the environment describe the machine (emulated_stream.h).
#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>

#include "emulator/device/device_memory.h"
#include "emulator/device/devices.h"
#include "emulator/device/emulated_stream.h"
#include "emulator/units/grid.h"

namespace mpitron::emulator {
namespace {

constexpr int kMaxDevices = 16;
constexpr int kSharedBytes = 48 << 10;
constexpr int kProcessors = 4;  // few, so that kernels queue few blocks

int number_from_environment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoi(text) : otherwise;
}

/// Returns the compute capability: 80 is 8.0.
int capability() {
  return number_from_environment("MPITRON_EMULATED_CAPABILITY", 90);
}

/// Returns the KiB of shared memory of a processor; a block may ask for all but one. (CUDA C++
/// Programming Guide, technical specifications per compute capability.)
int shared_kilobytes() {
  switch (capability()) {
    case 80:
    case 87:
      return 164;
    case 86:
    case 89:
    case 120:
      return 100;
    default:
      return 228;
  }
}
int most_shared_bytes() {
  return (shared_kilobytes() - 1) << 10;
}

int driver_version() {
  return number_from_environment("MPITRON_EMULATED_DRIVER", CUDART_VERSION);
}

/// Returns the numbers of the machine's GPUs that this process sees, up to the first that is not
/// there: CUDA_VISIBLE_DEVICES cuts its list off there, too.
std::vector<int> visible_numbers() {
  const int installed = std::min(number_from_environment("MPITRON_EMULATED_GPUS", 1), kMaxDevices);
  std::vector<int> numbers;
  const char* chosen = std::getenv("CUDA_VISIBLE_DEVICES");
  if (chosen == nullptr) {
    for (int i = 0; i < installed; ++i) {
      numbers.push_back(i);
    }
    return numbers;
  }
  std::istringstream list(chosen);
  for (std::string entry; std::getline(list, entry, ',');) {
    int number = -1;
    std::from_chars(entry.data(), entry.data() + entry.size(), number);
    if (number < 0 || number >= installed) {
      break;
    }
    numbers.push_back(number);
  }
  return numbers;
}

thread_local int chosen_device = 0;
thread_local cudaError_t last_error = cudaSuccess;
std::atomic<int> recordings{0}, strict_recordings{0};

/// Bytes of dynamic shared memory that each kernel asked to be allowed (cudaFuncSetAttribute); 48
/// KiB need no permission.
struct AllowedSharedMemory {
  std::mutex mutex;
  std::map<const void*, int> bytes;
};
AllowedSharedMemory& allowed_shared_memory() {
  static AllowedSharedMemory& only = *new AllowedSharedMemory;
  return only;
}
int allowed_shared_bytes(const void* kernel) {
  AllowedSharedMemory& allowed = allowed_shared_memory();
  const std::lock_guard lock(allowed.mutex);
  const auto found = allowed.bytes.find(kernel);
  return found == allowed.bytes.end() ? kSharedBytes : found->second;
}

/// Checks grid and block against the limits of the hardware, and shared memory against what the
/// kernel was allowed.
cudaError_t check_shape(const Grid& grid) {
  const dim3 &b = grid.blocks, &t = grid.threads;
  const bool blocks =
      b.x > 0 && b.y > 0 && b.z > 0 && b.x <= 0x7fffffff && b.y <= 0xffff && b.z <= 0xffff;
  const bool threads = t.x > 0 && t.y > 0 && t.z > 0 && t.x <= 1024 && t.y <= 1024 && t.z <= 64 &&
                       static_cast<std::size_t>(t.x) * t.y * t.z <= 1024;
  if (!blocks || !threads) {
    return cudaErrorInvalidConfiguration;
  }
  return static_cast<int>(grid.shared_bytes) <= allowed_shared_bytes(grid.kernel)
             ? cudaSuccess
             : cudaErrorInvalidValue;
}

}  // namespace

int visible_devices() {
  return driver_version() < CUDART_VERSION ? -1 : static_cast<int>(visible_numbers().size());
}
int current_device() {
  return visible_devices() > 0 ? chosen_device : -1;
}
/// Notes a status that a function of the runtime answers, so that cudaGetLastError tells the last
/// failure of the thread. What is not ready is no failure.
cudaError_t noted(cudaError_t status) {
  if (status != cudaSuccess) {
    last_error = status;
  }
  return status;
}
/// Returns the legacy default stream of the current device for null; there is one for each device,
/// never destroyed.
cudaStream_t stream_or_default(cudaStream_t stream) {
  static auto& defaults = *new std::vector<CUstream_st>(kMaxDevices);
  if (stream != nullptr) {
    return stream;
  }
  const int device = std::max(current_device(), 0);
  defaults[static_cast<std::size_t>(device)].device = device;
  return &defaults[static_cast<std::size_t>(device)];
}

void recording_begins(bool relaxed) {
  ++recordings;
  strict_recordings += relaxed ? 0 : 1;
}
void recording_ends(bool relaxed) {
  --recordings;
  strict_recordings -= relaxed ? 0 : 1;
}
bool memory_is_fixed() {
  return strict_recordings > 0;
}
bool anything_records() {
  return recordings > 0;
}

/// Queues a launch after the checks that a GPU makes at once; faults of the kernel itself show when
/// the stream runs.
cudaError_t enqueue_kernel(const cudaLaunchConfig_t& config, const void* kernel,
                           std::function<void()> body) {
  const Grid grid{kernel, config.gridDim, config.blockDim, config.dynamicSmemBytes};
  const cudaStream_t stream = stream_or_default(config.stream);
  if (const cudaError_t status = check_shape(grid); status != cudaSuccess) {
    return noted(status);
  }
  if (stream->device != current_device()) {
    return noted(cudaErrorInvalidResourceHandle);
  }
  return noted(push_task(stream, {"kernel",
                                  [grid, body = std::move(body)] {
                                    run_grid(grid, body);
                                    return true;
                                  },
                                  kernel}));
}

}  // namespace mpitron::emulator

using mpitron::emulator::noted;

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  using namespace mpitron::emulator;
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) {
    return noted(cudaSuccess);
  }
  if (value < 0 || value > most_shared_bytes()) {
    return noted(cudaErrorInvalidValue);
  }
  AllowedSharedMemory& allowed = allowed_shared_memory();
  const std::lock_guard lock(allowed.mutex);
  allowed.bytes[kernel] = std::max(value, kSharedBytes);
  return noted(cudaSuccess);
}
/// Tells an occupancy that depends on threads alone: callers may size grids by it but rely on no
/// number.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int threads,
                                                          std::size_t) {
  *blocks = 2048 / std::max(threads, 32);
  return noted(cudaSuccess);
}

cudaError_t cudaProfilerStart() {
  return noted(cudaSuccess);
}
cudaError_t cudaProfilerStop() {
  return noted(cudaSuccess);
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = mpitron::emulator::driver_version();
  return noted(cudaSuccess);
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return noted(cudaSuccess);
}
cudaError_t cudaGetDeviceCount(int* count) {
  const int visible = mpitron::emulator::visible_devices();
  *count = std::max(visible, 0);
  return noted(visible < 0    ? cudaErrorInsufficientDriver
               : visible == 0 ? cudaErrorNoDevice
                              : cudaSuccess);
}
cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= mpitron::emulator::visible_devices()) {
    return noted(cudaErrorInvalidDevice);
  }
  mpitron::emulator::chosen_device = device;
  return noted(cudaSuccess);
}
cudaError_t cudaGetDevice(int* device) {
  *device = mpitron::emulator::current_device();
  return noted(*device < 0 ? cudaErrorNoDevice : cudaSuccess);
}
cudaError_t cudaDeviceSynchronize() {
  if (mpitron::emulator::anything_records()) {
    return noted(cudaErrorStreamCaptureUnsupported);
  }
  mpitron::emulator::wait_for_everything();
  return noted(cudaSuccess);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device < 0 || device >= mpitron::emulator::visible_devices()) {
    return noted(cudaErrorInvalidDevice);
  }
  *properties = {};
  std::strcpy(properties->name, "emulated GPU");
  const int number = mpitron::emulator::visible_numbers()[static_cast<std::size_t>(device)];
  properties->uuid.bytes[0] = static_cast<char>(number + 1);
  properties->totalGlobalMem = mpitron::emulator::device_memory_info(device).total;
  properties->sharedMemPerBlock = mpitron::emulator::kSharedBytes;
  properties->sharedMemPerBlockOptin = mpitron::emulator::most_shared_bytes();
  properties->sharedMemPerMultiprocessor = mpitron::emulator::shared_kilobytes() << 10;
  properties->regsPerBlock = 1 << 16;
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = 1024;
  properties->maxThreadsPerMultiProcessor = 2048;
  properties->multiProcessorCount = mpitron::emulator::kProcessors;
  const int capability = mpitron::emulator::capability();
  properties->major = capability / 10;
  properties->minor = capability % 10;
  properties->l2CacheSize = 50 << 20;
  properties->pciBusID = number + 1;
  properties->asyncEngineCount = 2;
  properties->concurrentKernels = 1;
  properties->unifiedAddressing = 1;
  return noted(cudaSuccess);
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp properties;
  if (const cudaError_t status = cudaGetDeviceProperties(&properties, device);
      status != cudaSuccess) {
    return status;
  }
  const std::map<cudaDeviceAttr, int> values{
      {cudaDevAttrMultiProcessorCount, properties.multiProcessorCount},
      {cudaDevAttrComputeCapabilityMajor, properties.major},
      {cudaDevAttrComputeCapabilityMinor, properties.minor},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, mpitron::emulator::most_shared_bytes()},
      {cudaDevAttrMaxSharedMemoryPerBlock, mpitron::emulator::kSharedBytes},
      {cudaDevAttrMaxThreadsPerMultiProcessor, properties.maxThreadsPerMultiProcessor},
      {cudaDevAttrMaxThreadsPerBlock, properties.maxThreadsPerBlock},
      {cudaDevAttrWarpSize, properties.warpSize},
      {cudaDevAttrL2CacheSize, properties.l2CacheSize},
      {cudaDevAttrMemoryPoolsSupported, 1},
      {cudaDevAttrPciBusId, properties.pciBusID}};
  const auto found = values.find(attribute);
  if (found == values.end()) {
    return noted(cudaErrorInvalidValue);
  }
  *value = found->second;
  return noted(cudaSuccess);
}
cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device) {
  cudaDeviceProp properties;
  if (const cudaError_t status = cudaGetDeviceProperties(&properties, device);
      status != cudaSuccess) {
    return status;
  }
  std::snprintf(id, static_cast<std::size_t>(length), "0000:%02X:00.0", properties.pciBusID);
  return noted(cudaSuccess);
}

cudaError_t cudaGetLastError() {
  return std::exchange(mpitron::emulator::last_error, cudaSuccess);
}
cudaError_t cudaPeekAtLastError() {
  return mpitron::emulator::last_error;
}
