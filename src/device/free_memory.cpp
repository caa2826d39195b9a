// How much a cache may take that is to fill what is left.
#include "device/free_memory.h"

#include "utils/system/machine.h"

namespace mpitron::device {

Index free_memory(const Device& device) {
  if constexpr (kHasCuda) {
    if (!device.tensors_on_host()) {
      return free_gpu_memory();
    }
  }
  return mpitron::free_memory();
}

}  // namespace mpitron::device
