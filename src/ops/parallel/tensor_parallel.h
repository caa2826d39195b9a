#pragma once
#include "comm/groups/group.h"

namespace mpitron::ops {

/// The ranks that share the weights of a layer. With sequence parallelism (Korthikanti et al. 2022)
/// the activations between the layers are cut along s over the same ranks, otherwise every rank has
/// all of them.
struct TensorParallel {
  comm::Group* group = nullptr;  // null: nobody else
  bool sequence_parallel = false;
  /// Products run on the pieces of the sequence that are there while others travel
  /// (`--tp-comm-overlap`); with a cut sequence only.
  bool overlap = false;

  Index size() const { return group != nullptr ? group->size() : 1; }
  Index rank() const { return group != nullptr ? group->rank() : 0; }
  bool shared() const { return size() > 1; }
  /// Whether activations between the layers are cut along s.
  bool cuts_sequence() const { return shared() && sequence_parallel; }
  bool overlaps() const { return cuts_sequence() && overlap; }
};

}  // namespace mpitron::ops
