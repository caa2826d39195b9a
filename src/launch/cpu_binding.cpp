#include <memory>

#include <fmt/format.h>
#include <hwloc.h>

#include "launch/rank_place.h"

// The processors of this process, asked of hwloc: the only file that calls it (src/launch/without
// has the answer of a build that leaves hwloc out).

namespace mpitron::launch {
namespace {

struct Destroy {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
  void operator()(hwloc_bitmap_s* set) const { hwloc_bitmap_free(set); }
};
using Topology = std::unique_ptr<hwloc_topology, Destroy>;
using Set = std::unique_ptr<hwloc_bitmap_s, Destroy>;

/// Loads the whole machine, also what a batch system keeps from this job, so that all jobs number
/// alike. Null where hwloc cannot.
Topology load_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) {
    return nullptr;
  }
  Topology topology(raw);
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  return hwloc_topology_load(raw) == 0 ? std::move(topology) : nullptr;
}

/// Returns the logical numbers of the objects that share a processor with the set.
std::vector<Index> numbers_of(hwloc_topology_t topology, hwloc_obj_type_t type,
                              hwloc_const_cpuset_t set) {
  std::vector<Index> numbers;
  for (hwloc_obj_t object = hwloc_get_next_obj_by_type(topology, type, nullptr); object != nullptr;
       object = hwloc_get_next_obj_by_type(topology, type, object)) {
    if (hwloc_bitmap_intersects(object->cpuset, set) != 0) {
      numbers.push_back(static_cast<Index>(object->logical_index));
    }
  }
  return numbers;
}

}  // namespace

CpuBinding cpu_binding() {
  const Topology topology = load_topology();
  const Set set(hwloc_bitmap_alloc());
  if (topology == nullptr || set == nullptr ||
      hwloc_get_cpubind(topology.get(), set.get(), HWLOC_CPUBIND_PROCESS) != 0) {
    return {};
  }
  const hwloc_const_cpuset_t all = hwloc_topology_get_topology_cpuset(topology.get());
  return {.cores = numbers_of(topology.get(), HWLOC_OBJ_CORE, set.get()),
          .numa = numbers_of(topology.get(), HWLOC_OBJ_NUMANODE, set.get()),
          .processors = hwloc_bitmap_weight(set.get()),
          .whole_machine = hwloc_bitmap_isincluded(all, set.get()) != 0};
}

LibraryVersion hwloc_version() {
  const auto text = [](unsigned version) {
    return fmt::format("{}.{}.{}", version >> 16, (version >> 8) & 0xff, version & 0xff);
  };
  return {"hwloc API", text(HWLOC_API_VERSION), text(hwloc_get_api_version())};
}

}  // namespace mpitron::launch
