#pragma once
#include <cuda_runtime_api.h>

#include "emulator/device/queue.h"

namespace mpitron::emulator {

/// Counts the GPUs that this process sees; negative where there is no driver, or one older than the
/// toolkit.
int visible_devices();
/// Returns the calling thread's GPU; negative where there is none.
int current_device();
/// Returns the stream, or the default stream of the current device for null.
cudaStream_t stream_or_default(cudaStream_t stream);
/// Queues the task, or adds it to the graph that the stream records.
cudaError_t push_task(cudaStream_t stream, Task task);

/// Counts streams that record. Calls that wait for the whole device are errors while any does, and
/// those that take or give memory while one does that did not ask for cudaStreamCaptureModeRelaxed.
void recording_begins(bool relaxed);
void recording_ends(bool relaxed);
bool anything_records();
bool memory_is_fixed();

}  // namespace mpitron::emulator
