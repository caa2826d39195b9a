#pragma once
#include "ops/gradient_check.h"
#include "ops/state_space/recurrent_mixer.h"

namespace mpitron::ops {

/// Small mixers whose gradients are checked.
class MixerFixture : public GradientCheck {
 protected:
  /// Four heads of two columns in two groups, states of three rows, chunks of three positions.
  RecurrentMixer mamba() {
    RecurrentMixer mixer{.gate = {0, 8},
                         .channels = {8, 28},
                         .steps = {28, 32},
                         .conv_weight = &parameter({20, 1, 3}),
                         .conv_bias = &parameter({20})};
    mixer.recurrence = ScanSettings{.a_log = &parameter({4}),
                                    .d = &parameter({4}),
                                    .dt_bias = &parameter({4}),
                                    .groups = 2,
                                    .state_dim = 3,
                                    .chunk = 3};
    mixer.norm = {.weight = &parameter({8}), .groups = 2, .eps = 1e-2f};
    return mixer;
  }
  /// Two key heads of three columns, each serving two value heads of two columns.
  RecurrentMixer delta_net() {
    RecurrentMixer mixer{.gate = {20, 28},
                         .channels = {0, 20},
                         .steps = {28, 36},
                         .conv_weight = &parameter({20, 1, 2})};
    mixer.recurrence = DeltaRuleSettings{.a_log = &parameter({4}),
                                         .dt_bias = &parameter({4}),
                                         .key_heads = 2,
                                         .key_dim = 3,
                                         .chunk = 3};
    mixer.norm = {.weight = &parameter({2}), .eps = 1e-3f, .gate_first = false};
    return mixer;
  }
  void check(const RecurrentMixer& mixer, const tensor::Tensor& starts) {
    tolerance_ = 1e-6;
    expect_gradients({random({7, 2, mixer.steps.end})},
                     [&](Context& context, const std::vector<Var>& x) {
                       return recurrent_mixer(context, x[0], mixer, starts);
                     });
  }
  /// Documents of the first sample begin at 0 and 4, of the second at 0, 1 and 5.
  tensor::Tensor documents() {
    const std::int32_t starts[] = {0, 0, 0, 1, 0, 1, 0, 1, 4, 1, 4, 5, 4, 5};
    const tensor::Tensor x = tensor::Tensor::empty(*device_, {7, 2}, DType::i32);
    std::ranges::copy(starts, x.data<std::int32_t>());
    return x;
  }
};

}  // namespace mpitron::ops
