#include "launch/rank_place.h"

// Stands in for launch/cpu_binding.cpp in builds without hwloc: the binding is unknown, and so is
// what it would warn of.

namespace mpitron::launch {

CpuBinding cpu_binding() {
  return {};
}

LibraryVersion hwloc_version() {
  return {"hwloc", "left out", ""};
}

}  // namespace mpitron::launch
