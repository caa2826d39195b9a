#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

namespace mpitron {

/// What a span of time was spent on.
enum class TraceKind : std::uint8_t {
  iteration,   // a step of training
  phase,       // a part of it: forward-backward, optimizer, batch-generator
  pass,        // of one microbatch through one chunk of the model
  layer,       // of one layer
  kernel,      // one launch
  operation,   // communication under way; others may overlap it
  wait,        // for communication
  background,  // on a thread of its own: a checkpoint's writer
};

/// One thing that took time. Plain data without pointers: spans are added where every microsecond
/// counts.
struct TraceSpan {
  using Name = std::array<char, 32>;  // ends with 0; longer names are cut

  TraceKind kind = TraceKind::phase;
  Name name = {};
  std::int64_t begin = 0;  // nanoseconds of Trace::now
  std::int64_t end = 0;
  std::int64_t bytes = -1;   // moved by a kernel or an operation
  std::int64_t number = -1;  // of the iteration, the layer, or the operation on this rank
  std::int32_t chunk = -1;
  std::int32_t microbatch = -1;
  std::int32_t ranks = -1;  // of the operation's group
  Name group = {};
};

TraceSpan::Name trace_name(std::string_view text);

/// A profiler that is told of spans as they begin and end; on every thread they nest.
class TraceRanges {
 public:
  virtual ~TraceRanges() = default;
  virtual void begin(const TraceSpan& span) = 0;
  virtual void end() = 0;
};

/// What a rank has done, span by span, while it records; otherwise each place that could add a span
/// costs one branch. Any thread may add.
class Trace {
 public:
  /// Memory is bounded: spans beyond it are counted and dropped (64 MiB).
  static constexpr std::size_t kCapacity = (std::size_t{64} << 20) / sizeof(TraceSpan);

  static std::int64_t now();

  void start(std::size_t capacity = kCapacity);
  bool recording() const { return recording_.load(std::memory_order_relaxed); }
  /// Does nothing where nothing is recorded.
  void add(const TraceSpan& span);
  /// From now on `ranges` (null: nobody) is told of the spans of scopes and kernels.
  void tell(TraceRanges* ranges) { ranges_ = ranges; }
  void begin_range(const TraceSpan& span) {
    if (TraceRanges* const ranges = ranges_) {
      ranges->begin(span);
    }
  }
  void end_range() {
    if (TraceRanges* const ranges = ranges_) {
      ranges->end();
    }
  }
  /// Ends the recording; the spans in the order of their ends.
  std::vector<TraceSpan> stop();
  /// Spans that found no room since the start.
  std::int64_t dropped() const { return dropped_; }

 private:
  std::atomic<bool> recording_ = false;
  std::atomic<TraceRanges*> ranges_ = nullptr;
  std::mutex mutex_;
  std::size_t capacity_ = 0;
  std::int64_t dropped_ = 0;
  std::vector<TraceSpan> spans_;
};

/// Records what one scope takes; nothing where `trace` is null or does not record at its begin.
class TraceScope {
 public:
  TraceScope() = default;
  /// Of `span` the names and numbers.
  TraceScope(Trace* trace, TraceSpan span) {
    if (trace != nullptr && trace->recording()) [[unlikely]] {
      trace_ = trace;
      span_ = span;
      span_.begin = Trace::now();
      trace_->begin_range(span_);
    }
  }
  TraceScope(Trace* trace, TraceKind kind, std::string_view name)
      : TraceScope(trace, {.kind = kind, .name = trace_name(name)}) {}
  ~TraceScope() {
    if (trace_ != nullptr) [[unlikely]] {
      span_.end = Trace::now();
      trace_->end_range();
      trace_->add(span_);
    }
  }
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

 private:
  Trace* trace_ = nullptr;
  TraceSpan span_;
};

}  // namespace mpitron
