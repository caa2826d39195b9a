#pragma once
#include <span>

#include "autograd/parameter_list.h"
#include "comm/group.h"

namespace mpitron::parallel {

/// Compares the values of all parameters, by hash, over a group whose members should hold the same
/// (`--check-weight-hash-across-dp-replicas-interval`). Where they differ every member throws the
/// same Error(environment), which names the first parameter and the members that differ from the
/// first.
void check_weight_hashes(autograd::ParameterList& parameters, comm::Group& replicas);

}  // namespace mpitron::parallel
