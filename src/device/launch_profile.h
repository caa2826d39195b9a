#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "device/device.h"

namespace mpitron::device {

/// Where the time goes: sums seconds and bytes of every launch on a device while it lives, by
/// kernel and, within a kernel, by the size of its arguments.
class LaunchProfile final : public LaunchObserver {
 public:
  struct Entry {
    std::string kernel;
    Index bytes = 0;  // of the arguments of one launch; 0 in the sums over all sizes
    Index calls = 0;
    double seconds = 0;
    double total_bytes = 0;
  };

  explicit LaunchProfile(Device& device);
  ~LaunchProfile() override;
  LaunchProfile(const LaunchProfile&) = delete;
  LaunchProfile& operator=(const LaunchProfile&) = delete;

  void before(const LaunchRecord& record) override;
  void after(const LaunchRecord& record) override;
  void argument(const LaunchRecord&, const char*, const ConstTensorView&) override {}

  /// Sums by kernel, the slowest first.
  std::vector<Entry> kernels() const;
  /// Sums by kernel and size, the slowest first.
  std::vector<Entry> sizes() const;
  double seconds() const;
  void clear() { entries_.clear(); }
  /// A line a kernel: calls, milliseconds, GB/s over the arguments, share of `seconds` (of the
  /// step, say). With `by_size` a line a kernel and size.
  std::string table(double seconds, bool by_size) const;

 private:
  using Clock = std::chrono::steady_clock;
  Device& device_;
  LaunchObserver* previous_;
  Clock::time_point begin_;
  std::vector<Entry> entries_;
};

}  // namespace mpitron::device
