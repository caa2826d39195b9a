#pragma once
#include "autograd/context.h"
#include "ops/parallel/tensor_parallel.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Var;

/// Words of a teacher for each token: its likeliest ones.
struct TeacherWords {
  tensor::Tensor ids;        // [s, b, k], int64
  tensor::Tensor log_probs;  // [s, b, k], fp32
  double temperature = 1;    // of teacher and student
  double weight = 0.5;       // of the divergence; the rest is the label's
};

/// Losses of every token, [s, b], fp32.
struct DistillationLosses {
  Var loss;                   // (1 - weight) * label + weight * divergence
  tensor::Tensor label;       // the cross entropy of the label
  tensor::Tensor divergence;  // T^2 KL(teacher || student), over the teacher's words
};

/// Distillation (Hinton et al. 2015) from logits [s, b, v_local] and labels [s, b]; each rank has
/// its range of the vocabulary, and every rank gets the losses of every token. Keeps a copy of the
/// logits divided by the temperature; backward overwrites both.
///
/// Numerical contract: kernels/elementwise/teacher.h and cross_entropy.h; in half precision a
/// gradient is rounded once for each of its summands.
DistillationLosses distillation_loss(Context& context, const Var& logits,
                                     const tensor::Tensor& labels, const TeacherWords& teacher,
                                     const TensorParallel& shared);

}  // namespace mpitron::ops
