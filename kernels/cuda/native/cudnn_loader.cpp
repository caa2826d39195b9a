// The functions of cuDNN that fused_graph.cpp calls, handed on to the library if it is there: it is
// opened when the first of them is called, so that the program starts without it. In its absence
// cudnnGetVersion is 0 and nobody calls the others.
#include <cstddef>
#include <cstdint>

#include <cudnn_graph.h>
#include <dlfcn.h>

namespace {

/// The library as its loader knows it; null where it is not.
void* library() {
  static void* const opened = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL);
  return opened;
}

/// The library's own function of this name and type.
template <class Function>
Function* find(Function*, const char* name) {
  return library() == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library(), name));
}

}  // namespace

std::size_t cudnnGetVersion() {
  static auto* const function = find(&cudnnGetVersion, "cudnnGetVersion");
  return function == nullptr ? 0 : function();
}

const char* cudnnGetErrorString(cudnnStatus_t status) {
  static auto* const function = find(&cudnnGetErrorString, "cudnnGetErrorString");
  return function(status);
}

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  static auto* const function = find(&cudnnCreate, "cudnnCreate");
  return function(handle);
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  static auto* const function = find(&cudnnSetStream, "cudnnSetStream");
  return function(handle, stream);
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t* descriptor) {
  static auto* const function = find(&cudnnBackendCreateDescriptor, "cudnnBackendCreateDescriptor");
  return function(type, descriptor);
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  static auto* const function =
      find(&cudnnBackendDestroyDescriptor, "cudnnBackendDestroyDescriptor");
  return function(descriptor);
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  static auto* const function = find(&cudnnBackendFinalize, "cudnnBackendFinalize");
  return function(descriptor);
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t count,
                                       const void* values) {
  static auto* const function = find(&cudnnBackendSetAttribute, "cudnnBackendSetAttribute");
  return function(descriptor, name, type, count, values);
}

cudnnStatus_t cudnnBackendGetAttribute(const cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t wanted,
                                       std::int64_t* count, void* values) {
  static auto* const function = find(&cudnnBackendGetAttribute, "cudnnBackendGetAttribute");
  return function(descriptor, name, type, wanted, count, values);
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
  static auto* const function = find(&cudnnBackendExecute, "cudnnBackendExecute");
  return function(handle, plan, pack);
}
