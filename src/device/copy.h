#pragma once
#include "device/device.h"

namespace mpitron::device {

/// Copies between any two places of the host's memory and the stream's device, in stream order.
/// What lies in the host's memory is left alone until the stream has come there (`synchronize`, or
/// memory of Device::staging, which minds that itself).
void copy_bytes(Stream& stream, void* to, const void* from, Index bytes);

/// The same from Device::staging to Device::arrivals, beside what is queued; before all that is
/// queued from now on.
void upload_bytes(Stream& stream, void* to, const void* from, Index bytes);

/// Waits until everything queued on the stream has ended; throws what failed in it.
void synchronize(Stream& stream);

}  // namespace mpitron::device
