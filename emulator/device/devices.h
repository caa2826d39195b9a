#pragma once
#include <cuda_runtime_api.h>

#include "emulator/device/queue.h"

namespace mpitron::emulator {

/// How many GPUs this process sees; negative where there is no driver, or one older than the
/// toolkit.
int visible_devices();
/// The calling thread's GPU; negative where there is none.
int current_device();
/// The stream, or the default stream of the current device for null.
cudaStream_t stream_or_default(cudaStream_t stream);
/// Queues the task, or adds it to what the stream records.
cudaError_t push_task(cudaStream_t stream, Task task);

/// Calls that wait for the whole device are errors while any stream records, and those that take or
/// give memory while one does that did not ask for cudaStreamCaptureModeRelaxed.
void recording_begins(bool relaxed);
void recording_ends(bool relaxed);
bool anything_records();
bool memory_is_fixed();

}  // namespace mpitron::emulator
