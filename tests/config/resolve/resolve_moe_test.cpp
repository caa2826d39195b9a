#include <gtest/gtest.h>

#include "config/flags.h"

namespace mpitron::config {
namespace resolve_moe_test {

std::optional<MoeConfig> experts(const std::string& flags) {
  return test::parse_base("--disable-bias-linear " + flags).run.model.moe;
}

TEST(ResolveMoe, WithoutExpertsThereIsNothing) {
  EXPECT_FALSE(experts("--moe-router-topk 2"));
}

TEST(ResolveMoe, Defaults) {
  const auto moe = experts("--num-experts 8 --ffn-hidden-size 96");
  ASSERT_TRUE(moe);
  EXPECT_EQ(moe->num_experts, 8);
  EXPECT_EQ(moe->ffn_hidden_size, 96);
  EXPECT_EQ(moe->topk, 2);
  EXPECT_EQ(moe->layers, std::vector<bool>(4, true));
  EXPECT_EQ(moe->count_layers(), 4);
  EXPECT_TRUE(moe->balancing_losses.empty());
  EXPECT_FALSE(moe->router_dtype || moe->capacity_factor || moe->input_jitter_eps);
}

TEST(ResolveMoe, LossesAndCoefficientsBelongTogetherByPlace) {
  const auto moe = experts(
      "--num-experts 8 --moe-router-load-balancing-type seq_aux_loss aux_loss "
      "--moe-aux-loss-coeff 0.25 0.5 --moe-z-loss-coeff 0.125");
  ASSERT_EQ(moe->balancing_losses.size(), 2u);
  EXPECT_EQ(moe->balancing_losses[0].kind, RouterBalancing::seq_aux_loss);
  EXPECT_EQ(moe->balancing_losses[0].coefficient, 0.25);
  EXPECT_EQ(moe->balancing_losses[1].kind, RouterBalancing::aux_loss);
  EXPECT_EQ(moe->balancing_losses[1].coefficient, 0.5);
  EXPECT_EQ(moe->z_loss_coefficient, 0.125);
}

TEST(ResolveMoe, EveryOptionArrives) {
  const auto moe = experts(
      "--num-experts 8 --moe-layer-freq 2 --moe-ffn-hidden-size 24 --moe-router-topk 1 "
      "--moe-shared-expert-intermediate-size 12 --moe-router-dtype fp64 "
      "--moe-router-score-function sigmoid --moe-router-pre-softmax "
      "--moe-router-num-groups 4 --moe-router-group-topk 1 --moe-router-topk-scaling-factor 2.5 "
      "--moe-router-enable-expert-bias --moe-router-bias-update-rate 0.01 "
      "--moe-router-force-load-balancing --moe-input-jitter-eps 0.1 "
      "--moe-expert-capacity-factor 1.25 --moe-pad-expert-input-to-capacity "
      "--moe-token-drop-policy position --moe-token-dispatcher-type alltoall "
      "--moe-apply-probs-on-input");
  EXPECT_EQ(moe->layers, (std::vector<bool>{true, false, true, false}));
  EXPECT_EQ(moe->ffn_hidden_size, 24);
  EXPECT_EQ(moe->shared_expert_intermediate_size, 12);
  EXPECT_EQ(moe->router_dtype, DType::f64);
  EXPECT_EQ(moe->score, RouterScore::sigmoid);
  EXPECT_TRUE(moe->pre_softmax && moe->expert_bias && moe->force_load_balancing);
  EXPECT_EQ(moe->num_groups, 4);
  EXPECT_EQ(moe->group_topk, 1);
  EXPECT_EQ(moe->topk_scaling_factor, 2.5);
  EXPECT_EQ(moe->bias_update_rate, 0.01);
  EXPECT_EQ(moe->input_jitter_eps, 0.1);
  EXPECT_EQ(moe->capacity_factor, 1.25);
  EXPECT_TRUE(moe->pad_to_capacity && moe->apply_probs_on_input);
  EXPECT_EQ(moe->drop_policy, TokenDropPolicy::position);
  EXPECT_EQ(moe->dispatcher, TokenDispatcherType::alltoall);
}

TEST(ResolveMoe, WhatIsNotThereIsRefusedByName) {
  for (const char* flags : {"--moe-token-dispatcher-type flex", "--moe-enable-deepep"}) {
    const ParsedRun parsed =
        test::parse_base("--disable-bias-linear --num-experts 8 " + std::string(flags));
    EXPECT_TRUE(test::has_finding(parsed, ids::kNotYet)) << flags;
  }
}

}  // namespace resolve_moe_test
}  // namespace mpitron::config
