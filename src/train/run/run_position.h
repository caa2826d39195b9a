#pragma once
#include "checkpoint/format/file.h"

namespace mpitron::train {

/// Where a run stands, as far as a checkpoint keeps it.
struct RunPosition {
  Index iteration = 0;
  Index consumed_train_samples = 0;
  Index consumed_valid_samples = 0;

  bool operator==(const RunPosition&) const = default;
};

/// Notes the position in a checkpoint's header.
void set_position(checkpoint::Header& header, const RunPosition& position);
/// What a header says; converted models say nothing of validation.
RunPosition position_of(const checkpoint::Header& header);

}  // namespace mpitron::train
