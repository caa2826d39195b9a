#pragma once
#include <filesystem>
#include <optional>

#include "utils/numbers/shape.h"

namespace mpitron::train {

/// In the order of their weight: of two the later one is done.
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

}  // namespace mpitron::train
