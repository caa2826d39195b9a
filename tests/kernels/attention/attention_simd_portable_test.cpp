#include "kernels/host/attention/attention_simd_portable.h"

#include "tests/kernels/vector_check.h"

namespace mpitron::kernels::host::attention::portable {
namespace attention_simd_portable_test {

Vec vec(const Lanes& x) {
  return load(x.data());
}

TEST(PortableVectors, Arithmetic) {
  const Lanes a = random_lanes(1, 3), b = random_lanes(2), c = random_lanes(3, 100);
  expect_same(lanes_of(vec(a) + vec(b)), make_lanes([&](int i) { return a[i] + b[i]; }));
  expect_same(lanes_of(vec(a) - vec(b)), make_lanes([&](int i) { return a[i] - b[i]; }));
  expect_same(lanes_of(vec(a) * vec(b)), make_lanes([&](int i) { return a[i] * b[i]; }));
  expect_same(lanes_of(max(vec(a), vec(b))),
              make_lanes([&](int i) { return std::max(a[i], b[i]); }));
  expect_same(lanes_of(zero()), Lanes{});
  expect_same(lanes_of(broadcast(-2.5f)), make_lanes([](int) { return -2.5f; }));
  const Lanes sum = lanes_of(fma(vec(a), vec(b), vec(c)));
  const Lanes difference = lanes_of(fms(vec(a), vec(b), vec(c)));
  for (int i = 0; i < 16; ++i) {  // fused or not
    EXPECT_NEAR(sum[i], double{a[i]} * b[i] + c[i], 1e-5);
    EXPECT_NEAR(difference[i], double{a[i]} * b[i] - c[i], 1e-5);
  }
}

TEST(PortableVectors, Reductions) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Lanes x = random_lanes(seed);
    double sum = 0;
    for (const float value : x.lane) {
      sum += value;
    }
    EXPECT_NEAR(reduce_add(vec(x)), sum, 1e-6);
    EXPECT_EQ(reduce_max(vec(x)), *std::max_element(x.lane.begin(), x.lane.end()));
  }
  EXPECT_EQ(reduce_add(vec(make_lanes([](int i) { return static_cast<float>(1 << i); }))), 65535);
}

TEST(PortableVectors, FractionAndPowerMakeTwoToTheX) {
  for (const Lanes& x : lanes_between(-126, 127.99)) {
    const Lanes fractions = lanes_of(fraction(vec(x)));
    const Lanes powers = lanes_of(scale_by_power(broadcast(1.5f), vec(x)));
    for (int i = 0; i < 16; ++i) {
      EXPECT_EQ(fractions[i], x[i] - std::floor(x[i])) << x[i];
      EXPECT_EQ(powers[i], std::ldexp(1.5f, static_cast<int>(std::floor(x[i])))) << x[i];
    }
  }
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(lanes_of(scale_by_power(broadcast(1), broadcast(-kInfinity)))[0], 0);
  EXPECT_EQ(lanes_of(scale_by_power(broadcast(1), broadcast(200)))[0], kInfinity);
  EXPECT_TRUE(std::isfinite(lanes_of(fraction(broadcast(-kInfinity)))[0]));
  EXPECT_TRUE(std::isnan(lanes_of(fraction(broadcast(NAN)))[0]));
}

TEST(PortableVectors, Masks) {
  const Lanes x = random_lanes(1), other = random_lanes(2);
  for (const unsigned bits : {0u, 1u, 0x8000u, 0xa5c3u, 0xffffu}) {
    const auto mask = static_cast<Mask16>(bits);
    const auto in = [&](int i) { return (bits >> i & 1) != 0; };
    expect_same(lanes_of(keep(mask, vec(x))), make_lanes([&](int i) { return in(i) ? x[i] : 0; }));
    expect_same(lanes_of(select(mask, vec(x), vec(other))),
                make_lanes([&](int i) { return in(i) ? x[i] : other[i]; }));
  }
  EXPECT_EQ(first_lanes(-3), 0);
  EXPECT_EQ(first_lanes(5), 0x1f);
  EXPECT_EQ(first_lanes(16), 0xffff);
  EXPECT_EQ(first_lanes(1000), 0xffff);
  const std::uint8_t bytes[16] = {0, 1, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(zero_bytes(bytes, 6), 0b101101);
  EXPECT_EQ(zero_bytes(bytes, 16), 0xffff & ~0b10010);
  EXPECT_EQ(zero_bytes(bytes, 0), 0);
}

template <class T>
void check_conversions() {
  for (const Lanes& x : lanes_of_all_magnitudes()) {
    for (const Index count : {0, 1, 7, 15, 16}) {
      std::array<T, 16> stored;
      stored.fill(T(7.f));
      store_rounded(stored.data(), vec(x), count);
      const Lanes loaded = lanes_of(load_as_float(stored.data(), count));
      for (int i = 0; i < 16; ++i) {
        const T at = stored[static_cast<std::size_t>(i)];
        EXPECT_TRUE(rounds_to(at, i < count ? x[i] : 7.f)) << x[i];
        EXPECT_EQ(loaded[i], i < count ? static_cast<float>(at) : 0.f);
      }
      expect_same(lanes_of(load_as_float(stored.data())), make_lanes([&](int i) {
                    return static_cast<float>(stored[static_cast<std::size_t>(i)]);
                  }));
    }
  }
}

TEST(PortableVectors, ConversionsOfAllMagnitudes) {
  check_conversions<float>();
  check_conversions<BFloat16>();
  check_conversions<Float16>();
}

TEST(PortableVectors, PairsOfBf16) {
  const Lanes a = random_lanes(1), b = random_lanes(2);
  alignas(64) float rows[16], columns[16];
  store_row_pairs(rows, vec(a), vec(b));
  store_column_pairs(columns, vec(a), vec(b));
  const auto* row = reinterpret_cast<const BFloat16*>(rows);
  const auto* column = reinterpret_cast<const BFloat16*>(columns);
  for (int i = 0; i < 16; ++i) {
    EXPECT_TRUE(rounds_to(row[i], a[i]) && rounds_to(row[i + 16], b[i])) << i;
    EXPECT_TRUE(rounds_to(column[2 * i], a[i]) && rounds_to(column[2 * i + 1], b[i])) << i;
  }
  expect_same(lanes_of(load_pairs(row)), lanes_of(load(rows)));
  const Lanes part = lanes_of(load_pairs(row, 5));
  EXPECT_EQ(part[1], rows[1]);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(part[2]), row[4].bits);  // its partner is not there
  EXPECT_EQ(part[3], 0);
  const Lanes dot = lanes_of(dot_pairs(load(columns), load(columns), broadcast(3)));
  for (int i = 0; i < 16; ++i) {
    const double low = static_cast<float>(BFloat16(a[i])),
                 high = static_cast<float>(BFloat16(b[i]));
    EXPECT_NEAR(dot[i], 3 + low * low + high * high, 1e-6);
  }
}

TEST(PortableVectors, Transpose) {
  Vec x[16];
  for (int row = 0; row < 16; ++row) {
    x[row] = vec(make_lanes([&](int column) { return static_cast<float>(100 * row + column); }));
  }
  alignas(64) float to[16][32] = {};
  store_transposed(&to[0][0], 32, x);
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 16; ++column) {
      EXPECT_EQ(to[column][row], 100 * row + column);
      EXPECT_EQ(to[column][row + 16], 0);
    }
  }
}

TEST(PortableVectors, PhiloxMasksOfThreeTimesSixteenCounters) {
  const Philox::Key key{3, 0x80000001u};
  const std::uint32_t first = 0xfffffff8u;  // the lanes run over the end
  const Philox::Counter counters[] = {{first, 5, 6, 7}, {first, 8, 6, 7}, {first, 0, 6, 7}};
  for (const std::uint32_t threshold : {1u, 6554u, 32768u, 65535u}) {
    Mask16 masks[6][4];
    philox_keep(counters, Philox::keys_of(key), threshold, masks);
    for (int j = 0; j < 3; ++j) {
      for (std::uint32_t lane = 0; lane < 16; ++lane) {
        const auto words = Philox::generate({first + lane, counters[j][1], 6, 7}, key);
        for (std::size_t w = 0; w < 4; ++w) {
          EXPECT_EQ(masks[2 * j][w] >> lane & 1, (words[w] & 0xffff) >= threshold ? 1 : 0);
          EXPECT_EQ(masks[2 * j + 1][w] >> lane & 1, words[w] >> 16 >= threshold ? 1 : 0);
        }
      }
    }
  }
}

}  // namespace attention_simd_portable_test
}  // namespace mpitron::kernels::host::attention::portable
