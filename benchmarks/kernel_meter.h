#pragma once
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "device/device.h"
#include "device/stream_clock.h"
#include "kernels/elementwise/elementwise.h"

namespace mpitron::kernels {

/// Measures kernels of a device against copies within its memory in the same run, and collects the
/// figures. Every figure is the best of several repetitions, in which the copy and the kernel take
/// turns.
class KernelMeter {
 public:
  /// Only what has `only` in its name is measured.
  KernelMeter(device::Device& device, std::string only);

  bool on_host() const { return device_.tensors_on_host(); }
  /// Rows of a tensor: a GPU has larger caches and needs more to do.
  Index rows(Index on_the_host) const { return on_host() ? on_the_host : 8 * on_the_host; }
  template <class Kernel>
  void launch(const Kernel& kernel) {
    device::launch(device_.stream(), kernel);
  }

  /// Normal numbers, of which the first 64 Ki repeat; zeros in types of 8 bytes.
  Out tensor(DType dtype, const Shape& shape);
  /// n numbers below `end`.
  Out indices(Index n, Index end);
  template <class Kernel>
  Kernel with_workspace(Kernel kernel) {
    const Index words = device::workspace_bytes_of(device_.stream(), kernel) / 8 + 1;
    kernel.workspace = tensor(DType::f64, {words});
    return kernel;
  }

  /// A kernel bound by memory: GB/s and the ratio to copy.
  template <class... Kernels>
  void bandwidth(const std::string& name, double bytes, const Kernels&... kernels) {
    rate(name, bytes, goal(), {.timed = [&] { (launch(kernels), ...); }});
  }
  /// The same right after itself: the caches hold what they can of its arguments, as they do of
  /// what the kernel before has written. Peers' figures of small tensors are of this kind.
  template <class Kernel>
  void repeated_bandwidth(const std::string& name, double bytes, const Kernel& kernel) {
    const auto run = [&] { launch(kernel); };
    rate(name, bytes, goal(), {.timed = run, .before = run});
  }
  /// What a sum over a large buffer reads: the limit of host kernels that write nothing.
  void reading();
  /// A kernel that only reads: as `bandwidth`, with its share of what reading alone reached.
  template <class Kernel>
  void read_bandwidth(const std::string& name, double bytes, const Kernel& kernel) {
    compare_with_reading(rate(name, bytes, goal(), {.timed = [&] { launch(kernel); }}));
  }
  /// What the host is measured by where arithmetic bounds it.
  struct Elements {
    double count, goal;  // goal: of 1e9 elements a second
  };
  /// A kernel that arithmetic bounds on the host, and memory on a GPU.
  template <class... Kernels>
  void elements(const std::string& name, Elements host, double bytes, const Kernels&... kernels) {
    if (on_host()) {
      element_rate(name, host, {.timed = [&] { (launch(kernels), ...); }});
    } else {
      bandwidth(name, bytes, kernels...);
    }
  }
  /// The same for a kernel that overwrites what it reads: `restore` fills it anew before each run,
  /// outside the time.
  template <class Kernel>
  void elements_in_place(const std::string& name, Elements host, double bytes, const Cast& restore,
                         const Kernel& kernel) {
    const Work work{.timed = [&] { launch(kernel); }, .before = [&] { launch(restore); }};
    if (on_host()) {
      element_rate(name, host, work);
    } else {
      rate(name, bytes, goal(), work);
    }
  }
  /// The cost of a kernel on a few elements; on a GPU that of its way through the queue.
  template <class Kernel>
  void latency(const std::string& name, const Kernel& kernel) {
    call_time(name, [&] { launch(kernel); });
  }
  const nlohmann::json& figures() const { return figures_; }

 private:
  struct Work {
    std::function<void()> timed;
    std::function<void()> before = [] {};  // outside the time
  };
  struct Pair {
    double copy, kernel;  // seconds
  };

  Out empty(DType dtype, const Shape& shape);
  void upload(const Out& view, const std::vector<std::int64_t>& values);
  void repeat_head(const Out& view);

  bool wanted(const std::string& name) const { return name.find(only_) != std::string::npos; }
  double goal() const { return on_host() ? 0.9 : 0.85; }
  Pair timed_pair(const Work& work);
  /// The best time of the work; measures copy_rate_ beside it.
  double seconds(const Work& work);
  /// The ratio to copy; 0 for what is not wanted.
  double rate(const std::string& name, double bytes, const nlohmann::json& goal, const Work& work);
  void element_rate(const std::string& name, Elements host, const Work& work);
  void call_time(const std::string& name, const std::function<void()>& call);
  void compare_with_reading(double share);
  void add(const std::string& name, double value, const char* unit, const nlohmann::json& goal);

  device::Device& device_;
  std::string only_;
  std::unique_ptr<device::StreamClock> clock_;  // of a GPU
  nlohmann::json figures_ = nlohmann::json::array();
  double copy_rate_ = 0, reading_share_ = 0;
  Out copy_from_, copy_to_;
};

}  // namespace mpitron::kernels
