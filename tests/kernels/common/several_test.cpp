#include "kernels/host/common/several.h"

#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "utils/numbers/dtype.h"

namespace mpitron::kernels::host {
namespace several_test {

using simd::Float;

/// Numbers of both signs over many powers of two, some of which bf16 and fp16 have to round.
std::vector<float> numbers(Index count) {
  std::vector<float> x(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = std::ldexp(1.F + 0.37F * static_cast<float>(i % 7), static_cast<int>(i % 23) - 11) *
           (i % 3 == 0 ? -1.F : 1.F);
  }
  return x;
}

template <class T>
class SeveralOf : public ::testing::Test {};
using Types = ::testing::Types<float, BFloat16, Float16>;
TYPED_TEST_SUITE(SeveralOf, Types);

TYPED_TEST(SeveralOf, AreReadAndWrittenAsSingleVectorsAre) {
  using T = TypeParam;
  const auto work = [](Float x, Float y) { return simd::fma(x, y, x); };
  for (const Index n : {5, 16, 63, 64, 65, 130, 203}) {
    const std::vector<float> x = numbers(n);
    alignas(64) T wanted[256] = {}, plain[256] = {}, past_caches[256] = {};
    std::vector<T> from(x.size());
    std::transform(x.begin(), x.end(), from.begin(), [](float value) { return T(value); });
    const Float by = simd::splat(0.3F);
    simd::for_lanes(n, [&](Index i, auto lanes) {
      simd::store(wanted + i, work(simd::load(from.data() + i, lanes), by), lanes);
    });
    for_several<T>(n, [&](Index i, auto lanes) {
      const auto result = step(work, read(from.data() + i, lanes), by);
      write(PlainStore{}, plain + i, result, lanes);
      write(StreamStore{}, past_caches + i, result, lanes);
    });
    simd::stream_fence();
    EXPECT_EQ(std::memcmp(wanted, plain, sizeof wanted), 0) << n;
    EXPECT_EQ(std::memcmp(wanted, past_caches, sizeof wanted), 0) << n;
  }
}

TYPED_TEST(SeveralOf, RowsHaveSumsWithTheBitsOfSingleVectors) {
  for (const Index n : {1, 16, 17, 64, 80, 127, 128, 1536, 1571}) {
    const std::vector<float> x = numbers(n);
    const auto add = [](Float value, Float sum) { return simd::fma(value, value, sum); };
    const auto [wanted] = simd::row_sums<1>(n, [&](Index i, auto lanes, auto& sums) {
      sums[0] = add(simd::load(x.data() + i, lanes), sums[0]);
    });
    EXPECT_EQ(
        row_sum<TypeParam>(n, [&](Index i, auto lanes,
                                  auto& sum) { sum = step(add, read(x.data() + i, lanes), sum); }),
        wanted)
        << n;
  }
}

}  // namespace several_test
}  // namespace mpitron::kernels::host
