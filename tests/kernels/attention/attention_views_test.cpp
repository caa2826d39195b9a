#include "kernels/attention/attention_views.h"

#include <gtest/gtest.h>

#include "tests/kernels/attention_case.h"

namespace mpitron::kernels {
namespace attention_views_test {

/// One view or option that breaks what the callers promise.
template <class Kernel>
struct Break {
  const char* what;
  void (*apply)(Kernel&);
};

template <class Kernel>
void expect_refused(const Kernel& sound, std::initializer_list<Break<Kernel>> breaks) {
  EXPECT_NO_THROW(check_views(sound));
  for (const auto& [what, apply] : breaks) {
    Kernel broken = sound;
    apply(broken);
    EXPECT_THROW(check_views(broken), InternalError) << what;
  }
}

const AttentionCase kCase{
    .s = 5, .s_kv = 7, .b = 2, .n = 4, .g = 2, .d = 8, .dv = 6, .masks = 2, .bias = true};

TEST(AttentionViews, ForwardRefusesWhatDoesNotFit) {
  AttentionFixture fixture(kCase);
  AttentionResults to(kCase, DType::f32, DType::f32);
  using Kernel = AttentionForward;
  expect_refused<Kernel>(
      fixture.forward(to),
      {{"groups that do not divide the heads", [](Kernel& k) { k.k.shape[2] = k.v.shape[2] = 3; }},
       {"values of other keys", [](Kernel& k) { k.v.shape[0] = 6; }},
       {"an output of d columns", [](Kernel& k) { k.o.shape[3] = 8; }},
       {"lse of other heads", [](Kernel& k) { k.lse.shape[1] = 2; }},
       {"keys of another type", [](Kernel& k) { k.k.dtype = DType::bf16; }},
       {"a mask with too few keys", [](Kernel& k) { k.mask.shape[2] = 6; }},
       {"a bias of other distances", [](Kernel& k) { k.bias.shape[1] = 12; }},
       {"no scale", [](Kernel& k) { k.scale = 0; }},
       {"a bias with positions", [](Kernel& k) { k.positions = last_positions(5, 7); }}});
}

TEST(AttentionViews, BackwardRefusesWhatDoesNotFit) {
  AttentionFixture fixture(kCase);
  AttentionResults to(kCase, DType::f32, DType::f32);
  using Kernel = AttentionBackward;
  expect_refused<Kernel>(fixture.backward(to),
                         {{"d_o of d columns", [](Kernel& k) { k.d_o.shape[3] = 8; }},
                          {"dq of other queries", [](Kernel& k) { k.dq.shape[0] = 4; }},
                          {"dk of other heads", [](Kernel& k) { k.dk.shape[2] = 4; }},
                          {"dv of d columns", [](Kernel& k) { k.dv.shape[3] = 8; }},
                          {"o of another type", [](Kernel& k) { k.o.dtype = DType::f16; }},
                          {"dbias in bf16", [](Kernel& k) { k.dbias.dtype = DType::bf16; }}});
}

TEST(AttentionViews, SplitHeadsAreMerged) {
  EXPECT_EQ(merged({5, 2, 3, 4, 8}), (Shape{5, 2, 12, 8}));
  EXPECT_EQ(merged({5, 2, 3, 8}), (Shape{5, 2, 3, 8}));
}

TEST(AttentionViews, WithoutPositionsTheQueriesAreTheLast) {
  AttentionFixture fixture(kCase);
  AttentionResults to(kCase, DType::f32, DType::f32);
  const AttentionPositions positions = positions_of(fixture.forward(to));
  EXPECT_EQ(positions.queries(0), 2);
  EXPECT_EQ(positions.keys(6), 6);
}

}  // namespace attention_views_test
}  // namespace mpitron::kernels
