#include "comm/watch/flight_recorder.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include <fmt/format.h>

// The last operations of each rank in shared memory, readable by its neighbours while it writes,
// and after it has died. Writing one is a handful of stores without a lock.

namespace mpitron::comm {
namespace {

std::int64_t now() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

template <std::size_t size>
void store(char (&to)[size], std::string_view text) {
  const std::size_t n = text.copy(to, size - 1);
  std::fill(to + n, to + size, '\0');
}

double seconds_since(std::int64_t time) {
  return static_cast<double>(now() - time) * 1e-9;
}

}  // namespace

/// Stores word by word: a reader may see a torn text, but no wild memory.
void SharedText::set(std::string_view text) {
  char bytes[sizeof words_];
  store(bytes, text);
  for (std::size_t i = 0; i < words_.size(); ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + i * sizeof word, sizeof word);
    words_[i].store(word, std::memory_order_relaxed);
  }
}

/// The last byte of every text stays 0.
std::string SharedText::get() const {
  char bytes[sizeof words_];  // the last byte of every text is zero
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const std::uint64_t word = words_[i].load(std::memory_order_relaxed);
    std::memcpy(bytes + i * sizeof word, &word, sizeof word);
  }
  return bytes;
}

std::string describe(const FlightRecord& record) {
  return fmt::format("{} {} of group {} ({} ranks, {}, {} bytes)", name_of(record.kind),
                     record.number, record.group, record.group_size, name_of(record.dtype),
                     record.bytes);
}

/// Formats the sentence that others read of a rank: its phase and its last call.
std::string describe(const FlightRing& ring) {
  const FlightRecord* const last = ring.last();
  const std::string phase = fmt::format("in phase '{}'", ring.phase.get());
  if (last == nullptr) {
    return "it has started no operation, " + phase;
  }
  const std::int64_t finished = last->finished.load();
  const std::string when = finished == 0
                               ? fmt::format("under way for {:.1f} s", seconds_since(last->started))
                               : fmt::format("finished {:.1f} s ago", seconds_since(finished));
  return fmt::format("its last operation was {}, {}, {}", describe(*last), when, phase);
}

/// Starts a record in a ring: the oldest is overwritten, since a hang is explained by the newest.
FlightRecord& FlightRecorder::start(const Group& group, const Request& request) {
  const std::uint64_t number = ring_.started.load(std::memory_order_relaxed);
  FlightRecord& record = ring_.records[number % FlightRing::kDepth];
  const bool has_input = request.input.data != nullptr;
  record.number = number + 1;
  record.kind = request.kind;
  record.dtype = has_input ? request.input.dtype : request.output.dtype;
  record.group_size = static_cast<std::int32_t>(group.size());
  record.bytes = has_input ? request.input.bytes() : request.output.bytes();
  record.started = now();
  record.finished.store(0, std::memory_order_relaxed);
  store(record.group, group.name());
  ring_.started.store(number + 1, std::memory_order_release);
  return record;
}

void FlightRecorder::finish(FlightRecord& record) {
  record.finished.store(now(), std::memory_order_relaxed);
}

void FlightRecorder::set_phase(std::string_view phase) {
  ring_.phase.set(phase);
}

}  // namespace mpitron::comm
