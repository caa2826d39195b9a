#pragma once
#include <string>

#include "utils/numbers/shape.h"
#include "utils/timer.h"

namespace mpitron::data {

/// Progress of a long command on stderr: a bar that is redrawn where stderr is a terminal, else one
/// line at most every second.
class Progress {
 public:
  /// `total` in bytes (0: unknown); `interval`: documents between two lines.
  Progress(std::string title, Index total, Index interval);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(Index documents, Index bytes);

  double seconds() const { return timer_.seconds(); }

 private:
  std::string title_;
  Index total_;
  Index interval_;
  Index last_documents_ = 0;
  bool terminal_;
  bool drawn_ = false;
  Timer timer_;
  Timer since_line_;
};

/// Returns "3:07" or "1:02:09".
std::string format_duration(double seconds);

/// Returns one progress line: documents, MB, share, rates, time left.
std::string format_progress(Index documents, Index bytes, Index total, double seconds);

}  // namespace mpitron::data
