// Computes Muon's direction: momentum in fp32, orthogonalisation by Newton-Schulz iterations in
// fp32 or bf16, scaling by the matrix's shape. A fused matrix is cut into its parts first.
#include "optim/muon.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/optimizer.h"
#include "kernels/linear/matmul.h"
#include "optim/stored_state.h"
#include "tensor/host_copy.h"
#include "utils/numbers/exact_sum.h"

namespace mpitron::optim {
namespace {

using config::MuonCoefficients;
using device::Device;
using tensor::Tensor;

using Coefficients = std::array<float, 3>;

constexpr std::array<Coefficients, 1> kSimple = {{{3.4445f, -4.7750f, 2.0315f}}};
constexpr std::array kQuintic = {
    Coefficients{4.0848f, -6.8946f, 2.9270f}, Coefficients{3.9505f, -6.3029f, 2.6377f},
    Coefficients{3.7418f, -5.5913f, 2.3037f}, Coefficients{2.8769f, -3.1427f, 1.2046f},
    Coefficients{2.8366f, -3.0525f, 1.2012f}};
constexpr std::array kPolarExpress = {
    Coefficients{8.2051f, -22.9019f, 16.4607f}, Coefficients{4.0664f, -2.8612f, 0.5184f},
    Coefficients{3.9096f, -2.8234f, 0.5250f},   Coefficients{3.2856f, -2.4153f, 0.4853f},
    Coefficients{2.2779f, -1.6198f, 0.3985f},   Coefficients{1.8726f, -1.2307f, 0.3585f},
    Coefficients{1.8564f, -1.2132f, 0.3568f},   Coefficients{1.8750f, -1.25f, 0.375f}};
constexpr std::array kCans = {
    Coefficients{8.4703f, -25.1081f, 18.6293f}, Coefficients{4.1828f, -3.1087f, 0.5806f},
    Coefficients{3.9619f, -2.9541f, 0.5630f}, Coefficients{3.2866f, -2.4647f, 0.5074f},
    Coefficients{2.2737f, -1.6447f, 0.4162f}};
constexpr std::array kAol = {
    Coefficients{4.0098f, -7.0585f, 2.4635f}, Coefficients{3.4585f, -5.5479f, 2.5959f},
    Coefficients{2.7573f, -3.2939f, 1.4254f}, Coefficients{2.7215f, -3.0494f, 1.3169f}};

/// Returns the coefficients of step `step`, from 0. Lists of iterations that converge end with
/// their last triple; the others begin again.
Coefficients coefficients(MuonCoefficients kind, std::size_t step) {
  const auto cycled = [step](const auto& list) { return list[step % list.size()]; };
  const auto kept = [step](const auto& list) { return list[std::min(step, list.size() - 1)]; };
  switch (kind) {
    case MuonCoefficients::simple:
      return cycled(kSimple);
    case MuonCoefficients::quintic:
      return cycled(kQuintic);
    case MuonCoefficients::aol:
      return cycled(kAol);
    case MuonCoefficients::polar_express:
      return kept(kPolarExpress);
    case MuonCoefficients::cans:
      break;
  }
  return kept(kCans);
}

template <class Kernel>
void launch_with_workspace(Device& device, Kernel kernel) {
  Tensor workspace;
  if (const Index bytes = device::workspace_bytes_of(device.stream(), kernel); bytes > 0) {
    workspace = Tensor::empty(device, {bytes}, DType::u8);
    kernel.workspace = workspace.view();
  }
  device::launch(device.stream(), kernel);
}

Tensor scaled(Device& device, const Tensor& x, float factor) {
  const Tensor y = Tensor::empty(device, x.shape(), x.dtype());
  device::launch(device.stream(), kernels::Scale{.x = x.view(), .y = y.view(), .factor = factor});
  return y;
}

void add(Device& device, const Tensor& to, const Tensor& x) {
  device::launch(device.stream(), kernels::Add{.a = to.view(), .b = x.view(), .y = to.view()});
}

Tensor converted(Device& device, const Tensor& x, DType dtype) {
  const Tensor y = Tensor::empty(device, x.shape(), dtype);
  device::launch(device.stream(), kernels::Cast{.x = x.view(), .y = y.view()});
  return y;
}

/// Returns the norm of all elements, the same in any pieces.
double norm(Device& device, const Tensor& x) {
  const Tensor zeros = tensor::empty_on_host(device, {exact_sum::kBins}, DType::i64);
  const auto bins = [](const Tensor& sum) {
    return exact_sum::Bins(sum.data<std::int64_t>(), exact_sum::kBins);
  };
  std::ranges::fill(bins(zeros), 0);
  const Tensor sum = tensor::to_device(device, zeros);
  device::launch(device.stream(), kernels::SumOfSquares{.x = flat(x).view(), .bins = sum.view()});
  const Tensor known = tensor::to_host(device, sum);
  exact_sum::carry(bins(known));
  return std::sqrt(exact_sum::value(bins(known)));
}

/// x <- a x + (b A + c A A) x, A = x x^T; of a tall x the same of its transpose.
Tensor newton_schulz_step(Device& device, const Tensor& x, const Coefficients& by) {
  const bool tall = x.shape()[0] > x.shape()[1];
  const Index m = std::min(x.shape()[0], x.shape()[1]);
  const auto product = [&](const Tensor& a, const Tensor& b, const Tensor& c, kernels::Matmul how) {
    how.a = a.view(), how.b = b.view(), how.c = c.view();
    launch_with_workspace(device, how);
  };
  const Tensor gram = Tensor::empty(device, {m, m}, x.dtype());
  const Tensor square = Tensor::empty(device, {m, m}, x.dtype());
  kernels::Matmul of_rows;
  (tall ? of_rows.transpose_a : of_rows.transpose_b) = true;
  product(x, x, gram, of_rows);
  product(gram, gram, square, {});
  const Tensor factor = scaled(device, gram, by[1]), result = scaled(device, x, by[0]);
  add(device, factor, scaled(device, square, by[2]));
  kernels::Matmul added;
  added.accumulate = true;
  product(tall ? x : factor, tall ? factor : x, result, added);
  return result;
}

/// sqrt(max(out, in)), sqrt(out / in) or sqrt(max(1, out / in)): how large an orthogonal update of
/// this shape is to be.
double scale_of(const config::MuonConfig& config, Index out, Index in) {
  const auto o = static_cast<double>(out), i = static_cast<double>(in);
  switch (config.scale) {
    case config::MuonScale::unit_rms_norm:
      return config.extra_scale * std::sqrt(o / i);
    case config::MuonScale::shape_scaling:
      return config.extra_scale * std::sqrt(std::max(1.0, o / i));
    case config::MuonScale::spectral:
      break;
  }
  return config.extra_scale * std::sqrt(std::max(o, i));
}

/// Rows of the parts that are made orthogonal each on its own, within every query group; one part
/// with all rows where the matrix stays whole.
std::vector<Index> parts_of(const config::MuonConfig& config, std::string_view name, Index rows) {
  const bool split = name.ends_with("linear_qkv.weight") && !config.qkv_rows.empty();
  return split ? config.qkv_rows : std::vector<Index>{rows};
}

}  // namespace

Tensor muon_average(Device& device, const config::MuonConfig& config, const Tensor& gradient,
                    const Tensor& average, float gradient_scale) {
  const auto mu = static_cast<float>(config.momentum);
  const Tensor fresh = scaled(device, converted(device, gradient, DType::f32),
                              static_cast<float>(1 - config.momentum) * gradient_scale);
  device::launch(device.stream(),
                 kernels::Scale{.x = average.view(), .y = average.view(), .factor = mu});
  add(device, average, fresh);
  if (!config.nesterov) {
    return average;
  }
  add(device, fresh, scaled(device, average, mu));
  return fresh;
}

/// x over its norm, then the Newton-Schulz steps, which bring its singular values near 1.
Tensor orthogonalised(Device& device, const config::MuonConfig& config, const Tensor& x) {
  const auto inverse = static_cast<float>(1 / std::max(norm(device, x), 1e-15));
  Tensor result = scaled(device, x, inverse);
  if (!config.fp32_products) {
    result = converted(device, result, DType::bf16);
  }
  for (Index step = 0; step < config.steps; ++step) {
    result = newton_schulz_step(device, result,
                                coefficients(config.coefficients, static_cast<std::size_t>(step)));
  }
  return converted(device, result, DType::f32);
}

Tensor muon_direction(Device& device, const config::MuonConfig& config, std::string_view name,
                      const Tensor& average) {
  const Index columns = average.shape()[1];
  const std::vector<Index> parts = parts_of(config, name, average.shape()[0]);
  const Index rows = std::accumulate(parts.begin(), parts.end(), Index{0});
  const Index groups = average.shape()[0] / rows;
  const Tensor update = Tensor::empty(device, average.shape(), DType::f32);
  const Tensor to = update.reshape({groups, rows, columns});
  const Tensor from = average.reshape({groups, rows, columns});
  Index begin = 0;
  for (const Index count : parts) {
    const Tensor part = converted(device, from.slice(1, begin, begin + count), DType::f32)
                            .reshape({groups * count, columns});
    const Tensor made = scaled(device, orthogonalised(device, config, part),
                               static_cast<float>(scale_of(config, groups * count, columns)));
    device::launch(device.stream(),
                   kernels::Cast{.x = made.reshape({groups, count, columns}).view(),
                                 .y = to.slice(1, begin, begin + count).view()});
    begin += count;
  }
  return update;
}

}  // namespace mpitron::optim
