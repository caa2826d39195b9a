#pragma once
#include <chrono>
#include <map>
#include <vector>

#include "device/device.h"
#include "plan/machine/measured_costs.h"

namespace mpitron::plan {

/// Returns the mean of the values up to twice the median: what launches take in a sum of many, less
/// those in which the machine did something else. 0 where there are none.
double usual(const std::vector<double>& values);

/// Times of every launch on a device whose launches return when the kernel has ended, by kernel,
/// type and extents.
class LaunchTimes final : public device::LaunchObserver {
 public:
  /// Observes the device while it lives.
  class Scope {
   public:
    Scope(LaunchTimes& times, device::Device& device) : device_(device) {
      device_.observer() = &times;
    }
    ~Scope() { device_.observer() = nullptr; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    device::Device& device_;
  };

  void before(const device::LaunchRecord&) override { begin_ = Clock::now(); }
  void after(const device::LaunchRecord& record) override;
  void argument(const device::LaunchRecord&, const char*, const device::ConstTensorView&) override {
  }

  /// Time within all launches so far, and their number.
  double seconds() const { return seconds_; }
  std::size_t launches() const { return launches_; }
  /// Returns the usual time of each kernel, type and extents, marked as measured with so many ranks
  /// at work.
  std::vector<TimedKernel> kernels(Index ranks) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Key {
    std::string kernel;
    DType dtype;
    std::vector<Index> extents;
    double work;
    auto operator<=>(const Key&) const = default;
  };

  Clock::time_point begin_;
  double seconds_ = 0;
  std::size_t launches_ = 0;
  std::map<Key, std::vector<double>> times_;
};

}  // namespace mpitron::plan
