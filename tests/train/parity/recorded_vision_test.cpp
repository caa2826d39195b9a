#include <gtest/gtest.h>

#include "train/parity/recorded_batches.h"

namespace mpitron::train {
namespace recorded_vision_test {

TEST(RecordedVision, NamesAreTheReferences) {
  EXPECT_EQ(vision_name("backbone.transformer.layers.1.self_attention.linear_qkv.bias"),
            "backbone.transformer.layers.1.self_attention.query_key_value.bias");
  EXPECT_EQ(vision_name("backbone.transformer.final_layernorm.weight"),
            "backbone.transformer.final_norm.weight");
  EXPECT_EQ(vision_name("head.dense_in.weight"), "head.dense_in.weight");
}

}  // namespace recorded_vision_test

}  // namespace mpitron::train
