#include "benchmarks/ceiling.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <dnnl.hpp>

namespace mpitron::benchmarks {
namespace {

using dnnl::memory;

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

memory::data_type type_of(DType dtype) {
  return dtype == DType::bf16 ? memory::data_type::bf16 : memory::data_type::f32;
}

/// Small non-zero numbers: zeros and subnormals may run at another speed.
memory filled(const memory::desc& description, DType dtype) {
  memory result(description, engine());
  const std::size_t count = description.get_size() / size_of(dtype);
  for (std::size_t i = 0; i < count; ++i) {
    const float value = 0.01f * static_cast<float>(i * 2654435761u >> 8 & 255u) - 1.28f;
    if (dtype == DType::bf16) {
      static_cast<BFloat16*>(result.get_data_handle())[i] = BFloat16(value);
    } else {
      static_cast<float*>(result.get_data_handle())[i] = value;
    }
  }
  return result;
}

struct Operands {
  Index m, n, k;
  bool a_transposed, b_transposed, into_fp32;
};

Operands operands_of(const LinearSize& size, Pass pass, Index tokens) {
  switch (pass) {
    case Pass::forward:
      return {tokens, size.out, size.in, false, true, false};
    case Pass::data_gradient:
      return {tokens, size.in, size.out, false, false, false};
    case Pass::weight_gradient:
      return {size.out, size.in, tokens, true, false, true};
  }
  return {};
}

memory::desc matrix(Index rows, Index columns, DType dtype, bool transposed) {
  return {{rows, columns},
          type_of(dtype),
          transposed ? memory::dims{1, rows} : memory::dims{columns, 1}};
}

/// One product with a weight in oneDNN's layout.
struct PackedProduct {
  PackedProduct(const LinearSize& size, Index rows, DType dtype) {
    const auto type = dtype == DType::i8 ? memory::data_type::s8 : type_of(dtype);
    const auto result = dtype == DType::i8 ? memory::data_type::f32 : type;
    const memory::desc x({rows, size.in}, type, memory::format_tag::ab);
    const memory::desc w({size.in, size.out}, type, memory::format_tag::any);
    const memory::desc y({rows, size.out}, result, memory::format_tag::ab);
    const dnnl::matmul::primitive_desc plan(dnnl::matmul::desc(x, w, y), engine());
    product = dnnl::matmul(plan);
    arguments = {{DNNL_ARG_SRC, ones(x)},
                 {DNNL_ARG_WEIGHTS, ones(plan.weights_desc())},
                 {DNNL_ARG_DST, ones(y)}};
  }
  /// Bytes of 1: a small number in every type.
  static memory ones(const memory::desc& description) {
    memory result(description, engine());
    std::memset(result.get_data_handle(), 1, description.get_size());
    return result;
  }

  dnnl::matmul product;
  std::unordered_map<int, memory> arguments;
};

}  // namespace

double packed_products_seconds(const std::vector<LinearSize>& sizes, Index rows, DType dtype,
                               int repetitions) {
  constexpr int kMostWeights = 4;
  std::vector<std::vector<PackedProduct>> products;
  for (const LinearSize& size : sizes) {
    std::vector<PackedProduct>& same = products.emplace_back();
    for (int i = 0; i < std::min(size.times, kMostWeights); ++i) {
      same.emplace_back(size, rows, dtype);
    }
  }
  dnnl::stream stream(engine());
  return best_seconds(repetitions, [&] {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      for (int j = 0; j < sizes[i].times; ++j) {
        PackedProduct& one = products[i][static_cast<std::size_t>(j) % products[i].size()];
        one.product.execute(stream, one.arguments);
      }
    }
    stream.wait();
  });
}

const std::vector<LinearSize>& gpt2_linears() {
  static const std::vector<LinearSize> sizes = {{"qkv", 768, 2304, 12},
                                                {"proj", 768, 768, 12},
                                                {"fc1", 768, 3072, 12},
                                                {"fc2", 3072, 768, 12},
                                                {"head", 768, 50304, 1}};
  return sizes;
}

const char* name_of(Pass pass) {
  constexpr const char* kNames[] = {"fwd", "dgrad", "wgrad"};
  return kNames[static_cast<int>(pass)];
}

struct LinearProduct::State {
  State(const Operands& o, DType dtype)
      : flops(2.0 * static_cast<double>(o.m) * static_cast<double>(o.n) *
              static_cast<double>(o.k)) {
    const DType c_type = o.into_fp32 ? DType::f32 : dtype;
    const memory::desc a = matrix(o.m, o.k, dtype, o.a_transposed);
    const memory::desc b = matrix(o.k, o.n, dtype, o.b_transposed);
    const memory::desc c = matrix(o.m, o.n, c_type, false);
    dnnl::primitive_attr attributes;
    if (o.into_fp32) {
      dnnl::post_ops add;
      add.append_sum(1);
      attributes.set_post_ops(add);
    }
    product = dnnl::matmul({dnnl::matmul::desc(a, b, c), attributes, engine()});
    arguments = {{DNNL_ARG_SRC, filled(a, dtype)},
                 {DNNL_ARG_WEIGHTS, filled(b, dtype)},
                 {DNNL_ARG_DST, filled(c, c_type)}};
  }

  double flops;
  dnnl::matmul product;
  std::unordered_map<int, memory> arguments;
};

LinearProduct::LinearProduct(const LinearSize& size, Pass pass, Index tokens, DType dtype)
    : state_(std::make_unique<State>(operands_of(size, pass, tokens), dtype)) {}
LinearProduct::~LinearProduct() = default;

void LinearProduct::run() {
  static dnnl::stream stream(engine());
  state_->product.execute(stream, state_->arguments);
}

double LinearProduct::flops() const {
  return state_->flops;
}

void StepCeilingRounds::round() {
  std::size_t at = 0;
  for (const LinearSize& size : gpt2_linears()) {
    for (const Pass pass : kPasses) {
      LinearProduct product(size, pass, tokens_, dtype_);
      const int repetitions = size.times > 1 ? 2 : 1;  // short ones warm up
      const double seconds = best_seconds(repetitions, [&] { product.run(); });
      if (at == best_.size()) {
        best_.push_back(seconds);
      }
      best_[at] = std::min(best_[at], seconds);
      ++at;
    }
  }
}

StepCeiling StepCeilingRounds::ceiling() const {
  StepCeiling sum;
  std::size_t at = 0;
  for (const LinearSize& size : gpt2_linears()) {
    const double flops = 2.0 * static_cast<double>(size.in * size.out * tokens_);
    for (std::size_t pass = 0; pass < std::size(kPasses); ++pass) {
      sum.seconds += size.times * best_.at(at++);
      sum.flops += size.times * flops;
    }
  }
  return sum;
}

StepCeiling gemm_step_ceiling(Index tokens, DType dtype, int repetitions) {
  StepCeilingRounds rounds(tokens, dtype);
  for (int i = 0; i <= repetitions; ++i) {
    rounds.round();
  }
  return rounds.ceiling();
}

}  // namespace mpitron::benchmarks
