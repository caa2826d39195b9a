#include "plan/calibration/launch_times.h"

#include <algorithm>

// Times of kernels by kernel, type, extents and work, of which the median counts.

namespace mpitron::plan {

double median(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

void LaunchTimes::after(const device::LaunchRecord& record) {
  // A median needs no more, and programs launch a kernel thousands of times.
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
                      .seconds = median(times)});
  }
  return result;
}

}  // namespace mpitron::plan
