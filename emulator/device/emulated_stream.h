#pragma once
#include <functional>

#include <cuda_runtime_api.h>

// An emulated GPU, so that CUDA code runs on machines without one: the same .cu files, compiled by
// g++ (kernel_language.h), and those functions of libcudart, libcublasLt, libcudnn and libnccl that
// we call, declared by the toolkit's own headers. It is stricter than a GPU:
// - Queued work runs only when somebody waits for it (synchronizes a stream, an event or the
//   device), in stream order and after the events that its stream waits for: whoever forgot to wait
//   reads old numbers.
// - Device memory can be touched by queued work only. Host code that does is told, with the calls
//   that led there; so is queued work that uses page-locked memory after its release, and a kernel
//   that is given an address of other host memory.
// - Fresh device memory and dynamic shared memory are NaN.
// - The threads of a block run one after another up to the next barrier, in alternating order; a
//   thread that is missing at a barrier or a shuffle is named.
// - Nothing measures time: it says nothing about speed.
// Variables of the environment: MPITRON_EMULATED_GPUS (how many; 1), MPITRON_EMULATED_GPU_MEMORY
// (bytes of each; 16 GiB, at most 24), MPITRON_EMULATED_CAPABILITY (80 is 8.0; 90),
// MPITRON_EMULATED_DRIVER (its version as CUDA counts, 12040 is 12.4; 0: no driver),
// MPITRON_EMULATED_CUDNN (version as cuDNN counts, 91900 is 9.19; 0: not there).
// CUDA_VISIBLE_DEVICES (numbers only) chooses among the GPUs.

namespace mpitron::emulator {

/// Queues `attempt` on the stream, or adds it to the graph that the stream records. It is called
/// with device memory open until it answers true; false says that it cannot run yet (a collective
/// whose other ranks have not come), and lets other streams of the process go on. `what` names it
/// where it never runs.
cudaError_t enqueue(cudaStream_t stream, const char* what, std::function<bool()> attempt);

/// Queues a kernel; `body` is what every thread runs. Refuses shapes that a GPU refuses.
cudaError_t enqueue_kernel(const cudaLaunchConfig_t& config, const void* kernel,
                           std::function<void()> body);

/// Keeps the status for cudaGetLastError of this thread, and returns it: what every emulated
/// function of the runtime ends with.
cudaError_t noted(cudaError_t status);

}  // namespace mpitron::emulator
