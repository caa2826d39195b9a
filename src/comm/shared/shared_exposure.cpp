#include "comm/shared/shared_exposure.h"

#include <utility>

#include "comm/groups/stream_copy.h"

namespace mpitron::comm {

SharedExposure::SharedExposure(AddressSpaces& spaces, const device::ConstTensorView& data)
    : original_(data) {
  const void* seen = data.data;
  if (data.data != nullptr && !spaces.reachable(data.data)) {
    staging_ = &spaces.staging();
    copy_ = staging_->allocate(static_cast<std::size_t>(data.bytes()), capacity_);
    copy_bytes(copy_, data.data, data.bytes());
    seen = copy_;
  }
  address_ = seen != nullptr ? spaces.publish(seen) : 0;
}

SharedExposure::~SharedExposure() {
  if (copy_ != nullptr) {
    staging_->release(copy_, capacity_);
  }
}

SharedExposure& SharedExposure::operator=(SharedExposure&& other) noexcept {
  std::swap(original_, other.original_);
  std::swap(staging_, other.staging_);
  std::swap(copy_, other.copy_);
  std::swap(capacity_, other.capacity_);
  std::swap(address_, other.address_);
  return *this;
}

void SharedExposure::copy_back(void* to) const {
  if (copy_ != nullptr) {
    copy_bytes(to, copy_, original_.bytes());
  }
}

}  // namespace mpitron::comm
