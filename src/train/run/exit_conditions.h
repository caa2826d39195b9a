#pragma once
#include <functional>
#include <optional>
#include <string>

#include "train/run/trigger_files.h"
#include "utils/error.h"
#include "utils/numbers/shape.h"

namespace mpitron::train {

struct ExitOptions {
  bool save = false;                                                 // --save is given
  std::optional<Index> save_interval = std::nullopt;                 // iterations
  std::optional<Index> non_persistent_save_interval = std::nullopt;  // iterations
  std::optional<Index> exit_interval = std::nullopt;                 // iterations
  std::optional<Index> exit_duration_in_mins = std::nullopt;         // since the program began
};

/// The end of an iteration, as this rank sees it.
struct ExitMoment {
  Index iteration = 0;
  double minutes_since_start = 0;
  int signal = 0;                                           // ExitSignals::received
  Trigger trigger = Trigger::none;                          // TriggerFiles::take
  std::optional<double> seconds_to_job_end = std::nullopt;  // of the batch system, when known
  double seconds_to_stop = 0;                               // one more iteration and a save
};

enum class ExitReason { none, signal, stop, resume_later, duration, job_end, interval };
enum class SaveKind { none, persistent, non_persistent };

struct ExitDecision {
  SaveKind save = SaveKind::none;  // to do before the exit
  ExitReason reason = ExitReason::none;
  std::string message = {};  // for `datetime_line`
};

/// When to save and when to stop. A signal and the files SAVE and STOP save at once; otherwise, in
/// the order of the reference: save interval, else non-persistent interval; a request to resume
/// later, duration and end of the job; exit interval (each of these saves unless just saved). All
/// ranks get the same decision.
class ExitConditions {
 public:
  /// The largest value over all ranks; the identity for one process.
  using MaxOverRanks = std::function<Index(Index)>;

  explicit ExitConditions(const ExitOptions& options, MaxOverRanks max_over_ranks = {});
  /// Collective: every rank calls it at the end of every iteration, which costs one question.
  ExitDecision decide(const ExitMoment& moment) const;

 private:
  Index wish(const ExitMoment& moment) const;
  SaveKind scheduled_save(Index iteration) const;
  ExitDecision exit_for(Index wish, const ExitMoment& moment) const;

  ExitOptions options_;
  MaxOverRanks max_over_ranks_;
};

/// 0 for a planned end (none, STOP, interval); 85 where a scheduler should start the job again, 86
/// if progress was lost.
ExitCode exit_code(ExitReason reason, bool saved);

}  // namespace mpitron::train
