#pragma once
#include "convert/formats/host_tensor.h"
#include "convert/names/name_table.h"

namespace mpitron::convert {

/// Our tensor from all of theirs, in the order of the rule.
HostTensor join(const NameRule& rule, const std::vector<HostTensor>& theirs);
/// One of theirs from ours.
HostTensor take_part(const NameRule& rule, const HostTensor& ours, std::size_t part);

}  // namespace mpitron::convert
