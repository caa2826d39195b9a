#include "utils/system/machine.h"

#include <array>

#include <unistd.h>

namespace mpitron {
Index machine_memory() {
  return static_cast<Index>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<Index>(::sysconf(_SC_PAGESIZE));
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace mpitron
