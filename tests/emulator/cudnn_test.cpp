#include <array>
#include <cstdlib>

#include <cudnn_graph.h>
#include <gtest/gtest.h>

#include "kernels/cuda/attention/attention_kernels.h"
#include "kernels/cuda/attention/fused_graph.h"

namespace mpitron::emulator {
namespace cudnn_test {

/// A descriptor of the library's, destroyed at the end.
struct Made {
  explicit Made(cudnnBackendDescriptorType_t type) { cudnnBackendCreateDescriptor(type, &it); }
  ~Made() { cudnnBackendDestroyDescriptor(it); }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;

  template <class T>
  cudnnStatus_t set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                    const T& value, std::int64_t count = 1) {
    return cudnnBackendSetAttribute(it, name, type, count, &value);
  }
  cudnnStatus_t finalize() { return cudnnBackendFinalize(it); }

  cudnnBackendDescriptor_t it = nullptr;
};

constexpr std::array<std::int64_t, 4> kSizes = {1, 2, 3, 4}, kStrides = {24, 12, 4, 1};

TEST(Cudnn, ADescriptorHasItsOwnAttributesOfTheirTypes) {
  Made tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  const std::int64_t id = 7;
  EXPECT_EQ(tensor.set(CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, id), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(tensor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_DOUBLE, id),
            CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE);
  EXPECT_EQ(tensor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, id), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(tensor.finalize(), CUDNN_STATUS_BAD_PARAM) << "no sizes";
  const std::int64_t alignment = 16;
  const cudnnDataType_t type = CUDNN_DATA_BFLOAT16;
  tensor.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, alignment);
  tensor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type);
  tensor.set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, kSizes, 4);
  tensor.set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, kStrides, 3);
  EXPECT_EQ(tensor.finalize(), CUDNN_STATUS_BAD_PARAM) << "four sizes, three strides";
  tensor.set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, kStrides, 4);
  EXPECT_EQ(tensor.finalize(), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(tensor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, id), CUDNN_STATUS_BAD_PARAM)
      << "it is final";
}

TEST(Cudnn, AnOperationTakesFinalizedTensorsOnly) {
  Made tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR), product(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  EXPECT_EQ(
      product.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, tensor.it),
      CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
}

TEST(Cudnn, ADestroyedDescriptorIsMissed) {
  EXPECT_DEATH(
      {
        cudnnBackendDescriptor_t gone = nullptr;
        {
          Made tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
          gone = tensor.it;
        }
        cudnnBackendFinalize(gone);
      },
      "never made, or is destroyed");
}

/// A library of another version while this lives.
struct Version {
  explicit Version(const char* version) { setenv("MPITRON_EMULATED_CUDNN", version, 1); }
  ~Version() { unsetenv("MPITRON_EMULATED_CUDNN"); }
};

/// Contiguous heads that no kernel touches.
kernels::AttentionBackward attention_of(Index s, Index s_kv) {
  alignas(16) static char place[16];
  const auto view = [](Index rows) {
    return device::TensorView(place, DType::bf16, {rows, 1, 2, 64});
  };
  kernels::AttentionBackward kernel;
  kernel.q = kernel.o = kernel.d_o = view(s);
  kernel.dq = view(s);
  kernel.k = kernel.v = view(s_kv);
  kernel.dk = kernel.dv = view(s_kv);
  kernel.lse = device::TensorView(place, DType::f32, {1, 2, s});
  return kernel;
}
kernels::AttentionForward forward_of(const kernels::AttentionBackward& kernel) {
  kernels::AttentionForward forward;
  forward.q = kernel.q;
  forward.k = kernel.k;
  forward.v = kernel.v;
  forward.o = kernel.dq;
  forward.lse = device::TensorView(kernel.dq.data, DType::f32, kernel.lse.shape);
  return forward;
}

template <class Kernel>
bool is_asked(const Kernel& kernel) {
  return kernels::cuda::attention::cudnn_fits(device::CudaStream(), kernel);
}

TEST(Cudnn, AttentionIsNotGivenToLibrariesThatAreMissingOrFaulty) {
  const auto whole = attention_of(256, 256), open = attention_of(200, 200);
  {
    const Version none("0");
    EXPECT_EQ(kernels::cuda::cudnn_version(), 0);
    EXPECT_FALSE(is_asked(attention_of(64, 64)));
  }
  {
    const Version old("91001");
    EXPECT_FALSE(is_asked(attention_of(128, 128)));
  }
  {
    const Version whole_tiles("91500");
    EXPECT_TRUE(is_asked(whole));
    EXPECT_TRUE(is_asked(forward_of(open)));
    EXPECT_FALSE(is_asked(open)) << "backward needs whole tiles of keys";
  }
  EXPECT_TRUE(is_asked(attention_of(300, 300)));
}

TEST(Cudnn, APlanWithTooLargeAWorkspaceIsNotTaken) {
  using Graph = kernels::cuda::FusedGraph;
  const Graph::Layout layout = {kSizes, kStrides};
  const auto doubled = [&] {
    Graph graph;
    const auto x = graph.in_memory(DType::bf16, layout), y = graph.in_memory(DType::f32, layout);
    graph.map(Graph::Map::multiply, {x, graph.number(2.f)}, y);
    return graph;
  };
  EXPECT_EQ(kernels::cuda::FusedPlan(doubled(), 0, 1 << 20).workspace_bytes(), 4096);
  EXPECT_THROW(kernels::cuda::FusedPlan(doubled(), 0, 4095), Graph::Refused);
}

}  // namespace cudnn_test
}  // namespace mpitron::emulator
