#include "comm/groups/world.h"
#include "ops/attention/context_attention.h"
#include "ops/context_case.h"
#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace gathered_attention_test {

class GatheredAttentionTest : public GradientCheck {
 protected:
  comm::GroupHandle alone_ = comm::make_single_world()->all();
};

TEST_F(GatheredAttentionTest, BackwardIsTheGradient) {
  AttentionSettings settings{.layout = {.heads = 4, .query_groups = 2, .head_dim = 2},
                             .scale = 0.7f};
  settings.window = 1;
  expect_gradients({random({4, 2, settings.layout.width()})},
                   [&](Context& context, const std::vector<Var>& x) {
                     return gathered_attention(context, x[0], settings, alone_);
                   });
}

/// Eight members' gradients of each key are added in fp32 and rounded to bf16 once.
TEST_F(GatheredAttentionTest, ManyMembersRoundOnce) {
  check_context(
      {.exchange = ContextExchange::all_gather, .ranks = 8, .s = 48, .b = 1, .dtype = DType::bf16});
}

}  // namespace gathered_attention_test
}  // namespace mpitron::ops
