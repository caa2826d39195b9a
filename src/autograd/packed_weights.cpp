// Packs weights for generation, when a product first asks for one or as they are loaded.
#include "autograd/packed_weights.h"

#include <cstddef>
#include <new>

#include "device/allocator.h"
#include "kernels/linear/packed_matmul.h"

namespace mpitron::autograd {
namespace {

/// Gives tensors no memory for elements. It keeps nothing, so it may end when the program does.
class NoMemory final : public device::Allocator {
 public:
  void* allocate(std::size_t /*bytes*/, std::size_t& capacity) override {
    capacity = 0;
    return nullptr;
  }
  void release(void* /*block*/, std::size_t /*capacity*/) noexcept override {}
  device::AllocatorStatistics statistics() const override { return {}; }
  Allocator* notes() override { return &notes_; }

 private:
  class Notes final : public device::Allocator {
   public:
    void* allocate(std::size_t bytes, std::size_t& capacity) override {
      capacity = bytes;
      return ::operator new(bytes, kAlignment);
    }
    void release(void* block, std::size_t /*capacity*/) noexcept override {
      ::operator delete(block, kAlignment);
    }
    device::AllocatorStatistics statistics() const override { return {}; }

   private:
    static constexpr std::align_val_t kAlignment{64};
  };
  Notes notes_;
};

}  // namespace

/// [heads, n, k], one behind the other.
Tensor PackedWeights::pack(const Tensor& weights) {
  const Index heads = weights.shape()[0], n = weights.shape()[1], k = weights.shape()[2];
  const Index bytes = kernels::packed_bytes(format_, n, k);
  const Tensor packed = Tensor::empty(device_, {heads * bytes}, DType::u8);
  for (Index head = 0; head < heads; ++head) {
    device::launch(
        device_.stream(),
        kernels::PackWeight{.weight = weights.slice(0, head, head + 1).reshape({n, k}).view(),
                            .packed = packed.slice(0, head * bytes, (head + 1) * bytes).view(),
                            .format = format_});
  }
  bytes_ += packed.view().bytes();
  return packed;
}

const Tensor& PackedWeights::of(const Parameter& weight) {
  const auto [place, missing] = whole_.try_emplace(&weight);
  if (missing) {
    const Shape& shape = weight.value.shape();
    place->second = pack(weight.value.reshape({1, shape[0], shape[1]}));
  }
  return place->second;
}

/// The value's type and shape stay, for those who ask how large the weight is; whoever reads its
/// numbers reads from no address.
void PackedWeights::take(Parameter& weight) {
  of(weight);
  static NoMemory no_memory;
  weight.value = Tensor::empty(no_memory, weight.value.shape(), weight.value.dtype());
}

const Tensor& PackedWeights::of_heads(const Parameter& weight, int part,
                                      const std::function<Tensor()>& make) {
  const auto [place, missing] = of_heads_.try_emplace({&weight, part});
  if (missing) {
    place->second = pack(make());
  }
  return place->second;
}

}  // namespace mpitron::autograd
