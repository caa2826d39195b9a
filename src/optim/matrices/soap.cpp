#include "optim/matrices/soap.h"

#include <cmath>
#include <utility>

#include "kernels/elementwise/elementwise.h"
#include "kernels/linear/eigenbasis.h"
#include "kernels/linear/soap.h"
#include "optim/matrices/tensor_arithmetic.h"

// Composes SOAP's step from products of fp64 matrices, eigenvectors and Adam.

namespace mpitron::optim {
namespace {

using device::Device;
using tensor::Tensor;

/// The reference has no option for it; --adam-eps is that of the other parameters.
constexpr double kEps = 1e-8;

Tensor wide(Device& device, const Shape& shape) {
  return Tensor::empty(device, shape, DType::f64);
}

struct Transposed {
  bool a = false, b = false;
};

/// op(a) op(b).
Tensor product(Device& device, const Tensor& a, const Tensor& b, Transposed how = {}) {
  const Tensor c = wide(device, {a.shape()[how.a ? 1 : 0], b.shape()[how.b ? 0 : 1]});
  launch_with_workspace(device, kernels::Matmul{.a = a.view(),
                                                .b = b.view(),
                                                .bias = {},
                                                .c = c.view(),
                                                .workspace = {},
                                                .transpose_a = how.a,
                                                .transpose_b = how.b});
  return c;
}

/// One side of a matrix: the average of its Gram matrices and the average's eigenvectors.
struct Side {
  Tensor& gram;
  Tensor& basis;
  bool right;
  Tensor order = {};    // of the last step; empty where a basis is new or stays
  Tensor present = {};  // empty where a basis stays
};

/// What a side's view of the gradient adds to the average of the other side: the gradient's Gram
/// matrix there, for KL-Shampoo divided by this side's eigenvalues, which at first are 0.
Tensor gram_for_other(Device& device, const Side& side, const Tensor& gradient, bool kl,
                      bool first) {
  const Transposed other = side.right ? Transposed{.b = true} : Transposed{.a = true};
  if (!kl) {
    return product(device, gradient, gradient, other);
  }
  const Tensor rows = first ? gradient : product(device, side.basis, gradient, {.b = side.right});
  const Tensor products = first ? Tensor() : product(device, side.basis, side.gram);
  const Tensor white = wide(device, rows.shape()), values = wide(device, {side.gram.shape()[0]});
  kernels::WhitenRows whiten{.x = rows.view(),
                             .vectors = {},
                             .products = {},
                             .values = values.view(),
                             .y = white.view(),
                             .eps = kEps};
  if (!first) {
    whiten.vectors = side.basis.view(), whiten.products = products.view();
  }
  device::launch(device.stream(), whiten);
  return product(device, white, white, first ? other : Transposed{.a = true});
}

void average(Device& device, const Tensor& of, const Tensor& x, double beta) {
  device::launch(device.stream(),
                 kernels::WideAverage{.average = of.view(), .x = x.view(), .beta = beta});
}

/// Makes the first basis, or brings the last one nearer to the eigenvectors.
void turn(Device& device, Side& side, bool first) {
  const Index n = side.gram.shape()[0];
  const Tensor next = wide(device, {n, n});
  side.present = wide(device, {n});
  if (first) {
    const Tensor workspace = wide(device, {n, n});
    device::launch(device.stream(), kernels::Eigenvectors{.x = side.gram.view(),
                                                          .vectors = next.view(),
                                                          .present = side.present.view(),
                                                          .workspace = workspace.view()});
  } else {
    const Tensor products = product(device, side.basis, side.gram), memory = wide(device, {n});
    side.order = Tensor::empty(device, {n}, DType::i64);
    device::launch(device.stream(), kernels::EigenvectorStep{.vectors = side.basis.view(),
                                                             .products = products.view(),
                                                             .next = next.view(),
                                                             .order = side.order.view(),
                                                             .present = side.present.view(),
                                                             .workspace = memory.view()});
  }
  side.basis = next;
}

double correction(double beta, Index update) {
  return 1 - std::pow(beta, static_cast<double>(update));
}

/// Adam's direction among the eigenvectors, of a gradient and an average outside of them.
Tensor adam_direction(Device& device, const config::OptimizerConfig& config,
                      std::pair<const Side&, const Side&> sides, const Tensor& gradient,
                      MatrixState& state, Index update) {
  const auto& [left, right] = sides;
  const auto among_vectors = [&](const Tensor& x) {
    return product(device, product(device, left.basis, x), right.basis, {.b = true});
  };
  const Tensor gradients = among_vectors(gradient), averages = among_vectors(state[0].numbers);
  const Tensor squares = wide(device, gradient.shape()), direction = wide(device, gradient.shape());
  kernels::SoapDirection adam{.gradient = gradients.view(),
                              .average = averages.view(),
                              .squares = state[1].numbers.view(),
                              .row_order = {},
                              .column_order = {},
                              .row_present = {},
                              .column_present = {},
                              .next = squares.view(),
                              .direction = direction.view(),
                              .beta2 = config.adam_beta2,
                              .eps = kEps,
                              .correction1 = correction(config.adam_beta1, update),
                              .correction2 = correction(config.adam_beta2, update)};
  if (left.order) {
    adam.row_order = left.order.view(), adam.column_order = right.order.view();
  }
  if (left.present) {
    adam.row_present = left.present.view(), adam.column_present = right.present.view();
  }
  device::launch(device.stream(), adam);
  state[1].numbers = squares;
  return direction;
}

}  // namespace

MatrixState soap_state(Device& device, const Shape& shape) {
  const auto zeros = [&](Index rows, Index columns) {
    const Tensor x = wide(device, {rows, columns});
    device::launch(device.stream(), kernels::Fill{.x = x.view(), .value = 0});
    return x;
  };
  const Index m = shape[0], n = shape[1];
  return {{"exp_avg", zeros(m, n)}, {"exp_avg_sq", zeros(m, n)}, {"L", zeros(m, m)},
          {"R", zeros(n, n)},       {"Q_L", zeros(m, m)},        {"Q_R", zeros(n, n)}};
}

Tensor soap_direction(Device& device, const config::OptimizerConfig& config, const Tensor& gradient,
                      MatrixState& state, Index update) {
  const config::SoapConfig& soap = config.soap;
  const Tensor g = converted(device, gradient, DType::f64);
  Side left{state[2].numbers, state[4].numbers, false},
      right{state[3].numbers, state[5].numbers, true};
  const bool first = update == 1;
  const double beta = 1 - (1 - soap.shampoo_beta) / correction(soap.shampoo_beta, update);
  const Tensor for_left = gram_for_other(device, right, g, soap.kl, first);
  const Tensor for_right = gram_for_other(device, left, g, soap.kl, first);
  average(device, left.gram, for_left, beta);
  average(device, right.gram, for_right, beta);
  if ((update - 1) % soap.frequency == 0) {
    turn(device, left, first);
    turn(device, right, first);
  }

  average(device, state[0].numbers, g, config.adam_beta1);
  const Tensor direction = adam_direction(device, config, {left, right}, g, state, update);
  return converted(
      device, product(device, product(device, left.basis, direction, {.a = true}), right.basis),
      DType::f32);
}

}  // namespace mpitron::optim
