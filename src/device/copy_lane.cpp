#include "device/copy_lane.h"

namespace mpitron::device {

std::unique_ptr<CopyLane> make_copy_lane(Stream& stream) {
  return std::visit(
      []<class S>(S& s) -> std::unique_ptr<CopyLane> {
        if constexpr (std::is_same_v<S, CudaStream>) {
          return make_copy_lane(s);
        } else {
          return nullptr;
        }
      },
      stream);
}

}  // namespace mpitron::device
