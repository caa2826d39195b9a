// Adapts cuBLASLt. An algorithm is asked for once per shape and alignment and kept, because asking
// takes longer than a small product; choices of a tuning file come first. Only algorithms that add
// the parts of a split k in a fixed order are taken.
#include "kernels/cuda/linear/gemm.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>
#include <type_traits>
#include <unordered_map>

#include <cublasLt.h>

#include "device/cuda/cuda_device.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/text/hash.h"

namespace mpitron::kernels::cuda {
namespace {

constexpr std::uint64_t kLargestWorkspace = 32 << 20;
/// Ways in which k's parts may be added.
constexpr std::uint32_t kInOrder =
    CUBLASLT_REDUCTION_SCHEME_NONE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
/// Number of the library's answers that are candidates.
constexpr int kMostCandidates = 6;
/// Bounds the number of plans: products of experts have a new number of rows each time, and their
/// plans must not pile up.
constexpr std::size_t kMostPlans = 4096;

void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw_environment("cuBLASLt: {}: {} ({})", what, cublasLtGetStatusString(status),
                      cublasLtGetStatusName(status));
  }
}

/// Returns the library's state on a GPU: made once, never destroyed, because static objects may
/// outlive the CUDA runtime.
cublasLtHandle_t handle_of(int device) {
  static std::mutex mutex;
  static auto& handles = *new std::map<int, cublasLtHandle_t>;
  const std::lock_guard lock(mutex);
  cublasLtHandle_t& handle = handles[device];
  if (handle == nullptr) {
    check(cublasLtCreate(&handle), "starting the library");
  }
  return handle;
}

cudaDataType_t type_of(DType type, Fp8Format format = Fp8Format::e4m3) {
  switch (type) {
    case DType::u8:
      return format == Fp8Format::e4m3 ? CUDA_R_8F_E4M3 : CUDA_R_8F_E5M2;
    case DType::f32:
      return CUDA_R_32F;
    case DType::bf16:
      return CUDA_R_16BF;
    case DType::f16:
      return CUDA_R_16F;
    case DType::f64:
      return CUDA_R_64F;
    default:
      detail::check_failed("fp32, bf16, fp16, fp64 or u8", __FILE__, __LINE__, name_of(type));
  }
}

cublasLtEpilogue_t epilogue_of(Epilogue epilogue) {
  return epilogue == Epilogue::bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

struct DestroyDescription {
  void operator()(cublasLtMatmulDesc_t it) const { cublasLtMatmulDescDestroy(it); }
};
struct DestroyLayout {
  void operator()(cublasLtMatrixLayout_t it) const { cublasLtMatrixLayoutDestroy(it); }
};
struct DestroyPreference {
  void operator()(cublasLtMatmulPreference_t it) const { cublasLtMatmulPreferenceDestroy(it); }
};
template <class Handle, class Destroy>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Destroy>;
using Description = Owned<cublasLtMatmulDesc_t, DestroyDescription>;
using Layout = Owned<cublasLtMatrixLayout_t, DestroyLayout>;
using Preference = Owned<cublasLtMatmulPreference_t, DestroyPreference>;

template <class T>
void set(const Description& description, cublasLtMatmulDescAttributes_t attribute, const T& value) {
  check(cublasLtMatmulDescSetAttribute(description.get(), attribute, &value, sizeof(value)),
        "describing a product");
}
template <class T>
void set(const Preference& preference, cublasLtMatmulPreferenceAttributes_t attribute,
         const T& value) {
  check(cublasLtMatmulPreferenceSetAttribute(preference.get(), attribute, &value, sizeof(value)),
        "choosing an algorithm");
}

/// Describes a matrix to a library that counts by columns: a row-major [rows, columns] is its
/// [columns, rows].
Layout layout_of(cudaDataType_t type, Index rows, Index columns, Index stride) {
  cublasLtMatrixLayout_t layout = nullptr;
  check(cublasLtMatrixLayoutCreate(&layout, type, static_cast<std::uint64_t>(columns),
                                   static_cast<std::uint64_t>(rows), std::max(stride, columns)),
        "describing a matrix");
  return Layout(layout);
}

cublasComputeType_t compute_type_of(const GemmShape& p) {
  return p.type == DType::f64 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
}
cudaDataType_t scale_type_of(const GemmShape& p) {
  return p.type == DType::f64 ? CUDA_R_64F : CUDA_R_32F;
}

/// Describes c^T = op(b)^T op(a)^T: b is the library's first factor.
Description describe(const GemmShape& p) {
  cublasLtMatmulDesc_t created = nullptr;
  check(cublasLtMatmulDescCreate(&created, compute_type_of(p), scale_type_of(p)),
        "describing a product");
  Description description(created);
  set(description, CUBLASLT_MATMUL_DESC_TRANSA, p.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(description, CUBLASLT_MATMUL_DESC_TRANSB, p.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(description, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(p.epilogue));
  return description;
}

Preference preference_of(const GemmShape& p) {
  cublasLtMatmulPreference_t created = nullptr;
  check(cublasLtMatmulPreferenceCreate(&created), "choosing an algorithm");
  Preference preference(created);
  set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kLargestWorkspace);
  set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, kInOrder);
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, std::uint32_t{p.b_alignment});
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, std::uint32_t{p.a_alignment});
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, std::uint32_t{p.c_alignment});
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, std::uint32_t{p.c_alignment});
  return preference;
}

/// A setting of an algorithm, of 2 or 4 bytes, by which it is written to a file and made again.
struct Setting {
  cublasLtMatmulAlgoConfigAttributes_t name;
  std::int32_t GemmAlgorithm::*value;
  std::size_t bytes = 4;
};
static_assert(std::endian::native == std::endian::little);
constexpr Setting kSettings[] = {
    {CUBLASLT_ALGO_CONFIG_TILE_ID, &GemmAlgorithm::tile},
    {CUBLASLT_ALGO_CONFIG_STAGES_ID, &GemmAlgorithm::stages},
    {CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &GemmAlgorithm::split_k},
    {CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, &GemmAlgorithm::reduction},
    {CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, &GemmAlgorithm::swizzle},
    {CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, &GemmAlgorithm::custom},
    {CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, &GemmAlgorithm::inner_shape, 2},
    {CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, &GemmAlgorithm::cluster, 2},
};

/// Reads an algorithm's settings; one that the library does not tell stays 0.
GemmAlgorithm numbers_of(const cublasLtMatmulAlgo_t& algorithm) {
  GemmAlgorithm numbers;
  std::size_t written = 0;
  check(cublasLtMatmulAlgoConfigGetAttribute(&algorithm, CUBLASLT_ALGO_CONFIG_ID, &numbers.id,
                                             sizeof(numbers.id), &written),
        "naming an algorithm");
  for (const Setting& setting : kSettings) {
    std::int32_t value = 0;
    cublasLtMatmulAlgoConfigGetAttribute(&algorithm, setting.name, &value, setting.bytes, &written);
    numbers.*setting.value = value;
  }
  return numbers;
}

/// A plan's key in a thread's table.
struct PlanKey {
  int device;
  GemmShape shape;
  bool operator==(const PlanKey&) const = default;
};
struct PlanKeyHash {
  std::size_t operator()(const PlanKey& key) const {
    // All members but no padding, which lies behind the last one.
    constexpr std::size_t kBytes = offsetof(GemmShape, c_alignment) + sizeof(std::uint16_t);
    static_assert(kBytes == 6 * sizeof(Index) + 8 + 3 * sizeof(std::uint16_t));
    return hash64({reinterpret_cast<const char*>(&key.shape), kBytes},
                  static_cast<std::uint64_t>(key.device));
  }
};

}  // namespace

struct Gemm::Plan {
  GemmShape shape;
  cublasLtHandle_t library;
  Description product;
  Layout a, b, c;
  cublasLtMatmulHeuristicResult_t choice{};
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  bool found = false;

  Plan(int device, const GemmShape& p)
      : shape(p),
        library(handle_of(device)),
        product(describe(p)),
        a(p.transpose_a ? layout_of(type_of(p.type, p.a_format), p.k, p.m, p.a_stride)
                        : layout_of(type_of(p.type, p.a_format), p.m, p.k, p.a_stride)),
        b(p.transpose_b ? layout_of(type_of(p.type, p.b_format), p.n, p.k, p.b_stride)
                        : layout_of(type_of(p.type, p.b_format), p.k, p.n, p.b_stride)),
        c(layout_of(type_of(p.c_type), p.m, p.n, p.c_stride)) {}

  /// Asks for the library's answers, best first, `most` of them or fewer; sets `status`.
  std::vector<cublasLtMatmulHeuristicResult_t> answers(int most) {
    const Preference preference = preference_of(shape);
    std::vector<cublasLtMatmulHeuristicResult_t> results(static_cast<std::size_t>(most));
    int count = 0;
    status =
        cublasLtMatmulAlgoGetHeuristic(library, product.get(), b.get(), a.get(), c.get(), c.get(),
                                       preference.get(), most, results.data(), &count);
    results.resize(status == CUBLAS_STATUS_SUCCESS ? static_cast<std::size_t>(count) : 0);
    std::erase_if(results, [](const auto& it) { return it.state != CUBLAS_STATUS_SUCCESS; });
    return results;
  }

  /// Takes the algorithm of these numbers; false where it does not do this product, or adds in no
  /// fixed order.
  bool take(const GemmAlgorithm& numbers) {
    cublasLtMatmulAlgo_t algorithm{};
    bool fits = (static_cast<std::uint32_t>(numbers.reduction) & ~kInOrder) == 0 &&
                cublasLtMatmulAlgoInit(library, compute_type_of(shape), scale_type_of(shape),
                                       type_of(shape.type, shape.b_format),
                                       type_of(shape.type, shape.a_format), type_of(shape.c_type),
                                       type_of(shape.c_type), numbers.id,
                                       &algorithm) == CUBLAS_STATUS_SUCCESS;
    for (const Setting& setting : kSettings) {
      const std::int32_t value = numbers.*setting.value;
      fits = fits && (value == 0 ||
                      cublasLtMatmulAlgoConfigSetAttribute(&algorithm, setting.name, &value,
                                                           setting.bytes) == CUBLAS_STATUS_SUCCESS);
    }
    cublasLtMatmulHeuristicResult_t result{};
    if (!fits ||
        cublasLtMatmulAlgoCheck(library, product.get(), b.get(), a.get(), c.get(), c.get(),
                                &algorithm, &result) != CUBLAS_STATUS_SUCCESS ||
        result.state != CUBLAS_STATUS_SUCCESS || result.workspaceSize > kLargestWorkspace) {
      return false;
    }
    choice = result;
    choice.algo = algorithm;
    return found = true;
  }

  /// Takes what was chosen for the shape, or else the library's first answer.
  void choose() {
    const auto entry = gemm_algorithms().find(shape);
    if (entry != gemm_algorithms().end() && entry->second) {
      if (take(*entry->second)) {
        return;
      }
      log::warning(
          "the tuning file's algorithm {} does not fit a product of [{}, {}] and [{}, {}]: "
          "cuBLASLt's own choice runs",
          entry->second->id, shape.m, shape.k, shape.k, shape.n);
    }
    const auto first = answers(1);
    found = !first.empty();
    choice = found ? first[0] : choice;
  }
};

std::uint16_t alignment_of(const void* address) {
  const auto bits = std::countr_zero(reinterpret_cast<std::uintptr_t>(address) | 256);
  return static_cast<std::uint16_t>(1u << static_cast<unsigned>(bits));
}

Gemm& Gemm::kept(int device, const GemmShape& shape) {
  thread_local std::unordered_map<PlanKey, std::unique_ptr<Gemm>, PlanKeyHash> plans;
  thread_local std::uint64_t choice = 0;
  if (choice != gemm_choice() || plans.size() > kMostPlans) {
    choice = gemm_choice();
    plans.clear();
  }
  std::unique_ptr<Gemm>& plan = plans[{device, shape}];
  if (plan == nullptr) {
    plan = std::make_unique<Gemm>(device, shape);
    if (met_gemms().noting() && !PassingSizes::here() && shape.type != DType::f64 &&
        plan->plan_->found && !gemm_algorithms().contains(shape)) {
      met_gemms().add(shape);
    }
  }
  return *plan;
}

Gemm* Gemm::find(int device, const GemmShape& shape) {
  Gemm& gemm = kept(device, shape);
  return gemm.plan_->found ? &gemm : nullptr;
}

Gemm& Gemm::of(int device, const GemmShape& p) {
  Gemm& gemm = kept(device, p);
  if (!gemm.plan_->found) {
    throw_environment(
        "cuBLASLt {} has no algorithm for a product of [{}, {}] and [{}, {}] in {}: {}",
        cublasLtGetVersion(), p.m, p.k, p.k, p.n, name_of(p.type),
        cublasLtGetStatusString(gemm.plan_->status));
  }
  return gemm;
}

Gemm::Gemm(int device, const GemmShape& shape) : plan_(new Plan(device, shape)) {
  plan_->choose();
}
Gemm::~Gemm() = default;

Index Gemm::workspace_bytes() const {
  return static_cast<Index>(plan_->choice.workspaceSize);
}

void Gemm::run(device::CudaStream& stream, const Operands& operands) {
  const Plan& plan = *plan_;
  const float one = 1;
  const double one_in_double = 1, zero = 0;  // whose bytes are a float's zero, too
  const void* alpha = &one;
  if (plan.shape.type == DType::f64) {
    alpha = &one_in_double;
  }
  const void* beta = plan.shape.accumulate ? alpha : &zero;
  if (operands.bias != nullptr) {
    set(plan.product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, operands.bias);
  }
  if (plan.shape.type == DType::u8) {
    set(plan.product, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, operands.b_factor);
    set(plan.product, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, operands.a_factor);
  }
  check(cublasLtMatmul(plan.library, plan.product.get(), alpha, operands.b, plan.b.get(),
                       operands.a, plan.a.get(), beta, operands.c, plan.c.get(), operands.c,
                       plan.c.get(), &plan.choice.algo, operands.workspace,
                       plan.choice.workspaceSize, stream.handle),
        "multiplying matrices");
}

std::vector<GemmAlgorithm> Gemm::candidates(int device, const GemmShape& shape) {
  Plan plan(device, shape);
  std::vector<GemmAlgorithm> found;
  for (const cublasLtMatmulHeuristicResult_t& answer : plan.answers(kMostCandidates)) {
    const GemmAlgorithm numbers = numbers_of(answer.algo);
    if (plan.take(numbers) && std::ranges::find(found, numbers) == found.end()) {
      found.push_back(numbers);
    }
  }
  return found;
}

}  // namespace mpitron::kernels::cuda

namespace mpitron::kernels {

std::vector<GemmAlgorithm> candidates(const device::CudaStream& stream, const GemmShape& shape) {
  return cuda::Gemm::candidates(stream.device, shape);
}

Index gemm_library_version(const device::CudaStream&) {
  return static_cast<Index>(cublasLtGetVersion());
}

Index workspace_bytes(const device::CudaStream& stream, const GemmOfShape& kernel) {
  return cuda::Gemm::of(stream.device, kernel.shape).workspace_bytes();
}

void run(device::CudaStream& stream, const GemmOfShape& k) {
  cuda::Gemm::of(stream.device, k.shape)
      .run(stream, {.a = k.a.data,
                    .b = k.b.data,
                    .bias = k.bias.data,
                    .c = k.c.data,
                    .workspace = k.workspace.data,
                    .a_factor = k.factors.data == nullptr ? nullptr : k.factors.as<float>(),
                    .b_factor = k.factors.data == nullptr ? nullptr
                                                          : k.factors.as<float>() + kFactorStride});
}

}  // namespace mpitron::kernels
