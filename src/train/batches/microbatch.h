#pragma once
#include "comm/groups/group.h"
#include "models/base/model.h"
#include "utils/numbers/random_key.h"

namespace mpitron::train {

using models::HostMicrobatch;

/// A microbatch on the device, sequence first; of each sequence, what this rank has of it.
struct DeviceMicrobatch {
  Index samples = 0;          // b
  Index sequence_length = 0;  // s, of this rank
  Index whole_length = 0;     // of the sequences
  SequenceMap positions;      // global ones of s
  models::Batch batch = {};
  Index first_sample = 0;
  const StepNumbers* replayed = nullptr;  // autograd::SamplePosition
};

/// A rank's place in its context parallel group.
struct ContextPlace {
  Index ranks = 1, rank = 0;
};

/// Moves to the device what this rank has of the sequences: its zigzag slice. A rank that does not
/// read data has their position and size alone.
DeviceMicrobatch upload(const models::Model& model, const HostMicrobatch& microbatch,
                        const ContextPlace& place = {});

/// Gives every rank of the tensor group what rank 0 has read. Collective.
void broadcast_microbatch(device::Device& device, comm::Group& group, const models::Model& model,
                          DeviceMicrobatch& microbatch);

}  // namespace mpitron::train
