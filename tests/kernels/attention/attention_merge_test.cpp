#include "kernels/attention/attention_merge.h"

#include <limits>

#include <gtest/gtest.h>

#include "device_under_test.h"
#include "tests/kernels/attention_case.h"

namespace mpitron::kernels {
namespace attention_merge_test {

/// The rows [first, last) of some of the views of an attention's keys.
device::TensorView keys_in(const device::TensorView& view, Index first, Index last) {
  return slice(view, 0, first, last);
}

/// The keys cut in two at `cut`, queries and keys at odd positions of a sequence with a gap.
struct Blocks {
  AttentionCase c;
  Index cut;
  AttentionPositions positions() const {
    const SequenceMap map{c.s / 2, {c.s / 2, c.s + 3}};
    return {map, map};
  }
};

std::ostream& operator<<(std::ostream& out, const Blocks& b) {
  return out << b.c << " cut at " << b.cut;
}

/// o (fp32 or fp64), lse of the keys [first, last).
template <class Launch>
void forward_block(AttentionFixture& fixture, const Blocks& b, Index first, Index last,
                   AttentionResults& to, Launch&& launch) {
  AttentionForward kernel = fixture.forward(to);
  kernel.k = keys_in(fixture.inputs().k(), first, last);
  kernel.v = keys_in(fixture.inputs().v(), first, last);
  kernel.positions = AttentionPositions{b.positions().queries, b.positions().keys.from(first)};
  launch(kernel);
}

template <class Launch>
AttentionResults merged(const Blocks& b, DType o_type, DType lse_type, Launch&& launch) {
  AttentionFixture fixture(b.c);
  AttentionResults whole(b.c, o_type, lse_type), part(b.c, o_type, lse_type);
  forward_block(fixture, b, 0, b.cut, whole, launch);
  forward_block(fixture, b, b.cut, b.c.s_kv, part, launch);
  launch(AttentionMerge{.o = whole.o.view(),
                        .lse = whole.lse.view(),
                        .part_o = part.o.view(),
                        .part_lse = part.lse.view()});
  return whole;
}

double error(const std::vector<double>& got, const std::vector<double>& expected) {
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] != expected[i]) {
      const double delta = std::abs(got[i] - expected[i]);
      difference = std::max(difference, std::isfinite(delta) ? delta : HUGE_VAL);
    }
    largest = std::isfinite(expected[i]) ? std::max(largest, std::abs(expected[i])) : largest;
  }
  return largest > 0 ? difference / largest : difference;
}

const Blocks kBlocks[] = {
    {{.s = 97, .s_kv = 97, .b = 2, .n = 4, .g = 2, .d = 24, .dv = 40}, 48},
    {{.s = 128, .s_kv = 128, .n = 2, .g = 1, .dropout = 0.2}, 64},
    {{.s = 70, .s_kv = 70, .n = 2, .g = 2, .d = 20, .dv = 20, .dropout = 0.3}, 33},
    {{.s = 90, .s_kv = 90, .n = 1, .g = 1, .window = 11}, 20},
    {{.s = 33, .s_kv = 33, .b = 2, .n = 2, .g = 1, .d = 16, .dv = 16, .causal = false}, 1},
    {{.dtype = DType::bf16, .s = 97, .s_kv = 97, .n = 4, .g = 2}, 48},
    {{.dtype = DType::f16, .s = 97, .s_kv = 97, .n = 2, .g = 2, .dropout = 0.1}, 50}};

const auto on_reference = [](const auto& kernel) {
  device::ReferenceStream stream;
  run(stream, kernel);
};
const auto on_device = [](const auto& kernel) { run_on_device(kernel); };

AttentionResults in_one(const Blocks& b) {
  AttentionFixture fixture(b.c);
  AttentionResults whole(b.c, DType::f64, DType::f64);
  forward_block(fixture, b, 0, b.c.s_kv, whole, on_reference);
  return whole;
}

TEST(AttentionMerge, TwoBlocksAreTheWhole) {
  for (const Blocks& b : kBlocks) {
    SCOPED_TRACE(::testing::Message() << b);
    AttentionResults expected = in_one(b);
    AttentionResults got = merged(b, DType::f64, DType::f64, on_reference);
    EXPECT_LE(error(got.o.values(), expected.o.values()), 1e-12);
    EXPECT_LE(error(got.lse.values(), expected.lse.values()), 1e-12);
  }
}

/// The device's blocks of half types come in fp32: only P is rounded.
TEST(AttentionMerge, TheDeviceAgrees) {
  for (const Blocks& b : kBlocks) {
    SCOPED_TRACE(::testing::Message() << b);
    AttentionResults expected = in_one(b);
    AttentionResults got = merged(b, DType::f32, DType::f32, on_device);
    const bool bf16 = b.c.dtype == DType::bf16, f16 = b.c.dtype == DType::f16;
    EXPECT_LE(error(got.o.values(), expected.o.values()), bf16  ? 0x1p-8
                                                          : f16 ? 0x1p-11
                                                                : kSumErrors * 2e-6);
    EXPECT_LE(error(got.lse.values(), expected.lse.values()), bf16 ? 2e-4 : 1e-6);
  }
}

/// Gradients of two blocks, given the whole's output and lse: dq adds, dk and dv lie side by side.
template <class Launch>
void check_backward(const Blocks& b, DType type, DType lse_type, double tolerance,
                    Launch&& launch) {
  SCOPED_TRACE(::testing::Message() << b);
  AttentionFixture fixture(b.c);
  const DType o_type = type == DType::f64 ? DType::f64 : b.c.dtype;
  AttentionResults whole(b.c, o_type, lse_type), first(b.c, type, lse_type),
      second(b.c, type, lse_type), exact(b.c, DType::f64, DType::f64);
  forward_block(fixture, b, 0, b.c.s_kv, exact, on_reference);
  forward_block(fixture, b, 0, b.c.s_kv, whole, launch);
  const auto backward = [&](AttentionResults& of, Index begin, Index end, AttentionResults& to,
                            auto&& run_it) {
    AttentionBackward kernel = fixture.backward(of);
    kernel.k = keys_in(fixture.inputs().k(), begin, end);
    kernel.v = keys_in(fixture.inputs().v(), begin, end);
    kernel.dq = to.gradients.q();
    kernel.dk = keys_in(to.gradients.k(), begin, end);
    kernel.dv = keys_in(to.gradients.v(), begin, end);
    kernel.positions = AttentionPositions{b.positions().queries, b.positions().keys.from(begin)};
    run_it(kernel);
  };
  backward(exact, 0, b.c.s_kv, exact, on_reference);
  backward(whole, 0, b.cut, first, launch);
  backward(whole, b.cut, b.c.s_kv, second, launch);
  auto dq = values_of(first.gradients.q());
  const auto more = values_of(second.gradients.q());
  for (std::size_t i = 0; i < dq.size(); ++i) {
    dq[i] += more[i];
  }
  EXPECT_LE(error(dq, values_of(exact.gradients.q())), tolerance);
  for (const auto part : {&QkvTensors::k, &QkvTensors::v}) {
    EXPECT_LE(error(values_of(keys_in((first.gradients.*part)(), 0, b.cut)),
                    values_of(keys_in((exact.gradients.*part)(), 0, b.cut))),
              tolerance);
    EXPECT_LE(error(values_of(keys_in((second.gradients.*part)(), b.cut, b.c.s_kv)),
                    values_of(keys_in((exact.gradients.*part)(), b.cut, b.c.s_kv))),
              tolerance);
  }
}

TEST(AttentionMerge, BackwardOfBlocksIsThatOfTheWhole) {
  for (const Blocks& b : kBlocks) {
    check_backward(b, DType::f64, DType::f64, 1e-11, on_reference);
    const double half = b.c.dtype == DType::bf16 ? 0x1p-6 : 0x1p-9;
    check_backward(b, DType::f32, DType::f32, b.c.dtype == DType::f32 ? 1e-5 : half, on_device);
  }
}

/// A mask is read by the positions of the keys, also where a vector lies across their split.
TEST(AttentionMerge, MasksAreReadByPosition) {
  const Blocks b{{.s = 40, .s_kv = 40, .n = 2, .g = 2, .d = 16, .dv = 16, .causal = false}, 21};
  AttentionFixture fixture(b.c);
  AttentionResults expected(b.c, DType::f64, DType::f64), got(b.c, DType::f32, DType::f32);
  const Index columns = b.positions().keys(39) + 1;
  TestTensor hidden(DType::u8, {1, 40, columns});
  const auto random = test_values(40 * columns, 9);
  for (std::size_t i = 0; i < random.size(); ++i) {
    hidden.view().as<std::uint8_t>()[i] = random[i] > 0.3 ? 1 : 0;
  }
  for (AttentionResults* to : {&expected, &got}) {
    AttentionForward kernel = fixture.forward(*to);
    kernel.mask = hidden.view();
    kernel.positions = b.positions();
    if (to == &expected) {
      on_reference(kernel);
    } else {
      on_device(kernel);
    }
  }
  EXPECT_LE(error(got.o.values(), expected.o.values()), 2e-6);
  EXPECT_LE(error(got.lse.values(), expected.lse.values()), 1e-6);
}

TEST(AttentionMerge, RowsThatSawNothingYetTakeThePart) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto check = [&](auto&& launch) {
    TestTensor o(DType::f32, {3, 1, 1, 2}, {0, 0, 0, 0, 1, 2}),
        part(DType::f32, {3, 1, 1, 2}, {3, 4, 0, 0, 0, 0}),
        lse(DType::f32, {1, 1, 3}, {-kInfinity, -kInfinity, 0.5}),
        part_lse(DType::f32, {1, 1, 3}, {0.25, -kInfinity, -kInfinity});
    launch(AttentionMerge{
        .o = o.view(), .lse = lse.view(), .part_o = part.view(), .part_lse = part_lse.view()});
    EXPECT_EQ(o.values(), (std::vector<double>{3, 4, 0, 0, 1, 2}));
    EXPECT_EQ(lse.values(), (std::vector<double>{0.25, -kInfinity, 0.5}));
  };
  check(on_reference);
  check(on_device);
}

}  // namespace attention_merge_test
}  // namespace mpitron::kernels
