// Checks attributes against a table of (descriptor, name, type, most values, required). What the
// table does not list is refused, so a new attribute in fused_graph.cpp needs its row here.
#include "emulator/cudnn/cudnn_descriptor.h"

#include <algorithm>
#include <mutex>
#include <set>

#include "emulator/device/failure.h"

namespace mpitron::emulator {
namespace {

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

/// Descriptors in use: a handle that was destroyed is told apart from one that lives.
std::mutex mutex;
std::set<const void*> alive;

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

/// Returns the tensors that these attributes name, as far as they are set.
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

/// Checks that ids and pointers of a pack are as many, and no id occurs twice.
cudnnStatus_t finalize_pack(const Descriptor& d) {
  auto ids = d.all<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  if (ids.size() != d.all<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS).size()) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  std::ranges::sort(ids);
  return std::ranges::adjacent_find(ids) == ids.end() ? CUDNN_STATUS_SUCCESS
                                                      : CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES;
}

cudnnStatus_t finalize_by_type(Descriptor& d) {
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

}  // namespace

cudnnBackendDescriptor_t make_descriptor(cudnnBackendDescriptorType_t type) {
  auto* const made = new Descriptor(type);
  const std::lock_guard lock(mutex);
  alive.insert(made);
  return made;
}

void destroy(cudnnBackendDescriptor_t descriptor) {
  Descriptor* const it = &unwrap(descriptor);
  {
    const std::lock_guard lock(mutex);
    alive.erase(descriptor);
  }
  delete it;
}

Descriptor& unwrap(cudnnBackendDescriptor_t it) {
  const std::lock_guard lock(mutex);
  if (!alive.contains(it)) {
    fail("cuDNN: a descriptor is used that was never made, or is destroyed");
  }
  return *static_cast<Descriptor*>(it);
}

cudnnStatus_t set(Descriptor& d, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                  std::int64_t count, const void* values) {
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

cudnnStatus_t finalize(Descriptor& d) {
  for (const Rule& rule : kRules) {
    if (rule.descriptor == d.type && rule.required && !d.attributes.contains(rule.name)) {
      return CUDNN_STATUS_BAD_PARAM;
    }
  }
  const cudnnStatus_t status = finalize_by_type(d);
  d.finalized = status == CUDNN_STATUS_SUCCESS;
  return status;
}

}  // namespace mpitron::emulator
