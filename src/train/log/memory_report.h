#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "device/device.h"
#include "train/model/trained_model.h"
#include "train/step/train_step.h"

namespace mpitron::train {

/// Bytes of the memory that tensors lie in.
struct MemoryUse {
  Index allocated = 0;      // now
  Index max_allocated = 0;  // since the start
  // Of a GPU, what the allocators have taken from the driver; of the host, the process' all.
  std::optional<Index> reserved = std::nullopt;
  // Of the host: the most that tensors took at once, of which `max_allocated` is the process' all.
  std::optional<Index> max_tensors = std::nullopt;
};

/// From the text of /proc/PID/status; 0 for what it does not tell.
MemoryUse parse_process_status(std::string_view status);

/// Of this process on the host; zeros where there is no /proc.
MemoryUse process_memory();

/// Where the device's tensors lie: of the GPU, else of this process.
MemoryUse memory_in_use(device::Device& device);

/// `[Rank 0] (after 100 iterations) memory (MB) | allocated: 12.5 | max allocated: 13.0`, printed
/// once after the first logged interval; of a GPU with ` | reserved: 14.0` behind it, of the host
/// with ` | max tensors: 11.0`.
std::string memory_line(Index rank, Index iterations, const MemoryUse& memory);

/// "parameters hold 12 MiB, gradients 24 MiB, ...": who keeps how much of the device's memory for
/// the whole run. What is in use beyond that are activations and scratch memory.
std::string memory_holders(TrainedModel& model, TrainStep& step);

}  // namespace mpitron::train
