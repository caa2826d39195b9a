#pragma once
#include <cstdint>
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

/// Of a GPU; defined only where `kHasCuda` (device/cuda).
std::unique_ptr<StreamClock> make_stream_clock(CudaStream& stream);

}  // namespace mpitron::device
