#include "checkpoint/write/staging_ring.h"

#include <cstring>

#include "utils/error.h"

// Memory between the copier and the writer. Blocks are taken in order and given back in order, so
// two positions describe the ring; a block that would cross the end begins at the start instead.

namespace mpitron::checkpoint {
namespace {

constexpr Index kPage = 4096;

Index round_up(Index bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

}  // namespace

StagingRing::StagingRing(Index capacity)
    : pages_(device::private_pages()), capacity_(round_up(capacity)) {
  memory_ = static_cast<std::byte*>(pages_->take(static_cast<std::size_t>(capacity_)));
  if (memory_ == nullptr) {
    throw_environment("no {} bytes of memory for staging a checkpoint; give less to staging",
                      capacity_);
  }
  std::memset(memory_, 1, static_cast<std::size_t>(capacity_));
}

StagingRing::Block StagingRing::allocate(Index bytes) {
  bytes = round_up(bytes);
  MPITRON_CHECK(2 * bytes <= capacity_, bytes, capacity_);
  Index begin = allocated_;
  if (begin % capacity_ + bytes > capacity_) {
    begin += capacity_ - begin % capacity_;
  }
  if (begin + bytes - released_.load(std::memory_order_acquire) > capacity_) {
    return {};
  }
  allocated_ = begin + bytes;
  return {memory_ + begin % capacity_, allocated_};
}

}  // namespace mpitron::checkpoint
