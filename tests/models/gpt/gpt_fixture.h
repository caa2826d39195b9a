#pragma once

#include <algorithm>

#include <gtest/gtest.h>

#include "models/gpt/gpt_model.h"
#include "support/tiny_gpt.h"

// A tiny GPT on the host, and its losses.

namespace mpitron::models {

class GptModelTest : public ::testing::Test {
 protected:
  autograd::Context context(autograd::Tape* tape = nullptr) {
    return {
        .device = *device_, .seed = 3, .iteration = 4, .recorder = {.tape = tape, .usage = tape}};
  }
  std::vector<std::string> names(const config::ModelConfig& config) {
    GptModel model(config, *device_);
    std::vector<std::string> result;
    for (const autograd::Parameter& parameter : model.parameters()) {
      result.push_back(parameter.name);
    }
    return result;
  }
  std::vector<double> losses(GptModel& model, const autograd::Context& where, Index first,
                             Index count) {
    autograd::Context cx = where;
    cx.position.first_sample = first;
    return test::values_of(model.loss(cx, test::tiny_batch(*device_, 6, first, count)).value);
  }

  std::unique_ptr<device::Device> device_ = device::make_device("host");
};

}  // namespace mpitron::models
