// Measures memory for logs. On the host /proc tells what the whole process takes, and the allocator
// the most that tensors took; a GPU's use is that of its allocators, since the driver counts blocks
// that they only keep as used.
#include "train/log/memory_report.h"

#include <charconv>
#include <fstream>
#include <iterator>
#include <set>

#include <fmt/format.h>

namespace mpitron::train {
namespace {

/// Finds the number of kilobytes behind `key`, in bytes.
Index bytes_of(std::string_view status, std::string_view key) {
  const std::size_t at = status.find(key);
  if (at == std::string_view::npos) {
    return 0;
  }
  std::string_view value = status.substr(at + key.size());
  value.remove_prefix(std::min(value.find_first_of("0123456789"), value.size()));
  Index kilobytes = 0;
  std::from_chars(value.data(), value.data() + value.size(), kilobytes);
  return kilobytes * 1024;
}

double megabytes(Index bytes) {
  return static_cast<double>(bytes) / (1024.0 * 1024.0);
}

}  // namespace

MemoryUse parse_process_status(std::string_view status) {
  return {.allocated = bytes_of(status, "\nVmRSS:"), .max_allocated = bytes_of(status, "\nVmHWM:")};
}

MemoryUse process_memory() {
  std::ifstream file("/proc/self/status");
  return parse_process_status(std::string(std::istreambuf_iterator<char>(file), {}));
}

/// Asks the system for this process where tensors lie on the host, and the device's allocators on a
/// GPU.
MemoryUse memory_in_use(device::Device& device) {
  if (device.tensors_on_host()) {
    MemoryUse use = process_memory();
    use.max_tensors = device.allocator().statistics().high_water;
    return use;
  }
  const std::set<device::Allocator*> allocators = {&device.allocator(), &device.arrivals(),
                                                   &device.buffers()};
  MemoryUse use{.reserved = 0};
  for (const device::Allocator* allocator : allocators) {
    const device::AllocatorStatistics memory = allocator->statistics();
    use.allocated += memory.bytes_in_use;
    use.max_allocated += memory.high_water;
    *use.reserved += memory.bytes_reserved;
  }
  return use;
}

/// Formats the reference's line after the first log interval, in megabytes.
std::string memory_line(Index rank, Index iterations, const MemoryUse& memory) {
  std::string line = fmt::format(
      "[Rank {}] (after {} iterations) memory (MB) | allocated: {:.1f} | max allocated: {:.1f}",
      rank, iterations, megabytes(memory.allocated), megabytes(memory.max_allocated));
  if (memory.reserved) {
    line += fmt::format(" | reserved: {:.1f}", megabytes(*memory.reserved));
  }
  if (memory.max_tensors) {
    line += fmt::format(" | max tensors: {:.1f}", megabytes(*memory.max_tensors));
  }
  return line;
}

/// Adds up weights, gradients and the optimizer's state, for the message of a device without memory
/// left.
std::string memory_holders(TrainedModel& model, TrainStep& step) {
  Index parameters = 0, gradients = 0;
  for (const autograd::Parameter& parameter : model.parameters()) {
    parameters += parameter.local_bytes();
    gradients += parameter.sink.main_grad.view().bytes();
  }
  const Index in_8_bits = step.fp8_weights().bytes();
  return fmt::format(
      "parameters hold {} MiB, {}gradients {} MiB, the optimizer {} MiB; what else is in use are "
      "activations and scratch memory",
      parameters >> 20,
      in_8_bits > 0 ? fmt::format("their numbers of 8 bits {} MiB, ", in_8_bits >> 20) : "",
      gradients >> 20, step.optimizer().device_bytes() >> 20);
}

}  // namespace mpitron::train
