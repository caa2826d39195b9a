#include "kernels/elementwise/stored_numbers.h"

#include <cmath>
#include <optional>

#include "kernels/elementwise/optimizer.h"
#include "kernels/reference/common/stored_numbers.h"
#include "tests/kernels/workbench.h"
#include "utils/numbers/float8.h"

namespace mpitron::kernels {
namespace stored_numbers_test {

constexpr DType kStorageTypes[] = {DType::f32, DType::bf16, DType::f16, DType::u8, DType::i16};
constexpr Index kSizes[] = {1, 63, 64, 65, 200, 4097, 20000};

/// Memory for n stored numbers, `offset` elements behind an aligned place.
class Storage {
 public:
  Storage(DType dtype, Index n, Index offset = 0, bool keeps_nonzero = false)
      : values_(dtype, {n + offset}), n_(n), offset_(offset), keeps_nonzero_(keeps_nonzero) {
    if (dtype == DType::f16 || dtype == DType::u8) {
      exponents_.emplace(DType::u8, Shape{StoredNumbers::blocks(n)});
    } else if (dtype == DType::i16) {
      upper_.emplace(DType::bf16, Shape{n + offset});
    }
  }
  StoredNumbers view() { return part(0, n_); }
  /// Numbers [begin, end), `begin` a multiple of the block.
  StoredNumbers part(Index begin, Index end) {
    const auto cut = [&](TestTensor& x) {
      return device::slice(x.view(), 0, offset_ + begin, offset_ + end);
    };
    return {cut(values_),
            exponents_ ? InOut(device::slice(exponents_->view(), 0, begin / StoredNumbers::kBlock,
                                             StoredNumbers::blocks(end)))
                       : InOut(),
            upper_ ? InOut(cut(*upper_)) : InOut(), keeps_nonzero_};
  }
  std::vector<std::byte> bytes() const {
    std::vector<std::byte> all = values_.bytes();
    for (const auto& more : {exponents_, upper_}) {
      if (more) {
        const std::vector<std::byte> bytes = more->bytes();
        all.insert(all.end(), bytes.begin(), bytes.end());
      }
    }
    return all;
  }
  std::vector<double> numbers() { return reference::read_stored(view()); }

 private:
  TestTensor values_;
  std::optional<TestTensor> exponents_, upper_;
  Index n_, offset_;
  bool keeps_nonzero_;
};

/// Magnitudes over many powers of two, both signs, zeros, and a block of zeros.
std::vector<double> wide_values(Index n, unsigned seed, bool positive = false) {
  std::vector<double> values = test_values(n, seed);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int power = static_cast<int>(i * 7 % 30) - 40 * static_cast<int>(i / 64 % 3);
    values[i] = i / 64 == 2 || i % 41 == 0 ? 0 : std::ldexp(values[i], power);
    values[i] = static_cast<float>(positive ? std::abs(values[i]) : values[i]);
  }
  return values;
}

template <class F>
void for_cases(F&& f) {
  for (const DType dtype : kStorageTypes) {
    for (const Index n : kSizes) {
      for (const Index offset : {0, 1}) {
        SCOPED_TRACE(::testing::Message() << name_of(dtype) << " n " << n << " at " << offset);
        f(dtype, n, offset);
      }
    }
  }
}

TEST(StoredNumbers, AreWrittenAndReadWithTheReferencesBits) {
  device::ReferenceStream reference;
  for_cases([&](DType dtype, Index n, Index offset) {
    TestTensor x(DType::f32, {n}, wide_values(n, 5, true));
    Storage expected(dtype, n, offset, true), got(dtype, n, offset, true);
    run(reference, WriteStored{x.view(), expected.view()});
    run_on_device(WriteStored{x.view(), got.view()});
    EXPECT_TRUE(expected.bytes() == got.bytes());
    TestTensor y(DType::f32, {n}), z(DType::f32, {n});
    run(reference, ReadStored{expected.view(), y.view()});
    run_on_device(ReadStored{got.view(), z.view()});
    EXPECT_EQ(y.values(), z.values());
  });
}

TEST(StoredNumbers, AreStoredAgainWithTheSameBits) {
  for_cases([&](DType dtype, Index n, Index offset) {
    TestTensor x(DType::f32, {n}, wide_values(n, 6));
    Storage once(dtype, n, offset), twice(dtype, n, offset);
    run_on_device(WriteStored{x.view(), once.view()});
    run_on_device(ReadStored{once.view(), x.view()});
    run_on_device(WriteStored{x.view(), twice.view()});
    EXPECT_TRUE(once.bytes() == twice.bytes());
  });
}

TEST(StoredNumbers, LoseWhatTheContractSays) {
  // Of the number, or where it is small of its block's largest.
  const auto error = [](DType dtype) -> std::pair<double, double> {
    return dtype == DType::bf16  ? std::pair{0x1p-8, 0.0}
           : dtype == DType::f16 ? std::pair{0x1p-11, 0x1.1p-39}
           : dtype == DType::u8  ? std::pair{0x1p-4, 0x1.1p-17}
                                 : std::pair{0.0, 0.0};
  };
  for_cases([&](DType dtype, Index n, Index offset) {
    const std::vector<double> values = wide_values(n, 7);
    TestTensor x(DType::f32, {n}, values);
    Storage stored(dtype, n, offset);
    run_on_device(WriteStored{x.view(), stored.view()});
    const std::vector<double> got = stored.numbers();
    for (std::size_t i = 0; i < values.size(); ++i) {
      double largest = 0;
      for (std::size_t j = i / 64 * 64; j < std::min(values.size(), i / 64 * 64 + 64); ++j) {
        largest = std::max(largest, std::abs(values[j]));
      }
      const auto [relative, absolute] = error(dtype);
      ASSERT_LE(std::abs(got[i] - values[i]),
                std::max(relative * std::abs(values[i]), absolute * largest))
          << i << ": " << values[i];
    }
  });
}

TEST(StoredNumbers, HaveTheSameBitsInPieces) {
  constexpr Index kNumbers = 1000;
  for (const DType dtype : kStorageTypes) {
    TestTensor x(DType::f32, {kNumbers}, wide_values(kNumbers, 8));
    Storage whole(dtype, kNumbers), pieces(dtype, kNumbers);
    run_on_device(WriteStored{x.view(), whole.view()});
    for (const auto& [begin, end] : {std::pair{0, 64}, std::pair{64, 640}, std::pair{640, 1000}}) {
      run_on_device(WriteStored{device::slice(x.view(), 0, begin, end), pieces.part(begin, end)});
    }
    EXPECT_TRUE(whole.bytes() == pieces.bytes()) << name_of(dtype);
  }
}

TEST(StoredNumbers, PositiveOnesStayPositiveWhereThatIsAskedFor) {
  for (const DType dtype : {DType::f16, DType::u8}) {
    TestTensor x(DType::f32, {3}, {1, 1e-20, 0});
    Storage kept(dtype, 3, 0, true), lost(dtype, 3);
    run_on_device(WriteStored{x.view(), kept.view()});
    run_on_device(WriteStored{x.view(), lost.view()});
    EXPECT_GT(kept.numbers()[1], 0) << name_of(dtype);
    EXPECT_EQ(kept.numbers()[2], 0) << name_of(dtype);
    EXPECT_EQ(lost.numbers()[1], 0) << name_of(dtype);
  }
}

TEST(StoredNumbers, ANanIsNotHidden) {
  for (const DType dtype : {DType::f16, DType::u8}) {
    TestTensor x(DType::f32, {2}, {1, static_cast<double>(NAN)});
    Storage stored(dtype, 2);
    run_on_device(WriteStored{x.view(), stored.view()});
    EXPECT_TRUE(std::isnan(stored.numbers()[1])) << name_of(dtype);
  }
}

TEST(StoredNumbers, EveryCodeOfE4m3IsItsOwnNumber) {
  using namespace stored;
  for (unsigned code = 0; code < 256; ++code) {
    const auto byte = static_cast<std::uint8_t>(code);
    if ((code & 0x7f) == 0x7f) {
      EXPECT_TRUE(std::isnan(from_e4m3(byte)));
    } else {
      EXPECT_EQ(from_e4m3(byte), from_fp8(byte, Fp8Format::e4m3)) << code;
      EXPECT_EQ(e4m3_of(from_e4m3(byte)), byte) << code;
    }
  }
  EXPECT_EQ(from_e4m3(0x7e), 448.f);
  EXPECT_EQ(from_e4m3(0x38), 1.f);
  EXPECT_EQ(from_e4m3(0x81), -0x1p-9f);
  EXPECT_EQ(from_e4m3(e4m3_of(1.0625f)), 1.f);  // ties to even
  EXPECT_EQ(from_e4m3(e4m3_of(1.1875f)), 1.25f);
  EXPECT_EQ(from_e4m3(e4m3_of(0x1.8p-10f)), 0x1p-9f);
}

TEST(StoredNumbers, AScaleKnowsWhatItsLargestNumberIsRoundedTo) {
  using namespace stored;
  EXPECT_EQ(scale(block_exponent(bits_of(1.f), e4m3()), e4m3()), 128.f);
  EXPECT_EQ(scale(block_exponent(bits_of(1.9f), e4m3()), e4m3()), 128.f);
  EXPECT_EQ(scale(block_exponent(bits_of(1.95f), e4m3()), e4m3()), 64.f);  // 2 in e4m3
  EXPECT_EQ(scale(block_exponent(bits_of(1.95f), fp16()), fp16()), 16384.f);
  EXPECT_EQ(scale(16, fp16()) * inverse_scale(16, fp16()), 1.f);
  EXPECT_EQ(scale(255, e4m3()) * inverse_scale(255, e4m3()), 1.f);
}

TEST(StoredNumbers, HalvesAreTheNearestBf16AndTheRest) {
  using namespace stored;
  for (const double value : wide_values(20000, 9)) {
    const auto x = static_cast<float>(value);
    const Halves halves = halves_of(x);
    EXPECT_EQ(bits_of(whole(halves)), bits_of(x));
    const float upper = float_of(static_cast<std::uint32_t>(halves.upper) << 16);
    EXPECT_EQ(std::abs(upper - x), std::abs(static_cast<float>(BFloat16(x)) - x)) << x;
  }
  // A tie, where BFloat16 goes to the even neighbour.
  EXPECT_EQ(halves_of(float_of(0x3f808000u)).upper, 0x3f81);
  EXPECT_EQ(bits_of(whole(halves_of(float_of(0x3f808000u)))), 0x3f808000u);
}

/// One step of Adam on stored numbers.
struct AdamCase {
  AdamCase(const DType (&types)[3], Index n, Index offset)
      : param(types[0], n, offset),
        exp_avg(types[1], n, offset),
        exp_avg_sq(types[2], n, offset, true),
        grad(DType::bf16, {n}, test_values(n, 14)),
        model(DType::bf16, {n}),
        own_model(types[0] != DType::i16) {
    device::ReferenceStream stream;
    const auto fill = [&](Storage& to, double scale, unsigned seed, bool positive) {
      std::vector<double> values = test_values(n, seed);
      for (double& value : values) {
        value = scale * (positive ? std::abs(value) : value);
      }
      TestTensor x(DType::f32, {n}, values);
      run(stream, WriteStored{x.view(), to.view()});
    };
    fill(param, 1, 11, false);
    fill(exp_avg, 0.1, 12, false);
    fill(exp_avg_sq, 0.1, 13, true);
  }
  AdamStep step() {
    AdamStep k{param.view(), exp_avg.view(), exp_avg_sq.view(), grad.view(),
               own_model ? Out(model.view()) : Out()};
    k.lr = 1e-2f;
    k.weight_decay = 0.1f;
    k.bias_correction1 = 0.3f;
    k.bias_correction2 = 0.01f;
    k.grad_scale = 0.25f;
    return k;
  }

  Storage param, exp_avg, exp_avg_sq;
  TestTensor grad, model;
  bool own_model;
};

constexpr DType kAdamTypes[][3] = {{DType::i16, DType::f32, DType::f32},
                                   {DType::f32, DType::bf16, DType::f16},
                                   {DType::f16, DType::f16, DType::u8},
                                   {DType::i16, DType::u8, DType::u8},
                                   {DType::f32, DType::f32, DType::f32}};

TEST(StoredNumbers, AdamHasTheBitsOfTheHostAndTheReferencesNumbers) {
  device::HostStream host;
  device::ReferenceStream reference;
  for (const auto& types : kAdamTypes) {
    for (const Index n : kSizes) {
      for (const Index offset : {0, 1}) {
        SCOPED_TRACE(::testing::Message() << name_of(types[0]) << " n " << n << " at " << offset);
        AdamCase got(types, n, offset), same(types, n, offset), near(types, n, offset);
        run_on_device(got.step());
        run(host, same.step());
        run(reference, near.step());
        EXPECT_TRUE(got.param.bytes() == same.param.bytes());
        EXPECT_TRUE(got.exp_avg.bytes() == same.exp_avg.bytes());
        EXPECT_TRUE(got.exp_avg_sq.bytes() == same.exp_avg_sq.bytes());
        EXPECT_TRUE(got.model.bytes() == same.model.bytes());
        const std::vector<double> numbers = got.param.numbers(), expected = near.param.numbers();
        for (std::size_t i = 0; i < numbers.size(); ++i) {
          const double allowed = types[0] == DType::f16 ? 0x1p-10 : 1e-6;
          ASSERT_NEAR(numbers[i], expected[i], allowed) << i;
        }
      }
    }
  }
}

/// The steps in one piece with the kernel, as run_on_device wants them.
struct ManyAdamSteps {
  static constexpr std::size_t kCount = 2 * kStepsTogether + 3;
  AdamStep steps[kCount];
};
void run(StreamUnderTest& stream, const ManyAdamSteps& k) {
  kernels::run(stream, AdamSteps{k.steps});
}

TEST(StoredNumbers, AdamOfManyTensorsHasTheBitsOfEach) {
  constexpr Index kAFewBlocks = 5003;
  std::deque<AdamCase> together, alone;
  ManyAdamSteps many;
  for (std::size_t i = 0; i < ManyAdamSteps::kCount; ++i) {
    const auto& types = kAdamTypes[i % std::size(kAdamTypes)];
    const Index n = i % 7 == 3 ? kAFewBlocks : static_cast<Index>(1 + 37 * i);
    together.emplace_back(types, n, i % 2);
    many.steps[i] = together.back().step();
    many.steps[i].lr *= static_cast<float>(1 + i);
    alone.emplace_back(types, n, i % 2);
    AdamStep step = alone.back().step();
    step.lr = many.steps[i].lr;
    run_on_device(step);
  }
  run_on_device(many);
  for (std::size_t i = 0; i < together.size(); ++i) {
    EXPECT_TRUE(together[i].param.bytes() == alone[i].param.bytes()) << i;
    EXPECT_TRUE(together[i].exp_avg.bytes() == alone[i].exp_avg.bytes()) << i;
    EXPECT_TRUE(together[i].exp_avg_sq.bytes() == alone[i].exp_avg_sq.bytes()) << i;
    EXPECT_TRUE(together[i].model.bytes() == alone[i].model.bytes()) << i;
  }
}

TEST(StoredNumbers, AMasterInHalvesTakesTheStepsOfAWholeOne) {
  constexpr Index kNumbers = 5000;
  AdamCase whole(kAdamTypes[4], kNumbers, 0), halves(kAdamTypes[0], kNumbers, 0);
  for (int step = 0; step < 5; ++step) {
    run_on_device(whole.step());
    run_on_device(halves.step());
  }
  EXPECT_EQ(whole.param.numbers(), halves.param.numbers());
}

}  // namespace stored_numbers_test
}  // namespace mpitron::kernels
