#include "convert/forget_pages.h"

#include <cstdint>

#include <sys/mman.h>
#include <unistd.h>

namespace mpitron::convert {

void forget_pages(std::span<const std::byte> mapped) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(mapped.data());
  const std::uintptr_t first = begin / page * page, last = (begin + mapped.size()) / page * page;
  if (last > first) {  // advice: nothing depends on its success
    ::madvise(const_cast<std::byte*>(mapped.data()) - (begin - first), last - first, MADV_DONTNEED);
  }
}

}  // namespace mpitron::convert
