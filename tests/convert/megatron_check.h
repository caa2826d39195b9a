#pragma once
#include <filesystem>

#include <gtest/gtest.h>

#include "convert/tiny_models.h"

namespace mpitron::test {

/// The recorded checkpoints hold 4 layers with 7 parameters and three others, whatever divided
/// them.
inline void expect_recorded_weights(convert::TensorSource& source) {
  EXPECT_EQ(source.tensors().size(), 4u * 7 + 3);
  for (const convert::TensorInfo& info : source.tensors()) {
    EXPECT_EQ(floats_of(source.read(info.name)), elements(info.name, info.shape.numel()))
        << info.name;
  }
  for (const char* name : {"decoder.layers.3.mlp.linear_fc1.weight", "output_layer.weight",
                           "decoder.layers.1.input_layernorm.weight"}) {
    EXPECT_NE(source.find(name), nullptr) << name;
  }
  EXPECT_EQ(source.find("decoder.layers.2.mlp.linear_fc1.weight")->shape, (Shape{24, 8}));
  EXPECT_EQ(source.find("decoder.layers.2.mlp.linear_fc2.weight")->shape, (Shape{8, 12}));
}

/// Those of letters M, * and - on two tensor ranks hold 18 parameters.
inline void expect_recorded_hybrid(convert::TensorSource& source,
                                   const convert::ModelDescription& description) {
  EXPECT_EQ(source.tensors().size(), 18u);
  for (const convert::TensorInfo& info : source.tensors()) {
    EXPECT_EQ(floats_of(source.read(info.name)), elements(info.name, info.shape.numel()))
        << info.name;
  }
  EXPECT_EQ(source.find("decoder.layers.0.mixer.in_proj.weight")->shape, (Shape{48, 8}));
  EXPECT_EQ(source.find("decoder.layers.0.mixer.conv1d.weight")->shape, (Shape{28, 1, 4}));
  EXPECT_EQ(description.model.kind, config::ModelKind::mamba);
  EXPECT_EQ(description.model.hybrid.pattern, "M*-");
  EXPECT_EQ(description.model.position_embedding_type, config::PositionEmbedding::none);
}

/// The arguments hold a call of os.system that makes this file.
inline void expect_nothing_was_run() {
  EXPECT_FALSE(std::filesystem::exists("EXECUTED"));
}

/// A folder with the recorded checkpoint, to be damaged.
inline void copy_recorded(const char* name, const std::filesystem::path& to) {
  std::filesystem::copy(
      convert_data("megatron") / name, to,
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
}

}  // namespace mpitron::test
