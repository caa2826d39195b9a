#pragma once
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace mpitron::plan {

/// Solves a x = b for a symmetric positive definite matrix of b.size() rows; false where it is not.
bool solve_symmetric(std::vector<double> a, std::vector<double>& b);

/// Levenberg-Marquardt for residuals with a t distribution around 0 and parameters with a normal
/// one around a constant or another parameter. `Problem` tells place, residuals, scales and priors
/// (Fitter in refit.cpp).
template <class Problem>
class LeastSquares {
 public:
  LeastSquares(Problem& problem, std::size_t parameters) : problem_(problem), n_(parameters) {}

  /// Goes at most so many rounds downhill, each with a few attempts at a damping that lets a step
  /// improve; leaves the problem at the best place.
  void run(int rounds) {
    z_ = problem_.place();
    r_ = problem_.residuals();
    double best = objective(z_, r_);
    for (int round = 0; round < rounds && n_ > 0; ++round) {
      make_equations();
      bool improved = false;
      for (int attempt = 0; attempt < 6 && !improved; ++attempt) {
        improved = try_step(best);
      }
      if (!improved) {
        break;
      }
    }
    problem_.move_to(z_);
  }

  /// Returns the covariance of the parameters where `run` has ended, as a matrix; empty where they
  /// are not determined.
  std::vector<double> covariance() {
    make_equations();
    std::vector<double> result(n_ * n_);
    for (std::size_t j = 0; j < n_; ++j) {
      std::vector<double> column(n_, 0);
      column[j] = 1;
      if (!solve_symmetric(a_, column)) {
        return {};
      }
      std::ranges::copy(column, result.begin() + static_cast<std::ptrdiff_t>(j * n_));
    }
    return result;
  }

 private:
  static constexpr double kFreedom = 4;    // of the t distribution: how many rows may be far off
  static constexpr double kDelta = 0.02;   // of a derivative
  static constexpr double kLongest = 0.7;  // step of a parameter

  /// Returns twice the negative logarithm of the likelihood, without constants.
  double objective(const std::vector<double>& z, const std::vector<double>& r) const {
    double sum = 0;
    for (std::size_t i = 0; i < r.size(); ++i) {
      const double x = r[i] / problem_.scale(i);
      sum += (kFreedom + 1) * std::log1p(x * x / kFreedom);
    }
    for (std::size_t j = 0; j < n_; ++j) {
      const double away = prior_residual(z, j);
      sum += away * away;
    }
    return sum;
  }

  /// Returns how far a parameter is from where it is expected, in spreads.
  double prior_residual(const std::vector<double>& z, std::size_t j) const {
    const std::optional<std::size_t> parent = problem_.prior_parent(j);
    const double centre = parent ? z[*parent] : problem_.prior_centre(j);
    return (z[j] - centre) / problem_.prior_spread(j);
  }

  /// Builds the normal equations at the place of now: derivatives by differences, rows weighted as
  /// the t distribution weighs them, so that rows far off pull less.
  void make_equations() {
    a_.assign(n_ * n_, 0);
    b_.assign(n_, 0);
    std::vector<std::vector<double>> jacobian(n_, std::vector<double>(r_.size(), 0));
    for (std::size_t j = 0; j < n_; ++j) {
      const std::vector<std::size_t>& rows = problem_.rows_of(j);
      const std::vector<double> moved = problem_.moved_residuals(j, z_[j] + kDelta);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        jacobian[j][rows[i]] = (moved[i] - r_[rows[i]]) / kDelta;
      }
    }
    for (std::size_t j = 0; j < n_; ++j) {
      for (const std::size_t i : problem_.rows_of(j)) {
        const double s = problem_.scale(i), x = r_[i] / s;
        const double weight = (kFreedom + 1) / (kFreedom + x * x) / (s * s);
        b_[j] -= weight * jacobian[j][i] * r_[i];
        for (std::size_t k = 0; k < n_; ++k) {
          a_[j * n_ + k] += weight * jacobian[j][i] * jacobian[k][i];
        }
      }
    }
    for (std::size_t j = 0; j < n_; ++j) {
      add_prior(j);
    }
  }

  /// Adds the pull to the expected value; where that is another parameter, both are pulled.
  void add_prior(std::size_t j) {
    const double inverse = 1 / problem_.prior_spread(j), away = prior_residual(z_, j);
    a_[j * n_ + j] += inverse * inverse;
    b_[j] -= away * inverse;
    if (const std::optional<std::size_t> parent = problem_.prior_parent(j)) {
      a_[*parent * n_ + *parent] += inverse * inverse;
      a_[*parent * n_ + j] -= inverse * inverse;
      a_[j * n_ + *parent] -= inverse * inverse;
      b_[*parent] += away * inverse;
    }
  }

  /// Takes a damped step if it lowers the objective; then damping sinks, else it rises and the
  /// problem is put back.
  bool try_step(double& best) {
    std::vector<double> a = a_, step = b_, z = z_;
    for (std::size_t j = 0; j < n_; ++j) {
      a[j * n_ + j] *= 1 + damping_;
    }
    if (solve_symmetric(std::move(a), step)) {
      for (std::size_t j = 0; j < n_; ++j) {
        z[j] += std::fmax(-kLongest, std::fmin(kLongest, step[j]));
      }
      problem_.move_to(z);
      z = problem_.place();  // within what is plausible
      std::vector<double> r = problem_.residuals();
      const double value = objective(z, r);
      if (value < best - 1e-6) {
        best = value;
        z_ = std::move(z);
        r_ = std::move(r);
        damping_ *= 0.3;
        return true;
      }
    }
    problem_.move_to(z_);
    damping_ *= 4;
    return false;
  }

  Problem& problem_;
  std::size_t n_;
  std::vector<double> z_;
  std::vector<double> r_;
  std::vector<double> a_;
  std::vector<double> b_;
  double damping_ = 0.01;
};

}  // namespace mpitron::plan
