#include "cudnn/described_gpu.h"

#include <map>
#include <string>
#include <string_view>

#include <cudnn_graph.h>
#include <dlfcn.h>

namespace mpitron::cudnn {
namespace {

/// As CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION wants it: what differs, and what all have alike.
constexpr std::string_view kH200 =
    R"({"deviceName": "NVIDIA H200", "deviceVer": 900, "multiProcessorCount": 132,
        "smClockRateKHz": 1980000, "memClockRateKHz": 3201000, "l2CacheSize": 62914560,
        "maxSharedMemoryPerBlockOptin": 232448, "totalGlobalMem": 150000000000,)";
constexpr std::string_view kA100 =
    R"({"deviceName": "NVIDIA A100", "deviceVer": 800, "multiProcessorCount": 108,
        "smClockRateKHz": 1410000, "memClockRateKHz": 1593000, "l2CacheSize": 41943040,
        "maxSharedMemoryPerBlockOptin": 166912, "totalGlobalMem": 85000000000,)";
constexpr std::string_view kAlike =
    R"("driverVer": 13000, "cudaDeviceId": 0, "maxGridSize": [2147483647, 65535, 65535],
       "maxBlockSize": [1024, 1024, 64], "regsPerBlock": 65536, "warpSize": 32,
       "maxSharedMemoryPerBlock": 49152, "reservedSharedMemoryPerBlock": 1024,
       "maxRegistersPerSM": 65536, "pciDeviceId": 0, "maxCtasPerSM": 32,
       "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "isTccDriver": 0,
       "supportCoopLaunch": 1})";

DescribedGpu described = DescribedGpu::h200;

/// The library's own function of this name and type; it calls its own functions, not ours.
template <class Function>
Function* library(Function*, const char* name) {
  static void* const opened = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  return opened == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(opened, name));
}

auto* const create = library(&cudnnBackendCreateDescriptor, "cudnnBackendCreateDescriptor");
auto* const destroy = library(&cudnnBackendDestroyDescriptor, "cudnnBackendDestroyDescriptor");
auto* const finalize = library(&cudnnBackendFinalize, "cudnnBackendFinalize");
auto* const set = library(&cudnnBackendSetAttribute, "cudnnBackendSetAttribute");
auto* const get = library(&cudnnBackendGetAttribute, "cudnnBackendGetAttribute");

std::map<cudnnBackendDescriptor_t, cudnnBackendDescriptorType_t> types;
std::map<cudnnBackendDescriptor_t, cudnnBackendDescriptor_t> proposals;  // of plans

/// The description as the library takes it, made once for each GPU.
cudnnBackendDescriptor_t properties() {
  static std::map<DescribedGpu, cudnnBackendDescriptor_t> made;
  cudnnBackendDescriptor_t& it = made[described];
  if (it == nullptr) {
    const std::string json =
        std::string(described == DescribedGpu::h200 ? kH200 : kA100) + std::string(kAlike);
    create(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &it);
    set(it, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
        static_cast<std::int64_t>(json.size()), json.data());
    finalize(it);
  }
  return it;
}

}  // namespace

void describe_gpu(DescribedGpu gpu) {
  described = gpu;
}

}  // namespace mpitron::cudnn

using namespace mpitron::cudnn;  // NOLINT: the functions below are the library's

std::size_t cudnnGetVersion() {
  static auto* const function = library(&cudnnGetVersion, "cudnnGetVersion");
  return function == nullptr ? 0 : function();
}

const char* cudnnGetErrorString(cudnnStatus_t status) {
  return library(&cudnnGetErrorString, "cudnnGetErrorString")(status);
}

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  static char place = 0;  // nobody looks there: handles are left out below
  *handle = reinterpret_cast<cudnnHandle_t>(&place);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t, cudaStream_t) {
  return CUDNN_STATUS_NOT_SUPPORTED;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t* descriptor) {
  const cudnnStatus_t status = create(type, descriptor);
  types[*descriptor] = type;
  return status;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  types.erase(descriptor);
  return destroy(descriptor);
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t count,
                                       const void* values) {
  if (name == CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG) {
    proposals[descriptor] = *static_cast<const cudnnBackendDescriptor_t*>(values);
  }
  return type == CUDNN_TYPE_HANDLE ? CUDNN_STATUS_SUCCESS
                                   : set(descriptor, name, type, count, values);
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  if (types.at(descriptor) == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
    return CUDNN_STATUS_SUCCESS;
  }
  if (types.at(descriptor) == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR) {
    const cudnnBackendDescriptor_t gpu = properties();
    set(descriptor, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &gpu);
  }
  return finalize(descriptor);
}

cudnnStatus_t cudnnBackendGetAttribute(const cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t wanted,
                                       std::int64_t* count, void* values) {
  if (name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE) {  // which its proposal knows, too
    return get(proposals.at(descriptor), CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE, type, wanted, count,
               values);
  }
  return get(descriptor, name, type, wanted, count, values);
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t, cudnnBackendDescriptor_t,
                                  cudnnBackendDescriptor_t) {
  return CUDNN_STATUS_NOT_SUPPORTED;
}
