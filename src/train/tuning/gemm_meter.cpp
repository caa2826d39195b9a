#include <algorithm>
#include <cstring>
#include <variant>

#include "device/launch.h"
#include "device/stream_clock.h"
#include "kernels/elementwise/elementwise.h"
#include "tensor/host_copy.h"
#include "train/tuning/kernel_meters.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/scoped_value.h"

// Times the algorithms that cuBLASLt names for a product. The library's own choice stays unless
// another is faster by more than noise; one that does not repeat its bits is refused.

namespace mpitron::train {
namespace {

using kernels::GemmAlgorithm;
using kernels::GemmShape;
using tensor::Tensor;

/// Most elements of a result that are compared.
constexpr Index kMostCompared = Index{1} << 22;
/// A gain below this share of the time may be noise: then the library's own choice stays.
constexpr double kNoise = 0.02;

/// Lists the algorithms that the library thinks best for this shape, its favourite first.
std::vector<GemmAlgorithm> named_by_library(const device::Stream& stream, const GemmShape& shape) {
  return std::visit(
      [&]<class S>(const S& s) -> std::vector<GemmAlgorithm> {
        if constexpr (std::is_same_v<S, device::CudaStream>) {
          return candidates(s, shape);
        } else {
          return {};
        }
      },
      stream);
}

/// Makes elements on an address of this alignment and no larger one: an algorithm may need more
/// than training will give it.
Tensor aligned(device::Device& gpu, Index elements, DType type, Index alignment) {
  const Index before = alignment % 256 / static_cast<Index>(size_of(type));
  return Tensor::empty(gpu, {before + elements}, type).slice(0, before, before + elements);
}

/// Makes numbers of 8 bits below 2, of both signs and in both formats; or normally distributed
/// ones.
Tensor random(device::Device& gpu, Index elements, DType type, Index alignment) {
  const Tensor x = aligned(gpu, elements, type, alignment);
  if (type != DType::u8) {
    device::launch(gpu.stream(), kernels::NormalInit{.x = x.view(), .std = 1.f});
    return x;
  }
  const Tensor bytes = tensor::empty_on_host(gpu, {elements}, type);
  for (Index i = 0; i < elements; ++i) {
    bytes.data<std::uint8_t>()[i] = static_cast<std::uint8_t>(i * 41 % 60 + i % 2 * 128);
  }
  tensor::copy_bytes(gpu, tensor::to_device(gpu, bytes), x.view());
  return x;
}

}  // namespace

GemmMeter::GemmMeter(device::Device& gpu, const GemmShape& shape)
    : gpu_(gpu),
      shape_(shape),
      a_(random(gpu, (shape.transpose_a ? shape.k : shape.m) * shape.a_stride, shape.type,
                shape.a_alignment)),
      b_(random(gpu, (shape.transpose_b ? shape.n : shape.k) * shape.b_stride, shape.type,
                shape.b_alignment)),
      factors_(Tensor::empty(gpu, {2 * kernels::kFactorStride}, DType::f32)),
      c_(aligned(gpu, shape.m * shape.c_stride, shape.c_type, shape.c_alignment)) {
  device::launch(gpu.stream(), kernels::Fill{.x = factors_.view(), .value = 1});
  kernel_ = {.shape = shape, .a = a_.view(), .b = b_.view(), .c = c_.view()};
  if (shape.has_bias()) {
    bias_ = random(gpu, shape.n, shape.c_type, 256);
    kernel_.bias = bias_.view();
  }
  if (shape.type == DType::u8) {
    kernel_.factors = factors_.view();
  }
}

/// The library's own choice stays unless another algorithm is faster by more than noise.
MeasuredGemm GemmMeter::measure() {
  MeasuredGemm measured{.shape = shape_, .tried = {try_out(std::nullopt)}};
  double best = measured.tried[0].microseconds * (1 - kNoise);
  for (const GemmAlgorithm& algorithm : named_by_library(gpu_.stream(), shape_)) {
    try {
      measured.tried.push_back(try_out(algorithm));
    } catch (const Error& error) {
      log::warning("cuBLASLt's algorithm {} is not used: {}", algorithm.id, error.what());
      continue;
    }
    if (measured.tried.back().microseconds < best) {
      best = measured.tried.back().microseconds;
      measured.choice = measured.tried.size() - 1;
    }
  }
  return measured;
}

/// Refuses an algorithm that does not repeat its bits, or whose results are not those of the
/// library's own choice.
MeasuredGemm::Trial GemmMeter::try_out(const std::optional<GemmAlgorithm>& algorithm) {
  const ScopedValue only(kernels::gemm_algorithms(), {{shape_, algorithm}},
                         kernels::choose_gemm_algorithms);
  const Index bytes = device::workspace_bytes_of(gpu_.stream(), kernel_);
  const Tensor workspace = Tensor::empty(gpu_, {std::max<Index>(bytes, 1)}, DType::u8);
  kernel_.workspace = workspace.view();
  const std::vector<float> first = result(), second = result();
  if (std::memcmp(first.data(), second.data(), first.size() * sizeof(float)) != 0) {
    throw_environment("it does not repeat its bits");
  }
  if (!algorithm) {
    expected_ = first;
  } else if (const double difference = difference_of(first, expected_);
             difference > kLargestDifference) {
    throw_environment("its results differ from the library's own choice by {:.2g} of the largest",
                      difference);
  }
  const auto clock = device::make_stream_clock(gpu_.stream());
  const double seconds = device::shortest_seconds(*clock, {.rounds = 5, .calls = 8},
                                                  [&] { device::launch(gpu_.stream(), kernel_); });
  return {.algorithm = algorithm, .microseconds = 1e6 * seconds};
}

std::vector<float> GemmMeter::result() {
  device::launch(gpu_.stream(), kernels::Fill{.x = c_.view()});
  device::launch(gpu_.stream(), kernel_);
  return numbers_of(gpu_, c_.slice(0, 0, std::min(c_.numel(), kMostCompared)));
}

}  // namespace mpitron::train
