#include "train/attention_meter.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "device/copy.h"
#include "device/launch.h"
#include "device/stream_clock.h"
#include "kernels/elementwise.h"
#include "utils/error.h"
#include "utils/log.h"

namespace mpitron::train {
namespace {

using device::ConstTensorView;
using device::TensorView;
using kernels::AttentionKernel;
using tensor::Tensor;

/// Roundings of bf16 in another order, over the largest number.
constexpr double kLargestDifference = 0x1p-5;

/// While it lives, this kernel runs every attention.
class Only {
 public:
  explicit Only(AttentionKernel kernel)
      : saved_(std::exchange(kernels::attention_choices(), {.order = {kernel}, .by_shape = {}})) {}
  ~Only() { kernels::attention_choices() = saved_; }
  Only(const Only&) = delete;
  Only& operator=(const Only&) = delete;

 private:
  kernels::AttentionChoices saved_;
};

/// Heads of every group of a fused qkv [s, b, g, width]: `count` of them, `size` wide each, from
/// element `first` on.
template <class View>
View heads(const View& qkv, Index first, Index count, Index size) {
  const View part = device::slice(qkv, 3, first, first + count * size);
  const Index position = part.stride(0), sample = part.stride(1), group = part.stride(2);
  return View(part.data, part.dtype, {part.size(0), part.size(1), part.size(2), count, size},
              {position, sample, group, size, 1});
}
/// Those of keys or values, one a group.
template <class View>
View single_heads(const View& qkv, Index first, Index size) {
  return device::slice(qkv, 3, first, first + size);
}

/// The kernels of the stream's device that can run it.
template <class Kernel>
std::vector<AttentionKernel> fitting(const device::Stream& stream, const Kernel& kernel) {
  return std::visit(
      [&]<class S>(const S& s) -> std::vector<AttentionKernel> {
        if constexpr (std::is_same_v<S, device::CudaStream>) {
          return candidates(s, kernel);
        } else {
          return {};
        }
      },
      stream);
}

template <class View, class Kernel>
void set_heads(Kernel& kernel, const View& qkv, const kernels::AttentionShape& shape) {
  const Index r = shape.n / shape.g;
  kernel.q = heads(qkv, 0, r, shape.d);
  kernel.k = single_heads(qkv, r * shape.d, shape.d);
  kernel.v = single_heads(qkv, (r + 1) * shape.d, shape.dv);
  kernel.causal = shape.causal;
  kernel.window = shape.window;
  kernel.scale = 1.f / std::sqrt(static_cast<float>(shape.d));
}

/// Largest difference over the largest number; infinite where one is NaN.
double difference_of(const std::vector<float>& got, const std::vector<float>& expected) {
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double delta = std::abs(static_cast<double>(got[i]) - expected[i]);
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
    difference = std::isnan(delta) ? INFINITY : std::max(difference, delta);
  }
  return difference / largest;
}

}  // namespace

AttentionMeter::AttentionMeter(device::Device& gpu, const kernels::AttentionShape& shape)
    : gpu_(gpu), shape_(shape) {
  const Index r = shape.n / shape.g, width = (r + 1) * shape.d + shape.dv;
  const auto random = [&](const Shape& extents) {
    const Tensor x = Tensor::empty(gpu, extents, shape.type);
    device::launch(gpu.stream(), kernels::NormalInit{.x = x.view(), .std = 1.f});
    return x;
  };
  qkv_ = random({shape.s, shape.b, shape.g, width});
  o_ = random({shape.s, shape.b, shape.n, shape.dv});
  d_o_ = random(o_.shape());
  lse_ = Tensor::empty(gpu, {shape.b, shape.n, shape.s}, DType::f32);
  set_heads(forward_, ConstTensorView(qkv_), shape);
  forward_.o = o_.view();
  forward_.lse = lse_.view();
  if (shape.backward) {
    dqkv_ = Tensor::empty(gpu, qkv_.shape(), shape.type);
    set_heads(backward_, ConstTensorView(qkv_), shape);
    backward_.o = o_.view();
    backward_.lse = lse_.view();
    backward_.d_o = d_o_.view();
    backward_.dq = heads(dqkv_.view(), 0, r, shape.d);
    backward_.dk = single_heads(dqkv_.view(), r * shape.d, shape.d);
    backward_.dv = single_heads(dqkv_.view(), (r + 1) * shape.d, shape.dv);
  }
}

MeasuredAttention AttentionMeter::measure() {
  if (!shape_.backward) {
    return measure_pass(forward_, o_);
  }
  run_and_time(forward_, AttentionKernel::mma);
  return measure_pass(backward_, dqkv_);
}

template <class Kernel>
MeasuredAttention AttentionMeter::measure_pass(Kernel kernel, const ConstTensorView& result) {
  MeasuredAttention measured{.shape = shape_, .microseconds = {}, .choice = AttentionKernel::mma};
  measured.microseconds[AttentionKernel::mma] = run_and_time(kernel, AttentionKernel::mma);
  const std::vector<float> expected = numbers(result);
  for (const AttentionKernel name : fitting(gpu_.stream(), kernel)) {
    if (name == AttentionKernel::mma) {
      continue;
    }
    try {
      const double time = run_and_time(kernel, name);
      const double difference = difference_of(numbers(result), expected);
      if (difference > kLargestDifference) {
        log::warning(
            "attention: results of {} differ from ours by {:.2g} of the largest: it is "
            "not used",
            name_of(name), difference);
        continue;
      }
      measured.microseconds[name] = time;
      measured.choice = time < measured.microseconds[measured.choice] ? name : measured.choice;
    } catch (const Error& error) {
      log::warning("attention: {} failed and is not used: {}", name_of(name), error.what());
    }
  }
  return measured;
}

/// In microseconds.
template <class Kernel>
double AttentionMeter::run_and_time(Kernel& kernel, AttentionKernel name) {
  const Only only(name);
  const Index bytes = device::workspace_bytes_of(gpu_.stream(), kernel);
  const Tensor workspace = Tensor::empty(gpu_, {std::max<Index>(bytes, 1)}, DType::u8);
  kernel.workspace = workspace.view();
  const auto clock = device::make_stream_clock(gpu_.stream());
  return 1e6 * device::shortest_seconds(*clock, {.rounds = 3, .calls = 4},
                                        [&] { device::launch(gpu_.stream(), kernel); });
}

std::vector<float> AttentionMeter::numbers(const ConstTensorView& result) {
  const Tensor wide = Tensor::empty(gpu_, result.shape, DType::f32);
  device::launch(gpu_.stream(), kernels::Cast{.x = result, .y = wide.view()});
  std::vector<float> values(static_cast<std::size_t>(result.numel()));
  device::copy_bytes(gpu_.stream(), values.data(), wide.view().data, wide.view().bytes());
  device::synchronize(gpu_.stream());
  return values;
}

}  // namespace mpitron::train
