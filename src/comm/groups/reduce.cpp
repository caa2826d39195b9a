#include "comm/groups/reduce.h"

#include <algorithm>
#include <array>

// Sums over ranks, for every transport. Inputs are added in the order of ranks, block by block, so
// that the bits depend neither on who arrives first nor on how an operation is cut. bf16 and fp16
// are added in fp32 and rounded once, other types in their own.

namespace mpitron::comm {
namespace {

// Partial results of a block stay in the first-level cache.
constexpr Index kBlock = 2048;

template <class T>
struct Accumulator {
  using Type = T;
};
template <>
struct Accumulator<BFloat16> {
  using Type = float;
};
template <>
struct Accumulator<Float16> {
  using Type = float;
};

/// Joins two numbers by the operation of a reduction.
template <class A>
A combine(A a, A b, Reduction reduction) {
  switch (reduction) {
    case Reduction::sum:
      return a + b;
    case Reduction::maximum:
      return std::max(a, b);
    case Reduction::minimum:
      return std::min(a, b);
  }
  return a;
}

/// Sums of half types stay in fp32 until all inputs are in.
template <class T, class A>
void add_block(const T* x, A* sum, Index n, Reduction reduction) {
  if (reduction == Reduction::sum) {
    for (Index i = 0; i < n; ++i) {
      sum[i] += static_cast<A>(x[i]);
    }
  } else {
    for (Index i = 0; i < n; ++i) {
      sum[i] = combine(sum[i], static_cast<A>(x[i]), reduction);
    }
  }
}

/// Blocks fit the first-level cache, so that an output may be an input: it is read before it is
/// stored.
template <class T>
void reduce_typed(std::span<const void* const> inputs, std::span<void* const> outputs, Index begin,
                  Index end, Reduction reduction) {
  using A = typename Accumulator<T>::Type;
  std::array<A, kBlock> sum;
  for (Index block = begin; block < end; block += kBlock) {
    const Index n = std::min(kBlock, end - block);
    const T* first = static_cast<const T*>(inputs[0]) + block;
    std::transform(first, first + n, sum.begin(), [](T x) { return static_cast<A>(x); });
    for (const void* input : inputs.subspan(1)) {
      add_block(static_cast<const T*>(input) + block, sum.data(), n, reduction);
    }
    for (void* output : outputs) {
      std::transform(sum.begin(), sum.begin() + n, static_cast<T*>(output) + block,
                     [](A x) { return static_cast<T>(x); });
    }
  }
}

}  // namespace

/// Maximum and minimum take the same path, with their own way of joining two numbers.
void reduce_elements(std::span<const void* const> inputs, std::span<void* const> outputs,
                     Index begin, Index end, DType dtype, Reduction reduction) {
  const auto typed = [&]<class T>() { reduce_typed<T>(inputs, outputs, begin, end, reduction); };
  switch (dtype) {
    case DType::f64:
      return typed.operator()<double>();
    case DType::i64:
      return typed.operator()<std::int64_t>();
    case DType::i32:
      return typed.operator()<std::int32_t>();
    case DType::u8:
      return typed.operator()<std::uint8_t>();
    default:
      return visit_dtype(dtype, typed);
  }
}

}  // namespace mpitron::comm
