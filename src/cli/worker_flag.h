#pragma once
#include <algorithm>
#include <thread>

#include "cli/flags.h"
#include "utils/error.h"

namespace mpitron::cli {

/// `--workers` of the tools that work on corpora: all cores unless it is given.
class WorkerFlag {
 public:
  void add(Flags& flags) {
    flags.option("--workers", workers_, "threads; the output does not depend on them");
  }
  /// After parsing. Error(usage) outside 1 to 1024.
  int value() const {
    constexpr Index kMaxWorkers = 1024;
    if (workers_ < 1 || workers_ > kMaxWorkers) {
      throw_usage("--workers {}: allowed are 1 to {}", workers_, kMaxWorkers);
    }
    return static_cast<int>(workers_);
  }

 private:
  Index workers_ = std::max(1U, std::thread::hardware_concurrency());
};

}  // namespace mpitron::cli
