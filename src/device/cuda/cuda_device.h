#pragma once
#include "device/streams.h"
#include "utils/numbers/shape.h"

// cudaStream_t and cudaEvent_t are pointers to these: no CUDA header here.
struct CUstream_st;
struct CUevent_st;

namespace mpitron::device {

/// A CUDA stream of one GPU. Work is queued in order; who reads results on the host synchronizes
/// first.
struct CudaStream : StreamBase {
  static constexpr const char* name = "cuda";
  int device = 0;
  CUstream_st* handle = nullptr;
  CUstream_st* uploads = nullptr;  // copies from the host beside the work
  CUevent_st* uploaded = nullptr;
};

/// Copies between the host's memory and the GPU's or within it, in the stream's order.
void copy_bytes(CudaStream& stream, void* to, const void* from, Index bytes);

/// Copies from page-locked memory to Device::arrivals, beside the work that is queued; before what
/// is queued from now on.
void upload_bytes(CudaStream& stream, void* to, const void* from, Index bytes);

/// Waits until everything queued on the stream has ended; throws what failed in it.
void synchronize(CudaStream& stream);

}  // namespace mpitron::device
