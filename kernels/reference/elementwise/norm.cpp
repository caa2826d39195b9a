#include "kernels/elementwise/norm.h"

#include <cmath>

#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

namespace {

/// Terms that both backward passes share: xhat = (x - mean) rstd, g = dy (gamma + offset).
struct NormRows {
  Reader x, dy, gamma, mean, rstd;
  double gamma_offset;

  double normalized(Index row, Index column) const {
    return (x(row, column) - (mean ? mean(row) : 0)) * rstd(row);
  }
  double upstream(Index row, Index column) const {
    return dy(row, column) * (gamma ? gamma(column) + gamma_offset : 1);
  }
};

/// dx = rstd (g - mean(g) - xhat mean(g xhat)) + dx_add; the RMS norm has no mean(g).
void backward_of_rows(const NormRows& rows, const In& dx_add_view, const Out& dx_view,
                      bool centred) {
  const Index h = dx_view.size(-1);
  const Reader dx_add(dx_add_view);
  const Writer dx(dx_view);
  for (Index row = 0; row < reference::rows_of(dx_view); ++row) {
    double mean_g = 0;
    double mean_g_normalized = 0;
    for (Index column = 0; column < h; ++column) {
      mean_g += rows.upstream(row, column) / static_cast<double>(h);
      mean_g_normalized +=
          rows.upstream(row, column) * rows.normalized(row, column) / static_cast<double>(h);
    }
    // All of the row is read before any of it is written: dx may be x, dy or dx_add.
    std::vector<double> gradient;
    for (Index column = 0; column < h; ++column) {
      const double inner = rows.upstream(row, column) - (centred ? mean_g : 0) -
                           rows.normalized(row, column) * mean_g_normalized;
      gradient.push_back(rows.rstd(row) * inner + (dx_add ? dx_add(row, column) : 0));
    }
    for (Index column = 0; column < h; ++column) {
      dx.set(gradient[static_cast<std::size_t>(column)], row, column);
    }
  }
}

/// Adds a column over all rows in double, to what is there with `accumulate`.
template <class Term>
void sum_over_rows(const InOut& view, Index rows, bool accumulate, Term&& term) {
  const Writer sum(view);
  for (Index column = 0; sum && column < view.numel(); ++column) {
    double total = accumulate ? sum(column) : 0;
    for (Index row = 0; row < rows; ++row) {
      total += term(row, column);
    }
    sum.set(total, column);
  }
}

}  // namespace

/// y = x rstd gamma, rstd = 1 / sqrt(mean(x^2) + eps); 1p adds one to gamma.
void run(device::ReferenceStream&, const RmsNormForward& kernel) {
  const Reader x(kernel.x), gamma(kernel.gamma);
  const Writer y(kernel.y), rstd(kernel.rstd);
  const Index h = kernel.x.size(-1);
  for (Index row = 0; row < reference::rows_of(kernel.x); ++row) {
    double square = 0;
    for (Index column = 0; column < h; ++column) {
      square += x(row, column) * x(row, column);
    }
    const double scale = 1 / std::sqrt(square / static_cast<double>(h) + kernel.eps);
    rstd.set(scale, row);
    for (Index column = 0; column < h; ++column) {
      const double weight = gamma ? gamma(column) + kernel.gamma_offset : 1;
      y.set(x(row, column) * scale * weight, row, column);
    }
  }
}

/// Normalises with the variance of deviations, not of squares: no cancellation.
void run(device::ReferenceStream&, const LayerNormForward& kernel) {
  const Reader x(kernel.x), gamma(kernel.gamma), beta(kernel.beta);
  const Writer y(kernel.y), mean(kernel.mean), rstd(kernel.rstd);
  const Index h = kernel.x.size(-1);
  for (Index row = 0; row < reference::rows_of(kernel.x); ++row) {
    double centre = 0;
    for (Index column = 0; column < h; ++column) {
      centre += x(row, column) / static_cast<double>(h);
    }
    double variance = 0;
    for (Index column = 0; column < h; ++column) {
      variance += std::pow(x(row, column) - centre, 2) / static_cast<double>(h);
    }
    const double scale = 1 / std::sqrt(variance + kernel.eps);
    mean.set(centre, row);
    rstd.set(scale, row);
    for (Index column = 0; column < h; ++column) {
      const double weight = gamma ? gamma(column) + kernel.gamma_offset : 1;
      const double shift = beta ? beta(column) : 0;
      y.set((x(row, column) - centre) * scale * weight + shift, row, column);
    }
  }
}

/// dx = rstd (g - x_hat mean(g x_hat)), g = dy gamma.
void run(device::ReferenceStream&, const RmsNormBackward& kernel) {
  const NormRows rows{Reader(kernel.x), Reader(kernel.dy),   Reader(kernel.gamma),
                      Reader(In{}),     Reader(kernel.rstd), kernel.gamma_offset};
  const Index count = reference::rows_of(kernel.x);
  sum_over_rows(kernel.dgamma, count, kernel.accumulate, [&](Index row, Index column) {
    return rows.dy(row, column) * rows.normalized(row, column);
  });
  backward_of_rows(rows, kernel.dx_add, kernel.dx, false);
}

/// Subtracts the mean of g as well: dx = rstd (g - mean(g) - x_hat mean(g x_hat)).
void run(device::ReferenceStream&, const LayerNormBackward& kernel) {
  const NormRows rows{Reader(kernel.x),    Reader(kernel.dy),   Reader(kernel.gamma),
                      Reader(kernel.mean), Reader(kernel.rstd), kernel.gamma_offset};
  const Index count = reference::rows_of(kernel.x);
  sum_over_rows(kernel.dgamma, count, kernel.accumulate, [&](Index row, Index column) {
    return rows.dy(row, column) * rows.normalized(row, column);
  });
  sum_over_rows(kernel.dbeta, count, kernel.accumulate,
                [&](Index row, Index column) { return rows.dy(row, column); });
  backward_of_rows(rows, kernel.dx_add, kernel.dx, true);
}

}  // namespace mpitron::kernels
