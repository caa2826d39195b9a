#pragma once
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <cudnn_graph.h>

#include "emulator/cudnn/operation_graph.h"

// Keeps descriptors of the emulated libcudnn's backend API (cudnn.cpp): attributes as bytes until
// the descriptor is finalized.
namespace mpitron::emulator {

struct Descriptor {
  explicit Descriptor(cudnnBackendDescriptorType_t type_) : type(type_) {}

  cudnnBackendDescriptorType_t type;
  bool finalized = false;
  std::map<cudnnBackendAttributeName_t, std::string> attributes;  // bytes
  // Contents that a finalized descriptor stands for.
  GraphTensor tensor;
  GraphOperation operation;
  std::vector<GraphOperation> graph;
  bool ordered = false;  // an engine's sums

  /// Returns an attribute's values; empty where it was not set.
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

cudnnBackendDescriptor_t make_descriptor(cudnnBackendDescriptorType_t type);
void destroy(cudnnBackendDescriptor_t descriptor);
/// Returns the descriptor behind a handle; ends the program where there is no such descriptor.
Descriptor& unwrap(cudnnBackendDescriptor_t descriptor);

/// Sets an attribute, of those that our graphs use; all others are refused.
cudnnStatus_t set(Descriptor& descriptor, cudnnBackendAttributeName_t name,
                  cudnnBackendAttributeType_t type, std::int64_t count, const void* values);
cudnnStatus_t finalize(Descriptor& descriptor);

}  // namespace mpitron::emulator
