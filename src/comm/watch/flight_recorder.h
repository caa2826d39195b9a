#pragma once
#include <array>
#include <atomic>
#include <string>
#include <string_view>

#include "comm/groups/group.h"

namespace mpitron::comm {

/// An operation that a rank has started. Plain data: other processes read it.
struct FlightRecord {
  std::uint64_t number;  // counts the operations of this rank, from 1
  CollectiveKind kind;
  DType dtype;
  std::int32_t group_size;
  Index bytes;
  std::int64_t started;                // nanoseconds of CLOCK_MONOTONIC
  std::atomic<std::int64_t> finished;  // 0: under way
  char group[32];
};

/// Text of up to 63 bytes that one thread replaces while other threads and processes read it:
/// words, of which they may see some of the old text and some of the new.
class SharedText {
 public:
  void set(std::string_view text);  // cut to 63 bytes
  std::string get() const;

 private:
  std::array<std::atomic<std::uint64_t>, 8> words_;
};

/// Last operations of a rank in memory that the others of its node read, also after its death. All
/// zero at first; written by one thread. Readers may see a record that is being replaced: they tell
/// a person, they decide nothing.
struct FlightRing {
  static constexpr std::uint64_t kDepth = 64;
  enum class State : int { running, ended, failed };

  std::atomic<std::uint64_t> started;  // operations
  std::atomic<State> state;
  SharedText phase;
  FlightRecord records[kDepth];

  /// Returns the newest record; null before the first operation.
  const FlightRecord* last() const {
    const std::uint64_t n = started.load(std::memory_order_acquire);
    return n == 0 ? nullptr : &records[(n - 1) % kDepth];
  }
};

/// Formats "all_reduce 12 of group data (4 ranks, fp32, 1024 bytes)".
std::string describe(const FlightRecord& record);
/// Formats "its last operation was ..., under way for 1.2 s, in phase 'iteration 3'".
std::string describe(const FlightRing& ring);

/// Writes a ring.
class FlightRecorder {
 public:
  explicit FlightRecorder(FlightRing& ring) : ring_(ring) {}
  FlightRecord& start(const Group& group, const Request& request);
  static void finish(FlightRecord& record);
  /// Sets what the program is doing, in its own words; cut to 63 bytes.
  void set_phase(std::string_view phase);
  void set_state(FlightRing::State state) { ring_.state.store(state); }
  const FlightRing& ring() const { return ring_; }

 private:
  FlightRing& ring_;
};

}  // namespace mpitron::comm
