#include "kernels/host/attention/attention_simd_avx512.h"

#include "kernels/host/attention/attention_simd_portable.h"
#include "tests/kernels/vector_check.h"

// Every operation against the plain loops of attention_simd_portable.h.

namespace mpitron::kernels::host::attention {
namespace attention_simd_avx512_test {

/// Both machines' vectors of the same lanes.
struct Both {
  explicit Both(const Lanes& x) : fast(avx512::load(x.data())), plain(portable::load(x.data())) {}
  avx512::Vec fast;
  portable::Vec plain;
};

TEST(Avx512Vectors, ArithmeticIsThatOfTheLoops) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    const Both a(random_lanes(seed, 3)), b(random_lanes(seed + 100)), c(random_lanes(seed + 200));
    expect_same(lanes_of(a.fast + b.fast), lanes_of(a.plain + b.plain));
    expect_same(lanes_of(a.fast * b.fast), lanes_of(a.plain * b.plain));
    expect_same(lanes_of(avx512::max(a.fast, b.fast)), lanes_of(portable::max(a.plain, b.plain)));
    EXPECT_EQ(avx512::reduce_max(a.fast), portable::reduce_max(a.plain));
    EXPECT_EQ(avx512::reduce_add(a.fast), portable::reduce_add(a.plain)) << "another order";
    const Lanes sum = lanes_of(avx512::fma(a.fast, b.fast, c.fast));
    const Lanes difference = lanes_of(avx512::fms(a.fast, b.fast, c.fast));
    const Lanes x = lanes_of(a.plain), y = lanes_of(b.plain), z = lanes_of(c.plain);
    expect_same(sum, make_lanes([&](int i) { return std::fma(x[i], y[i], z[i]); }));
    expect_same(difference, make_lanes([&](int i) { return std::fma(x[i], y[i], -z[i]); }));
  }
  expect_same(lanes_of(avx512::zero()), lanes_of(portable::zero()));
  expect_same(lanes_of(avx512::broadcast(-3)), lanes_of(portable::broadcast(-3)));
}

TEST(Avx512Vectors, FractionAndPower) {
  const Both p(random_lanes(9));
  for (const Lanes& points : lanes_between(-126, 127.99)) {
    const Both x(points);
    const Lanes got = lanes_of(avx512::fraction(x.fast));
    const Lanes want = lanes_of(portable::fraction(x.plain));
    for (int i = 0; i < 16; ++i) {
      EXPECT_NEAR(got[i], want[i], 0x1p-24);  // the instruction rounds down
    }
    expect_same(lanes_of(avx512::scale_by_power(p.fast, x.fast)),
                lanes_of(portable::scale_by_power(p.plain, x.plain)));
  }
  const Both low(make_lanes([](int i) { return i == 3 ? -INFINITY : -1000.f * (i + 1); }));
  expect_same(lanes_of(avx512::scale_by_power(avx512::broadcast(1), low.fast)), Lanes{});
}

TEST(Avx512Vectors, Masks) {
  const Both x(random_lanes(1)), other(random_lanes(2));
  for (unsigned bits = 0; bits < 0x10000; bits += 0x4d) {
    const auto mask = static_cast<avx512::Mask16>(bits);
    expect_same(lanes_of(avx512::keep(mask, x.fast)), lanes_of(portable::keep(mask, x.plain)));
    expect_same(lanes_of(avx512::select(mask, x.fast, other.fast)),
                lanes_of(portable::select(mask, x.plain, other.plain)));
  }
  const std::uint8_t bytes[16] = {0, 1, 0, 0, 255, 0, 0, 3, 0, 0, 128, 0, 0, 0, 0, 9};
  for (const Index count : {-70, -1, 0, 1, 2, 5, 8, 15, 16, 17, 300}) {
    EXPECT_EQ(avx512::first_lanes(count), portable::first_lanes(count)) << count;
    EXPECT_EQ(avx512::zero_bytes(bytes, count), portable::zero_bytes(bytes, count)) << count;
  }
}

template <class T>
void check_conversions() {
  for (const Lanes& x : lanes_of_all_magnitudes()) {
    for (const Index count : {0, 1, 7, 15, 16}) {
      std::array<T, 16> stored;
      stored.fill(T(7.f));
      avx512::store_rounded(stored.data(), avx512::load(x.data()), count);
      for (int i = 0; i < 16; ++i) {
        EXPECT_TRUE(rounds_to(stored[static_cast<std::size_t>(i)], i < count ? x[i] : 7.f)) << x[i];
      }
      expect_same(lanes_of(avx512::load_as_float(stored.data(), count)),
                  lanes_of(portable::load_as_float(stored.data(), count)));
      expect_same(lanes_of(avx512::load_as_float(stored.data())),
                  lanes_of(portable::load_as_float(stored.data())));
    }
    expect_same(lanes_of(avx512::round_to_half(avx512::load(x.data()))),
                lanes_of(portable::round_to_half(portable::load(x.data()))));
  }
}

TEST(Avx512Vectors, ConversionsOfAllMagnitudes) {
  check_conversions<float>();
  check_conversions<BFloat16>();
  check_conversions<Float16>();
}

TEST(Avx512Vectors, PairsOfBf16) {
  const Both a(random_lanes(1)), b(random_lanes(2));
  Lanes fast, plain;
  avx512::store_row_pairs(fast.data(), a.fast, b.fast);
  portable::store_row_pairs(plain.data(), a.plain, b.plain);
  expect_same(fast, plain);
  const auto* row = reinterpret_cast<const BFloat16*>(plain.data());
  for (const Index count : {0, 1, 2, 15, 16, 17, 31, 32}) {
    expect_same(lanes_of(avx512::load_pairs(row, count)),
                lanes_of(portable::load_pairs(row, count)));
  }
  expect_same(lanes_of(avx512::load_pairs(row)), plain);
  avx512::store_column_pairs(fast.data(), a.fast, b.fast);
  portable::store_column_pairs(plain.data(), a.plain, b.plain);
  expect_same(fast, plain);
  alignas(64) float fast_words[32], plain_words[32];
  avx512::store_interleaved(fast_words, a.fast, b.fast);
  portable::store_interleaved(plain_words, a.plain, b.plain);
  EXPECT_EQ(std::memcmp(fast_words, plain_words, sizeof fast_words), 0);
}

TEST(Avx512Vectors, Transpose) {
  avx512::Vec fast[16];
  portable::Vec plain[16];
  for (unsigned row = 0; row < 16; ++row) {
    const Both x(random_lanes(row));
    fast[row] = x.fast;
    plain[row] = x.plain;
  }
  alignas(64) float got[16][32] = {}, want[16][32] = {};
  avx512::store_transposed(&got[0][0], 32, fast);
  portable::store_transposed(&want[0][0], 32, plain);
  for (int i = 0; i < 16 * 32; ++i) {
    EXPECT_EQ(got[i / 32][i % 32], want[i / 32][i % 32]);
  }
}

TEST(Avx512Vectors, PhiloxMasks) {
  for (std::uint32_t seed = 1; seed < 40; ++seed) {
    const Philox::Key key{seed * 0x9E3779B9u, ~seed};
    const std::uint32_t first = 0xfffffff0u + seed;
    const Philox::Counter counters[] = {{first, seed, seed * seed, 7 - seed},
                                        {first, ~seed, seed * seed, 7 - seed},
                                        {first, seed << 7, seed * seed, 7 - seed}};
    for (const std::uint32_t threshold : {1u, 6554u, 32768u, 65535u}) {
      avx512::Mask16 got[6][4];
      portable::Mask16 want[6][4];
      avx512::philox_keep(counters, Philox::keys_of(key), threshold, got);
      portable::philox_keep(counters, Philox::keys_of(key), threshold, want);
      for (int i = 0; i < 24; ++i) {
        EXPECT_EQ(got[i / 4][i % 4], want[i / 4][i % 4]) << seed << " " << threshold;
      }
    }
  }
}

}  // namespace attention_simd_avx512_test
}  // namespace mpitron::kernels::host::attention
