#include "emulator/cudnn/operation_graph.h"

#include <gtest/gtest.h>

namespace mpitron::emulator {
namespace operation_graph_test {

using Kind = GraphOperation::Kind;
using Sizes = std::array<std::int64_t, 4>;

GraphTensor tensor(std::int64_t id, const Sizes& sizes, cudnnDataType_t type = CUDNN_DATA_FLOAT,
                   bool is_virtual = true) {
  return {.id = id,
          .type = type,
          .sizes = sizes,
          .strides = {sizes[1] * sizes[2] * sizes[3], sizes[2] * sizes[3], sizes[3], 1},
          .alignment = 16,
          .is_virtual = is_virtual};
}

constexpr Sizes kSizes = {1, 2, 3, 4};

TEST(OperationGraph, ProductsNeedFittingSizesAndHalfTypes) {
  GraphOperation o{.kind = Kind::product,
                   .inputs = {tensor(1, {1, 4, 3, 8}, CUDNN_DATA_HALF),
                              tensor(2, {1, 2, 8, 5}, CUDNN_DATA_HALF)},
                   .output = tensor(3, {1, 4, 3, 5})};
  EXPECT_EQ(status_of(o), CUDNN_STATUS_SUCCESS) << "two heads of a for one of b";
  o.inputs[1].type = CUDNN_DATA_FLOAT;
  EXPECT_EQ(status_of(o), CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE);
  o.inputs[1] = tensor(2, {1, 3, 8, 5}, CUDNN_DATA_HALF);
  EXPECT_EQ(status_of(o), CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
}

TEST(OperationGraph, ComparisonsGiveTruthValuesAndSelectionsTakeThem) {
  GraphOperation compare{.kind = Kind::pointwise,
                         .mode = CUDNN_POINTWISE_CMP_GE,
                         .precision = CUDNN_DATA_BOOLEAN,
                         .inputs = {tensor(1, kSizes), tensor(2, kSizes)},
                         .output = tensor(3, kSizes, CUDNN_DATA_BOOLEAN)};
  EXPECT_EQ(status_of(compare), CUDNN_STATUS_SUCCESS);
  GraphOperation select{
      .kind = Kind::pointwise,
      .mode = CUDNN_POINTWISE_BINARY_SELECT,
      .inputs = {tensor(1, kSizes), tensor(4, {1, 1, 1, 1}), tensor(3, kSizes, CUDNN_DATA_BOOLEAN)},
      .output = tensor(5, kSizes)};
  EXPECT_EQ(status_of(select), CUDNN_STATUS_SUCCESS);
  select.inputs[2].type = CUDNN_DATA_FLOAT;
  EXPECT_EQ(status_of(select), CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE);
  compare.precision = CUDNN_DATA_FLOAT;
  EXPECT_EQ(status_of(compare), CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE);
}

TEST(OperationGraph, AReshapeSwapsTheLastTwoDimensions) {
  const GraphTensor x = tensor(1, kSizes);
  GraphTensor y = tensor(2, {1, 2, 4, 3});
  GraphOperation o{.kind = Kind::reshape, .inputs = {x}, .output = y};
  EXPECT_EQ(status_of(o), CUDNN_STATUS_NOT_SUPPORTED_LAYOUT) << "it would move elements";
  o.output.strides = {24, 12, 1, 4};
  EXPECT_EQ(status_of(o), CUDNN_STATUS_SUCCESS);
}

TEST(OperationGraph, TensorsAreWrittenOnceBeforeTheyAreRead) {
  const GraphTensor x = tensor(1, kSizes, CUDNN_DATA_FLOAT, false), middle = tensor(2, kSizes);
  const GraphTensor y = tensor(3, kSizes, CUDNN_DATA_FLOAT, false);
  const GraphOperation first{
      .kind = Kind::pointwise, .mode = CUDNN_POINTWISE_EXP, .inputs = {x}, .output = middle};
  const GraphOperation second{
      .kind = Kind::pointwise, .mode = CUDNN_POINTWISE_LOG, .inputs = {middle}, .output = y};
  EXPECT_EQ(status_of(std::vector{first, second}), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(status_of(std::vector{second, first}), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(status_of(std::vector{first, first, second}), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(status_of(std::vector{first}), CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN)
      << "nothing leaves it";
  GraphOperation other = second;
  other.inputs[0].sizes[3] = 5;
  EXPECT_EQ(status_of(std::vector{first, other}), CUDNN_STATUS_BAD_PARAM)
      << "one number for two tensors";
}

}  // namespace operation_graph_test
}  // namespace mpitron::emulator
