#pragma once
#include <map>
#include <optional>
#include <string>

#include "config/training_config.h"
#include "train/reruns/result_checks.h"
#include "utils/error.h"
#include "utils/numbers/shape.h"

namespace mpitron::train {

/// A rejected result that came out again when it was computed once more: another run, on other
/// machines, is to tell whether it is right.
struct PendingResult {
  Index iteration = 0;
  std::string name = {};  // "loss", "gradient norm"
  double value = 0;
  std::string complaint = {};
  bool fatal = false;
  std::string machines = {};  // that computed it
  std::optional<config::InjectedError> injected = std::nullopt;
};

/// One JSON object that keeps every bit of the value.
std::string to_json(const PendingResult& pending);
/// Error(data) for text of another form; `origin` (a file) is named in it.
PendingResult pending_result(const std::string& json, const std::string& origin);

/// Decision that follows from an iteration's results. The iteration's update is made unless `again`
/// or `exit` is set.
struct RerunDecision {
  bool again = false;                           // compute the iteration once more
  std::optional<ExitCode> exit = std::nullopt;  // leave, with `message`
  /// Result to hand over to the next run, once the state before the iteration is saved.
  std::optional<PendingResult> pending = std::nullopt;
  std::string status = {};   // for the tracker's file; empty: nothing to write there
  double result = 0;         // the rejected figure, for the same file
  std::string message = {};  // for the user
};

/// Tells a machine's errors from results of the model (RerunStateMachine of the reference). An
/// iteration without its update is a function of weights and data, bit for bit, so on a sound
/// machine it gives the same figures again.
///
/// `validate_results`: an iteration with a rejected result is computed again in place. Another
/// figure means a transient error: exit 17. The same figure: the state is saved, exit 16, and the
/// next run computes the iteration on other machines. The same there: the figure is the model's
/// (exit 17 if it is fatal, else training goes on). Another: the first machines have a persistent
/// error, exit 17. Where nothing can be saved, what is fatal ends with 17, other things are
/// accepted.
/// `report_stats`: every iteration is computed twice and compared, nothing is rejected.
/// `disabled`: what is fatal ends with 17, what is not is accepted.
///
/// --error-injection-rate N: one iteration in N is rejected, and its reruns find what
/// --error-injection-type says; a function of seed and iteration.
class RerunEngine {
 public:
  struct Options {
    config::RerunMode mode = config::RerunMode::validate_results;
    Index error_injection_rate = 0;
    config::InjectedError error_injection_type = config::InjectedError::transient_error;
    Index seed = 0;
    bool can_save = false;
    std::string machines = {};  // the same text on all ranks
  };

  explicit RerunEngine(Options options) : options_(std::move(options)) {}

  /// Expects what an earlier run left open; the run starts before its iteration.
  void expect(PendingResult pending) { pending_ = std::move(pending); }
  /// Tells whether what `expect` told is neither confirmed nor refuted yet.
  bool expecting() const { return pending_.has_value(); }
  /// Whether the next `judge` is of a rerun: then `results` need no complaints.
  bool rerunning() const { return first_.has_value(); }
  RerunDecision judge(Index iteration, const Results& results);

  /// report_stats: what the comparisons since the last call have found, for the log.
  std::string take_statistics();

 private:
  struct First {
    Results results;
    std::size_t rejected = 0;
    std::optional<config::InjectedError> injected = std::nullopt;
  };
  struct Statistics {
    Index compared = 0, different = 0;
    double largest = 0;  // relative difference
  };

  std::optional<config::InjectedError> injected(Index iteration) const;
  RerunDecision reject(Index iteration, const Result& result) const;
  RerunDecision compare_in_place(Index iteration, const First& first, const Results& results) const;
  RerunDecision compare_with_earlier_run(const Results& results);
  void add_statistics(const Results& first, const Results& second);

  Options options_;
  std::optional<First> first_;
  std::optional<PendingResult> pending_;
  std::map<std::string_view, Statistics> statistics_;
};

/// |a - b| / |a|; 0 for equal figures and for two NaN, infinite where only one is not finite.
double relative_difference(double a, double b);

/// Says what a user looks at when an iteration's loss is no number.
std::string advice_on(Index iteration);

}  // namespace mpitron::train
