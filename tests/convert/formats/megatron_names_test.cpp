#include "convert/formats/megatron_names.h"

#include <gtest/gtest.h>

#include "utils/error.h"

namespace mpitron::convert {
namespace megatron_names_test {

TEST(MegatronNames, AreThoseOfTheLocalSpecification) {
  EXPECT_EQ(our_name_of("module.module.decoder.layers.3.self_attention.linear_qkv.layer_norm_bias"),
            "decoder.layers.3.input_layernorm.bias");
  EXPECT_EQ(our_name_of("decoder.layers.3.mlp.linear_fc1.layer_norm_weight"),
            "decoder.layers.3.pre_mlp_layernorm.weight");
  EXPECT_EQ(our_name_of("output_layer.weight"), "output_layer.weight");
  EXPECT_TRUE(is_extra_state("decoder.layers.0.mlp.linear_fc1._extra_state"));
  EXPECT_FALSE(is_extra_state("decoder.layers.0.mlp.linear_fc1.weight"));
}

TEST(MegatronNames, SayHowRanksDivideParameters) {
  config::ModelConfig model;
  const auto of = [&](const char* name) { return division_of(name, model); };
  EXPECT_EQ(of("embedding.word_embeddings.weight"), Division::rows);
  EXPECT_EQ(of("embedding.position_embeddings.weight"), Division::whole);
  EXPECT_EQ(of("decoder.layers.0.self_attention.linear_qkv.bias"), Division::rows);
  EXPECT_EQ(of("decoder.layers.0.self_attention.linear_proj.weight"), Division::columns);
  EXPECT_EQ(of("decoder.layers.0.self_attention.linear_proj.bias"), Division::whole);
  EXPECT_EQ(of("decoder.layers.0.self_attention.q_layernorm.weight"), Division::whole);
  EXPECT_EQ(of("decoder.layers.0.mlp.linear_fc1.weight"), Division::rows);
  model.gated_linear_unit = true;
  EXPECT_EQ(of("decoder.layers.0.mlp.linear_fc1.bias"), Division::gated_rows);
}

TEST(MegatronNames, RefuseTensorsThatAreNoWeights) {
  const io::TorchTensor tensor{io::ElementType::i64, {2}, {1}, {}};
  EXPECT_THROW(info_of(tensor, "x", "file"), Error);
  const io::TorchTensor empty{io::ElementType::f32, {0, 2}, {2, 1}, {}};
  EXPECT_THROW(info_of(empty, "x", "file"), Error);
  EXPECT_EQ(info_of({io::ElementType::bf16, {2, 3}, {3, 1}, {}}, "x", "file").dtype, DType::bf16);
}

}  // namespace megatron_names_test
}  // namespace mpitron::convert
