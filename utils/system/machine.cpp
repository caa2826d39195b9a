#include "utils/system/machine.h"

#include <array>
#include <fstream>
#include <string>

#include <unistd.h>

namespace mpitron {

Index machine_memory() {
  return static_cast<Index>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<Index>(::sysconf(_SC_PAGESIZE));
}

Index free_memory() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  Index kilobytes = 0;
  for (std::string unit; file >> name >> kilobytes;) {
    std::getline(file, unit);
    if (name == "MemAvailable:") {
      return kilobytes << 10;
    }
  }
  return static_cast<Index>(::sysconf(_SC_AVPHYS_PAGES)) *
         static_cast<Index>(::sysconf(_SC_PAGESIZE));
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace mpitron
