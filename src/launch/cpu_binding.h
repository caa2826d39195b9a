#pragma once
#include <vector>

#include "utils/numbers/shape.h"
#include "utils/text/library_version.h"

namespace mpitron::launch {

/// Where a process may run, in hwloc's numbers, which are the same for all processes of a machine.
struct CpuBinding {
  std::vector<Index> cores;
  std::vector<Index> numa;     // nodes of memory beside these cores
  Index processors = 0;        // hardware threads of these cores that it may use
  bool whole_machine = false;  // every processor of the machine: not bound

  bool operator==(const CpuBinding&) const = default;
};

/// Of this process. The only place where hwloc is called; empty where it cannot tell.
CpuBinding cpu_binding();

LibraryVersion hwloc_version();

}  // namespace mpitron::launch
