// Emulates memory and copies of the CUDA runtime. A copy is checked when it is asked for and made
// when the stream runs; so page-locked memory that was released in between is caught.
#include <cstdint>
#include <cstring>

#include <cuda_runtime_api.h>

#include "emulator/device/device_memory.h"
#include "emulator/device/devices.h"
#include "emulator/device/emulated_stream.h"
#include "emulator/device/queue.h"

using namespace mpitron::emulator;

namespace {

/// A copy of `rows` rows; plain bytes are one row.
struct Copy {
  void* to;
  std::size_t to_pitch;
  const void* from;
  std::size_t from_pitch, row_bytes, rows;

  void run() const {
    for (std::size_t row = 0; row < rows; ++row) {
      std::memmove(static_cast<char*>(to) + row * to_pitch,
                   static_cast<const char*>(from) + row * from_pitch, row_bytes);
    }
  }
};

std::size_t extent(std::size_t pitch, std::size_t row_bytes, std::size_t rows) {
  return rows == 0 ? 0 : (rows - 1) * pitch + row_bytes;
}

/// Tells whether memory is there, on the device or on the host, where a copy expects it. Of the
/// host it is only known that it is not the device's.
bool lies_where(const void* address, std::size_t bytes, bool on_device) {
  return bytes == 0 || (on_device ? inside_one_block(address, bytes) : !is_device_memory(address));
}

/// Checks both sides of a copy against its kind; cudaMemcpyDefault finds the sides out by their
/// addresses.
bool possible(const Copy& copy, cudaMemcpyKind kind) {
  const bool to_device = kind == cudaMemcpyDefault
                             ? is_device_memory(copy.to)
                             : kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDefault
                               ? is_device_memory(copy.from)
                               : kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  return lies_where(copy.to, extent(copy.to_pitch, copy.row_bytes, copy.rows), to_device) &&
         lies_where(copy.from, extent(copy.from_pitch, copy.row_bytes, copy.rows), from_device);
}

cudaError_t queue_copy(const Copy& copy, cudaMemcpyKind kind, cudaStream_t stream) {
  if (!possible(copy, kind)) {
    return noted(cudaErrorInvalidValue);
  }
  return noted(enqueue(stream, "copy", [copy] {
    copy.run();
    return true;
  }));
}

cudaError_t queue_fill(void* to, std::size_t pitch, int value, std::size_t row_bytes,
                       std::size_t rows, cudaStream_t stream) {
  if (!lies_where(to, extent(pitch, row_bytes, rows), true)) {
    return noted(cudaErrorInvalidValue);
  }
  return noted(enqueue(stream, "fill", [=] {
    for (std::size_t row = 0; row < rows; ++row) {
      std::memset(static_cast<char*>(to) + row * pitch, value, row_bytes);
    }
    return true;
  }));
}

/// Waits for the default stream, as a call without a stream does.
cudaError_t finish_default_stream(cudaError_t queued) {
  if (queued == cudaSuccess) {
    const cudaStream_t stream = stream_or_default(nullptr);
    wait_for(stream->queue, stream->queue->end());
  }
  return queued;
}

}  // namespace

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  *memory = nullptr;
  if (memory_is_fixed()) {
    return noted(cudaErrorStreamCaptureUnsupported);
  }
  if (current_device() < 0) {
    return noted(cudaErrorNoDevice);
  }
  *memory = bytes == 0 ? nullptr : allocate_device_memory(current_device(), bytes);
  return noted(bytes > 0 && *memory == nullptr ? cudaErrorMemoryAllocation : cudaSuccess);
}
cudaError_t cudaFree(void* memory) {
  if (memory_is_fixed()) {
    return noted(cudaErrorStreamCaptureUnsupported);
  }
  wait_for_everything();
  const bool known = memory == nullptr || release_device_memory(memory);
  return noted(known ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t) {
  return cudaMalloc(memory, bytes);
}
cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
  // Work that was queued before may still use it.
  return noted(enqueue(stream, "release", [memory] {
    release_device_memory(memory);
    return true;
  }));
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  if (current_device() < 0) {
    return noted(cudaErrorNoDevice);
  }
  const MemoryInfo info = device_memory_info(current_device());
  *free = info.total - info.used;
  *total = info.total;
  return noted(cudaSuccess);
}

// Pools keep nothing: the pool of a device is the device's memory.
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  *pool = reinterpret_cast<cudaMemPool_t>(static_cast<std::uintptr_t>(device + 1));
  return noted(cudaSuccess);
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
  return noted(cudaSuccess);
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr, void* value) {
  const int device = static_cast<int>(reinterpret_cast<std::uintptr_t>(pool)) - 1;
  *static_cast<std::uint64_t*>(value) = device_memory_info(device).used;
  return noted(cudaSuccess);
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t) {
  return noted(cudaSuccess);
}

cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  *memory = allocate_pinned_memory(bytes);
  return noted(*memory == nullptr ? cudaErrorMemoryAllocation : cudaSuccess);
}
cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  return cudaHostAlloc(memory, bytes, cudaHostAllocDefault);
}
cudaError_t cudaFreeHost(void* memory) {
  const bool known = memory == nullptr || release_pinned_memory(memory);
  return noted(known ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* memory) {
  *attributes = {};
  attributes->device = -1;
  if (is_device_memory(memory)) {
    attributes->type = cudaMemoryTypeDevice;
    attributes->device = device_of(memory);
    attributes->devicePointer = const_cast<void*>(memory);
  } else {
    attributes->type = is_pinned_memory(memory) ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered;
    attributes->hostPointer = const_cast<void*>(memory);
  }
  return noted(cudaSuccess);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return queue_copy({to, bytes, from, bytes, bytes, 1}, kind, stream);
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return finish_default_stream(cudaMemcpyAsync(to, from, bytes, kind, nullptr));
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t row_bytes, std::size_t rows,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  if (row_bytes > to_pitch || row_bytes > from_pitch) {
    return noted(cudaErrorInvalidValue);
  }
  return queue_copy({to, to_pitch, from, from_pitch, row_bytes, rows}, kind, stream);
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  return queue_fill(to, bytes, value, bytes, 1, stream);
}
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return finish_default_stream(cudaMemsetAsync(to, value, bytes, nullptr));
}
cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t row_bytes,
                              std::size_t rows, cudaStream_t stream) {
  if (row_bytes > pitch) {
    return noted(cudaErrorInvalidValue);
  }
  return queue_fill(to, pitch, value, row_bytes, rows, stream);
}
