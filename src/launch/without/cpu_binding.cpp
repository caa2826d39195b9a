#include "launch/cpu_binding.h"

namespace mpitron::launch {

CpuBinding cpu_binding() {
  return {};
}

LibraryVersion hwloc_version() {
  return {"hwloc", "left out", ""};
}

}  // namespace mpitron::launch
