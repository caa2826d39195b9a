#include "utils/machine_memory.h"

#include <unistd.h>

namespace mpitron {

Index machine_memory() {
  return static_cast<Index>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<Index>(::sysconf(_SC_PAGESIZE));
}

}  // namespace mpitron
