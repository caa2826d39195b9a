// Brings the singular values of a matrix near 1 by Newton-Schulz iterations in fp32 or bf16.
#include <algorithm>
#include <array>

#include "kernels/elementwise/elementwise.h"
#include "kernels/linear/matmul.h"
#include "optim/matrices/muon.h"
#include "optim/matrices/tensor_arithmetic.h"

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

}  // namespace

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

}  // namespace mpitron::optim
