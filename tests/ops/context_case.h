#pragma once
#include <cmath>
#include <ostream>

#include <gtest/gtest.h>

#include "comm/groups/world.h"
#include "ops/attention/context_attention.h"
#include "support/tensors.h"

namespace mpitron::ops {

using autograd::Tape;
using tensor::Tensor;

/// An attention, and how many ranks share its sequence in which way.
struct ContextCase {
  ContextExchange exchange = ContextExchange::ring;
  Index ranks = 2, inner = 1;  // inner: of heads_in_ring
  Index s = 24, b = 2, heads = 4, groups = 2, head_dim = 6, value_dim = 6;
  DType dtype = DType::f32;
  double dropout = 0;
  bool causal = true;
  Index window = -1;
  bool masked = false;
  Index chunk = 0;
};

inline std::ostream& operator<<(std::ostream& out, const ContextCase& c) {
  return out << "exchange " << static_cast<int>(c.exchange) << " ranks " << c.ranks << " inner "
             << c.inner << " s " << c.s << " b " << c.b << " heads " << c.heads << " groups "
             << c.groups << " d " << c.head_dim << " dv " << c.value_dim << " " << name_of(c.dtype)
             << " dropout " << c.dropout << " causal " << c.causal << " window " << c.window
             << " masked " << c.masked << " chunk " << c.chunk;
}

/// What attention gives and takes, in the order of the whole sequence.
struct ContextResult {
  std::vector<double> o, dqkv;
  bool operator==(const ContextResult&) const = default;
};

/// Columns [first, + width) of rows [s, b] at the slice's positions.
inline Tensor slice_of(device::Device& device, DType dtype, const std::vector<double>& whole,
                       const SequenceSlice& slice, Index row) {
  Tensor x = Tensor::empty(device, {slice.length, row}, dtype);
  std::vector<double> values;
  for (Index i = 0; i < slice.length; ++i) {
    const auto from = whole.begin() + slice.map(i) * row;
    values.insert(values.end(), from, from + row);
  }
  test::set_values(x, values);
  return x;
}

inline void put_slice(std::vector<double>& whole, const SequenceSlice& slice, const Tensor& x) {
  const std::vector<double> values = test::values_of(x);
  const Index row = x.numel() / slice.length;
  for (Index i = 0; i < slice.length; ++i) {
    std::copy_n(values.begin() + i * row, row, whole.begin() + slice.map(i) * row);
  }
}

class ContextRun {
 public:
  explicit ContextRun(const ContextCase& c) : c_(c) {
    settings_.layout = {c.heads, c.groups, c.head_dim, c.value_dim};
    settings_.scale = 0.4f;
    settings_.causal = c.causal;
    settings_.window = c.window;
    settings_.chunk = c.chunk;
    settings_.dropout.key = {5, 6};
    settings_.dropout.threshold = kernels::dropout_threshold(c.dropout);
    settings_.dropout.index.sample_offset = 3;
    settings_.dropout.index.column_offset = 2;  // heads of a tensor parallel rank
    qkv_row_ = c.b * settings_.layout.width();
    o_row_ = c.b * c.heads * c.value_dim;
    qkv_ = test::test_values(c.s * qkv_row_, 1);
    d_o_ = test::test_values(c.s * o_row_, 2);
  }

  ContextResult one_rank() const {
    ContextResult result = empty();
    const auto device = device::make_device("reference");
    run(*device, ContextGroups{}, {.map = {}, .length = c_.s}, result);
    return result;
  }
  ContextResult on_ranks() const {
    ContextResult result = empty();
    comm::run_thread_world(c_.ranks, [&](comm::World& world) {
      const auto device = device::make_device("reference");
      run(*device, groups(world), zigzag_slice(c_.s, c_.ranks, world.rank()), result);
    });
    return result;
  }

 private:
  ContextResult empty() const {
    return {std::vector<double>(d_o_.size(), NAN), std::vector<double>(qkv_.size(), NAN)};
  }
  ContextGroups groups(comm::World& world) const {
    ContextGroups result{.all = world.all()};
    if (c_.exchange == ContextExchange::heads_in_ring) {
      std::vector<Index> inner, outer;
      for (Index rank = 0; rank < c_.ranks; ++rank) {
        if (rank / c_.inner == world.rank() / c_.inner) {
          inner.push_back(rank);
        }
        if (rank % c_.inner == world.rank() % c_.inner) {
          outer.push_back(rank);
        }
      }
      result.levels = {world.make_group("inner", inner), world.make_group("outer", outer)};
    }
    return result;
  }
  /// Every third element or so of the lower triangle hidden, never a row's own position.
  Tensor mask_of(device::Device& device, const SequenceSlice& slice) const {
    std::vector<std::uint8_t> hidden;
    for (Index sample = 0; sample < c_.b; ++sample) {
      for (Index i = 0; i < slice.length; ++i) {
        for (Index key = 0; key < c_.s; ++key) {
          const Index query = slice.map(i);
          hidden.push_back(query != key && (query * 7 + key * 5 + sample) % 3 == 0 ? 1 : 0);
        }
      }
    }
    return test::make_mask(device, {c_.b, slice.length, c_.s}, hidden);
  }
  void run(device::Device& device, const ContextGroups& groups, const SequenceSlice& slice,
           ContextResult& to) const {
    Tape tape;
    Context context{.device = device, .recorder = {.tape = &tape, .usage = &tape}};
    AttentionSettings settings = settings_;
    if (c_.masked) {
      settings.mask = mask_of(device, slice);
    }
    const Var x = autograd::variable(slice_of(device, c_.dtype, qkv_, slice, qkv_row_)
                                         .reshape({slice.length, c_.b, settings.layout.width()}));
    const Var y = context_attention(context, x, settings, c_.exchange, groups);
    EXPECT_EQ(y.shape(), (Shape{slice.length, c_.b, c_.heads * c_.value_dim}));
    EXPECT_EQ(y.value.dtype(), c_.dtype);
    put_slice(to.o, slice, y.value);
    tape.backward(context, y.slot,
                  slice_of(device, c_.dtype, d_o_, slice, o_row_).reshape(y.shape()));
    put_slice(to.dqkv, slice, x.slot.gradient());
  }

  ContextCase c_;
  AttentionSettings settings_;
  Index qkv_row_, o_row_;
  std::vector<double> qkv_, d_o_;
};

/// |got - expected| / |expected|, Euclidean.
inline double distance(const std::vector<double>& got, const std::vector<double>& expected) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference += (got[i] - expected[i]) * (got[i] - expected[i]);
    norm += expected[i] * expected[i];
  }
  return std::sqrt(difference / norm);
}

/// bf16 and fp16: a rounding of a sum at another place may give a neighbour, half a unit away from
/// the exact value on either side.
inline double context_tolerance(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 1e-12;
    case DType::bf16:
      return 0x1p-10;
    case DType::f16:
      return 0x1p-13;
    default:
      return 1e-6;
  }
}

inline void check_context(const ContextCase& c) {
  SCOPED_TRACE(::testing::Message() << c);
  const ContextRun run(c);
  const ContextResult expected = run.one_rank(), got = run.on_ranks();
  EXPECT_LE(distance(got.o, expected.o), context_tolerance(c.dtype));
  EXPECT_LE(distance(got.dqkv, expected.dqkv), context_tolerance(c.dtype));
}

}  // namespace mpitron::ops
