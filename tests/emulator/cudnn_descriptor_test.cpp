#include <array>

#include <cudnn_graph.h>
#include <gtest/gtest.h>

namespace mpitron::emulator {
namespace cudnn_descriptor_test {

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

TEST(CudnnDescriptor, ADescriptorHasItsOwnAttributesOfTheirTypes) {
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

TEST(CudnnDescriptor, AnOperationTakesFinalizedTensorsOnly) {
  Made tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR), product(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  EXPECT_EQ(
      product.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, tensor.it),
      CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
}

TEST(CudnnDescriptor, ADestroyedDescriptorIsMissed) {
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

}  // namespace cudnn_descriptor_test
}  // namespace mpitron::emulator
