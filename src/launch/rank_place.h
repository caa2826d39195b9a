#pragma once

#include <string>
#include <vector>

#include "launch/environment.h"
#include "utils/numbers/shape.h"
#include "utils/system/machine.h"

namespace mpitron::launch {

/// Processors on which a process may run, in hwloc's numbers, which are the same for all processes
/// of a machine.
struct CpuBinding {
  std::vector<Index> cores;
  std::vector<Index> numa;     // nodes of memory beside these cores
  Index processors = 0;        // hardware threads of these cores that it may use
  bool whole_machine = false;  // every processor of the machine: not bound

  bool operator==(const CpuBinding&) const = default;
};

/// Returns the binding of this process. The only place where hwloc is called; empty where it cannot
/// tell.
CpuBinding cpu_binding();

LibraryVersion hwloc_version();

/// The place where a rank runs.
struct RankPlace {
  std::string node;  // name of the machine
  CpuBinding cpus;
  Index threads = 1;  // that compute
  std::string gpu;    // its UUID; empty without one

  bool operator==(const RankPlace&) const = default;
};

/// Returns the place of this process on the machine `node`. Threads are as OMP_NUM_THREADS says,
/// else as many as it has processors.
RankPlace own_place(const std::string& node, const Environment& environment);

/// Returns one line, for sending; `read_place` makes the same of it.
std::string to_text(const RankPlace& place);
RankPlace read_place(const std::string& text);

/// Returns the map of all ranks (`places[rank]`) for the log: a line for each run of nodes that
/// look alike.
///   ranks 0-7 on node[1-2], 4 each: cores 0-3 | 4-7 | 8-11 | 12-15, NUMA 0 | 0 | 1 | 1
std::vector<std::string> rank_map(const std::vector<RankPlace>& places);

/// Returns what slows these ranks down, each as a sentence with the fix: more threads than a rank
/// has processors, or ranks that share cores and have more threads than those together.
std::vector<std::string> binding_warnings(const std::vector<RankPlace>& places);

/// Returns "0-3,8" of rising numbers.
std::string ranges(const std::vector<Index>& numbers);

/// Returns "node[01-16,18],login" of names, as Slurm writes lists of hosts: neighbours in the list
/// that differ in their last number alone are joined.
std::string name_ranges(const std::vector<std::string>& names);

/// The ranks of one machine, in order.
struct NodeRanks {
  std::string name;
  std::vector<Index> ranks;
};

/// Returns the machines in the order of their first ranks.
std::vector<NodeRanks> by_node(const std::vector<RankPlace>& places);

/// Returns the joined ends of runs: "01-16,18".
std::string join_runs(const std::vector<Index>& numbers, std::size_t digits);

}  // namespace mpitron::launch
