#include "device/kokkos_version.h"

#include <Kokkos_Core.hpp>
#include <fmt/format.h>

namespace mpitron::device {

LibraryVersion kokkos_version() {
  constexpr int kVersion = KOKKOS_VERSION;  // 30401
  return {"Kokkos", fmt::format("{}.{}.{}", kVersion / 10000, kVersion / 100 % 100, kVersion % 100),
          ""};
}

}  // namespace mpitron::device
