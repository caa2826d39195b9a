#pragma once
#include <string>
#include <vector>

#include "doctor/check_result.h"
#include "launch/environment.h"

namespace mpitron::doctor {

/// A network interface of this machine.
/// Read once and judged by pure functions, so that tests need no network.
struct Interface {
  /// Name as the variables have it: "eth0", "ib0".
  std::string name;
  bool up = false;  // and running: a cable is there
  /// The interface cannot reach other nodes.
  bool loopback = false;
  /// Without IPv4 an interface serves neither library.
  std::vector<std::string> addresses;  // IPv4, "10.0.0.5"
};

/// Returns all of this machine, in the system's order; empty where it does not tell.
std::vector<Interface> read_interfaces();

/// Returns those that NCCL would use by NCCL_SOCKET_IFNAME: prefixes separated by commas, `=` in
/// front for whole names, `^` for all others.
std::vector<std::string> nccl_choice(const std::string& pattern,
                                     const std::vector<Interface>& interfaces);
/// Returns those that Open MPI means by btl_tcp_if_include: names, or networks as 10.0.0.0/16. A
/// network chooses whichever interface has an address within it.
std::vector<std::string> open_mpi_choice(const std::string& list,
                                         const std::vector<Interface>& interfaces);

/// Checks that the variables that choose interfaces name some that are there and up, and do not
/// contradict each other; without them, that interfaces of containers and virtual machines
/// (docker0) do not mislead.
std::vector<CheckResult> check_network(const std::vector<Interface>& interfaces,
                                       const launch::Environment& environment);

}  // namespace mpitron::doctor
