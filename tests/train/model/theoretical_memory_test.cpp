#include "train/model/theoretical_memory.h"

#include <gtest/gtest.h>

#include "support/golden_model.h"

namespace mpitron::train {
namespace theoretical_memory_test {

MemoryLayout layout_of(const test::GoldenArguments& args) {
  return {
      .tensor_model_parallel_size = args.number("tensor_model_parallel_size"),
      .pipeline_model_parallel_size = args.number("pipeline_model_parallel_size"),
      .data_parallel_size = args.number("data_parallel_size"),
      .virtual_pipeline_model_parallel_size = args.optional("virtual_pipeline_model_parallel_size"),
      .micro_batch_size = args.number("micro_batch_size"),
      .use_distributed_optimizer = args.flag("use_distributed_optimizer")};
}

TEST(TheoreticalMemory, EqualsReferenceTable) {
  const nlohmann::json cases = test::golden_table("theoretical_memory");
  ASSERT_GE(cases.size(), 36U);
  for (const auto& c : cases) {
    nlohmann::json given = c.at("args");
    given.update(c.at("parallel"));
    const test::GoldenArguments args(given);
    const config::ModelConfig model = test::golden_model(args);
    const MemoryLayout layout = layout_of(args);
    const double weights = c.at("weight_and_optimizer_bytes");
    EXPECT_NEAR(weight_and_optimizer_bytes(model, layout), weights, 1e-12 * weights) << given;
    for (const Index m : {1, 2, 8}) {
      const double expected = c.at("activation_bytes_M" + std::to_string(m));
      EXPECT_NEAR(activation_bytes(model, layout, m), expected, 1e-12 * expected)
          << given << " with " << m << " microbatches";
    }
  }
}

config::ModelConfig small_model() {
  config::ModelConfig model;
  model.num_layers = 2;
  model.hidden_size = 8;
  model.num_attention_heads = model.num_query_groups = 2;
  model.kv_channels = 4;
  model.ffn_hidden_size = 32;
  model.seq_length = 16;
  model.padded_vocab_size = 100;
  return model;
}

TEST(TheoreticalMemory, CountsAddUp) {
  config::ModelConfig model = small_model();
  model.untie_embeddings_and_output_weights = true;
  const ParameterCounts counts = theoretical_parameters(model, {});
  // per layer: 4 h^2 attention, 8 h^2 MLP, 4 h norms; then the final norm and two embeddings
  EXPECT_EQ(counts.transformer_block, 2 * (12 * 64 + 4 * 8) + 16);
  EXPECT_EQ(counts.embedding, 2 * 800);
  EXPECT_EQ(counts.total(), counts.most_loaded_shard);
}

TEST(TheoreticalMemory, CountsLayersByLettersAsTheyAre) {
  config::ModelConfig model = small_model();
  const double both = theoretical_parameters(model, {}).transformer_block;
  model.hybrid.pattern = "*-*-";
  model.num_layers = 4;
  EXPECT_EQ(theoretical_parameters(model, {}).transformer_block, both);
}

TEST(TheoreticalMemory, CountsTypesOfStateAndWhatTheHostHolds) {
  config::OptimizerConfig config;
  config.bf16 = true;
  config.params_dtype = DType::bf16;
  EXPECT_EQ(state_bytes(config).gradient + state_bytes(config).state, 16);
  config.main_grad_dtype = DType::bf16;
  config.state_types = {
      .exp_avg = DType::u8, .exp_avg_sq = DType::bf16, .masters_below_params = true};
  config.offload = config::OffloadConfig{.fraction = 0.5};
  const StateBytes bytes = state_bytes(config);
  EXPECT_EQ(bytes.gradient, 2);
  EXPECT_EQ(bytes.state, 2 + 1 + 1.0 / 64 + 2);
  const config::ModelConfig model = small_model();
  const MemoryLayout layout{.data_parallel_size = 4, .use_distributed_optimizer = true};
  const double shard = theoretical_parameters(model, layout).most_loaded_shard;
  EXPECT_NEAR(weight_and_optimizer_bytes(model, layout, bytes), shard * (4 + bytes.state / 8),
              1e-9);
  EXPECT_NEAR(host_optimizer_bytes(model, layout, bytes), shard * (2 + bytes.state) / 8, 1e-9);
}

TEST(TheoreticalMemory, CountsWeightsInEightBits) {
  config::ModelConfig model = small_model();
  const MemoryLayout layout{.tensor_model_parallel_size = 2, .pipeline_model_parallel_size = 2};
  model.fp8 = config::Fp8Config{};
  const double block = theoretical_parameters(model, layout).transformer_block;
  EXPECT_EQ(fp8_weight_bytes(model, layout), 2 * block / 4);
  model.fp8->first_bf16_layers = 1;
  EXPECT_EQ(fp8_weight_bytes(model, layout), block / 4);
}

TEST(TheoreticalMemory, OfARunIsWhatTheFormulasSay) {
  config::RunConfig run;
  run.model.num_layers = 2;
  run.model.hidden_size = run.model.ffn_hidden_size = 8;
  run.model.num_attention_heads = run.model.num_query_groups = 2;
  run.model.kv_channels = 4;
  run.model.seq_length = 16;
  run.model.fp8 = config::Fp8Config{};
  run.optimizer.offload = config::OffloadConfig{.fraction = 0.5};
  run.training.micro_batch_size = 2;
  run.training.global_batch_size = 8;
  run.parallel.data_parallel_size = 2;
  const config::ModelConfig& model = run.model;
  const MemoryLayout layout = memory_layout(run);
  const StateBytes bytes = state_bytes(run.optimizer);
  TheoreticalMemory memory = theoretical_memory(run);
  EXPECT_EQ(memory.weight_and_optimizer, weight_and_optimizer_bytes(model, layout, bytes));
  EXPECT_EQ(memory.activation, activation_bytes(model, layout, 2));
  EXPECT_EQ(memory.host_optimizer, host_optimizer_bytes(model, layout, bytes));
  EXPECT_EQ(memory.fp8_weights, fp8_weight_bytes(model, layout));
  run.training.global_batch_size = 4;  // one microbatch: nothing is kept for a second one
  run.optimizer.offload.reset();
  memory = theoretical_memory(run);
  EXPECT_EQ(memory.fp8_weights, 0);
  EXPECT_EQ(memory.host_optimizer, 0);
}

TEST(TheoreticalMemory, Line) {
  EXPECT_EQ(theoretical_memory_line(3.0 * 1024 * 1024, {}),
            "Theoretical memory footprints: weight and optimizer=3.00 MB");
  EXPECT_EQ(theoretical_memory_line(3.0 * 1024 * 1024, 512.0 * 1024),
            "Theoretical memory footprints: weight and optimizer=3.00 MB, activation=0.50 MB, "
            "total=3.50 MB");
}

TEST(TheoreticalMemory, ALineTellsActivationsWhereTheFormulaHolds) {
  config::RunConfig run;
  run.model.num_layers = 2;
  run.model.hidden_size = 8;
  run.model.ffn_hidden_size = 32;
  run.model.num_attention_heads = run.model.num_query_groups = 2;
  run.model.kv_channels = 4;
  run.model.seq_length = 16;
  run.training.micro_batch_size = 1;
  run.training.global_batch_size = 4;
  EXPECT_EQ(theoretical_memory_line(run).find("activation"), std::string::npos);
  run.parallel.tensor_model_parallel_size = 2;
  run.parallel.sequence_parallel = true;
  run.model.recompute_granularity = config::RecomputeGranularity::selective;
  EXPECT_NE(theoretical_memory_line(run).find("activation="), std::string::npos);
}

}  // namespace theoretical_memory_test
}  // namespace mpitron::train
