#include "convert/formats/tensor_source.h"

#include <algorithm>
#include <cstring>

// Sources of tensors: what all formats share, and the view of a source in another element type.

namespace mpitron::convert {
namespace {

/// Casts each tensor when it is read.
class CastSource : public TensorSource {
 public:
  CastSource(TensorSource& source, DType dtype)
      : source_(source), dtype_(dtype), tensors_(source.tensors()) {
    for (TensorInfo& info : tensors_) {
      info.dtype = dtype;
    }
  }

  const std::vector<TensorInfo>& tensors() const override { return tensors_; }
  HostTensor read(const std::string& name) override { return cast(source_.read(name), dtype_); }

 private:
  TensorSource& source_;
  DType dtype_;
  std::vector<TensorInfo> tensors_;
};

}  // namespace

const TensorInfo* TensorSource::find(const std::string& name) const {
  const auto found = std::ranges::find(tensors(), name, &TensorInfo::name);
  return found == tensors().end() ? nullptr : &*found;
}

Index TensorSource::bytes() const {
  Index sum = 0;
  for (const TensorInfo& info : tensors()) {
    sum += info.bytes();
  }
  return sum;
}

std::unique_ptr<TensorSource> cast_source(TensorSource& source, DType dtype) {
  return std::make_unique<CastSource>(source, dtype);
}

namespace {

/// By way of fp32, which holds every bf16 and fp16 exactly. Bytes of a mapped file need not be
/// aligned, therefore memcpy.
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

HostTensor cast(HostTensor&& tensor, DType dtype) {
  return tensor.dtype() == dtype ? std::move(tensor) : cast(std::as_const(tensor), dtype);
}

}  // namespace mpitron::convert
