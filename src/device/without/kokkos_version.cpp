#include "device/kokkos_version.h"

namespace mpitron::device {

LibraryVersion kokkos_version() {
  return {"Kokkos", "left out", ""};
}

}  // namespace mpitron::device
