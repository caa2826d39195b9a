// The functions of libcudnn that fused_graph.cpp calls, for the emulator: descriptors
// of the backend API, which know only the attributes that we set, a heuristic that proposes an
// engine whose sums have no order before one whose have, and plans, which evaluate the graph when
// the stream runs (operation_graph.h). What the library's manual does not allow is refused with
// its status; work that meets memory which is not the GPU's ends the program.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include <cudnn_graph.h>

#include "emulator/cudnn/cudnn_descriptor.h"
#include "emulator/cudnn/operation_graph.h"
#include "emulator/device/device_memory.h"
#include "emulator/device/emulated_stream.h"
#include "emulator/device/failure.h"

struct cudnnContext {
  cudaStream_t stream = nullptr;
};

namespace mpitron::emulator {
namespace {

/// Workspace that each plan asks for, and fills with NaN: nobody else may use it meanwhile.
constexpr std::int64_t kWorkspace = 4096;

// --- what a finalized descriptor tells ----------------------------------------------------------

/// Writes the proposals into descriptors that the caller has made.
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

/// Tells an engine's numerical notes: one whose sums have no order is marked, and callers must
/// leave it out.
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

/// A plan's graph with its tensors' memory and numbers, copied when it is queued.
struct Run {
  std::vector<GraphOperation> graph;
  std::map<std::int64_t, void*> data;
  std::map<std::int64_t, float> numbers;
  void* workspace;

  /// Takes the pack's pointer to a tensor; numbers by value are read now.
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

/// Returns the version that a test may set through the environment, so that old libraries are
/// refused as on a real machine.
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
  *descriptor = make_descriptor(type);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  destroy(descriptor);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t count,
                                       const void* values) {
  return set(unwrap(descriptor), name, type, count, values);
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  return finalize(unwrap(descriptor));
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

/// Queues a plan. The pack must name all tensors of the graph that are not virtual, and no other.
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
