#pragma once
#include <deque>
#include <functional>

#include "train/batches/microbatch.h"
#include "train/model/trained_model.h"
#include "train/timing/timers.h"

namespace mpitron::train {

/// Source of the step's microbatches: called once for each, in order.
using NextMicrobatch = std::function<HostMicrobatch()>;

/// The microbatches of a pass on the device, which the chunks of a stage ask for in order.
class MicrobatchQueue {
 public:
  MicrobatchQueue(device::Device& device, TrainedModel& model, Timers& timers)
      : device_(device), model_(model), timers_(timers) {}

  /// Begins a pass over what `next` gives; it must live as long.
  void begin(const NextMicrobatch& next);
  /// Begins a pass over what is on the device already.
  void begin(std::deque<DeviceMicrobatch> microbatches);
  /// Takes all `count` microbatches of a pass to the device and hands them out.
  std::deque<DeviceMicrobatch> take(Index count);
  const DeviceMicrobatch& at(Index index);
  /// The forward pass of a chunk over its next microbatch is over; lets go of those that every
  /// chunk has taken.
  void taken_by(Index chunk);

 private:
  device::Device& device_;
  TrainedModel& model_;
  Timers& timers_;
  const NextMicrobatch* next_ = nullptr;
  std::deque<DeviceMicrobatch> microbatches_;  // from `first_` on
  Index first_ = 0;
  std::vector<Index> taken_;  // by each chunk
};

}  // namespace mpitron::train
