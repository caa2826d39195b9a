// Adapts oneDNN's matrix products: plans are made once for each shape and thread, pointers are
// exchanged for each call. The difficulty is that bits must not depend on the number of threads,
// which oneDNN does not promise: see planned_threads and run_blocks.
#include "kernels/host/linear/gemm.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include <dnnl.h>
#include <dnnl.hpp>
#include <fmt/format.h>
#include <omp.h>

#include "kernels/host/common/parallel.h"

namespace mpitron::kernels::host {

namespace {

using Memory = dnnl::memory;

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

dnnl::stream& stream() {
  thread_local dnnl::stream in_order(engine());
  return in_order;
}

Memory::data_type type_of(DType dtype) {
  MPITRON_CHECK(dtype == DType::f32 || dtype == DType::bf16, name_of(dtype));
  return dtype == DType::f32 ? Memory::data_type::f32 : Memory::data_type::bf16;
}

bool has_isa(dnnl::cpu_isa wanted) {
  static const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  const auto bits = static_cast<unsigned>(wanted);
  return (isa & bits) == bits;
}

/// Whether oneDNN has kernels of this processor's own for the type. Without them it falls back to a
/// product that splits k over threads.
bool has_native_product(DType type) {
  return has_isa(type == DType::bf16 ? dnnl::cpu_isa::avx512_core_bf16
                                     : dnnl::cpu_isa::avx512_core);
}

/// Limits the threads that oneDNN plans for and runs on, while it lives.
class MostThreads {
 public:
  explicit MostThreads(Index most) {
    omp_set_num_threads(static_cast<int>(std::min<Index>(before_, most)));
  }
  ~MostThreads() { omp_set_num_threads(before_); }
  MostThreads(const MostThreads&) = delete;
  MostThreads& operator=(const MostThreads&) = delete;

 private:
  int before_ = omp_get_max_threads();
};

// A block of c: large enough that what a product spends on packing its arguments does not show.
constexpr Index kBlockRows = 256, kBlockColumns = 256;

Index blocks_of(Index extent, Index block) {
  return (extent + block - 1) / block;
}

/// Returns the address `elements` behind a start.
template <class Byte>
Byte* behind(Byte* start, Index elements, DType type) {
  return start + elements * static_cast<Index>(size_of(type));
}

void append_activation(dnnl::post_ops& steps, Activation activation) {
  using dnnl::algorithm;
  switch (activation) {
    case Activation::none:
      break;
    case Activation::gelu_tanh:
      steps.append_eltwise(1, algorithm::eltwise_gelu_tanh, 0, 0);
      break;
    case Activation::gelu_erf:
      steps.append_eltwise(1, algorithm::eltwise_gelu_erf, 0, 0);
      break;
    case Activation::silu:
      steps.append_eltwise(1, algorithm::eltwise_swish, 1, 0);
      break;
    case Activation::squared_relu:
      steps.append_eltwise(1, algorithm::eltwise_relu, 0, 0);
      steps.append_eltwise(1, algorithm::eltwise_square, 0, 0);
      break;
    case Activation::tanh:
      steps.append_eltwise(1, algorithm::eltwise_tanh, 0, 0);
      break;
    case Activation::quick_gelu:
      steps.append_eltwise(1, algorithm::eltwise_swish, 1.702F, 0);
      break;
    case Activation::sigmoid:
      steps.append_eltwise(1, algorithm::eltwise_logistic, 0, 0);
      break;
  }
}

Memory::desc plain_b(const GemmProblem& p) {
  const Memory::dims strides =
      p.b_transposed ? Memory::dims{1, p.b_stride} : Memory::dims{p.b_stride, 1};
  return {{p.k, p.n}, type_of(p.type), strides};
}

/// Describes b with contiguous rows, as packing for blocks leaves it.
Memory::desc dense_b(const GemmProblem& p) {
  return {{p.k, p.n}, type_of(p.type), Memory::dims{p.n, 1}};
}

/// How many threads a product is planned for. Where matrix units multiply, oneDNN splits k over the
/// threads that find no block of c of their own, and the bits would depend on their number.
Index planned_threads(const GemmProblem& p) {
  constexpr Index kTile = 64;
  const bool tiles = p.type == DType::bf16 && has_isa(dnnl::cpu_isa::avx512_core_amx);
  return tiles ? blocks_of(p.m, kTile) * blocks_of(p.n, kTile) : omp_get_max_threads();
}

dnnl::matmul::primitive_desc describe(const GemmProblem& p) {
  const MostThreads planned(planned_threads(p));
  const Memory::desc a({p.m, p.k}, type_of(p.type), Memory::dims{p.a_stride, 1});
  const Memory::desc c({p.m, p.n}, type_of(p.c_type), Memory::dims{p.c_stride, 1});
  // Blocks lie anywhere in b, so that it keeps plain rows where products are cut into blocks.
  const Memory::desc b = p.b_packed && !has_native_product(p.type) ? dense_b(p)
                         : p.b_packed
                             ? Memory::desc({p.k, p.n}, type_of(p.type), Memory::format_tag::any)
                             : plain_b(p);
  dnnl::post_ops steps;
  if (p.accumulate) {
    steps.append_sum(1);
  }
  append_activation(steps, p.activation);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(steps);
  if (!p.has_bias) {
    return {dnnl::matmul::desc(a, b, c), attributes, engine()};
  }
  const Memory::desc bias({1, p.n}, type_of(p.bias_type), Memory::dims{p.n, 1});
  return {dnnl::matmul::desc(a, b, bias, c), attributes, engine()};
}

struct ProblemHash {
  std::size_t operator()(const GemmProblem& p) const {
    const std::array<Index, 8> words = {
        p.m,
        p.n,
        p.k,
        p.a_stride,
        p.b_stride,
        p.c_stride,
        p.threads,
        static_cast<Index>(p.type) | static_cast<Index>(p.c_type) << 8 |
            static_cast<Index>(p.activation) << 16 | Index{p.has_bias} << 24 |
            Index{p.b_transposed} << 25 | Index{p.b_packed} << 26 | Index{p.accumulate} << 27};
    std::uint64_t mixed = 0;
    for (const Index word : words) {
      mixed = (mixed ^ static_cast<std::uint64_t>(word)) * 0x9E3779B97F4A7C15u;
      mixed ^= mixed >> 29;
    }
    return mixed;
  }
};

void execute_primitive(const dnnl::primitive& primitive, const dnnl_exec_arg_t* arguments,
                       int count) {
  const dnnl_status_t status =
      dnnl_primitive_execute(primitive.get(), stream().get(), count, arguments);
  MPITRON_CHECK(status == dnnl_success, static_cast<int>(status));
}

void point(Memory& memory, const void* data) {
  memory.set_data_handle(const_cast<void*>(data));
}

}  // namespace

struct Gemm::Primitives {
  // The bias, packing and unpacked source exist only where the problem has them.
  explicit Primitives(const GemmProblem& p)
      : description(describe(p)),
        product(description),
        a(description.src_desc(), engine(), nullptr),
        b(description.weights_desc(), engine(), nullptr),
        c(description.dst_desc(), engine(), nullptr) {
    if (p.has_bias) {
      bias = Memory(description.bias_desc(), engine(), nullptr);
    }
    if (p.b_packed) {
      unpacked = Memory(plain_b(p), engine(), nullptr);
      packing = dnnl::reorder(unpacked, b);
    }
  }

  dnnl::matmul::primitive_desc description;
  dnnl::matmul product;
  Memory a, b, c, bias, unpacked;
  dnnl::reorder packing;
};

Gemm::Gemm(const GemmProblem& problem)
    : problem_(problem), primitives_(std::make_unique<Primitives>(problem)) {}
Gemm::~Gemm() = default;

Gemm& Gemm::of(const GemmProblem& problem) {
  thread_local std::unordered_map<GemmProblem, std::unique_ptr<Gemm>, ProblemHash> plans;
  std::unique_ptr<Gemm>& plan = plans[problem];
  if (plan == nullptr) {
    plan = std::make_unique<Gemm>(problem);
  }
  return *plan;
}

bool Gemm::multiplies(DType type) {
  return type == DType::f32 || (type == DType::bf16 && has_isa(dnnl::cpu_isa::avx512_core));
}

bool Gemm::packs(DType type) {
  return has_native_product(type);
}

Index Gemm::packed_bytes() const {
  return static_cast<Index>(primitives_->description.weights_desc().get_size());
}

void Gemm::pack(const void* b, void* packed) {
  Primitives& p = *primitives_;
  point(p.unpacked, b);
  point(p.b, packed);
  const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, p.unpacked.get()}, {DNNL_ARG_TO, p.b.get()}};
  execute_primitive(p.packing, arguments, 2);
}

/// Runs the blocks of a product in any order on any thread: each is one thread's own product, so
/// the order of its sums is that of the block's shape.
void Gemm::run_blocks(const void* a, const void* b, const void* bias, void* c) const {
  GemmProblem whole = problem_;
  whole.threads = 1;
  if (whole.b_packed) {  // as dense_b has it
    whole.b_packed = whole.b_transposed = false;
    whole.b_stride = whole.n;
  }
  const Index columns = blocks_of(whole.n, kBlockColumns);
  const auto run_block = [&](Index number) {
    const Index row = number / columns * kBlockRows, column = number % columns * kBlockColumns;
    GemmProblem block = whole;
    block.m = std::min(kBlockRows, whole.m - row);
    block.n = std::min(kBlockColumns, whole.n - column);
    const Index b_skipped = whole.b_transposed ? column * whole.b_stride : column;
    const auto* bias_start = static_cast<const char*>(bias);
    const MostThreads alone(1);
    Gemm::of(block).execute(
        behind(static_cast<const char*>(a), row * whole.a_stride, whole.type),
        behind(static_cast<const char*>(b), b_skipped, whole.type),
        whole.has_bias ? behind(bias_start, column, whole.bias_type) : nullptr,
        behind(static_cast<char*>(c), row * whole.c_stride + column, whole.c_type));
  };
  for_blocks(blocks_of(whole.m, kBlockRows) * columns, whole.m * whole.n * whole.k, run_block);
}

void Gemm::run(const void* a, const void* b, const void* bias, void* c) {
  if (has_native_product(problem_.type)) {
    execute(a, b, bias, c);
  } else {
    run_blocks(a, b, bias, c);
  }
}

void Gemm::execute(const void* a, const void* b, const void* bias, void* c) {
  Primitives& p = *primitives_;
  point(p.a, a);
  point(p.b, b);
  point(p.c, c);
  dnnl_exec_arg_t arguments[4] = {{DNNL_ARG_SRC, p.a.get()},
                                  {DNNL_ARG_WEIGHTS, p.b.get()},
                                  {DNNL_ARG_DST, p.c.get()},
                                  {DNNL_ARG_BIAS, nullptr}};
  const bool has_bias = static_cast<bool>(p.bias);
  if (has_bias) {
    point(p.bias, bias);
    arguments[3].memory = p.bias.get();
  }
  execute_primitive(p.product, arguments, has_bias ? 4 : 3);
}

void multiply_alone(const PlainProduct& p) {
  const MostThreads alone(1);
  const auto letter = [](bool transposed) { return transposed ? 'T' : 'N'; };
  const float beta = p.accumulate ? 1.F : 0.F;
  const dnnl_status_t status =
      dnnl_sgemm(letter(p.transpose_a), letter(p.transpose_b), p.m, p.n, p.k, 1.F, p.a, p.a_stride,
                 p.b, p.b_stride, beta, p.c, p.c_stride);
  MPITRON_CHECK(status == dnnl_success, static_cast<int>(status));
}

LibraryVersion onednn_version() {
  const dnnl_version_t* const running = dnnl_version();
  return {"oneDNN",
          fmt::format("{}.{}.{}", DNNL_VERSION_MAJOR, DNNL_VERSION_MINOR, DNNL_VERSION_PATCH),
          fmt::format("{}.{}.{}", running->major, running->minor, running->patch)};
}

}  // namespace mpitron::kernels::host
