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
  EXPECT_EQ(our_name_of("decoder.layers.3.mixer.in_proj.layer_norm_weight"),
            "decoder.layers.3.norm.weight");
  EXPECT_EQ(our_name_of("decoder.layers.3.mixer.conv1d_weight"),
            "decoder.layers.3.mixer.conv1d.weight");
  EXPECT_TRUE(is_extra_state("decoder.layers.0.mlp.linear_fc1._extra_state"));
  EXPECT_FALSE(is_extra_state("decoder.layers.0.mlp.linear_fc1.weight"));
}

TEST(MegatronNames, SayHowRanksDivideParameters) {
  config::ModelConfig model;
  const auto of = [](const char* name) { return division_of(name); };
  EXPECT_EQ(of("embedding.word_embeddings.weight"), Division::rows);
  EXPECT_EQ(of("embedding.position_embeddings.weight"), Division::whole);
  EXPECT_EQ(of("decoder.layers.0.self_attention.linear_qkv.bias"), Division::rows);
  EXPECT_EQ(of("decoder.layers.0.self_attention.linear_proj.weight"), Division::columns);
  EXPECT_EQ(of("decoder.layers.0.self_attention.linear_proj.bias"), Division::whole);
  EXPECT_EQ(of("decoder.layers.0.self_attention.q_layernorm.weight"), Division::whole);
  EXPECT_EQ(of("decoder.layers.0.mlp.linear_fc1.weight"), Division::rows);
  EXPECT_EQ(of("decoder.layers.0.mixer.norm.weight"), Division::rows);
  EXPECT_EQ(of("decoder.layers.0.norm.weight"), Division::whole);
  EXPECT_EQ(of("decoder.layers.0.self_attention.out_norm.weight"), Division::whole);
  EXPECT_EQ(of("decoder.layers.0.mixer.out_proj.weight"), Division::columns);
}

TEST(MegatronNames, SayWhichPartsRanksDivide) {
  config::ModelConfig model;
  const auto rows_of = [&](const char* name, Index rows) {
    std::vector<Index> result;
    for (const RowPart& part : parts_of(name, model, rows)) {
      result.push_back(part.rows);
    }
    return result;
  };
  EXPECT_EQ(rows_of("decoder.layers.0.mlp.linear_fc1.bias", 6), std::vector<Index>{6});
  model.gated_linear_unit = true;
  EXPECT_EQ(rows_of("decoder.layers.0.mlp.linear_fc1.bias", 6), (std::vector<Index>{3, 3}));
  model.hybrid.mamba = {.state_dim = 4, .head_dim = 2, .groups = 3, .heads = 5};
  EXPECT_EQ(rows_of("decoder.layers.0.mixer.in_proj.weight", 0),
            (std::vector<Index>{10, 10, 12, 12, 5}));
  EXPECT_EQ(rows_of("decoder.layers.0.mixer.conv1d.bias", 0), (std::vector<Index>{10, 12, 12}));
  model.hybrid.delta_net = {.key_dim = 2, .value_dim = 3, .key_heads = 2, .value_heads = 4};
  EXPECT_EQ(rows_of("decoder.layers.0.self_attention.in_proj.weight", 0),
            (std::vector<Index>{4, 4, 12, 12, 4, 4}));
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
