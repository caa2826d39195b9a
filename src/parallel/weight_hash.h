#pragma once
#include <span>

#include "autograd/parameter.h"
#include "comm/groups/group.h"

namespace mpitron::parallel {

/// Compares the values of parameters, by hash, over a group whose members should hold the same
/// (`--check-weight-hash-across-dp-replicas-interval`). Where they differ every member throws the
/// same Error(environment), which names the first parameter and the members that differ from the
/// first.
void check_weight_hashes(device::Device& device, std::span<autograd::Parameter* const> parameters,
                         comm::Group& replicas);

}  // namespace mpitron::parallel
