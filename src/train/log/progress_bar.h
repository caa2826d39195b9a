#pragma once
#include <cstdio>
#include <optional>
#include <string>

#include "utils/numbers/shape.h"
#include "utils/timer.h"

namespace mpitron::train {

/// Contents of a bar; pure data, so that the text can be tested.
struct ProgressState {
  Index done = 0;
  Index total = 0;
  double rate = 0;  // units per second, 0: unknown yet
  std::string unit = "it";
  std::string note = {};  // shown behind, for example "loss 2.31"
};

/// Renders `  42% [########............] 420/1000 | 3.2 it/s | ETA 0:03:01 | loss 2.31`, at most
/// `width` columns.
std::string render_progress(const ProgressState& state, int width);

/// Formats `1:02:03`, and from a day on `2d 03:04:05`.
std::string format_duration(double seconds);

/// A bar that redraws itself on one line of a terminal, at most ten times a second. Where the
/// stream is no terminal it writes nothing at all, so that log files stay clean.
class ProgressBar {
 public:
  /// `start`: units done before (a resumed run); they do not count for the rate.
  ProgressBar(Index total, std::string unit, Index start = 0, std::FILE* stream = stderr);
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void update(Index done, const std::string& note = {});
  /// Removes the bar, before other text is printed; the next update draws it again.
  void clear();

 private:
  int width() const;

  std::FILE* stream_;
  bool enabled_;
  bool drawn_ = false;
  ProgressState state_;
  Index start_;
  Timer since_start_;
  std::optional<Timer> since_draw_;
};

}  // namespace mpitron::train
