#include "convert/formats/host_tensor.h"

#include <cstring>

namespace mpitron::convert {
namespace {

template <class From, class To>
void cast_elements(std::span<const std::byte> from, std::byte* to) {
  const std::size_t count = from.size() / sizeof(From);
  for (std::size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from.data() + i * sizeof(From), sizeof(From));
    const To result(static_cast<float>(value));
    std::memcpy(to + i * sizeof(To), &result, sizeof(To));
  }
}

}  // namespace

HostTensor cast(const HostTensor& tensor, DType dtype) {
  HostTensor result(TensorInfo{"", tensor.shape(), dtype});
  if (tensor.dtype() == dtype) {
    std::memcpy(result.data(), tensor.bytes().data(), tensor.bytes().size());
    return result;
  }
  visit_dtype(tensor.dtype(), [&]<class From>() {
    visit_dtype(dtype, [&]<class To>() { cast_elements<From, To>(tensor.bytes(), result.data()); });
  });
  return result;
}

}  // namespace mpitron::convert
