#include "plan/model/planned_job.h"

#include <gtest/gtest.h>

#include "config/parse/parse.h"

namespace mpitron::plan {
namespace planned_job_test {

TEST(PlannedJob, IsWhatTheOptionsSay) {
  const config::ParsedRun parsed = config::parse_run({"--num-layers",
                                                      "4",
                                                      "--hidden-size",
                                                      "64",
                                                      "--num-attention-heads",
                                                      "8",
                                                      "--seq-length",
                                                      "64",
                                                      "--max-position-embeddings",
                                                      "64",
                                                      "--micro-batch-size",
                                                      "2",
                                                      "--global-batch-size",
                                                      "16",
                                                      "--train-iters",
                                                      "10",
                                                      "--lr",
                                                      "1e-3",
                                                      "--tokenizer-type",
                                                      "NullTokenizer",
                                                      "--vocab-size",
                                                      "100",
                                                      "--mock-data",
                                                      "--swiglu",
                                                      "--ffn-hidden-size",
                                                      "96",
                                                      "--num-experts",
                                                      "4",
                                                      "--moe-router-topk",
                                                      "2",
                                                      "--expert-model-parallel-size",
                                                      "2",
                                                      "--world-size",
                                                      "4",
                                                      "--bf16",
                                                      "--disable-bias-linear",
                                                      "--group-query-attention",
                                                      "--num-query-groups",
                                                      "2"});
  ASSERT_TRUE(parsed.findings.empty()) << parsed.findings.front().message;
  const Job job = job_of(parsed.run);
  EXPECT_EQ(job.model.layers, 4);
  EXPECT_EQ(job.model.kv_heads, 2);
  EXPECT_EQ(job.model.head_dim, 8);
  EXPECT_TRUE(job.model.gated);
  EXPECT_EQ(job.model.experts, 4);
  EXPECT_EQ(job.model.moe_ffn, 96);
  EXPECT_EQ(job.model.dense_layers, 0);
  EXPECT_EQ(job.model.vocab, 128);  // padded
  EXPECT_EQ(job.layout.gpus, 4);
  EXPECT_EQ(job.layout.expert, 2);
  EXPECT_EQ(job.microbatches(), 2);
  EXPECT_EQ(job.precision, Precision::bf16);
}

}  // namespace planned_job_test
}  // namespace mpitron::plan
