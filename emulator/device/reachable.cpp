#include "emulator/device/reachable.h"

#include <cstdint>
#include <cstring>
#include <string>

#include <sys/mman.h>

#include "emulator/device/device_memory.h"
#include "emulator/device/failure.h"

namespace mpitron::emulator {
namespace {

/// Where programs, heaps and stacks lie: smaller numbers are numbers.
constexpr std::uintptr_t kFirst = 0x1000'0000'0000, kLast = 0x7fff'ffff'ffff;

bool is_host_memory(std::uintptr_t address) {
  if (address < kFirst || address > kLast) {
    return false;
  }
  auto* page = reinterpret_cast<void*>(address / 4096 * 4096);
  unsigned char resident = 0;
  return !is_device_memory(page) && !is_pinned_memory(reinterpret_cast<const void*>(address)) &&
         mincore(page, 1, &resident) == 0;
}

}  // namespace

void check_addresses(const void* kernel, const void* argument, std::size_t bytes) {
  for (std::size_t at = 0; at + sizeof(void*) <= bytes; at += sizeof(void*)) {
    std::uintptr_t word = 0;
    std::memcpy(&word, static_cast<const char*>(argument) + at, sizeof word);
    if (is_host_memory(word)) {
      fail(std::string("kernel ")
               .append(name_of_function(kernel))
               .append(" was given an address of host memory"));
    }
  }
}

}  // namespace mpitron::emulator
