#pragma once
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::train {

using NamedLoss = std::pair<std::string, double>;

/// Whether a figure of this name is a loss, and has a perplexity: shares and margins have none.
inline bool is_loss(std::string_view name) {
  return name.ends_with("loss");
}

/// Losses and counters between two log lines, averaged as the reference does: a loss is summed in
/// fp32 over the iterations that made an update and divided by their number (at least 1); a skipped
/// iteration is counted, and counted as nan as well when one of its losses is not finite.
class IntervalAverages {
 public:
  /// One iteration; `skipped`: its update was dropped (overflow of the gradients).
  void add(std::span<const NamedLoss> losses, bool skipped);
  /// A value summed in every iteration, skipped or not, but divided like the losses (MoE and MTP
  /// losses).
  void add_tracked(std::string_view name, double value);
  /// Returns the averages in the order in which the losses first appeared.
  std::vector<NamedLoss> averages() const;
  Index skipped_iterations() const { return skipped_; }
  Index nan_iterations() const { return nan_; }
  Index iterations() const { return advanced_ + skipped_; }
  /// Starts the next interval; names keep their order.
  void reset();

 private:
  struct Sum {
    std::string name;
    float total = 0.0F;
  };
  void accumulate(std::string_view name, double value);

  std::vector<Sum> sums_;
  Index advanced_ = 0;
  Index skipped_ = 0;
  Index nan_ = 0;
};

/// Contents of one log line, in its order; absent fields are not printed.
struct IterationReport {
  std::chrono::system_clock::time_point time;  // printed as local time with microseconds
  Index iteration = 0;
  Index train_iters = 0;
  Index consumed_train_samples = 0;
  Index skipped_train_samples = 0;  // printed when above 0
  double seconds_per_iteration = 0;
  std::optional<double> throughput = std::nullopt;  // TFLOP/s of one device
  std::optional<double> energy = std::nullopt;      // joules per iteration and device
  double learning_rate = 0;  // after the scheduler's step: of the next update
  std::optional<double> decoupled_learning_rate = std::nullopt;
  Index global_batch_size = 0;
  std::vector<NamedLoss> losses = {};  // averages; a loss not above 0 is left out (so is NaN)
  double loss_scale = 1.0;
  std::optional<double> grad_norm = std::nullopt;
  std::optional<double> num_zeros = std::nullopt;
  std::optional<double> params_norm = std::nullopt;
  Index skipped_iterations = 0;
  Index nan_iterations = 0;
};

/// The line of the reference, character for character:
/// ` [2026-08-22 15:22:22.123456] iteration        1/     100 | consumed samples: ... |`.
std::string iteration_line(const IterationReport& report);

/// Three lines joined by newlines: a rule of dashes, the figures (losses with their perplexities),
/// the rule.
/// `where` is "iteration 100", or "iteration 100 on test set" at the end; `set` numbers one of
/// several validation sets.
std::string validation_lines(std::string_view where, std::span<const NamedLoss> losses,
                             std::optional<Index> set = std::nullopt);
/// "validation", or "validation-1" for the second of several sets.
std::string validation_name(std::optional<Index> set);

/// ` > number of parameters on (tensor, pipeline) model parallel rank (0, 0): 124475904`.
std::string parameter_count_line(Index tensor_rank, Index pipeline_rank, Index parameters);

/// `[exiting program at iteration 10] datetime: 2026-08-22 15:22:22 `, as the reference marks its
/// phases.
std::string datetime_line(std::string_view what, std::chrono::system_clock::time_point time);

}  // namespace mpitron::train
