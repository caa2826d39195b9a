#include "kernels/cuda/gemm.h"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <string_view>
#include <type_traits>
#include <unordered_map>

#include <cublasLt.h>

#include "device/cuda/cuda_device.h"
#include "utils/error.h"
#include "utils/hash.h"

namespace mpitron::kernels::cuda {
namespace {

constexpr std::uint64_t kLargestWorkspace = 32 << 20;
/// Products of experts have a new number of rows each time: their plans must not pile up.
constexpr std::size_t kMostPlans = 4096;

void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw_environment("cuBLASLt: {}: {} ({})", what, cublasLtGetStatusString(status),
                      cublasLtGetStatusName(status));
  }
}

/// The library's state on a GPU: made once, never destroyed, because static objects may outlive the
/// CUDA runtime.
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
  switch (epilogue) {
    case Epilogue::bias:
      return CUBLASLT_EPILOGUE_BIAS;
    case Epilogue::gelu_tanh:
      return CUBLASLT_EPILOGUE_GELU;
    case Epilogue::bias_gelu_tanh:
      return CUBLASLT_EPILOGUE_GELU_BIAS;
    case Epilogue::none:
      break;
  }
  return CUBLASLT_EPILOGUE_DEFAULT;
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

/// cuBLASLt counts by columns: a row-major [rows, columns] is its [columns, rows].
Layout layout_of(cudaDataType_t type, Index rows, Index columns, Index stride) {
  cublasLtMatrixLayout_t layout = nullptr;
  check(cublasLtMatrixLayoutCreate(&layout, type, static_cast<std::uint64_t>(columns),
                                   static_cast<std::uint64_t>(rows), std::max(stride, columns)),
        "describing a matrix");
  return Layout(layout);
}

/// c^T = op(b)^T op(a)^T: b is the library's first factor.
Description describe(const GemmProblem& p) {
  const bool in_double = p.type == DType::f64;
  cublasLtMatmulDesc_t created = nullptr;
  check(cublasLtMatmulDescCreate(&created, in_double ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F,
                                 in_double ? CUDA_R_64F : CUDA_R_32F),
        "describing a product");
  Description description(created);
  set(description, CUBLASLT_MATMUL_DESC_TRANSA, p.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(description, CUBLASLT_MATMUL_DESC_TRANSB, p.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(description, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(p.epilogue));
  return description;
}

Preference preference_of(const GemmProblem& p) {
  cublasLtMatmulPreference_t created = nullptr;
  check(cublasLtMatmulPreferenceCreate(&created), "choosing an algorithm");
  Preference preference(created);
  constexpr std::uint32_t kInOrder =
      CUBLASLT_REDUCTION_SCHEME_NONE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kLargestWorkspace);
  set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, kInOrder);
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, std::uint32_t{p.b_alignment});
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, std::uint32_t{p.a_alignment});
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, std::uint32_t{p.c_alignment});
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, std::uint32_t{p.c_alignment});
  return preference;
}

struct ProblemHash {
  std::size_t operator()(const GemmProblem& problem) const {
    static_assert(std::has_unique_object_representations_v<GemmProblem>);
    return hash64({reinterpret_cast<const char*>(&problem), sizeof(problem)});
  }
};

}  // namespace

struct Gemm::Plan {
  GemmProblem problem;
  cublasLtHandle_t library;
  Description product;
  Layout a, b, c;
  cublasLtMatmulHeuristicResult_t choice{};
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  bool found = false;

  explicit Plan(const GemmProblem& p)
      : problem(p),
        library(handle_of(p.device)),
        product(describe(p)),
        a(p.transpose_a ? layout_of(type_of(p.type, p.a_format), p.k, p.m, p.a_stride)
                        : layout_of(type_of(p.type, p.a_format), p.m, p.k, p.a_stride)),
        b(p.transpose_b ? layout_of(type_of(p.type, p.b_format), p.n, p.k, p.b_stride)
                        : layout_of(type_of(p.type, p.b_format), p.k, p.n, p.b_stride)),
        c(layout_of(type_of(p.c_type), p.m, p.n, p.c_stride)) {
    const Preference preference = preference_of(p);
    int count = 0;
    status = cublasLtMatmulAlgoGetHeuristic(library, product.get(), b.get(), a.get(), c.get(),
                                            c.get(), preference.get(), 1, &choice, &count);
    found = status == CUBLAS_STATUS_SUCCESS && count > 0;
  }
};

std::uint16_t alignment_of(const void* address) {
  const auto bits = std::countr_zero(reinterpret_cast<std::uintptr_t>(address) | 256);
  return static_cast<std::uint16_t>(1u << static_cast<unsigned>(bits));
}

Gemm& Gemm::kept(const GemmProblem& problem) {
  thread_local std::unordered_map<GemmProblem, std::unique_ptr<Gemm>, ProblemHash> plans;
  if (plans.size() > kMostPlans) {
    plans.clear();
  }
  std::unique_ptr<Gemm>& plan = plans[problem];
  if (plan == nullptr) {
    plan = std::make_unique<Gemm>(problem);
  }
  return *plan;
}

Gemm* Gemm::find(const GemmProblem& problem) {
  Gemm& gemm = kept(problem);
  return gemm.plan_->found ? &gemm : nullptr;
}

Gemm& Gemm::of(const GemmProblem& p) {
  Gemm& gemm = kept(p);
  if (!gemm.plan_->found) {
    throw_environment(
        "cuBLASLt {} has no algorithm for a product of [{}, {}] and [{}, {}] in {}: {}",
        cublasLtGetVersion(), p.m, p.k, p.k, p.n, name_of(p.type),
        cublasLtGetStatusString(gemm.plan_->status));
  }
  return gemm;
}

Gemm::Gemm(const GemmProblem& problem) : plan_(new Plan(problem)) {}
Gemm::~Gemm() = default;

Index Gemm::workspace_bytes() const {
  return static_cast<Index>(plan_->choice.workspaceSize);
}

void Gemm::run(device::CudaStream& stream, const Operands& operands) {
  const Plan& plan = *plan_;
  const float one = 1;
  const double one_in_double = 1, zero = 0;  // whose bytes are a float's zero, too
  const void* alpha = &one;
  if (plan.problem.type == DType::f64) {
    alpha = &one_in_double;
  }
  const void* beta = plan.problem.accumulate ? alpha : &zero;
  if (operands.bias != nullptr) {
    set(plan.product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, operands.bias);
  }
  if (plan.problem.type == DType::u8) {
    set(plan.product, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, operands.b_factor);
    set(plan.product, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, operands.a_factor);
  }
  check(cublasLtMatmul(plan.library, plan.product.get(), alpha, operands.b, plan.b.get(),
                       operands.a, plan.a.get(), beta, operands.c, plan.c.get(), operands.c,
                       plan.c.get(), &plan.choice.algo, operands.workspace,
                       plan.choice.workspaceSize, stream.handle),
        "multiplying matrices");
}

}  // namespace mpitron::kernels::cuda
