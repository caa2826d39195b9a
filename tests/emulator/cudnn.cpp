// The functions of libcudnn that kernels/cuda/fused_graph.cpp calls, for the emulator: descriptors
// of the backend API, which know only the attributes that we set, a heuristic that proposes an
// engine whose sums have no order before one whose have, and plans, which evaluate the graph when
// the stream runs (operation_graph.h). What the library's manual does not allow is refused with
// its status; work that meets memory which is not the GPU's ends the program.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <cudnn_graph.h>

#include "emulator/device_memory.h"
#include "emulator/emulated_stream.h"
#include "emulator/failure.h"
#include "emulator/operation_graph.h"

struct cudnnContext {
  cudaStream_t stream = nullptr;
};

namespace mpitron::emulator {
namespace {

/// Workspace that each plan asks for, and fills with NaN: nobody else may use it meanwhile.
constexpr std::int64_t kWorkspace = 4096;
constexpr std::int64_t kMany = 1 << 20;

struct Rule {
  cudnnBackendDescriptorType_t descriptor;
  cudnnBackendAttributeName_t name;
  cudnnBackendAttributeType_t type;
  std::int64_t most;
  bool required;
};

constexpr Rule kRules[] = {
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, true},
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, true},
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, true},
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, true},
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, true},
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, false},
    {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, false},
    {CUDNN_BACKEND_POINTWISE_DESCRIPTOR, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1,
     true},
    {CUDNN_BACKEND_POINTWISE_DESCRIPTOR, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1,
     true},
    {CUDNN_BACKEND_POINTWISE_DESCRIPTOR, CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, 1, false},
    {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
     CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true},
    {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
     CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true},
    {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
     CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, false},
    {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, CUDNN_ATTR_OPERATION_POINTWISE_TDESC,
     CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, false},
    {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, CUDNN_ATTR_OPERATION_POINTWISE_YDESC,
     CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true},
    {CUDNN_BACKEND_REDUCTION_DESCRIPTOR, CUDNN_ATTR_REDUCTION_OPERATOR,
     CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, true},
    {CUDNN_BACKEND_REDUCTION_DESCRIPTOR, CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1,
     true},
    {CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, CUDNN_ATTR_OPERATION_REDUCTION_DESC,
     CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true},
    {CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, CUDNN_ATTR_OPERATION_REDUCTION_XDESC,
     CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true},
    {CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, CUDNN_ATTR_OPERATION_REDUCTION_YDESC,
     CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true},
    {CUDNN_BACKEND_MATMUL_DESCRIPTOR, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, true},
    {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, CUDNN_ATTR_OPERATION_MATMUL_DESC,
     CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true},
    {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, CUDNN_ATTR_OPERATION_MATMUL_ADESC,
     CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true},
    {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, CUDNN_ATTR_OPERATION_MATMUL_BDESC,
     CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true},
    {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, CUDNN_ATTR_OPERATION_MATMUL_CDESC,
     CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true},
    {CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR, CUDNN_ATTR_OPERATION_RESHAPE_XDESC,
     CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true},
    {CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR, CUDNN_ATTR_OPERATION_RESHAPE_YDESC,
     CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true},
    {CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE,
     1, true},
    {CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, CUDNN_ATTR_OPERATIONGRAPH_OPS,
     CUDNN_TYPE_BACKEND_DESCRIPTOR, kMany, true},
    {CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
     CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true},
    {CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1,
     true},
    {CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE,
     1, true},
    {CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
     CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true},
    {CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64,
     kMany, true},
    {CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
     CUDNN_TYPE_VOID_PTR, kMany, true},
    {CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR,
     1, false},
};

struct Descriptor {
  explicit Descriptor(cudnnBackendDescriptorType_t type_) : type(type_) {}

  cudnnBackendDescriptorType_t type;
  bool finalized = false;
  std::map<cudnnBackendAttributeName_t, std::string> attributes;  // bytes
  // What a finalized one stands for.
  GraphTensor tensor;
  GraphOperation operation;
  std::vector<GraphOperation> graph;
  bool ordered = false;  // an engine's sums

  template <class T>
  std::vector<T> all(cudnnBackendAttributeName_t name) const {
    const auto at = attributes.find(name);
    std::vector<T> values(at == attributes.end() ? 0 : at->second.size() / sizeof(T));
    if (!values.empty()) {
      std::memcpy(values.data(), at->second.data(), at->second.size());
    }
    return values;
  }
  template <class T>
  T one(cudnnBackendAttributeName_t name, T otherwise = {}) const {
    if (const auto at = attributes.find(name); at != attributes.end()) {
      std::memcpy(&otherwise, at->second.data(), sizeof(T));
    }
    return otherwise;
  }
  const Descriptor& other(cudnnBackendAttributeName_t name) const {
    return *one<const Descriptor*>(name);
  }
};

/// The descriptors in use.
std::mutex mutex;
std::set<const void*> alive;

Descriptor& unwrap(cudnnBackendDescriptor_t it) {
  const std::lock_guard lock(mutex);
  if (!alive.contains(it)) {
    fail("cuDNN: a descriptor is used that was never made, or is destroyed");
  }
  return *static_cast<Descriptor*>(it);
}

std::size_t size_of(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_BOOLEAN:
      return sizeof(bool);
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
      return 8;
    default:
      return sizeof(cudnnDataType_t);
  }
}

// --- finalizing ---------------------------------------------------------------------------------

cudnnStatus_t finalize_tensor(Descriptor& d) {
  GraphTensor& tensor = d.tensor;
  const auto sizes = d.all<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  const auto strides = d.all<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
  if (sizes.size() != 4 || strides.size() != 4 || std::ranges::min(sizes) < 1 ||
      std::ranges::min(strides) < 1) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  std::ranges::copy(sizes, tensor.sizes.begin());
  std::ranges::copy(strides, tensor.strides.begin());
  tensor.id = d.one<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID);
  tensor.type = d.one<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE);
  tensor.alignment = d.one<std::int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
  tensor.is_virtual = d.one<bool>(CUDNN_ATTR_TENSOR_IS_VIRTUAL);
  tensor.is_number = d.one<bool>(CUDNN_ATTR_TENSOR_IS_BY_VALUE);
  const bool fits =
      !(tensor.is_virtual && tensor.is_number) && (!tensor.is_number || tensor.elements() == 1);
  return fits ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

/// The tensors that these attributes name, as far as they are set.
std::vector<GraphTensor> tensors_of(const Descriptor& d,
                                    std::initializer_list<cudnnBackendAttributeName_t> names) {
  std::vector<GraphTensor> tensors;
  for (const cudnnBackendAttributeName_t name : names) {
    if (d.attributes.contains(name)) {
      tensors.push_back(d.other(name).tensor);
    }
  }
  return tensors;
}

cudnnStatus_t finalize_pointwise(Descriptor& d) {
  const Descriptor& mode = d.other(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
  d.operation = {.kind = GraphOperation::Kind::pointwise,
                 .mode = mode.one<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE),
                 .axis = mode.one<std::int64_t>(CUDNN_ATTR_POINTWISE_AXIS, -1),
                 .precision = mode.one<cudnnDataType_t>(CUDNN_ATTR_POINTWISE_MATH_PREC),
                 .inputs = tensors_of(
                     d, {CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
                         CUDNN_ATTR_OPERATION_POINTWISE_TDESC}),
                 .output = d.other(CUDNN_ATTR_OPERATION_POINTWISE_YDESC).tensor};
  return status_of(d.operation);
}

cudnnStatus_t finalize_reduction(Descriptor& d) {
  const Descriptor& mode = d.other(CUDNN_ATTR_OPERATION_REDUCTION_DESC);
  d.operation = {.kind = GraphOperation::Kind::reduction,
                 .reduction = mode.one<cudnnReduceTensorOp_t>(CUDNN_ATTR_REDUCTION_OPERATOR),
                 .precision = mode.one<cudnnDataType_t>(CUDNN_ATTR_REDUCTION_COMP_TYPE),
                 .inputs = tensors_of(d, {CUDNN_ATTR_OPERATION_REDUCTION_XDESC}),
                 .output = d.other(CUDNN_ATTR_OPERATION_REDUCTION_YDESC).tensor};
  return status_of(d.operation);
}

cudnnStatus_t finalize_product(Descriptor& d) {
  const Descriptor& mode = d.other(CUDNN_ATTR_OPERATION_MATMUL_DESC);
  d.operation = {.kind = GraphOperation::Kind::product,
                 .precision = mode.one<cudnnDataType_t>(CUDNN_ATTR_MATMUL_COMP_TYPE),
                 .inputs = tensors_of(
                     d, {CUDNN_ATTR_OPERATION_MATMUL_ADESC, CUDNN_ATTR_OPERATION_MATMUL_BDESC}),
                 .output = d.other(CUDNN_ATTR_OPERATION_MATMUL_CDESC).tensor};
  return status_of(d.operation);
}

cudnnStatus_t finalize_reshape(Descriptor& d) {
  d.operation = {.kind = GraphOperation::Kind::reshape,
                 .inputs = tensors_of(d, {CUDNN_ATTR_OPERATION_RESHAPE_XDESC}),
                 .output = d.other(CUDNN_ATTR_OPERATION_RESHAPE_YDESC).tensor};
  return status_of(d.operation);
}

cudnnStatus_t finalize_graph(Descriptor& d) {
  for (const auto* operation : d.all<const Descriptor*>(CUDNN_ATTR_OPERATIONGRAPH_OPS)) {
    d.graph.push_back(operation->operation);
  }
  return status_of(d.graph);
}

cudnnStatus_t finalize_pack(const Descriptor& d) {
  auto ids = d.all<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  if (ids.size() != d.all<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS).size()) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  std::ranges::sort(ids);
  return std::ranges::adjacent_find(ids) == ids.end() ? CUDNN_STATUS_SUCCESS
                                                      : CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES;
}

cudnnStatus_t finalize(Descriptor& d) {
  switch (d.type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
      return finalize_tensor(d);
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
      return finalize_pointwise(d);
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
      return finalize_reduction(d);
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
      return finalize_product(d);
    case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
      return finalize_reshape(d);
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
      return finalize_graph(d);
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
      return finalize_pack(d);
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
      d.graph = d.other(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH).graph;
      return CUDNN_STATUS_SUCCESS;
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR: {
      const Descriptor& engine = d.other(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
      d.graph = engine.graph;
      d.ordered = engine.ordered;
      return CUDNN_STATUS_SUCCESS;
    }
    default:
      return CUDNN_STATUS_SUCCESS;
  }
}

// --- what a finalized descriptor tells ----------------------------------------------------------

/// The proposals, into descriptors that the caller has made.
cudnnStatus_t tell_proposals(const Descriptor& heuristic, std::int64_t wanted, std::int64_t* count,
                             void* values) {
  constexpr bool kOrdered[] = {false, true};
  const auto mode = heuristic.one<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE);
  *count = mode == CUDNN_HEUR_MODE_A ? std::ssize(kOrdered) : 0;
  for (std::int64_t i = 0; i < std::min(wanted, *count); ++i) {
    Descriptor& to = unwrap(static_cast<cudnnBackendDescriptor_t*>(values)[i]);
    if (to.type != CUDNN_BACKEND_ENGINECFG_DESCRIPTOR) {
      return CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE;
    }
    to.graph = heuristic.graph;
    to.ordered = kOrdered[i];
    to.finalized = true;
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t tell_engine(const Descriptor& proposal, void* values) {
  Descriptor& to = unwrap(*static_cast<cudnnBackendDescriptor_t*>(values));
  if (to.type != CUDNN_BACKEND_ENGINE_DESCRIPTOR) {
    return CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE;
  }
  to.ordered = proposal.ordered;
  to.finalized = true;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t tell_notes(const Descriptor& engine, std::int64_t* count, void* values) {
  auto* notes = static_cast<cudnnBackendNumericalNote_t*>(values);
  *count = 0;
  notes[(*count)++] = CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
  if (!engine.ordered) {
    notes[(*count)++] = CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC;
  }
  return CUDNN_STATUS_SUCCESS;
}

// --- running ------------------------------------------------------------------------------------

struct Run {
  std::vector<GraphOperation> graph;
  std::map<std::int64_t, void*> data;
  std::map<std::int64_t, float> numbers;
  void* workspace;

  /// Takes what the pack says of a tensor; numbers are read now.
  cudnnStatus_t add(const GraphTensor& tensor, const std::map<std::int64_t, void*>& pack) {
    const auto at = pack.find(tensor.id);
    if (tensor.is_virtual) {
      return at == pack.end() ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
    }
    if (at == pack.end() || at->second == nullptr) {
      return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
    }
    if (tensor.is_number) {
      std::int32_t bits = 0;
      std::memcpy(&bits, at->second, sizeof(bits));
      numbers[tensor.id] =
          tensor.type == CUDNN_DATA_INT32 ? static_cast<float>(bits) : std::bit_cast<float>(bits);
      return CUDNN_STATUS_SUCCESS;
    }
    data[tensor.id] = at->second;
    return reinterpret_cast<std::uintptr_t>(at->second) %
                       static_cast<std::uintptr_t>(tensor.alignment) ==
                   0
               ? CUDNN_STATUS_SUCCESS
               : CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER;
  }

  void operator()() const {
    if (!inside_one_block(workspace, kWorkspace)) {
      fail("cuDNN: the workspace is not memory of a GPU that is in use");
    }
    std::memset(workspace, 0xff, kWorkspace);
    evaluate(graph, data, numbers);
  }
};

}  // namespace
}  // namespace mpitron::emulator

using namespace mpitron::emulator;  // NOLINT: the functions below are the library's

std::size_t cudnnGetVersion() {
  const char* const version = std::getenv("MPITRON_EMULATED_CUDNN");
  return version == nullptr ? CUDNN_VERSION : std::strtoul(version, nullptr, 10);
}

const char* cudnnGetErrorString(cudnnStatus_t status) {
  return status == CUDNN_STATUS_SUCCESS ? "CUDNN_STATUS_SUCCESS" : "refused by the emulator";
}

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  *handle = new cudnnContext;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t* descriptor) {
  *descriptor = new Descriptor(type);
  const std::lock_guard lock(mutex);
  alive.insert(*descriptor);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  Descriptor* const it = &unwrap(descriptor);
  {
    const std::lock_guard lock(mutex);
    alive.erase(descriptor);
  }
  delete it;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t count,
                                       const void* values) {
  Descriptor& d = unwrap(descriptor);
  const auto* const rule = std::ranges::find_if(
      kRules, [&](const Rule& r) { return r.descriptor == d.type && r.name == name; });
  if (rule == std::end(kRules) || d.finalized || count < 1 || count > rule->most) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (rule->type != type) {
    return CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE;
  }
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    const auto* const others = static_cast<const cudnnBackendDescriptor_t*>(values);
    if (!std::all_of(others, others + count,
                     [](cudnnBackendDescriptor_t it) { return unwrap(it).finalized; })) {
      return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
    }
  }
  d.attributes[name].assign(static_cast<const char*>(values),
                            static_cast<std::size_t>(count) * size_of(type));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  Descriptor& d = unwrap(descriptor);
  for (const Rule& rule : kRules) {
    if (rule.descriptor == d.type && rule.required && !d.attributes.contains(rule.name)) {
      return CUDNN_STATUS_BAD_PARAM;
    }
  }
  const cudnnStatus_t status = finalize(d);
  d.finalized = status == CUDNN_STATUS_SUCCESS;
  return status;
}

cudnnStatus_t cudnnBackendGetAttribute(const cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t, std::int64_t wanted,
                                       std::int64_t* count, void* values) {
  const Descriptor& d = unwrap(descriptor);
  if (!d.finalized) {
    return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
  }
  switch (name) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS:
      return tell_proposals(d, wanted, count, values);
    case CUDNN_ATTR_ENGINECFG_ENGINE:
      return tell_engine(d, values);
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
      return tell_notes(d, count, values);
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
      std::memcpy(values, &kWorkspace, sizeof(kWorkspace));
      return CUDNN_STATUS_SUCCESS;
    default:
      return CUDNN_STATUS_BAD_PARAM;
  }
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
  const Descriptor &p = unwrap(plan), &named = unwrap(pack);
  if (!p.finalized || !named.finalized) {
    return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
  }
  if (!p.ordered) {
    fail("cuDNN: an engine runs whose results differ from run to run");
  }
  const auto ids = named.all<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto places = named.all<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  std::map<std::int64_t, void*> given;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    given[ids[i]] = places[i];
  }
  Run run{p.graph, {}, {}, named.one<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE)};
  for (const GraphOperation& operation : p.graph) {
    std::vector<GraphTensor> tensors = operation.inputs;
    tensors.push_back(operation.output);
    for (const GraphTensor& tensor : tensors) {
      if (const cudnnStatus_t status = run.add(tensor, given); status != CUDNN_STATUS_SUCCESS) {
        return status;
      }
    }
  }
  if (run.data.size() + run.numbers.size() != given.size()) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  const cudaError_t queued = enqueue(handle->stream, "cudnnBackendExecute", [run] {
    run();
    return true;
  });
  return queued == cudaSuccess ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}
