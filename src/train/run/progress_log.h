#pragma once
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

#include "utils/numbers/shape.h"

namespace mpitron::train {

/// Position of a run when it saved.
struct SavedProgress {
  Index iteration = 0;
  bool asynchronous = false;  // the checkpoint is not complete yet
  double job_flops = 0;       // of this program
  double flops = 0;           // since iteration 0
  double tokens = 0;          // likewise
};

/// `progress.txt` in the folder of checkpoints (`--log-progress`): the reference's lines, which
/// follow a training through all of its jobs.
class ProgressLog {
 public:
  using Clock = std::chrono::system_clock;

  /// Notes the start of a job. Error(data) where its folder cannot be made; a line that cannot be
  /// written is warned of.
  ProgressLog(const std::filesystem::path& folder, Index world_size, Clock::time_point now);

  /// A save, with the throughput of this job and of all jobs since the first of this world size.
  void saved(const SavedProgress& progress, Clock::time_point now);

 private:
  void add(std::string_view message, Clock::time_point now) const;
  /// The first start with this world size behind the last job of another.
  void find_first_start();

  std::filesystem::path file_;
  Index world_size_;
  Clock::time_point start_, first_start_;
  double first_flops_ = 0;  // done before `first_start_`
};

}  // namespace mpitron::train
