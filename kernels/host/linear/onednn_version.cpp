#include "kernels/host/linear/onednn_version.h"

#include <dnnl.h>
#include <fmt/format.h>

namespace mpitron::kernels::host {

LibraryVersion onednn_version() {
  const dnnl_version_t* const running = dnnl_version();
  return {"oneDNN",
          fmt::format("{}.{}.{}", DNNL_VERSION_MAJOR, DNNL_VERSION_MINOR, DNNL_VERSION_PATCH),
          fmt::format("{}.{}.{}", running->major, running->minor, running->patch)};
}

}  // namespace mpitron::kernels::host
