#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "utils/error.h"
#include "utils/numbers/shape.h"

namespace mpitron::train {

/// Triggers in the order of their weight: of two the later one is done.
enum class Trigger { none, save, resume_later, stop };

/// Files by which a person or a script asks something of a running training: `touch RUN/SAVE`
/// (save, go on), `touch RUN/STOP` (save, end), and, with --adlr-autoresume, `touch RUN/REQUEUE`
/// (save, end with the exit code by which a batch job is started again).
class TriggerFiles {
 public:
  /// `folder`: of the run; none: nobody can ask. REQUEUE is looked for at multiples of
  /// `autoresume_interval`, not at all without it.
  explicit TriggerFiles(std::optional<std::filesystem::path> folder,
                        std::optional<Index> autoresume_interval = std::nullopt);

  /// Removes the files that are there, so that each asks once; one that cannot be removed does not
  /// count. One rank calls it, at the end of an iteration.
  Trigger take(Index iteration) const;

 private:
  bool taken(const char* name) const;

  std::optional<std::filesystem::path> folder_;
  std::optional<Index> autoresume_interval_;
};

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
