#include "benchmarks/kernel_meter.h"

#include <cstdio>
#include <ctime>
#include <limits>
#include <random>

#include <sys/resource.h>

#include "benchmarks/peaks.h"
#include "device/copy.h"
#include "kernels/host/common/parallel.h"
#include "utils/timer.h"

namespace mpitron::kernels {
namespace {

constexpr int kRepetitions = 12;
/// Disturbed pairs do not count, but end a measurement too.
constexpr int kMostDisturbed = 30;

Out flat_head(const Out& view) {
  constexpr Index kHead = 1 << 16;
  return device::TensorView(view.data, view.dtype, {std::min(kHead, view.numel())});
}

/// By the clock; with one thread by processor time, which other programs do not stretch.
template <class F>
double timed(const F& f) {
  const Timer timer;
  const std::clock_t start = std::clock();
  f();
  return device::HostRuntime::threads() > 1
             ? timer.seconds()
             : static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

/// How often another program took a processor from this one.
long interruptions() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

}  // namespace

KernelMeter::KernelMeter(device::Device& device, std::string only)
    : device_(device), only_(std::move(only)) {
  if (!on_host()) {
    clock_ = device::make_stream_clock(device.stream());
  }
  copy_from_ = tensor(DType::f32, {rows(Index{32} << 20)});
  copy_to_ = tensor(DType::f32, {rows(Index{32} << 20)});
}

Out KernelMeter::tensor(DType dtype, const Shape& shape) {
  const Out view = empty(dtype, shape);
  if (size_of(dtype) <= 4) {
    launch(NormalInit{flat_head(view), {1, 2}, 0, 0, 1});
    repeat_head(view);
  } else {
    upload(view, std::vector<std::int64_t>(static_cast<std::size_t>(view.numel())));
  }
  return view;
}

Out KernelMeter::indices(Index n, Index end) {
  const Out view = empty(DType::i64, {n});
  std::vector<std::int64_t> values(static_cast<std::size_t>(n));
  std::mt19937_64 random(1);
  for (std::int64_t& value : values) {
    value = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
  }
  upload(view, values);
  return view;
}

void KernelMeter::reading() {
  const auto* from = copy_from_.as<float>();
  constexpr Index kPiece = 4096;
  std::vector<float> sums(static_cast<std::size_t>(device::HostRuntime::threads()) * 16);
  reading_share_ =
      rate("reading alone", static_cast<double>(copy_from_.bytes()), nullptr, {.timed = [&] {
             host::for_ranges(copy_from_.numel() / kPiece, copy_from_.numel(),
                              [&](Index begin, Index end, Index worker) {
                                sums[static_cast<std::size_t>(worker) * 16] = benchmarks::sum_of(
                                    from + begin * kPiece, (end - begin) * kPiece);
                              });
           }});
}

Out KernelMeter::empty(DType dtype, const Shape& shape) {
  std::size_t capacity = 0;
  const auto bytes = static_cast<std::size_t>(shape.numel()) * size_of(dtype);
  return device::TensorView(device_.allocator().allocate(bytes, capacity), dtype, shape);
}

void KernelMeter::upload(const Out& view, const std::vector<std::int64_t>& values) {
  device::copy_bytes(device_.stream(), view.data, values.data(), view.bytes());
  device::synchronize(device_.stream());
}

void KernelMeter::repeat_head(const Out& view) {
  auto* const bytes = static_cast<char*>(view.data);
  Index there = flat_head(view).bytes();
  while (there < view.bytes()) {
    const Index more = std::min(there, view.bytes() - there);
    device::copy_bytes(device_.stream(), bytes + there, bytes, more);
    there += more;
  }
}

/// A copy and the work behind it. On a GPU another copy runs while they are queued.
KernelMeter::Pair KernelMeter::timed_pair(const Work& work) {
  if (on_host()) {
    const double copy = timed([&] { launch(Cast{copy_from_, copy_to_}); });
    work.before();
    return {copy, timed(work.timed)};
  }
  const auto copy = [&] {
    device::copy_bytes(device_.stream(), copy_to_.data, copy_from_.data, copy_to_.bytes());
  };
  work.before();
  copy();
  clock_->mark();
  copy();
  clock_->mark();
  work.timed();
  clock_->mark();
  const std::vector<std::int64_t> at = clock_->take();
  return {1e-9 * static_cast<double>(at[1] - at[0]), 1e-9 * static_cast<double>(at[2] - at[1])};
}

double KernelMeter::seconds(const Work& work) {
  Pair best{std::numeric_limits<double>::max(), std::numeric_limits<double>::max()};
  work.timed();
  int undisturbed = 0;
  for (int i = 0; undisturbed < kRepetitions && i < kRepetitions + kMostDisturbed; ++i) {
    const long before = interruptions();
    const Pair pair = timed_pair(work);
    best = {std::min(best.copy, pair.copy), std::min(best.kernel, pair.kernel)};
    undisturbed += !on_host() || interruptions() == before ? 1 : 0;
  }
  copy_rate_ = static_cast<double>(2 * copy_from_.bytes()) / best.copy * 1e-9;
  return best.kernel;
}

double KernelMeter::rate(const std::string& name, double bytes, const nlohmann::json& goal,
                         const Work& work) {
  if (!wanted(name)) {
    return 0;
  }
  const double rate = bytes / seconds(work) * 1e-9;
  std::printf("%-44s %7.1f GB/s   copy %6.1f   %4.0f %%\n", name.c_str(), rate, copy_rate_,
              100 * rate / copy_rate_);
  add(name + " / copy", rate / copy_rate_, "ratio", goal);
  return rate / copy_rate_;
}

void KernelMeter::element_rate(const std::string& name, Elements host, const Work& work) {
  if (wanted(name)) {
    const double rate = host.count / seconds(work) * 1e-9;
    std::printf("%-44s %7.2f G/s    copy %6.1f   goal %.1f\n", name.c_str(), rate, copy_rate_,
                host.goal);
    add(name, rate, "G elements/s", host.goal);
  }
}

void KernelMeter::call_time(const std::string& name, const std::function<void()>& call) {
  if (!wanted(name)) {
    return;
  }
  constexpr int kCalls = 1000;
  const auto calls = [&] {
    for (int i = 0; i < kCalls; ++i) {
      call();
    }
  };
  const double ns = 1e9 / kCalls * seconds({.timed = calls});
  std::printf("%-44s %7.0f ns\n", name.c_str(), ns);
  figures_.push_back({{"name", name},
                      {"value", ns},
                      {"unit", "ns"},
                      {"goal", on_host() ? nlohmann::json(1000) : nlohmann::json()},
                      {"higher_is_better", false},
                      {"limit", nullptr},
                      {"peer", nullptr}});
}

void KernelMeter::compare_with_reading(double share) {
  if (share > 0 && reading_share_ > 0) {
    std::printf("%-44s %6.0f %% of reading alone\n", "", 100 * share / reading_share_);
    figures_.back()["limit"] = reading_share_;
  }
}

/// The limit is copy bandwidth in GB/s, measured beside the figure.
void KernelMeter::add(const std::string& name, double value, const char* unit,
                      const nlohmann::json& goal) {
  figures_.push_back({{"name", name},
                      {"value", value},
                      {"unit", unit},
                      {"goal", goal},
                      {"higher_is_better", true},
                      {"limit", copy_rate_},
                      {"peer", nullptr}});
}

}  // namespace mpitron::kernels
