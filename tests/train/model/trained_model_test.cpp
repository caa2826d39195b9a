#include "train/model/trained_model.h"

#include <gtest/gtest.h>

namespace mpitron::train {
namespace frozen_parameters_test {

TEST(FrozenParameters, AreThoseOfTheirLayersAndTables) {
  autograd::ParameterList parameters;
  for (const Index layer : {0, 1, 2, 3}) {
    parameters.add({.name = layer == 0 ? "embedding.word_embeddings.weight" : "decoder.layer",
                    .placement = {.unit = layer}});
  }
  parameters.add({.name = "output_layer.weight"});
  const auto frozen = [&](const config::FrozenParts& parts) {
    config::ModelConfig config;
    config.frozen = parts;
    for (autograd::Parameter& parameter : parameters) {
      parameter.role.frozen = false;
    }
    freeze_parameters(config, parameters);
    std::vector<bool> result;
    for (const autograd::Parameter& parameter : parameters) {
      result.push_back(parameter.role.frozen);
    }
    return result;
  };
  EXPECT_EQ(frozen({}), (std::vector<bool>{false, false, false, false, false}));
  EXPECT_EQ(frozen({.first_layer = 2, .last_layer = 3}),
            (std::vector<bool>{false, false, true, true, false}));
  EXPECT_EQ(frozen({.first_layer = 1, .last_layer = 1, .embeddings = true}),
            (std::vector<bool>{true, true, false, false, false}));
}

}  // namespace frozen_parameters_test
}  // namespace mpitron::train
