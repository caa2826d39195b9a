#include "comm/shared/shared_memory.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "comm/groups/stream_copy.h"
#include "utils/error.h"

// Memory that all ranks of a node reach: an anonymous file of each rank, which the others open
// through /proc. Tensors are allocated in it from the start, so that most collectives copy nothing
// before they begin; others are copied to it for as long as an operation lasts.

namespace mpitron::comm {

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr int kCollapse = 25;  // MADV_COLLAPSE: Linux 6.1 has it, headers are older

std::size_t round_up(std::size_t n, std::size_t unit) {
  return (n + unit - 1) / unit * unit;
}

/// Maps memory whose start lies at a huge page, or the members' pages could not be huge.
void* map_aligned(int descriptor, std::size_t bytes) {
  void* const room = ::mmap(nullptr, bytes + kHugePage, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) {
    return room;
  }
  const auto start = reinterpret_cast<std::uintptr_t>(room);
  const std::uintptr_t aligned = round_up(start, kHugePage);
  void* const mapping = ::mmap(reinterpret_cast<void*>(aligned), bytes, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_NORESERVE | MAP_FIXED, descriptor, 0);
  if (aligned > start) {
    ::munmap(room, aligned - start);
  }
  ::munmap(reinterpret_cast<void*>(aligned + bytes), start + kHugePage - aligned);
  return mapping;
}

}  // namespace

/// Maps aligned to huge pages, so that the kernel can use them; Error(environment) with the
/// system's reason.
std::shared_ptr<SharedMemory> SharedMemory::map(int descriptor, std::size_t bytes) {
  void* const data = map_aligned(descriptor, bytes);
  if (data == MAP_FAILED) {
    const int reason = errno;
    ::close(descriptor);
    throw_environment("cannot map {} MiB of shared memory: {}; raise `ulimit -v`", bytes >> 20,
                      std::strerror(reason));
  }
  return std::make_shared<SharedMemory>(descriptor, static_cast<std::byte*>(data), bytes);
}

/// Creates a memfd, which has no name in any file system: it ends with its last process, and others
/// open it through /proc/PID/fd.
std::shared_ptr<SharedMemory> SharedMemory::create(std::size_t bytes) {
  bytes = round_up(bytes, kHugePage);
  const int descriptor = ::memfd_create("mpitron", MFD_CLOEXEC);
  if (descriptor < 0 || ::ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) {
    throw_environment("cannot make {} MiB of shared memory (memfd_create): {}", bytes >> 20,
                      std::strerror(errno));
  }
  return map(descriptor, bytes);
}

std::shared_ptr<SharedMemory> SharedMemory::open(pid_t owner, int descriptor, std::size_t bytes) {
  const std::string path = "/proc/" + std::to_string(owner) + "/fd/" + std::to_string(descriptor);
  const int opened = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  return opened < 0 ? nullptr : map(opened, round_up(bytes, kHugePage));
}

SharedMemory::~SharedMemory() {
  ::munmap(data_, bytes_);
  ::close(descriptor_);
}

/// Takes pages; large blocks begin on huge pages, the rest share ordinary ones.
void* SharedPages::take(std::size_t bytes) {
  const bool huge = bytes >= kHugePage;
  const std::size_t begin = round_up(*taken_, huge ? kHugePage : kPage);
  if (begin + bytes > memory_->bytes()) {
    return nullptr;
  }
  *taken_ = begin + bytes;
  std::byte* const data = memory_->data() + begin;
  if (huge) {
    const std::size_t whole = bytes / kHugePage * kHugePage;
    for (std::size_t at = 0; at < whole; at += kHugePage) {
      data[at] = std::byte{0};  // nothing is collapsed where nothing is
    }
    ::madvise(data, whole, kCollapse);  // refused: small pages do as well
  }
  return data;
}

/// Exposes memory; that of another allocator is copied to pages that the others can reach.
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

/// Exchanges both, so that what was exposed before ends with `other`.
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
