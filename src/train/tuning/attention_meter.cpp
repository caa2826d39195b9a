#include <cmath>
#include <utility>
#include <variant>

#include "device/launch.h"
#include "device/stream_clock.h"
#include "kernels/elementwise/elementwise.h"
#include "tensor/host_copy.h"
#include "train/tuning/kernel_meters.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/scoped_value.h"

// Times every attention kernel that fits a shape on made-up numbers. The results of each are held
// against those of our own kernel for every GPU (mma); one that is too far off is not taken.

namespace mpitron::train {
namespace {

using device::ConstTensorView;
using device::TensorView;
using kernels::AttentionKernel;
using kernels::AttentionMask;
using kernels::AttentionShape;
using tensor::Tensor;

/// Cuts the heads of every group out of a fused tensor [s, b, g, width]: `count` of them, `size`
/// wide each.
template <class View>
View heads(const View& fused, Index count, Index size) {
  const View part = device::slice(fused, 3, 0, count * size);
  const Index position = part.stride(0), sample = part.stride(1), group = part.stride(2);
  return View(part.data, part.dtype, {part.size(0), part.size(1), part.size(2), count, size},
              {position, sample, group, size, 1});
}
/// Cuts out the heads of keys or values, one a group.
template <class View>
View single_heads(const View& fused, Index first, Index size) {
  return device::slice(fused, 3, first, first + size);
}

/// Lists the kernels of the stream's device that can run it.
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

Tensor random(device::Device& gpu, DType type, const Shape& extents) {
  const Tensor x = Tensor::empty(gpu, extents, type);
  device::launch(gpu.stream(), kernels::NormalInit{.x = x.view(), .std = 1.f});
  return x;
}

/// Makes a mask that hides the last eighth of the keys, or all that is not of a query's own
/// quarter.
Tensor made_up_mask(device::Device& gpu, const AttentionShape& shape) {
  const bool pairs = shape.mask == AttentionMask::pairs;
  const Index rows = pairs ? shape.s : 1;
  const Tensor mask = tensor::empty_on_host(gpu, {shape.b, rows, shape.s_kv}, DType::u8);
  std::uint8_t* hidden = mask.data<std::uint8_t>();
  for (Index row = 0; row < shape.b * rows; ++row) {
    for (Index key = 0; key < shape.s_kv; ++key) {
      const bool hides = pairs ? row % rows * 4 / shape.s != key * 4 / shape.s_kv
                               : key >= shape.s_kv - shape.s_kv / 8;
      *hidden++ = hides ? 1 : 0;
    }
  }
  return tensor::to_device(gpu, mask);
}

std::vector<float> numbers_of(device::Device& gpu, const std::vector<Tensor>& results) {
  std::vector<float> all;
  for (const Tensor& result : results) {
    const std::vector<float> numbers = train::numbers_of(gpu, ConstTensorView(result));
    all.insert(all.end(), numbers.begin(), numbers.end());
  }
  return all;
}

}  // namespace

AttentionMeter::AttentionMeter(device::Device& gpu, const AttentionShape& shape)
    : gpu_(gpu), shape_(shape) {
  const Index both = shape.d + shape.dv;
  queries_ = random(
      gpu, shape.type,
      {shape.s, shape.b, shape.g, heads_of_group() * shape.d + (shape.s == shape.s_kv ? both : 0)});
  keys_ = shape.s == shape.s_kv ? queries_
                                : random(gpu, shape.type, {shape.s_kv, shape.b, shape.g, both});
  if (shape.mask != AttentionMask::none) {
    mask_ = made_up_mask(gpu, shape);
  }
  o_ = random(gpu, shape.type, {shape.s, shape.b, shape.n, shape.dv});
  d_o_ = random(gpu, shape.type, o_.shape());
  lse_ = Tensor::empty(gpu, {shape.b, shape.n, shape.s}, DType::f32);
  if (shape.backward) {
    d_queries_ = Tensor::empty(gpu, queries_.shape(), shape.type);
    d_keys_ = shape.s == shape.s_kv ? d_queries_ : Tensor::empty(gpu, keys_.shape(), shape.type);
  }
}

Index AttentionMeter::first_key() const {
  return shape_.s == shape_.s_kv ? heads_of_group() * shape_.d : 0;
}

template <class Kernel>
void AttentionMeter::set_inputs(Kernel& kernel) const {
  const ConstTensorView keys = keys_;
  kernel.q = heads(ConstTensorView(queries_), heads_of_group(), shape_.d);
  kernel.k = single_heads(keys, first_key(), shape_.d);
  kernel.v = single_heads(keys, first_key() + shape_.d, shape_.dv);
  kernel.o = o_.view();
  kernel.lse = lse_.view();
  if (mask_) {
    kernel.mask = mask_.view();
  }
  kernel.causal = shape_.causal;
  kernel.window = shape_.window;
  kernel.scale = 1.f / std::sqrt(static_cast<float>(shape_.d));
}

/// A backward pass is measured behind the forward pass whose output and lse it reads.
MeasuredAttention AttentionMeter::measure() {
  kernels::AttentionForward forward;
  set_inputs(forward);
  if (!shape_.backward) {
    return measure_pass(forward, {o_});
  }
  run_and_time(forward, AttentionKernel::mma);
  kernels::AttentionBackward backward;
  set_inputs(backward);
  backward.d_o = d_o_.view();
  backward.dq = heads(d_queries_.view(), heads_of_group(), shape_.d);
  backward.dk = single_heads(d_keys_.view(), first_key(), shape_.d);
  backward.dv = single_heads(d_keys_.view(), first_key() + shape_.d, shape_.dv);
  return measure_pass(backward, {d_queries_, d_keys_});
}

template <class Kernel>
MeasuredAttention AttentionMeter::measure_pass(Kernel kernel, const std::vector<Tensor>& results) {
  MeasuredAttention measured{.shape = shape_};
  measured.microseconds[AttentionKernel::mma] = run_and_time(kernel, AttentionKernel::mma);
  const std::vector<float> expected = numbers_of(gpu_, results);
  for (const AttentionKernel name : fitting(gpu_.stream(), kernel)) {
    if (name == AttentionKernel::mma) {
      continue;
    }
    try {
      const double time = run_and_time(kernel, name);
      const double difference = difference_of(numbers_of(gpu_, results), expected);
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

/// Returns the time of one kernel in microseconds, by the GPU's own clock.
template <class Kernel>
double AttentionMeter::run_and_time(Kernel& kernel, AttentionKernel name) {
  const ScopedValue only(
      kernels::attention_choices(), {.order = {name}, .by_shape = {}},
      [](kernels::AttentionChoices choices) { kernels::attention_choices() = std::move(choices); });
  const Index bytes = device::workspace_bytes_of(gpu_.stream(), kernel);
  const Tensor workspace = Tensor::empty(gpu_, {std::max<Index>(bytes, 1)}, DType::u8);
  kernel.workspace = workspace.view();
  const auto clock = device::make_stream_clock(gpu_.stream());
  return 1e6 * device::shortest_seconds(*clock, {.rounds = 3, .calls = 4},
                                        [&] { device::launch(gpu_.stream(), kernel); });
}

}  // namespace mpitron::train
