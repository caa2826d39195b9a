#include "kernels/state_space/cached_recurrence.h"

#include <numeric>

#include "kernels/state_space/causal_conv.h"
#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace cached_recurrence_test {

constexpr Index kLength = 29;

/// [2 s, 1, c]: the rows of two sequences with the same numbers, one behind the other.
TestTensor twice(DType type, Index columns, unsigned seed) {
  std::vector<double> values = test_values(kLength * columns, seed);
  values.insert(values.end(), values.begin(), values.end());
  return {type, {2 * kLength, 1, columns}, values};
}

/// The first of them as a kernel for whole sequences takes it.
device::TensorView first_of(TestTensor& both) {
  return device::slice(both.view(), 0, 0, kLength);
}

/// Runs make(pieces) step by step, of the first sequence in pieces of seven rows whose states
/// change places, of the second in all rows at once and then one by one, in place: both leave the
/// same bits in y, those of `want` but for rounding.
template <class Make>
void expect_whole(const Make& make, TestTensor& y, TestTensor& want, double tolerance) {
  constexpr Index kAtOnce = 18;
  Index first = 0, second = 0, place = 0;
  while (first < kLength || second < kLength) {
    const Index a = std::min<Index>(7, kLength - first);
    const Index b = second == 0 ? kAtOnce : std::min<Index>(1, kLength - second);
    const std::array pieces = {CachedPiece{.first_row = first,
                                           .rows = a,
                                           .first_position = first,
                                           .state_from = first == 0 ? -1 : place,
                                           .state_to = 1 - place},
                               CachedPiece{.first_row = kLength + second,
                                           .rows = b,
                                           .first_position = second,
                                           .state_from = second == 0 ? -1 : 2,
                                           .state_to = 2}};
    run_on_device(make(pieces));
    first += a, second += b;
    place = a > 0 ? 1 - place : place;
  }
  const std::vector<double> got = y.values(), whole = want.values();
  const std::size_t half = got.size() / 2;
  double error = 0, largest = 0;
  for (std::size_t i = 0; i < half; ++i) {
    EXPECT_EQ(got[i], got[half + i]) << i;
    error = std::max(error, std::abs(got[i] - whole[i]));
    largest = std::max(largest, std::abs(whole[i]));
  }
  EXPECT_LE(error, tolerance * largest);
}

double tolerance_of(DType type) {
  return type == DType::f32 ? 2e-6 : 8e-3;  // half a unit of bf16
}

/// Types of the numbers of a row and of a state.
struct Types {
  DType rows, states;

  /// States are rounded at each position, which adds up.
  double tolerance() const {
    const double kept = states == DType::f32 ? 0 : states == DType::f16 ? 2e-3 : 1.5e-2;
    return tolerance_of(rows) + kept;
  }
};

/// `usual`: of the states of rows in bf16.
std::vector<Types> some_types(DType usual) {
  std::vector<Types> types = {{DType::f32, DType::f32}, {DType::bf16, usual}};
  if (kKeepsStatesInAnyType) {
    types.insert(types.end(), {{DType::f32, DType::bf16},
                               {DType::f32, DType::f16},
                               {DType::bf16, DType::f16},
                               {DType::f16, DType::f32}});
  }
  return types;
}

/// Three places full of NaN.
TestTensor states_of(DType type, const Shape& of_one) {
  Shape shape = {3};
  for (int i = 0; i < of_one.rank(); ++i) {
    shape.push_back(of_one[i]);
  }
  return {type, shape, std::vector<double>(static_cast<std::size_t>(shape.numel()), NAN)};
}

TEST(CachedRecurrence, PiecesConvolveAsTheWhole) {
  for (const auto& [type, kept] : some_types(DType::bf16)) {
    for (const Index width : {1, 2, 4}) {
      constexpr Index kChannels = 77;
      TestTensor x = twice(kept, kChannels, 1), y(type, {2 * kLength, 1, kChannels});
      TestTensor weight(type, {kChannels, 1, width}, test_values(kChannels * width, 2));
      TestTensor bias(type, {kChannels}, test_values(kChannels, 3));
      TestTensor states = states_of(kept, {std::max<Index>(1, width - 1), kChannels});
      TestTensor want(type, {kLength, 1, kChannels});
      device::ReferenceStream reference;
      run(reference, CausalConvForward{.x = first_of(x),
                                       .weight = weight.view(),
                                       .bias = bias.view(),
                                       .starts = {},
                                       .y = want.view()});
      expect_whole(
          [&](std::span<const CachedPiece> pieces) {
            return CachedConv{x.view(),      weight.view(), bias.view(),
                              states.view(), y.view(),      pieces};
          },
          y, want, tolerance_of(type));
    }
  }
}

TEST(CachedRecurrence, PiecesScanAsTheWhole) {
  for (const Types& types : some_types(DType::f32)) {
    const DType type = types.rows;
    for (const Index p : {5, 16, 83}) {
      constexpr Index kHeads = 4, kGroups = 2, kState = 9;
      TestTensor x = twice(type, kHeads * p, 1), b = twice(type, kGroups * kState, 2);
      TestTensor c = twice(type, kGroups * kState, 3), dt = twice(type, kHeads, 4);
      TestTensor a_log(type, {kHeads}, test_values(kHeads, 5));
      TestTensor d(type, {kHeads}, test_values(kHeads, 6));
      TestTensor bias(type, {kHeads}, test_values(kHeads, 7));
      TestTensor y(type, {2 * kLength, 1, kHeads * p}), want(type, {kLength, 1, kHeads * p});
      TestTensor states = states_of(types.states, {kHeads, kState, p});
      TestTensor kept(DType::f32, {2, kHeads, kState, p});
      const auto inputs = [&](auto&& rows) {
        return ScanInputs{rows(x),  rows(b),     rows(c), rows(dt), a_log.view(),
                          d.view(), bias.view(), {},      kGroups};
      };
      device::ReferenceStream reference;
      run(reference, SelectiveScanForward{inputs(first_of), want.view(), kept.view(), 16});
      expect_whole(
          [&](std::span<const CachedPiece> pieces) {
            return CachedScan{inputs([](TestTensor& both) { return both.view(); }), states.view(),
                              y.view(), pieces};
          },
          y, want, types.tolerance());
    }
  }
}

/// States of many sequences, which pass the caches by, get the bits of those of one.
void expect_bits_of_one(DType kept) {
  constexpr Index kPieces = 128, kHeads = 4, kState = 64, kColumns = 64;
  constexpr Index kSize = kHeads * kState * kColumns;
  TestTensor x(DType::bf16, {kPieces, 1, kHeads * kColumns},
               test_values(kPieces * kHeads * kColumns, 1));
  TestTensor b(DType::bf16, {kPieces, 1, kState}, test_values(kPieces * kState, 2));
  TestTensor c(DType::bf16, {kPieces, 1, kState}, test_values(kPieces * kState, 3));
  TestTensor dt(DType::bf16, {kPieces, 1, kHeads}, test_values(kPieces * kHeads, 4));
  TestTensor heads(DType::bf16, {kHeads}, test_values(kHeads, 5));
  std::vector<CachedPiece> pieces;
  for (Index i = 0; i < kPieces; ++i) {
    pieces.push_back({.first_row = i, .rows = 1, .state_from = i, .state_to = kPieces + i});
  }
  const auto scan = [&](Index at_once) {
    std::vector<double> states = test_values(kPieces * kSize, 6);
    states.resize(2 * states.size(), NAN);
    TestTensor all(kept, {2 * kPieces, kHeads, kState, kColumns}, states);
    TestTensor y(DType::bf16, {kPieces, 1, kHeads * kColumns});
    for (Index first = 0; first < kPieces; first += at_once) {
      const auto some = std::span(pieces).subspan(std::size_t(first), std::size_t(at_once));
      run_on_device(CachedScan{{x.view(),
                                b.view(),
                                c.view(),
                                dt.view(),
                                heads.view(),
                                heads.view(),
                                heads.view(),
                                {},
                                1},
                               all.view(),
                               y.view(),
                               some});
    }
    return std::pair(y.values(), all.values());
  };
  EXPECT_EQ(scan(kPieces), scan(1));
}

TEST(CachedRecurrence, ManyStatesGetTheBitsOfOne) {
  expect_bits_of_one(DType::f32);
  if (kKeepsStatesInAnyType) {
    expect_bits_of_one(DType::bf16);
  }
}

TEST(CachedRecurrence, PiecesCorrectAsTheWhole) {
  for (const Types& types : some_types(DType::f32)) {
    const DType type = types.rows;
    constexpr Index kKeyHeads = 2, kHeads = 4, kKeys = 6, kValues = 11;
    TestTensor q = twice(type, kKeyHeads * kKeys, 1), k = twice(type, kKeyHeads * kKeys, 2);
    TestTensor v = twice(type, kHeads * kValues, 3), beta = twice(type, kHeads, 4);
    TestTensor alpha = twice(type, kHeads, 5);
    TestTensor a_log(type, {kHeads}, test_values(kHeads, 6));
    TestTensor bias(type, {kHeads}, test_values(kHeads, 7));
    TestTensor o(type, {2 * kLength, 1, kHeads * kValues});
    TestTensor want(type, {kLength, 1, kHeads * kValues});
    TestTensor states = states_of(types.states, {kHeads, kKeys, kValues});
    TestTensor kept(DType::f32, {2, kHeads, kKeys, kValues});
    const auto inputs = [&](auto&& rows) {
      return DeltaRuleInputs{rows(q),      rows(k),     rows(v), rows(beta), rows(alpha),
                             a_log.view(), bias.view(), {},      kKeyHeads};
    };
    device::ReferenceStream reference;
    run(reference, DeltaRuleForward{inputs(first_of), want.view(), kept.view(), 16});
    expect_whole(
        [&](std::span<const CachedPiece> pieces) {
          return CachedDeltaRule{inputs([](TestTensor& both) { return both.view(); }),
                                 states.view(), o.view(), pieces};
        },
        o, want, types.tolerance());
  }
}

}  // namespace cached_recurrence_test
}  // namespace mpitron::kernels
