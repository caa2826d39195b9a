#include "kernels/elementwise/optimizer.h"

#include <algorithm>
#include <cmath>

#include "kernels/reference/common/stored_numbers.h"
#include "utils/numbers/exact_sum.h"

namespace mpitron::kernels {

using reference::read_stored;
using reference::Reader;
using reference::write_stored;
using reference::Writer;

/// Steps AdamW: decoupled decay, bias correction by step; stored types are read and written around
/// it.
void run(device::ReferenceStream&, const AdamStep& kernel) {
  std::vector<double> param = read_stored(kernel.param), exp_avg = read_stored(kernel.exp_avg);
  std::vector<double> exp_avg_sq = read_stored(kernel.exp_avg_sq);
  const Writer model_param(kernel.model_param);
  const Reader grad(kernel.grad);
  const double beta1 = kernel.beta1;
  const double beta2 = kernel.beta2;
  for (Index i = 0; i < kernel.param.numel(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    double &p = param[at], &m = exp_avg[at], &v = exp_avg_sq[at];
    const double g = grad(i) * kernel.grad_scale;
    m = beta1 * m + (1 - beta1) * g;
    v = beta2 * v + (1 - beta2) * g * g;
    const double denominator = std::sqrt(v / kernel.bias_correction2) + kernel.eps;
    p -= kernel.lr * (m / kernel.bias_correction1 / denominator + kernel.weight_decay * p);
    if (model_param) {
      model_param.set(static_cast<float>(p), i);
    }
  }
  write_stored(param, kernel.param);
  write_stored(exp_avg, kernel.exp_avg);
  write_stored(exp_avg_sq, kernel.exp_avg_sq);
}

/// Steps SGD: buffer = momentum buffer + gradient with decay; the parameter follows the buffer, or
/// the gradient where there is none.
void run(device::ReferenceStream&, const SgdStep& kernel) {
  const Writer param(kernel.param), buffer(kernel.momentum_buffer);
  const Writer model_param(kernel.model_param);
  const Reader grad(kernel.grad);
  for (Index i = 0; i < kernel.param.numel(); ++i) {
    double step = grad(i) * kernel.grad_scale + kernel.weight_decay * param(i);
    if (buffer) {
      step += kernel.momentum * buffer(i);
      buffer.set(step, i);
    }
    param.add(-kernel.lr * step, i);
    if (model_param) {
      model_param.set(param(i), i);
    }
  }
}

/// Steps Lion by the sign of the interpolated moment; the moment itself follows by beta2.
void run(device::ReferenceStream&, const LionStep& kernel) {
  const Writer param(kernel.param), exp_avg(kernel.exp_avg), model_param(kernel.model_param);
  const Reader grad(kernel.grad);
  const double beta1 = kernel.beta1, beta2 = kernel.beta2;
  for (Index i = 0; i < kernel.param.numel(); ++i) {
    const double g = grad(i) * kernel.grad_scale, mixed = beta1 * exp_avg(i) + (1 - beta1) * g;
    const double sign = static_cast<double>((mixed > 0) - (mixed < 0));
    param.set(param(i) * (1 - kernel.lr * kernel.weight_decay) - kernel.lr * sign, i);
    exp_avg.set(beta2 * exp_avg(i) + (1 - beta2) * g, i);
    if (model_param) {
      model_param.set(param(i), i);
    }
  }
}

/// Adds squares of 64 neighbours in the block's order, then exactly.
void run(device::ReferenceStream&, const SumOfSquares& kernel) {
  const Reader x(kernel.x);
  const exact_sum::Bins bins(kernel.bins.as<std::int64_t>(), exact_sum::kBins);
  for (Index begin = 0; begin < kernel.x.numel(); begin += SumOfSquares::kBlock) {
    double sum = 0;
    for (Index i = begin; i < std::min(begin + SumOfSquares::kBlock, kernel.x.numel()); ++i) {
      sum += x(i) * x(i);
    }
    exact_sum::add(bins, sum);
  }
}

/// Counts exact zeros.
void run(device::ReferenceStream&, const CountZeros& kernel) {
  const Reader x(kernel.x);
  Index zeros = 0;
  for (Index i = 0; i < kernel.x.numel(); ++i) {
    zeros += x(i) == 0 ? 1 : 0;
  }
  Writer(kernel.result).set(static_cast<double>(zeros), 0);
}

}  // namespace mpitron::kernels
