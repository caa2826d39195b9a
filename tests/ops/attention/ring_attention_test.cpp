#include "comm/groups/world.h"
#include "ops/attention/context_attention.h"
#include "ops/context_case.h"
#include "ops/gradient_check.h"
#include "support/host_runtime.h"

namespace mpitron::ops {
namespace ring_attention_test {

AttentionSettings some_settings() {
  AttentionSettings settings{.layout = {.heads = 4, .query_groups = 2, .head_dim = 2},
                             .scale = 0.7f};
  settings.dropout.key = {1, 2};
  settings.dropout.threshold = kernels::dropout_threshold(0.25);
  return settings;
}

class RingAttentionTest : public GradientCheck {
 protected:
  comm::GroupHandle alone_ = comm::make_single_world()->all();
};

TEST_F(RingAttentionTest, BackwardIsTheGradient) {
  const AttentionSettings settings = some_settings();
  expect_gradients({random({4, 2, settings.layout.width()})},
                   [&](Context& context, const std::vector<Var>& x) {
                     return ring_attention(context, x[0], settings, alone_);
                   });
}

/// Steps of the ring whose keys nobody sees change nothing, not even where rows saw none before.
TEST_F(RingAttentionTest, StepsWithoutVisibleKeysChangeNothing) {
  ContextCase c{.exchange = ContextExchange::ring, .ranks = 4, .dtype = DType::f64, .window = 0};
  check_context(c);  // every row sees itself alone
}

/// The kernels of the host, with outputs in fp32 that are rounded at the end.
TEST_F(RingAttentionTest, OnTheHostARingOfOneIsAttention) {
  const auto host = device::make_device("host");
  const AttentionSettings settings = some_settings();
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    std::vector<std::vector<double>> results[2];
    for (const bool ring : {false, true}) {
      Tape tape;
      Context context{.device = *host, .recorder = {.tape = &tape, .usage = &tape}};
      const Var x = autograd::variable(
          test::random_tensor(*host, {37, 2, settings.layout.width()}, dtype, 3));
      const Var y =
          ring ? ring_attention(context, x, settings, alone_) : attention(context, x, settings);
      EXPECT_EQ(y.value.dtype(), dtype);
      tape.backward(context, y.slot, test::random_tensor(*host, y.shape(), dtype, 4));
      results[ring ? 1 : 0] = {test::values_of(y.value), test::values_of(x.slot.gradient())};
    }
    EXPECT_EQ(results[0], results[1]) << name_of(dtype);
  }
}

}  // namespace ring_attention_test
}  // namespace mpitron::ops
