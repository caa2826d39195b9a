// Computes the loss against a teacher's k likeliest words (distillation) on the host, in fp64. Rows
// go to threads whole, so sums over words keep their order.
#include "kernels/elementwise/teacher.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/host/common/views.h"

namespace mpitron::kernels {
namespace {

using namespace host;

/// exp and log of a word.
constexpr Index kWordWork = 32;

/// The teacher's words of a row, and its shares of them.
class TeacherRow {
 public:
  TeacherRow(const device::ConstTensorView& log_probs, double temperature)
      : log_probs_(log_probs.as<float>()),
        temperature_(temperature),
        shares_(static_cast<std::size_t>(log_probs.size(-1))) {}

  const std::vector<double>& shares(Index t) {
    const float* own = log_probs_ + t * static_cast<Index>(shares_.size());
    const double largest = static_cast<double>(*std::max_element(own, own + shares_.size()));
    double sum = 0;
    for (std::size_t i = 0; i < shares_.size(); ++i) {
      shares_[i] = std::exp((static_cast<double>(own[i]) - largest) / temperature_);
      sum += shares_[i];
    }
    std::ranges::for_each(shares_, [sum](double& share) { share /= sum; });
    return shares_;
  }

 private:
  const float* log_probs_;
  double temperature_;
  std::vector<double> shares_;
};

/// Calls body(t, shares) for all rows; each thread has one row of shares and fills it again.
template <class Body>
void for_teacher_rows(const device::ConstTensorView& log_probs, double temperature, Body&& body) {
  const Index rows = log_probs.numel() / log_probs.size(-1);
  for_ranges(rows, log_probs.numel() * kWordWork, [&](Index begin, Index end) {
    TeacherRow row(log_probs, temperature);
    for (Index t = begin; t < end; ++t) {
      body(t, row.shares(t));
    }
  });
}

/// Calls body(column, share) for the words of a row that lie among `v` columns; all others belong
/// to other ranks.
template <class Body>
void for_words(const std::int64_t* ids, Index first_column, Index v,
               const std::vector<double>& shares, Body&& body) {
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const Index column = ids[i] - first_column;
    if (column >= 0 && column < v) {
      body(column, shares[i]);
    }
  }
}

}  // namespace

void run(device::HostStream&, const TeacherMatch& kernel) {
  const Index k = kernel.ids.size(-1), v = kernel.logits.size(-1);
  visit_dtype(kernel.logits.dtype, [&]<class T>() {
    for_teacher_rows(kernel.log_probs, kernel.temperature, [&](Index t, const auto& shares) {
      const T* logits = kernel.logits.as<T>() + t * v;
      double sum = 0;
      for_words(kernel.ids.as<std::int64_t>() + t * k, kernel.first_column, v, shares,
                [&](Index column, double share) {
                  sum += share * static_cast<double>(static_cast<float>(logits[column]));
                });
      kernel.match.as<double>()[t] = sum;
    });
  });
}

void run(device::HostStream&, const DistillationForward& kernel) {
  const double square = kernel.temperature * kernel.temperature;
  for_teacher_rows(kernel.log_probs, kernel.temperature, [&](Index t, const auto& shares) {
    double negative_entropy = 0;
    for (const double p : shares) {
      negative_entropy += p > 0 ? p * std::log(p) : 0;
    }
    const double far = square * (negative_entropy - kernel.match.as<double>()[t] +
                                 static_cast<double>(kernel.lse.as<float>()[t]));
    const auto hard = static_cast<double>(kernel.hard.as<float>()[t]);
    kernel.divergence.as<float>()[t] = static_cast<float>(far);
    kernel.loss.as<float>()[t] =
        static_cast<float>((1 - kernel.weight) * hard + kernel.weight * far);
  });
}

void run(device::HostStream&, const TeacherScatter& kernel) {
  const Index k = kernel.ids.size(-1), v = kernel.dlogits.size(-1);
  visit_dtype(kernel.dlogits.dtype, [&]<class T>() {
    for_teacher_rows(kernel.log_probs, kernel.temperature, [&](Index t, const auto& shares) {
      T* dlogits = kernel.dlogits.as<T>() + t * v;
      const double factor = kernel.factor * static_cast<double>(kernel.dloss.as<float>()[t]);
      for_words(kernel.ids.as<std::int64_t>() + t * k, kernel.first_column, v, shares,
                [&](Index column, double share) {
                  const double before = static_cast<double>(static_cast<float>(dlogits[column]));
                  dlogits[column] = T(static_cast<float>(before - factor * share));
                });
    });
  });
}

}  // namespace mpitron::kernels
