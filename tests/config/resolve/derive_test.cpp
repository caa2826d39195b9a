#include "config/resolve/derive.h"

#include <gtest/gtest.h>

#include "config/flags.h"

namespace mpitron::config {
namespace derive_test {

using test::parse_base;

std::string value(const ParsedRun& parsed, const char* dest) {
  return parsed.values.maybe_text(dest).value_or("none");
}

TEST(Derive, SizesOfTheModel) {
  EXPECT_EQ(value(parse_base(""), "ffn_hidden_size"), "256");
  EXPECT_EQ(value(parse_base("--hidden-size 4096 --swiglu"), "ffn_hidden_size"), "10880");
  EXPECT_EQ(value(parse_base("--ffn-hidden-size 96 --swiglu"), "ffn_hidden_size"), "96");
  EXPECT_EQ(value(parse_base(""), "kv_channels"), "16");
  EXPECT_EQ(value(parse_base(""), "num_query_groups"), "4");
  EXPECT_EQ(value(parse_base("--num-query-groups 2"), "num_query_groups"), "4");
  EXPECT_EQ(value(parse_base("--group-query-attention --num-query-groups 2"), "num_query_groups"),
            "2");
  EXPECT_EQ(value(parse_base("--group-query-attention"), "num_query_groups"), "1");
}

TEST(Derive, OldNames) {
  EXPECT_EQ(value(parse_base("--use-rotary-position-embeddings"), "position_embedding_type"),
            "rope");
  EXPECT_EQ(value(parse_base("--no-position-embedding"), "position_embedding_type"), "none");
  EXPECT_EQ(value(parse_base("--no-position-embedding --position-embedding-type rope"),
                  "position_embedding_type"),
            "rope");
  EXPECT_EQ(value(parse_base("--recompute-activations"), "recompute_granularity"), "selective");
  EXPECT_EQ(value(parse_base("--recompute-activations"), "recompute_modules"), "core_attn");
  EXPECT_EQ(value(parse_base("--use-flash-attn"), "attention_backend"), "flash");
  const ParsedRun experts = parse_base(
      "--num-experts 4 --disable-bias-linear --moe-layer-recompute --recompute-modules mlp");
  EXPECT_EQ(value(experts, "recompute_granularity"), "selective");
  EXPECT_TRUE(experts.run.model.recomputes(RecomputeModule::moe));
  EXPECT_TRUE(experts.run.model.recomputes(RecomputeModule::mlp));
  EXPECT_FALSE(experts.run.model.recomputes(RecomputeModule::core_attn));
}

TEST(Derive, Precision) {
  EXPECT_EQ(value(parse_base("--bf16"), "accumulate_allreduce_grads_in_fp32"), "true");
  EXPECT_EQ(value(parse_base("--bf16 --grad-reduce-in-bf16"), "accumulate_allreduce_grads_in_fp32"),
            "false");
  EXPECT_EQ(value(parse_base("--fp16"), "accumulate_allreduce_grads_in_fp32"), "false");
  EXPECT_EQ(value(parse_base("--fp16"), "check_for_nan_in_loss_and_grad"), "false");
  EXPECT_EQ(value(parse_base("--fp16 --loss-scale 128"), "check_for_nan_in_loss_and_grad"), "true");
  EXPECT_EQ(value(parse_base("--bf16"), "check_for_nan_in_loss_and_grad"), "true");
  EXPECT_TRUE(parse_base("--bf16 --loss-scale 128").notices.empty());
  EXPECT_NE(
      parse_base("--loss-scale 128").notices.at(0).find("without --use-distributed-optimizer"),
      std::string::npos);
  EXPECT_EQ(value(parse_base("--apply-query-key-layer-scaling"), "attention_softmax_in_fp32"),
            "true");
}

TEST(Derive, BatchAndSchedule) {
  const char* no_batch =
      "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --seq-length 32 "
      "--max-position-embeddings 32 "
      "--micro-batch-size 3 --train-iters 20 --lr 0.1 --world-size 4";
  EXPECT_EQ(value(test::parse_text(no_batch), "global_batch_size"), "12");
  EXPECT_EQ(value(parse_base(""), "lr_decay_iters"), "20");
  EXPECT_EQ(value(parse_base("--lr-decay-iters 10"), "lr_decay_iters"), "10");
  EXPECT_EQ(value(parse_base("--weight-decay 0.3"), "end_weight_decay"), "0.3");
  EXPECT_EQ(value(parse_base("--decoupled-lr 0.1 --min-lr 0.001"), "decoupled_min_lr"), "0.001");
}

TEST(Derive, DataDefaults) {
  EXPECT_EQ(value(parse_base("--data-path x"), "split"), "969, 30, 1");
  EXPECT_EQ(value(parse_base("--mock-data"), "split"), "1,1,1");
  EXPECT_EQ(value(parse_base("--train-data-path x"), "split"), "none");
  EXPECT_EQ(value(parse_base(""), "dataloader_type"), "single");
  EXPECT_EQ(value(parse_base(""), "tokenizer_type"), "GPT2BPETokenizer");
  EXPECT_EQ(value(parse_base("--model t5"), "tokenizer_type"), "BertWordPieceLowerCase");
}

TEST(Derive, OptionsWithoutEffectAreNoticed) {
  EXPECT_EQ(parse_base("--recompute-method uniform").notices.size(), 1U);
  EXPECT_EQ(parse_base("--rotary-percent 0.5").notices.size(), 1U);
  EXPECT_EQ(parse_base("--save-interval 5").notices.size(), 1U);
  EXPECT_TRUE(parse_base("--save-interval 5 --save a").notices.empty());
  EXPECT_TRUE(parse_base("").notices.empty());
}

TEST(Derive, SurvivesMissingSizes) {
  const ParsedRun parsed = parse_run({});
  EXPECT_EQ(value(parsed, "ffn_hidden_size"), "none");
  EXPECT_TRUE(test::has_finding(parsed, "E010"));
  EXPECT_FALSE(test::parse_text("--num-attention-heads 0 --hidden-size 64").findings.empty());
}

}  // namespace derive_test
}  // namespace mpitron::config
