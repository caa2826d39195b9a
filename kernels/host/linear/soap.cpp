// SOAP's arithmetic on the host: threads share rows.
#include "kernels/linear/soap.h"

#include <algorithm>
#include <cmath>

#include "kernels/host/common/parallel.h"
#include "kernels/linear/eigenbasis_steps.h"

namespace mpitron::kernels {
using host::for_blocks;
using host::for_ranges;

void run(device::HostStream&, const WideAverage& k) {
  auto* average = k.average.as<double>();
  const auto* x = k.x.as<double>();
  for_ranges(k.x.numel(), k.x.numel(), [&](Index begin, Index end) {
    std::transform(average + begin, average + end, x + begin, average + begin,
                   [&](double old, double now) { return k.beta * old + (1 - k.beta) * now; });
  });
}

void run(device::HostStream&, const WhitenRows& k) {
  const Index m = k.x.size(0), n = k.x.size(1), count = k.values.size(0);
  auto* const values = k.values.as<double>();
  std::fill_n(values, count, 0.0);
  if (k.vectors) {
    find_quotients(k.vectors.as<double>(), k.products.as<double>(), values, count);
  }
  for_blocks(m, m * n, [&](Index i) {
    const double own = k.vectors ? values[i] : 0;
    const double root = std::sqrt(static_cast<double>(count) * std::max(own, k.eps));
    const double* x = k.x.as<double>() + i * n;
    std::transform(x, x + n, k.y.as<double>() + i * n, [root](double each) { return each / root; });
  });
}

void run(device::HostStream&, const SoapDirection& k) {
  const Index m = k.gradient.size(0), n = k.gradient.size(1);
  const auto *gradient = k.gradient.as<double>(), *average = k.average.as<double>();
  auto *next = k.next.as<double>(), *direction = k.direction.as<double>();
  const auto order = [](const In& in) { return in ? in.as<std::int64_t>() : nullptr; };
  const auto present = [](const In& in) { return in ? in.as<double>() : nullptr; };
  const auto *rows = order(k.row_order), *columns = order(k.column_order);
  const auto *row = present(k.row_present), *column = present(k.column_present);
  for_blocks(m, 4 * m * n, [&](Index i) {
    const double* squares = k.squares.as<double>() + (rows != nullptr ? rows[i] : i) * n;
    for (Index j = 0, at = i * n; j < n; ++j, ++at) {
      const double part = row != nullptr ? row[i] * column[j] : 1, g = part * gradient[at];
      const double old = squares[columns != nullptr ? columns[j] : j];
      next[at] = k.beta2 * old + (1 - k.beta2) * g * g;
      direction[at] =
          part * average[at] / k.correction1 / (std::sqrt(next[at] / k.correction2) + k.eps);
    }
  });
}

}  // namespace mpitron::kernels
