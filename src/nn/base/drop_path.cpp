// Drops branches of residual layers by sample. The factor of each row is drawn by its global
// sample, so that layouts leave out the same ones.
#include "nn/base/drop_path.h"

#include <cmath>

#include "ops/elementwise/reshape.h"
#include "ops/experts/permute.h"
#include "tensor/host_copy.h"

namespace mpitron::nn {

using autograd::Var;

namespace {

/// [s b]: the factor of each row's sample.
tensor::Tensor row_factors(autograd::Context& context, Index s, Index b, double rate,
                           const Philox::Key& key) {
  const tensor::Tensor factors = tensor::empty_on_host(context.device, {s * b}, DType::f32);
  auto* values = factors.data<float>();
  for (Index column = 0; column < b; ++column) {
    const auto sample = static_cast<std::uint64_t>(context.position.first_sample +
                                                   column * context.position.sample_stride);
    const Philox::Counter bits = Philox::generate(
        {0, 0, static_cast<std::uint32_t>(sample), static_cast<std::uint32_t>(sample >> 32)}, key);
    const double u = static_cast<double>(bits[0] >> 8) * 0x1p-24;
    values[column] = static_cast<float>(std::floor(1 - rate + u) / (1 - rate));
  }
  for (Index i = b; i < s * b; ++i) {
    values[i] = values[i - b];
  }
  return tensor::to_device(context.device, factors);
}

}  // namespace

Var drop_path(autograd::Context& context, const Var& x, double rate, const autograd::RngKey& key) {
  if (rate <= 0 || !context.training()) {
    return x;
  }
  const Shape shape = x.shape();
  const Index s = shape[0], b = shape[1];
  const Var rows = ops::reshape(context, x, {s * b, shape[2]});
  const Var factors = autograd::constant(row_factors(context, s, b, rate, key.philox()));
  return ops::reshape(context, ops::scale_rows(context, rows, factors), shape);
}

}  // namespace mpitron::nn
