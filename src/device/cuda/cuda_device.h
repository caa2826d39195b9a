#pragma once
#include "device/streams.h"

struct CUstream_st;  // cudaStream_t is a pointer to it: no CUDA header here

namespace mpitron::device {

/// A CUDA stream of one GPU. Work is queued in order; who reads results on the host synchronizes
/// first.
struct CudaStream : StreamBase {
  static constexpr const char* name = "cuda";
  int device = 0;
  CUstream_st* handle = nullptr;
};

/// Waits until everything queued on the stream has ended; throws what failed in it.
void synchronize(CudaStream& stream);

}  // namespace mpitron::device
