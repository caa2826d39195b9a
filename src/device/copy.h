#pragma once
#include <memory>

#include "device/device.h"

namespace mpitron::device {

/// Copies between any two places of the host's memory and the stream's device, in stream order.
/// What lies in the host's memory is left alone until the stream has come there (`synchronize`, or
/// memory of Device::staging, which minds that itself).
void copy_bytes(Stream& stream, void* to, const void* from, Index bytes);

/// Copies from Device::staging to Device::arrivals, beside what is queued; before all that is
/// queued from now on.
void upload_bytes(Stream& stream, void* to, const void* from, Index bytes);

/// Waits until everything queued on the stream has ended; throws what failed in it.
void synchronize(Stream& stream);

/// Copies between a device's memory and Device::staging beside the work of the device's stream, one
/// behind the other.
class CopyLane {
 public:
  virtual ~CopyLane() = default;
  /// Copies that are queued from now on begin when the stream has done what it was given so far.
  virtual void follow_stream() = 0;
  virtual void copy(void* to, const void* from, Index bytes) = 0;
  /// A number for what was queued so far, which is waited for once.
  virtual Index mark() = 0;
  /// Has the stream begin what it is given from now on behind that copy.
  virtual void let_stream_wait(Index mark) = 0;
};

/// Lives no longer than the stream; null where tensors lie in the host's memory.
std::unique_ptr<CopyLane> make_copy_lane(Stream& stream);

/// Makes the lane of a GPU; defined only where `kHasCuda` (device/cuda).
std::unique_ptr<CopyLane> make_copy_lane(CudaStream& stream);

}  // namespace mpitron::device
