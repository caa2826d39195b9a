#include "plan/calibration/launch_times.h"

#include <algorithm>

#include "utils/numbers/median.h"

// Times of kernels by kernel, type, extents and work. A step is a sum of launches, so that means
// count: medians of times with a long tail add up to too little.

namespace mpitron::plan {

double usual(const std::vector<double>& values) {
  const double most = 2 * median(values);
  double sum = 0;
  Index count = 0;
  for (const double value : values) {
    if (value <= most) {
      sum += value;
      ++count;
    }
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

void LaunchTimes::after(const device::LaunchRecord& record) {
  // A mean needs no more, and programs launch a kernel thousands of times.
  constexpr std::size_t kKept = 64;
  const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
  seconds_ += seconds;
  ++launches_;
  std::vector<double>& times =
      times_[{record.kernel, record.dtype, extents_of(record), work_of(record)}];
  if (times.size() < kKept) {
    times.push_back(seconds);
  }
}

std::vector<TimedKernel> LaunchTimes::kernels(Index ranks) const {
  std::vector<TimedKernel> result;
  for (const auto& [key, times] : times_) {
    result.push_back({.kernel = key.kernel,
                      .dtype = key.dtype,
                      .ranks = ranks,
                      .extents = key.extents,
                      .work = key.work,
                      .seconds = usual(times)});
  }
  return result;
}

}  // namespace mpitron::plan
