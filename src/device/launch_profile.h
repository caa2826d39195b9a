#pragma once
#include <string>
#include <vector>

#include "device/stream_clock.h"

namespace mpitron::device {

/// Tells where the time goes: sums the device's seconds and the bytes of every launch on it while
/// it lives, by kernel and, within a kernel, by the size of its arguments.
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
  void clear();
  /// A line a kernel: calls, milliseconds, GB/s over the arguments, share of `seconds` (of the
  /// step, say). With `by_size` a line a kernel and size.
  std::string table(double seconds, bool by_size) const;

 private:
  /// Adds the launches whose times were not known when they were made; waits for the device.
  void read() const;

  Device& device_;
  LaunchObserver* previous_;
  std::unique_ptr<StreamClock> clock_;
  struct Launch {
    const char* kernel;
    Index bytes;
  };
  mutable std::vector<Launch> unread_;  // a begin and an end of the clock for each
  mutable std::vector<Entry> entries_;
};

}  // namespace mpitron::device
