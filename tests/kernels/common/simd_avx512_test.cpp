#include "kernels/host/common/simd_avx512.h"

#include "kernels/host/common/simd_generic.h"
#include "tests/kernels/vector_check.h"

// Every primitive against that of simd_generic.h.

namespace mpitron::kernels::simd {
namespace simd_avx512_test {

Float vec(const Lanes& x) {
  return std::bit_cast<Float>(x);
}

TEST(Avx512Simd, PrimitivesAreTheGenericOnes) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    const Float a = vec(random_lanes(seed, 1000)), b = vec(random_lanes(seed + 100, 3));
    const Float c = vec(random_lanes(seed + 200, 50));
    expect_same(lanes_of(avx512::min(a, b)), lanes_of(generic::min(a, b)));
    expect_same(lanes_of(avx512::max(a, b)), lanes_of(generic::max(a, b)));
    expect_same(lanes_of(avx512::sqrt(a * a)), lanes_of(generic::sqrt(a * a)));
    expect_same(lanes_of(avx512::round(a)), lanes_of(generic::round(a)));
    expect_same(lanes_of(avx512::fma(a, b, c)),
                make_lanes([&](int i) { return std::fma(a[i], b[i], c[i]); }));
    const Float power = a * 0.05f;
    expect_same(lanes_of(avx512::fraction(power)), lanes_of(generic::fraction(power)));
    expect_same(lanes_of(avx512::scale_by_power(b, power)),
                lanes_of(generic::scale_by_power(b, power)));
  }
  const Float nan = Float{} + NAN, one = Float{} + 1.f, infinity = Float{} + INFINITY;
  expect_same(lanes_of(avx512::fraction(infinity)), lanes_of(generic::fraction(infinity)));
  expect_same(lanes_of(avx512::fraction(-infinity)), lanes_of(generic::fraction(-infinity)));
  expect_same(lanes_of(avx512::scale_by_power(one, -infinity)),
              lanes_of(generic::scale_by_power(one, -infinity)));
  expect_same(lanes_of(avx512::max(nan, one)), lanes_of(one));
  expect_same(lanes_of(avx512::max(one, nan)), lanes_of(nan));
  expect_same(lanes_of(avx512::min(nan, one)), lanes_of(one));
}

TEST(Avx512Simd, ReciprocalWithinItsContract) {
  for (const double scale : {1e-30, 1.0, 1e30}) {
    EXPECT_LT(largest_error(
                  lanes_between(scale, 3 * scale),
                  [](const Lanes& x) { return avx512::reciprocal(vec(x)); },
                  [](double x) { return 1 / x; }),
              1.2e-7);
  }
}

TEST(Avx512Simd, HighHalvesOfProducts) {
  UInt a;
  for (std::uint32_t i = 0; i < 16; ++i) {
    a[i] = 0x9E3779B9u * (i + 1);
  }
  for (const std::uint32_t factor : {0u, 1u, 0xCD9E8D57u, 0xffffffffu}) {
    expect_same(lanes_of(avx512::multiply_high(a, factor)),
                lanes_of(generic::multiply_high(a, factor)));
  }
}

TEST(Avx512Simd, AnyLaneOfAMask) {
  EXPECT_FALSE(avx512::any(Int{}));
  for (int lane = 0; lane < 16; ++lane) {
    Int mask{};
    mask[lane] = -1;
    EXPECT_TRUE(avx512::any(mask));
  }
}

TEST(Avx512Simd, SquaresOfPairs) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::array<BFloat16, 32> x;
    generic::store(x.data(), vec(random_lanes(seed, 1000)));
    generic::store(x.data() + 16, vec(random_lanes(seed + 100, 3)));
    const Lanes sum = lanes_of(vec(random_lanes(seed + 200)) + 2.f);
    const Lanes got = lanes_of(avx512::add_pair_squares(x.data(), vec(sum)));
    const Lanes want = lanes_of(generic::add_pair_squares(x.data(), vec(sum)));
    for (int lane = 0; lane < 16; ++lane) {
      EXPECT_NEAR(got[lane], want[lane], 3e-7f * want[lane]);
    }
  }
}

template <class T>
void check_memory() {
  for (const Lanes& x : lanes_of_all_magnitudes()) {
    alignas(64) std::array<T, 48> memory;
    memory.fill(T(7.f));
    avx512::store(memory.data() + 1, vec(x), Part{11});
    for (int i = 0; i < 16; ++i) {
      EXPECT_TRUE(rounds_to(memory[static_cast<std::size_t>(i) + 1], i < 11 ? x[i] : 7.f)) << x[i];
    }
    for (Index count = 1; count < 16; ++count) {
      expect_same(lanes_of(avx512::load(memory.data() + 1, Part{count})),
                  lanes_of(generic::load(memory.data() + 1, Part{count})));
    }
    avx512::store(memory.data() + 1, vec(x));
    avx512::stream(memory.data() + 32, vec(x));
    avx512::stream_fence();
    EXPECT_TRUE(rounds_to(memory[0], 7.f) && rounds_to(memory[17], 7.f));
    EXPECT_TRUE(rounds_to(memory[31], 7.f));
    expect_same(lanes_of(avx512::load(memory.data() + 1)),
                lanes_of(generic::load(memory.data() + 32)));
  }
}

TEST(Avx512Simd, LoadsAndStoresConvertAndTouchNothingElse) {
  check_memory<float>();
  check_memory<BFloat16>();
  check_memory<Float16>();
}

TEST(Avx512Simd, InsideClearsTheLanesBeyond) {
  const Float x = vec(random_lanes(4));
  expect_same(lanes_of(avx512::inside(x, Full{})), lanes_of(x));
  for (Index count = 1; count < 16; ++count) {
    expect_same(lanes_of(avx512::inside(x, Part{count})),
                lanes_of(generic::inside(x, Part{count})));
  }
}

}  // namespace simd_avx512_test
}  // namespace mpitron::kernels::simd
