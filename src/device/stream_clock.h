#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "device/device.h"

namespace mpitron::device {

/// When work on a stream begins and ends, also where it is only queued: as nanoseconds of
/// Trace::now.
class StreamClock {
 public:
  virtual ~StreamClock() = default;
  /// Marks the moment when everything queued so far has ended.
  virtual void mark() = 0;
  /// The moments marked since the last call, in order; waits for the device.
  virtual std::vector<std::int64_t> take() = 0;
};

/// Lives no longer than the stream.
std::unique_ptr<StreamClock> make_stream_clock(Stream& stream);

/// Makes the clock of a GPU's stream; defined only where `kHasCuda` (device/cuda).
std::unique_ptr<StreamClock> make_stream_clock(CudaStream& stream);

/// Rows of calls, and calls in a row.
struct Repeats {
  int rounds, calls;
};
/// Seconds of one call of `work`, which queues something on the clock's stream: of the shortest of
/// several rows of calls, behind one that warms up.
template <class Work>
double shortest_seconds(StreamClock& clock, const Repeats& repeats, Work&& work) {
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round <= repeats.rounds; ++round) {
    clock.mark();
    for (int call = 0; call < repeats.calls; ++call) {
      work();
    }
    clock.mark();
    const std::vector<std::int64_t> moments = clock.take();
    const double spent = static_cast<double>(moments[1] - moments[0]) * 1e-9 / repeats.calls;
    best = round > 0 ? std::min(best, spent) : best;
  }
  return best;
}

}  // namespace mpitron::device
