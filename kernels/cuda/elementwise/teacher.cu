// Numerical contract: that of teacher.h. A thread takes a row, so its sums over words keep their
// order; it computes the teacher's shares again in every pass over them.
#include "kernels/cuda/common/vector.cuh"
#include "kernels/elementwise/teacher.h"

namespace mpitron::kernels {
namespace {

using namespace cuda;

/// The teacher's words and what turns their log-probabilities into shares of a row.
struct TeacherWords {
  const std::int64_t* ids;  // null where they are not asked for
  const float* log_probs;
  Index rows, words, first_column;
  double temperature;
};

/// A row of them: shares are e^((l - largest) / T) / sum.
class TeacherRow {
 public:
  __device__ TeacherRow(const TeacherWords& a, Index row)
      : a_(a), log_probs_(a.log_probs + row * a.words), ids_(a.ids + row * a.words) {
    largest_ = log_probs_[0];
    for (Index i = 1; i < a.words; ++i) {
      largest_ = fmaxf(largest_, log_probs_[i]);
    }
    for (Index i = 0; i < a.words; ++i) {
      sum_ += power(i);
    }
  }
  __device__ double share(Index i) const { return power(i) / sum_; }
  /// Calls body(column, share) for the words among `v` columns; all others belong to other ranks.
  template <class Body>
  __device__ void for_words(Index v, Body&& body) const {
    for (Index i = 0; i < a_.words; ++i) {
      const Index column = ids_[i] - a_.first_column;
      if (column >= 0 && column < v) {
        body(column, share(i));
      }
    }
  }

 private:
  __device__ double power(Index i) const {
    return exp((static_cast<double>(log_probs_[i]) - static_cast<double>(largest_)) /
               a_.temperature);
  }

  const TeacherWords& a_;
  const float* log_probs_;
  const std::int64_t* ids_;
  float largest_ = 0;
  double sum_ = 0;
};

template <class T>
__global__ void teacher_match(const __grid_constant__ TeacherWords a, const T* logits, Index v,
                              double* match) {
  for_packs(a.rows, false, thread_of_grid(), [&](Index t, auto) {
    double sum = 0;
    TeacherRow(a, t).for_words(v, [&](Index column, double share) {
      sum += share * static_cast<double>(load(logits + t * v + column, Width<1>())[0]);
    });
    match[t] = sum;
  });
}

struct DistilledLosses {
  const float *hard, *lse;
  const double* match;
  float *loss, *divergence;
  double weight;
};

__global__ void distillation_forward(const __grid_constant__ TeacherWords a,
                                     const __grid_constant__ DistilledLosses l) {
  for_packs(a.rows, false, thread_of_grid(), [&](Index t, auto) {
    const TeacherRow row(a, t);
    double negative_entropy = 0;
    for (Index i = 0; i < a.words; ++i) {
      const double p = row.share(i);
      negative_entropy += p > 0 ? p * log(p) : 0;
    }
    const double far = a.temperature * a.temperature *
                       (negative_entropy - l.match[t] + static_cast<double>(l.lse[t]));
    l.divergence[t] = static_cast<float>(far);
    l.loss[t] =
        static_cast<float>((1 - l.weight) * static_cast<double>(l.hard[t]) + l.weight * far);
  });
}

template <class T>
__global__ void teacher_scatter(const __grid_constant__ TeacherWords a, const float* dloss,
                                double factor, T* dlogits, Index v) {
  for_packs(a.rows, false, thread_of_grid(), [&](Index t, auto) {
    const double of_row = factor * static_cast<double>(dloss[t]);
    TeacherRow(a, t).for_words(v, [&](Index column, double share) {
      T* const to = dlogits + t * v + column;
      const double before = static_cast<double>(load(to, Width<1>())[0]);
      store(to, Floats<1>{static_cast<float>(before - of_row * share)});
    });
  });
}

/// `ids` of kernels that have none are absent.
TeacherWords words_of(const In& ids, const In& log_probs, Index first_column, double temperature) {
  const Index words = log_probs.size(-1);
  return {elements<std::int64_t>(ids),
          elements<float>(log_probs),
          log_probs.numel() / words,
          words,
          first_column,
          temperature};
}

/// Small blocks: a thread has much to do, and rows are few.
LaunchShape thread_a_row(Index rows) {
  constexpr unsigned kRows = 32;
  return {blocks_for(rows, kRows), kRows};
}

}  // namespace

void run(device::CudaStream& stream, const TeacherMatch& k) {
  const TeacherWords words = words_of(k.ids, k.log_probs, k.first_column, k.temperature);
  visit_element(k.logits.dtype, [&]<class T>() {
    launch(stream, k.name, thread_a_row(words.rows), teacher_match<T>, words, elements<T>(k.logits),
           k.logits.size(-1), elements<double>(k.match));
  });
}

void run(device::CudaStream& stream, const DistillationForward& k) {
  const TeacherWords words = words_of({}, k.log_probs, 0, k.temperature);
  launch(stream, k.name, thread_a_row(words.rows), distillation_forward, words,
         DistilledLosses{elements<float>(k.hard), elements<float>(k.lse), elements<double>(k.match),
                         elements<float>(k.loss), elements<float>(k.divergence), k.weight});
}

void run(device::CudaStream& stream, const TeacherScatter& k) {
  const TeacherWords words = words_of(k.ids, k.log_probs, k.first_column, k.temperature);
  visit_element(k.dlogits.dtype, [&]<class T>() {
    launch(stream, k.name, thread_a_row(words.rows), teacher_scatter<T>, words,
           elements<float>(k.dloss), k.factor, elements<T>(k.dlogits), k.dlogits.size(-1));
  });
}

}  // namespace mpitron::kernels
