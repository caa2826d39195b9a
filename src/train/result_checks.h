#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "config/training_config.h"
#include "utils/shape.h"

namespace mpitron::train {

/// Where a value was found, for messages.
struct ResultOrigin {
  Index iteration = 0;
  Index rank = 0;
  Index microbatch = -1;  // -1: of the whole iteration
};

/// Ends the run with Error(result_rejected) when `value` is NaN or infinite: "iteration 12, rank 3,
/// microbatch 0: the loss is nan ...". `what` names it: "loss", "gradient norm of bucket 4". Off
/// with --no-check-for-nan-in-loss-and-grad.
void check_finite(double value, std::string_view what, const ResultOrigin& origin);

/// Tells values far above what was seen in the first samples (--check-for-spiky-loss,
/// --check-for-large-grads): above `factor` times the largest of the first `learning_samples`,
/// which never are. NaN is left to `check_finite`, an infinity always is too large. Source:
/// RerunStateMachine.is_unexpectedly_large.
class UnexpectedlyLarge {
 public:
  explicit UnexpectedlyLarge(double factor = 10.0, Index learning_samples = 100)
      : factor_(factor), learning_samples_(learning_samples) {}

  bool operator()(double value);
  double largest() const { return largest_; }

  /// Calls visit(name, value&) for what a checkpoint keeps.
  template <class Visitor>
  void visit_state(Visitor&& visit) {
    visit("largest", largest_);
    visit("samples_seen", samples_seen_);
  }

 private:
  double factor_;
  Index learning_samples_;
  double largest_ = 0.0;
  Index samples_seen_ = 0;
};

/// The warning for a spike, which does not end the run.
std::string spike_message(double value, std::string_view what, const ResultOrigin& origin,
                          const UnexpectedlyLarge& check);

/// What the options ask of every iteration's loss and gradient norm. Every rank calls it with the
/// same figures; rank 0 writes.
class ResultChecks {
 public:
  ResultChecks(const config::TrainingConfig& training, Index rank);

  /// Error(result_rejected) for what is not finite, which goes into the file of
  /// --result-rejected-tracker-filename too; a warning for a spike.
  void operator()(Index iteration, double loss, double grad_norm);

 private:
  void check(Index iteration, double value, std::string_view what,
             std::optional<UnexpectedlyLarge>& spikes);

  bool finite_;
  std::optional<std::string> tracker_;
  Index rank_;
  std::optional<UnexpectedlyLarge> spiky_loss_, large_gradients_;
};

}  // namespace mpitron::train
