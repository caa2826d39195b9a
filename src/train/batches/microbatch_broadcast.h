#pragma once
#include "comm/groups/group.h"
#include "train/batches/microbatch.h"

namespace mpitron::train {

/// Gives every rank of the tensor group what rank 0 has read; on the others `microbatch` knows only
/// its position and size.
void broadcast_microbatch(device::Device& device, comm::Group& group, const MicrobatchParts& parts,
                          DeviceMicrobatch& microbatch);

}  // namespace mpitron::train
