#pragma once
#include "train/parity/recorded_case.h"
#include "train/parity/replay.h"
#include "train/step/train_step.h"

// Comparisons of a replayed run with the recorded one. Each returns the largest difference, or what
// differs in an iteration.

namespace mpitron::train {

/// Compares logits of the first iteration.
double compare_logits(TrainStep& step, TrainedModel& model, const HostMicrobatch& samples,
                      const RecordedLogits& expected);

/// Compares logits behind the last iteration.
double compare_last_logits(TrainStep& step, TrainedModel& model, RecordedCase::Unlearned& last);

/// Compares losses of an iteration.
ReplayedIteration compare_losses(const StepReport& step, const RecordedIteration& recorded);

/// Compares gradient norms.
double compare_norms(TrainStep& step, TrainedModel& model, const RecordedCase& recorded);

}  // namespace mpitron::train
