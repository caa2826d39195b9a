#include "kernels/linear/soap.h"

#include <algorithm>
#include <cmath>

#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

void run(device::ReferenceStream&, const WideAverage& k) {
  const Reader x(k.x), old(k.average);
  const Writer average(k.average);
  for (Index i = 0; i < k.x.numel(); ++i) {
    average.set(k.beta * old(i) + (1 - k.beta) * x(i), i);
  }
}

void run(device::ReferenceStream&, const WhitenRows& k) {
  const Reader x(k.x), vectors(k.vectors), products(k.products), value(k.values);
  const Writer y(k.y), values(k.values);
  const Index count = k.values.size(0);
  double largest = 0;
  for (Index i = 0; i < count; ++i) {
    double sum = 0;
    for (Index j = 0; vectors && j < count; ++j) {
      sum += vectors(i, j) * products(i, j);
    }
    values.set(sum, i);
    largest = std::max(largest, sum);
  }
  for (Index i = 0; i < k.x.size(0); ++i) {
    const double own = vectors && value(i) >= 1e-13 * largest ? value(i) : 0;
    const double root = std::sqrt(static_cast<double>(count) * std::max(own, k.eps));
    for (Index j = 0; j < k.x.size(1); ++j) {
      y.set(x(i, j) / root, i, j);
    }
  }
}

void run(device::ReferenceStream&, const SoapDirection& k) {
  const Reader gradient(k.gradient), average(k.average), squares(k.squares);
  const Reader rows(k.row_present), columns(k.column_present);
  const Writer next(k.next), direction(k.direction);
  const Index m = k.gradient.size(0), n = k.gradient.size(1);
  const auto old = [](const In& order, Index i) {
    return order ? order.as<std::int64_t>()[i] : std::int64_t{i};
  };
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < n; ++j) {
      const bool present = !rows || (rows(i) > 0 && columns(j) > 0);
      const double g = present ? gradient(i, j) : 0, mean = present ? average(i, j) : 0;
      const double v =
          k.beta2 * squares(old(k.row_order, i), old(k.column_order, j)) + (1 - k.beta2) * g * g;
      next.set(v, i, j);
      direction.set(mean / k.correction1 / (std::sqrt(v / k.correction2) + k.eps), i, j);
    }
  }
}

}  // namespace mpitron::kernels
