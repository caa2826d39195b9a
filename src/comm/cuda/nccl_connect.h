#pragma once
#include <map>
#include <memory>
#include <utility>

#include "comm/cuda/nccl_channel.h"
#include "comm/groups/group.h"

namespace mpitron::comm {

// Connecting needs no network of its own: identifiers travel over the host's group. Every member
// calls, and all wait for all.

/// One communicator of all members, for collectives.
std::shared_ptr<NcclChannel> connect_members(Group& host, const NcclChannel::Settings& settings);

/// Of (sender, receiver), group ranks.
using MessageChannels = std::map<std::pair<Index, Index>, std::shared_ptr<NcclChannel>>;

/// A communicator of its own for each direction between neighbours (first and last member are,
/// too): a send waits on the GPU until it is received, and what waits on one stream would hold up
/// whatever is behind it; so two stages that send to each other, or a ring, cannot wait for ever.
/// One byte has travelled through each when this returns, since the first one has the host wait for
/// the other end. `byte`: of the device's memory, there once `stream` has come here.
MessageChannels connect_neighbours(Group& host, const NcclChannel::Settings& settings, void* byte,
                                   cudaStream_t stream);

}  // namespace mpitron::comm
