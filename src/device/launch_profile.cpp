// Sums the time of launches by kernel and size, which benchmarks of steps print.
#include "device/launch_profile.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace mpitron::device {
namespace {

void add(std::vector<LaunchProfile::Entry>& entries, const LaunchProfile::Entry& entry) {
  for (LaunchProfile::Entry& e : entries) {
    if (e.bytes == entry.bytes && e.kernel == entry.kernel) {
      e.calls += entry.calls;
      e.seconds += entry.seconds;
      e.total_bytes += entry.total_bytes;
      return;
    }
  }
  entries.push_back(entry);
}

std::vector<LaunchProfile::Entry> slowest_first(std::vector<LaunchProfile::Entry> entries) {
  std::ranges::stable_sort(entries, std::ranges::greater{}, &LaunchProfile::Entry::seconds);
  return entries;
}

}  // namespace

LaunchProfile::LaunchProfile(Device& device)
    : device_(device),
      previous_(std::exchange(device.observer(), this)),
      clock_(make_stream_clock(device.stream())) {}

LaunchProfile::~LaunchProfile() {
  device_.observer() = previous_;
}

void LaunchProfile::before(const LaunchRecord&) {
  clock_->mark();
}

void LaunchProfile::after(const LaunchRecord& record) {
  clock_->mark();
  unread_.push_back({record.kernel, record.bytes});
}

void LaunchProfile::read() const {
  const std::vector<std::int64_t> moments = clock_->take();
  for (std::size_t i = 0; i < unread_.size(); ++i) {
    const Launch& record = unread_[i];
    const auto seconds = static_cast<double>(moments[2 * i + 1] - moments[2 * i]) * 1e-9;
    add(entries_, {record.kernel, record.bytes, 1, seconds, static_cast<double>(record.bytes)});
  }
  unread_.clear();
}

void LaunchProfile::clear() {
  read();
  entries_.clear();
}

std::vector<LaunchProfile::Entry> LaunchProfile::kernels() const {
  read();
  std::vector<Entry> sums;
  for (Entry entry : entries_) {
    entry.bytes = 0;
    add(sums, entry);
  }
  return slowest_first(std::move(sums));
}

std::vector<LaunchProfile::Entry> LaunchProfile::sizes() const {
  read();
  return slowest_first(entries_);
}

double LaunchProfile::seconds() const {
  read();
  double sum = 0;
  for (const Entry& entry : entries_) {
    sum += entry.seconds;
  }
  return sum;
}

std::string LaunchProfile::table(double seconds, bool by_size) const {
  std::string text = fmt::format("{:<28} {:>10} {:>7} {:>10} {:>8} {:>7}\n", "kernel",
                                 by_size ? "MiB" : "", "calls", "ms", "GB/s", "share");
  for (const Entry& e : by_size ? sizes() : kernels()) {
    const std::string size =
        by_size ? fmt::format("{:.3f}", static_cast<double>(e.bytes) / (1 << 20)) : "";
    text +=
        fmt::format("{:<28} {:>10} {:>7} {:>10.3f} {:>8.1f} {:>6.2f}%\n", e.kernel, size, e.calls,
                    e.seconds * 1e3, e.total_bytes / e.seconds * 1e-9, 100 * e.seconds / seconds);
  }
  const double launched = this->seconds();
  return text + fmt::format("{:<28} {:>10} {:>7} {:>10.3f} {:>8} {:>6.2f}%\n", "outside kernels",
                            "", "", (seconds - launched) * 1e3, "",
                            100 * (seconds - launched) / seconds);
}

}  // namespace mpitron::device
