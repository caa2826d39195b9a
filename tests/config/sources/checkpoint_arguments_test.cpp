#include "config/sources/checkpoint_arguments.h"

#include <gtest/gtest.h>

#include "config/flags.h"
#include "config/parse/report.h"

namespace mpitron::config {
namespace checkpoint_arguments_test {

std::string configuration(const std::string& flags) {
  return values_json(test::parse_base(flags).values, false);
}

ParsedRun parse_with(const std::string& flags, const CheckpointArguments& checkpoint) {
  return parse_run(split_words(test::kBase + (" " + flags)), 1, &checkpoint);
}

TEST(CheckpointArguments, TheModelIsTheCheckpointsWhateverIsGiven) {
  const CheckpointArguments checkpoint{
      .configuration = configuration("--num-layers 6 --swiglu --lr 0.5 --seq-length 32 "
                                     "--max-position-embeddings 32"),
      .path = "a/checkpoint.h5"};
  const ParsedRun parsed = parse_with("--num-layers 2 --load a", checkpoint);
  EXPECT_EQ(parsed.run.model.num_layers, 6);
  EXPECT_TRUE(parsed.values.flag("swiglu"));
  EXPECT_EQ(parsed.run.training.seq_length, 32);
  EXPECT_NE(parsed.run.optimizer.lr, 0.5);
  ASSERT_FALSE(parsed.notices.empty());
  EXPECT_NE(parsed.notices[0].find("--num-layers"), std::string::npos);
  EXPECT_EQ(parsed.values.origin_at(option_index().slot_of_dest("num_layers")).detail,
            checkpoint.path);
}

TEST(CheckpointArguments, LatentsAndPredictionsAreTheModels) {
  const CheckpointArguments checkpoint{
      .configuration = configuration("--multi-latent-attention --kv-lora-rank 24 --v-head-dim 40 "
                                     "--position-embedding-type rope --mtp-num-layers 2"),
      .path = "a/checkpoint.h5"};
  const ParsedRun parsed = parse_with("--load a", checkpoint);
  EXPECT_TRUE(parsed.run.model.multi_latent_attention);
  EXPECT_EQ(parsed.run.model.kv_lora_rank, 24);
  EXPECT_EQ(parsed.run.model.v_head_dim, 40);
  EXPECT_EQ(parsed.run.model.rope_type, RopeType::yarn);
  EXPECT_EQ(parsed.run.model.mtp_num_layers, 2);
}

/// A model that comes from another program is all that its layers have.
TEST(CheckpointArguments, PartsOfGemmasAndOfLlama4AreTheModels) {
  const CheckpointArguments checkpoint{
      .configuration =
          configuration("--position-embedding-type rope --geglu --post-mlp-layernorm "
                        "--scale-embeddings --window-size 7,0 --rotary-base-local 100 "
                        "--rotary-seq-len-interpolation-factor 8 --query-pre-attn-scalar 24 "
                        "--attn-logit-softcapping 50 --final-logit-softcapping 30 --qk-l2-norm "
                        "--qk-l2-norm-with-rope-only --no-rope-freq 2 --query-scale-floor 16"),
      .path = "a/checkpoint.h5"};
  const ParsedRun parsed = parse_with("--load a", checkpoint);
  EXPECT_FALSE(test::has_finding(parsed, "E351") || test::has_finding(parsed, "E354"));
  const ModelConfig& model = parsed.run.model;
  EXPECT_TRUE(model.gated_linear_unit && model.post_mlp_layernorm && model.scale_embeddings);
  EXPECT_TRUE(model.qk_l2_norm && model.qk_l2_norm_with_rope_only);
  EXPECT_EQ(model.no_rope_layers, (std::vector<bool>{false, true, false, true}));
  EXPECT_EQ(model.rotary_base_local, 100);
  EXPECT_EQ(model.rotary_seq_len_interpolation_factor, 8);
  EXPECT_EQ(model.query_pre_attn_scalar, 24);
  EXPECT_EQ(model.attn_logit_softcapping, 50);
  EXPECT_EQ(model.final_logit_softcapping, 30);
  EXPECT_EQ(model.query_scale.value().floor, 16);
}

TEST(CheckpointArguments, WhatSeesIsTheModels) {
  const CheckpointArguments checkpoint{
      .configuration =
          configuration("--model vlm --encoder-num-layers 3 --img-h 32 --img-w 32 --patch-dim 8 "
                        "--position-embedding-type mrope --mrope-section 2 3 3 "
                        "--vision-model-type qwen2_vl --vision-hidden-size 48 --pixel-shuffle "
                        "--vision-num-attention-heads 6 --image-tag-type qwen2_vl"),
      .path = "a/checkpoint.h5"};
  const ParsedRun parsed = parse_with("--model vlm --load a", checkpoint);
  ASSERT_TRUE(parsed.run.model.vlm && parsed.run.model.vlm->tower_sizes);
  const VlmConfig& vlm = *parsed.run.model.vlm;
  EXPECT_EQ(vlm.tower, TowerKind::qwen2_vl);
  EXPECT_EQ(vlm.tower_layers, 3);
  EXPECT_EQ(vlm.tower_sizes->hidden_size, 48);
  EXPECT_TRUE(vlm.pixel_shuffle);
  EXPECT_EQ(vlm.image_tags, ImageTags::qwen2_vl);
  EXPECT_EQ(parsed.run.model.mrope_section, (std::vector<Index>{2, 3, 3}));
  // A GPT's checkpoint says nothing of encoders that another model would have.
  const CheckpointArguments words{.configuration = configuration("--num-layers 2"),
                                  .path = "a/checkpoint.h5"};
  EXPECT_EQ(
      parse_with("--model vlm --encoder-num-layers 5 --load a", words).run.model.vlm->tower_layers,
      5);
}

TEST(CheckpointArguments, EncodersTakeTheirPositionsAndNothingOfOtherModels) {
  const std::string t5 = "--model t5 --decoder-seq-length 16 --vocab-file vocab.txt ";
  const CheckpointArguments checkpoint{
      .configuration = configuration(t5 + "--position-embedding-type relative "
                                          "--relative-attention-num-buckets 16 "
                                          "--relative-attention-max-distance 64"),
      .path = "a/checkpoint.h5"};
  const ParsedRun parsed = parse_with(t5 + "--load a", checkpoint);
  EXPECT_EQ(test::all_findings(parsed), "no findings");
  EXPECT_EQ(parsed.run.model.position_embedding_type, PositionEmbedding::relative);
  EXPECT_EQ(parsed.run.model.relative_attention_num_buckets, 16);
  EXPECT_EQ(parsed.run.model.relative_attention_max_distance, 64);
}

TEST(CheckpointArguments, ALayoutIsTakenWhenAskedFor) {
  CheckpointArguments checkpoint{.configuration = R"({"tensor_model_parallel_size": 2})"};
  EXPECT_EQ(parse_with("--load a", checkpoint).run.parallel.tensor_model_parallel_size, 1);
  checkpoint.layout = true;
  EXPECT_EQ(parse_with("--load a", checkpoint).run.parallel.tensor_model_parallel_size, 2);
}

TEST(CheckpointArguments, FilesOfTheTokenizerMayHaveMoved) {
  const CheckpointArguments checkpoint{
      .configuration = R"({"tokenizer_type": "GPT2BPETokenizer", "vocab_file": "old/vocab.json",
                           "merge_file": "old/merges.txt"})",
      .tokenizer = true};
  const DataConfig data =
      parse_with("--load a --tokenizer-type NullTokenizer --vocab-file new/vocab.json", checkpoint)
          .run.data;
  EXPECT_EQ(data.tokenizer_type, TokenizerType::gpt2_bpe);
  EXPECT_EQ(data.vocab_file, "new/vocab.json");
  EXPECT_EQ(data.merge_file, "old/merges.txt");
}

TEST(CheckpointArguments, WithoutAConfigurationItIsAFinding) {
  EXPECT_TRUE(test::has_finding(parse_with("--load a", {.configuration = "no json"}), ids::kFile));
}

TEST(CheckpointArguments, DifferencesNameBothValues) {
  EXPECT_EQ(model_differences(configuration("--num-layers 6"), configuration("--num-layers 4")),
            "num_layers 6, here 4");
  EXPECT_EQ(model_differences(configuration("--lr 0.5"), configuration("")), "");
}

TEST(CheckpointArguments, OptionsOfTheFunctionAndAllOthersAreCompared) {
  const std::string there = configuration("--lr 0.5 --norm-epsilon 1e-2 --save a");
  const std::string here = configuration("--lr 0.25 --save b");
  EXPECT_EQ(function_differences(there, here), "norm_epsilon 0.01, here 1e-05");
  const std::string all = all_differences(there, here);
  EXPECT_NE(all.find("lr 0.5, here 0.25"), std::string::npos) << all;
  EXPECT_NE(all.find("norm_epsilon"), std::string::npos) << all;
  EXPECT_EQ(all.find("save"), std::string::npos) << all;
}

TEST(CheckpointArguments, OptionsOfTheVocabularyAreCompared) {
  const std::string there = configuration("--tokenizer-type NullTokenizer --vocab-size 511");
  EXPECT_EQ(vocabulary_differences(
                there, configuration("--tokenizer-type NullTokenizer --vocab-size 600")),
            "vocab_size 511, here 600");
  EXPECT_EQ(vocabulary_differences(there, there), "");
}

TEST(CheckpointArguments, TypesOfStateAreCompared) {
  EXPECT_EQ(state_type_differences(configuration("--exp-avg-dtype fp8"), configuration("")),
            "exp_avg_dtype fp8, here fp32");
  EXPECT_EQ(state_type_differences(configuration("--lr 0.5"), configuration("")), "");
}

}  // namespace checkpoint_arguments_test
}  // namespace mpitron::config
