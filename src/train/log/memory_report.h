#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "device/device.h"
#include "train/model/trained_model.h"
#include "train/step/train_step.h"

namespace mpitron::train {

/// Bytes that a device's tensors take; on the host, those of the whole process.
struct MemoryUse {
  Index allocated = 0;      // now
  Index max_allocated = 0;  // since the start
  // Of a GPU: what the allocators have taken from the driver.
  std::optional<Index> reserved = std::nullopt;
  // Of the host: the most that tensors took at once; `max_allocated` is the whole process.
  std::optional<Index> max_tensors = std::nullopt;
};

/// Parses the text of /proc/PID/status; 0 for what it does not tell.
MemoryUse parse_process_status(std::string_view status);

/// Returns the memory of this process on the host; zeros where there is no /proc.
MemoryUse process_memory();

/// Returns the memory in which the device's tensors lie: the GPU's, else that of this process.
MemoryUse memory_in_use(device::Device& device);

/// Formats `[Rank 0] (after 100 iterations) memory (MB) | allocated: 12.5 | max allocated: 13.0`,
/// printed after iteration --log-interval; of a GPU with ` | reserved: 14.0` behind it, of the host
/// with ` | max tensors: 11.0`.
std::string memory_line(Index rank, Index iterations, const MemoryUse& memory);

/// Tells who keeps how much of the device's memory for the whole run: "parameters hold 12 MiB,
/// gradients 24 MiB, ...". What is used beyond that is activations and scratch memory.
std::string memory_holders(TrainedModel& model, TrainStep& step);

}  // namespace mpitron::train
