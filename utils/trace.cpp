#include "utils/trace.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace mpitron {

TraceSpan::Name trace_name(std::string_view text) {
  TraceSpan::Name name = {};
  text.copy(name.data(), name.size() - 1);
  return name;
}

std::int64_t Trace::now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void Trace::start(std::size_t capacity) {
  const std::lock_guard lock(mutex_);
  spans_.clear();
  spans_.reserve(capacity);  // only touched pages are taken
  capacity_ = capacity;
  dropped_ = 0;
  recording_.store(true, std::memory_order_relaxed);
}

void Trace::add(const TraceSpan& span) {
  if (!recording()) {
    return;
  }
  const std::lock_guard lock(mutex_);
  if (spans_.size() < capacity_) {
    spans_.push_back(span);
  } else {
    ++dropped_;
  }
}

std::vector<TraceSpan> Trace::stop() {
  const std::lock_guard lock(mutex_);
  recording_.store(false, std::memory_order_relaxed);
  std::ranges::stable_sort(spans_, {}, &TraceSpan::end);  // kernels of a GPU are added last
  return std::exchange(spans_, {});
}

}  // namespace mpitron
