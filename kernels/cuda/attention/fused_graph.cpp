// Adapts cuDNN's backend API: tensors, operations, graphs, plans. Only engines that repeat their
// bits are taken. Every object is a descriptor with attributes, which `set` fills by name.
#include "kernels/cuda/attention/fused_graph.h"

#include <algorithm>
#include <bit>
#include <map>
#include <vector>

#include <cudnn_graph.h>
#include <fmt/format.h>

#include "utils/error.h"

namespace mpitron::kernels::cuda {
namespace {

using Refused = FusedGraph::Refused;
using Tensor = FusedGraph::Tensor;

constexpr Index kAlignment = 16;

void check(cudnnStatus_t status, const char* what) {
  if (status != CUDNN_STATUS_SUCCESS) {
    throw Refused(
        fmt::format("cuDNN {}: {}: {}", cudnnGetVersion(), what, cudnnGetErrorString(status)));
  }
}

struct Destroy {
  void operator()(cudnnBackendDescriptor_t it) const { cudnnBackendDestroyDescriptor(it); }
};
using Descriptor = std::unique_ptr<void, Destroy>;

Descriptor make(cudnnBackendDescriptorType_t type) {
  cudnnBackendDescriptor_t created = nullptr;
  check(cudnnBackendCreateDescriptor(type, &created), "making a descriptor");
  return Descriptor(created);
}

template <class T>
void set(const Descriptor& to, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
         std::span<const T> values) {
  check(cudnnBackendSetAttribute(to.get(), name, type, std::ssize(values), values.data()),
        "describing an attention");
}
template <class T>
void set(const Descriptor& to, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
         const T& value) {
  set(to, name, type, std::span<const T>(&value, 1));
}
void set(const Descriptor& to, cudnnBackendAttributeName_t name, const Descriptor& value) {
  set(to, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, value.get());
}

void finish(const Descriptor& it, const char* what) {
  check(cudnnBackendFinalize(it.get()), what);
}

cudnnDataType_t type_of(DType type) {
  switch (type) {
    case DType::f32:
      return CUDNN_DATA_FLOAT;
    case DType::bf16:
      return CUDNN_DATA_BFLOAT16;
    case DType::f16:
      return CUDNN_DATA_HALF;
    case DType::i32:
      return CUDNN_DATA_INT32;
    case DType::u8:
      return CUDNN_DATA_BOOLEAN;
    default:
      detail::check_failed("fp32, bf16, fp16, i32 or truth values", __FILE__, __LINE__,
                           name_of(type));
  }
}

cudnnPointwiseMode_t mode_of(FusedGraph::Map f) {
  constexpr cudnnPointwiseMode_t kModes[] = {
      CUDNN_POINTWISE_ADD,    CUDNN_POINTWISE_SUB,    CUDNN_POINTWISE_MUL,
      CUDNN_POINTWISE_DIV,    CUDNN_POINTWISE_EXP,    CUDNN_POINTWISE_LOG,
      CUDNN_POINTWISE_CMP_GT, CUDNN_POINTWISE_CMP_GE, CUDNN_POINTWISE_BINARY_SELECT};
  return kModes[static_cast<int>(f)];
}

/// The library's state for this thread on a GPU: made once, never destroyed, because static objects
/// may outlive the CUDA runtime.
cudnnHandle_t handle_of(int device) {
  thread_local auto& handles = *new std::map<int, cudnnHandle_t>;
  cudnnHandle_t& handle = handles[device];
  if (handle == nullptr) {
    check(cudnnCreate(&handle), "starting the library");
  }
  return handle;
}

struct Number {
  Tensor tensor;
  std::int32_t bits;
};

}  // namespace

struct FusedGraph::State {
  std::vector<Descriptor> tensors, modes, operations;
  std::vector<Tensor> in_memory;
  std::vector<Number> numbers;

  /// Adds a tensor and gives it the number by which it is named at run time.
  Tensor add(DType type, const Layout& layout, cudnnBackendAttributeName_t kind, bool is_kind) {
    Descriptor tensor = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    const auto id = static_cast<Index>(tensors.size() + 1);
    set(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, id);
    set(tensor, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type_of(type));
    set<Index>(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, layout.sizes);
    set<Index>(tensor, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, layout.strides);
    set(tensor, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, kAlignment);
    set(tensor, kind, CUDNN_TYPE_BOOLEAN, is_kind);
    finish(tensor, "describing a tensor");
    tensors.push_back(std::move(tensor));
    return Tensor{id};
  }
  Tensor add_number(DType type, std::int32_t bits) {
    constexpr Extents kOne = {1, 1, 1, 1};
    const Tensor tensor = add(type, {kOne, kOne}, CUDNN_ATTR_TENSOR_IS_BY_VALUE, true);
    numbers.push_back({tensor, bits});
    return tensor;
  }
  const Descriptor& operator[](Tensor tensor) const {
    return tensors[static_cast<std::size_t>(tensor) - 1];
  }
  void add_operation(Descriptor operation) {
    finish(operation, "describing an operation");
    operations.push_back(std::move(operation));
  }
  const Descriptor& add_mode(Descriptor mode) {
    finish(mode, "describing an operation");
    return modes.emplace_back(std::move(mode));
  }
};

FusedGraph::FusedGraph() : state_(new State) {}
FusedGraph::FusedGraph(FusedGraph&&) noexcept = default;
FusedGraph::~FusedGraph() = default;

Tensor FusedGraph::in_memory(DType type, const Layout& layout) {
  const Tensor tensor = state_->add(type, layout, CUDNN_ATTR_TENSOR_IS_VIRTUAL, false);
  state_->in_memory.push_back(tensor);
  return tensor;
}

Tensor FusedGraph::between(DType type, const Layout& layout) {
  return state_->add(type, layout, CUDNN_ATTR_TENSOR_IS_VIRTUAL, true);
}

Tensor FusedGraph::number(float value) {
  return state_->add_number(DType::f32, std::bit_cast<std::int32_t>(value));
}
Tensor FusedGraph::number(std::int32_t value) {
  return state_->add_number(DType::i32, value);
}

/// Adds an elementwise operation of one to three inputs.
void FusedGraph::map(Map f, std::initializer_list<Tensor> inputs, Tensor to, DType precision) {
  constexpr cudnnBackendAttributeName_t kInputs[] = {CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
                                                     CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
                                                     CUDNN_ATTR_OPERATION_POINTWISE_TDESC};
  Descriptor mode = make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  set(mode, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode_of(f));
  set(mode, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, type_of(precision));
  Descriptor operation = make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  set(operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, state_->add_mode(std::move(mode)));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    set(operation, kInputs[i], (*state_)[inputs.begin()[i]]);
  }
  set(operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, (*state_)[to]);
  state_->add_operation(std::move(operation));
}

/// Adds a sum or maximum over the dimensions in which `to` has one element where x has several.
void FusedGraph::reduce(Reduction f, Tensor x, Tensor to) {
  Descriptor mode = make(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  set(mode, CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE,
      f == Reduction::sum ? CUDNN_REDUCE_TENSOR_ADD : CUDNN_REDUCE_TENSOR_MAX);
  set(mode, CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
  Descriptor operation = make(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
  set(operation, CUDNN_ATTR_OPERATION_REDUCTION_DESC, state_->add_mode(std::move(mode)));
  set(operation, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, (*state_)[x]);
  set(operation, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, (*state_)[to]);
  state_->add_operation(std::move(operation));
}

/// Adds the index along an axis, by which causal masks are made within the graph.
void FusedGraph::index(int axis, Tensor like, Tensor to) {
  Descriptor mode = make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  set(mode, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, CUDNN_POINTWISE_GEN_INDEX);
  set(mode, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
  set(mode, CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, Index{axis});
  Descriptor operation = make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  set(operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, state_->add_mode(std::move(mode)));
  set(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, (*state_)[like]);
  set(operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, (*state_)[to]);
  state_->add_operation(std::move(operation));
}

/// Adds a product with fp32 sums.
void FusedGraph::product(Tensor a, Tensor b, Tensor to) {
  Descriptor mode = make(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  set(mode, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
  Descriptor operation = make(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  set(operation, CUDNN_ATTR_OPERATION_MATMUL_ADESC, (*state_)[a]);
  set(operation, CUDNN_ATTR_OPERATION_MATMUL_BDESC, (*state_)[b]);
  set(operation, CUDNN_ATTR_OPERATION_MATMUL_CDESC, (*state_)[to]);
  set(operation, CUDNN_ATTR_OPERATION_MATMUL_DESC, state_->add_mode(std::move(mode)));
  state_->add_operation(std::move(operation));
}

void FusedGraph::reshape(Tensor x, Tensor to) {
  Descriptor operation = make(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
  set(operation, CUDNN_ATTR_OPERATION_RESHAPE_XDESC, (*state_)[x]);
  set(operation, CUDNN_ATTR_OPERATION_RESHAPE_YDESC, (*state_)[to]);
  state_->add_operation(std::move(operation));
}

// --- plans --------------------------------------------------------------------------------------

namespace {

Descriptor operation_graph(cudnnHandle_t handle, const std::vector<Descriptor>& operations) {
  std::vector<cudnnBackendDescriptor_t> all;
  for (const Descriptor& operation : operations) {
    all.push_back(operation.get());
  }
  Descriptor graph = make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  set(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle);
  set<cudnnBackendDescriptor_t>(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                all);
  finish(graph, "describing an attention");
  return graph;
}

/// What cuDNN proposes for the graph, best first.
std::vector<Descriptor> proposals(const Descriptor& graph, cudnnBackendHeurMode_t mode) {
  Descriptor heuristic = make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  set(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  set(heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
  finish(heuristic, "no engine for this attention");
  Index count = 0;
  check(cudnnBackendGetAttribute(heuristic.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                 CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr),
        "counting engines");
  std::vector<Descriptor> found;
  std::vector<cudnnBackendDescriptor_t> results;
  for (Index i = 0; i < count; ++i) {
    results.push_back(found.emplace_back(make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)).get());
  }
  check(cudnnBackendGetAttribute(heuristic.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                 CUDNN_TYPE_BACKEND_DESCRIPTOR, count, &count, results.data()),
        "listing engines");
  found.resize(static_cast<std::size_t>(count));
  return found;
}

/// Whether the engine of a proposal gives the same bits in every run.
bool is_deterministic(const Descriptor& proposal) {
  const Descriptor engine = make(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t place = engine.get();
  Index count = 0;
  check(cudnnBackendGetAttribute(proposal.get(), CUDNN_ATTR_ENGINECFG_ENGINE,
                                 CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &place),
        "asking for an engine");
  cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
  check(cudnnBackendGetAttribute(engine.get(), CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                 CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count,
                                 notes),
        "asking for an engine's notes");
  return std::find(notes, notes + count, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC) == notes + count;
}

Index workspace_of(const Descriptor& plan) {
  Index bytes = 0, count = 0;
  check(cudnnBackendGetAttribute(plan.get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                 CUDNN_TYPE_INT64, 1, &count, &bytes),
        "asking for a plan's workspace");
  return bytes;
}

/// The plan of a proposal; null where the engine cannot run here.
Descriptor plan_of(cudnnHandle_t handle, const Descriptor& proposal) {
  Descriptor plan = make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  set(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, handle);
  set(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, proposal);
  return cudnnBackendFinalize(plan.get()) == CUDNN_STATUS_SUCCESS ? std::move(plan) : nullptr;
}

}  // namespace

struct FusedPlan::State {
  std::unique_ptr<FusedGraph::State> graph;
  cudnnHandle_t handle;
  Descriptor plan;
  Index workspace = 0;
};

/// Asks the heuristic for engines, best first, and takes the first that repeats its bits and fits
/// the workspace. Error(environment) where none does.
FusedPlan::FusedPlan(FusedGraph graph, int device, Index largest_workspace)
    : state_(new State{std::move(graph.state_), handle_of(device), nullptr}) {
  const Descriptor operations = operation_graph(state_->handle, state_->graph->operations);
  for (const auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    for (const Descriptor& proposal : proposals(operations, mode)) {
      if (!is_deterministic(proposal)) {
        continue;
      }
      Descriptor plan = plan_of(state_->handle, proposal);
      if (plan != nullptr && workspace_of(plan) <= largest_workspace) {
        state_->workspace = workspace_of(plan);
        state_->plan = std::move(plan);
        return;
      }
    }
  }
  throw Refused(fmt::format("cuDNN {} has no deterministic engine for it with at most {} MiB",
                            cudnnGetVersion(), largest_workspace >> 20));
}

FusedPlan::~FusedPlan() = default;

Index FusedPlan::workspace_bytes() const {
  return state_->workspace;
}

/// Runs the plan; pointers are in the order in which the graph's tensors in memory were made.
void FusedPlan::run(device::CudaStream& stream, std::span<const void* const> data,
                    void* workspace) try {
  const FusedGraph::State& graph = *state_->graph;
  MPITRON_CHECK(data.size() == graph.in_memory.size(), data.size(), graph.in_memory.size());
  std::vector<Index> tensors;
  std::vector<const void*> places(data.begin(), data.end());
  for (const Tensor tensor : graph.in_memory) {
    tensors.push_back(static_cast<Index>(tensor));
  }
  for (const Number& number : graph.numbers) {
    tensors.push_back(static_cast<Index>(number.tensor));
    places.push_back(&number.bits);
  }
  const Descriptor pack = make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  set<Index>(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, tensors);
  set<const void*>(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, places);
  set(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, workspace);
  finish(pack, "naming the tensors");
  check(cudnnSetStream(state_->handle, stream.handle), "choosing the stream");
  check(cudnnBackendExecute(state_->handle, state_->plan.get(), pack.get()), "running attention");
} catch (const Refused& refused) {
  throw_environment("{}", refused.what());
}

Index cudnn_version() {
  return static_cast<Index>(cudnnGetVersion());
}

}  // namespace mpitron::kernels::cuda
