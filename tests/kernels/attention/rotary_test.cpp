#include "kernels/attention/rotary.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace rotary_test {

// Two products and an addition in fp32.
constexpr double kTolerance = 3e-7;

TEST(Rotary, EveryTypeAndWidth) {
  for (const DType dtype : kTrainingTypes) {
    for (const Index r : {1, 3, 8, 15, 16, 17, 32, 65}) {
      for (const Index rest : {0, 5}) {
        for (const bool interleaved : {false, true}) {
          for (const bool inverse : {false, true}) {
            SCOPED_TRACE(::testing::Message() << name_of(dtype) << " r " << r << " + " << rest
                                              << (interleaved ? " interleaved" : " halves"));
            Workbench bench(rest == 0 ? Layout{} : Layout{1, 3});
            Twin& x = bench.inout(dtype, {5, 2, 3, 2 * r + rest});
            Twin &cos = bench.input(dtype, {5, r}), &sin = bench.input(dtype, {5, r});
            bench.check(
                [&](Side side) {
                  return RotaryEmbedding{x(side), cos(side), sin(side), interleaved, inverse};
                },
                kTolerance);
          }
        }
      }
    }
  }
}

}  // namespace rotary_test
}  // namespace mpitron::kernels
