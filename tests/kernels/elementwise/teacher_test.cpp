#include "kernels/elementwise/teacher.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace teacher_test {

TEST(Teacher, MatchesReference) {
  constexpr Index kRows = 5, kWords = 3, kColumns = 6;
  for (const DType dtype : {DType::f32, DType::bf16}) {
    Workbench bench({1, 0});
    Twin& logits = bench.input(dtype, {kRows, kColumns});
    Twin& ids = bench.integers({4, 5, 9, 7, 3, 8, 0, 1, 2, 9, 4, 6, 11, 5, 4}, {kRows, kWords});
    Twin& log_probs = bench.input(DType::f32, {kRows, kWords});
    Twin& match = bench.output(DType::f64, {kRows});
    bench.check(
        [&](Side side) {
          return TeacherMatch{logits(side), ids(side), log_probs(side), match(side), 4, 1.5};
        },
        1e-12);
    Twin &hard = bench.input(DType::f32, {kRows}), &lse = bench.input(DType::f32, {kRows});
    Twin& known = bench.input(DType::f64, {kRows});
    Twin &loss = bench.output(DType::f32, {kRows}), &far = bench.output(DType::f32, {kRows});
    bench.check(
        [&](Side side) {
          return DistillationForward{hard(side), lse(side), known(side), log_probs(side),
                                     loss(side), far(side), 1.5,         0.3};
        },
        1e-6);
    Twin &dloss = bench.input(DType::f32, {kRows}),
         &dlogits = bench.inout(dtype, {kRows, kColumns});
    bench.check(
        [&](Side side) {
          return TeacherScatter{ids(side), log_probs(side), dloss(side), dlogits(side), 4, 1.5, 2};
        },
        dtype == DType::f32 ? 1e-6 : 1e-2);
  }
}

}  // namespace teacher_test
}  // namespace mpitron::kernels
