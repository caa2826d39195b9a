#include "kernels/host/attention/attention_bf16_avx512.h"

#include "tests/kernels/vector_check.h"

namespace mpitron::kernels::host::attention::avx512 {
namespace attention_bf16_avx512_test {

using Halves = std::array<BFloat16, 16>;

Halves halves_of(__m256i x) {
  return std::bit_cast<Halves>(x);
}
__m512 vec(const Lanes& x) {
  return _mm512_load_ps(x.data());
}

TEST(Bf16Avx512, RoundsToNearestEven) {
  for (const Lanes& x : lanes_of_all_magnitudes()) {
    const Halves got = halves_of(round_to_bf16(vec(x)));
    for (int i = 0; i < 16; ++i) {
      EXPECT_TRUE(rounds_to(got[static_cast<std::size_t>(i)], x[i])) << x[i];
    }
  }
  const Halves down = halves_of(round_to_bf16(_mm512_set1_ps(0x1.01p0f)));  // between 1 and 1 + u
  const Halves up = halves_of(round_to_bf16(_mm512_set1_ps(0x1.03p0f)));
  EXPECT_EQ(static_cast<float>(down[0]), 1.f);
  EXPECT_EQ(static_cast<float>(up[15]), 0x1.04p0f);
  EXPECT_TRUE(std::isnan(static_cast<float>(halves_of(round_to_bf16(_mm512_set1_ps(NAN)))[4])));
}

TEST(Bf16Avx512, TwoVectorsLieOneAfterTheOther) {
  const Lanes low = random_lanes(1), high = random_lanes(2, 50);
  const auto both = std::bit_cast<std::array<Halves, 2>>(round_to_bf16(vec(low), vec(high)));
  for (int i = 0; i < 16; ++i) {
    EXPECT_TRUE(rounds_to(both[0][static_cast<std::size_t>(i)], low[i]));
    EXPECT_TRUE(rounds_to(both[1][static_cast<std::size_t>(i)], high[i]));
  }
}

TEST(Bf16Avx512, DotOfPairsAddsBothProducts) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    const Lanes a[2] = {random_lanes(seed), random_lanes(seed + 100, 8)};
    const Lanes b[2] = {random_lanes(seed + 200), random_lanes(seed + 300)};
    const Lanes c = random_lanes(seed + 400, 4);
    const auto word = [](float low, float high) {
      return std::bit_cast<float>(BFloat16(low).bits |
                                  static_cast<std::uint32_t>(BFloat16(high).bits) << 16);
    };
    const Lanes x = make_lanes([&](int i) { return word(a[0][i], a[1][i]); });
    const Lanes y = make_lanes([&](int i) { return word(b[0][i], b[1][i]); });
    const Lanes got = lanes_of(dot_pairs(vec(x), vec(y), vec(c)));
    for (int i = 0; i < 16; ++i) {
      double want = c[i];
      for (int half = 0; half < 2; ++half) {
        want += double{static_cast<float>(BFloat16(a[half][i]))} *
                double{static_cast<float>(BFloat16(b[half][i]))};
      }
      EXPECT_NEAR(got[i], want, 2e-6);  // two roundings of numbers up to 13
    }
  }
}

}  // namespace attention_bf16_avx512_test
}  // namespace mpitron::kernels::host::attention::avx512
