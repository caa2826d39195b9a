#include "config/resolve.h"

#include <cmath>
#include <initializer_list>
#include <utility>

#include "config/derive.h"
#include "config/global_batch_size.h"
#include "utils/check.h"

namespace mpitron::config {
namespace {

template <class E>
using Names = std::initializer_list<std::pair<const char*, E>>;

template <class E>
E pick(const std::string& word, Names<E> names) {
  for (const auto& [name, value] : names) {
    if (word == name) {
      return value;
    }
  }
  MPITRON_CHECK(false, word);
  return {};
}

DType params_dtype(const OptionValues& v) {
  return v.flag("fp16") ? DType::f16 : v.flag("bf16") ? DType::bf16 : DType::f32;
}

ActivationKind activation(const OptionValues& v) {
  if (v.flag("swiglu")) {
    return ActivationKind::silu;
  }
  if (v.flag("squared_relu")) {
    return ActivationKind::squared_relu;
  }
  return v.flag("openai_gelu") || v.flag("bias_gelu_fusion") ? ActivationKind::gelu_tanh
                                                             : ActivationKind::gelu_erf;
}

std::vector<bool> no_rope_layers(const OptionValues& v, Index layers) {
  const std::optional<std::string> text = v.maybe_text("no_rope_freq");
  std::vector<bool> skip;
  if (!text) {
    return skip;
  }
  const Frequency frequency = parse_list_expression(*text);
  for (const Index entry : frequency.entries) {
    skip.push_back(entry != 0);
  }
  for (Index layer = 1; !frequency.is_list && frequency.number > 0 && layer <= layers; ++layer) {
    skip.push_back(layer % frequency.number == 0);
  }
  return skip;
}

std::vector<RecomputeModule> recompute_modules(const OptionValues& v) {
  using enum RecomputeModule;
  std::vector<RecomputeModule> out;
  const Names<RecomputeModule> names = {
      {"core_attn", core_attn},          {"moe_act", moe_act}, {"layernorm", layernorm},
      {"mla_up_proj", mla_up_proj},      {"mlp", mlp},         {"moe", moe},
      {"shared_experts", shared_experts}};
  for (const std::string& word : v.words("recompute_modules")) {
    for (const auto& [name, module] : names) {
      if (word == name) {
        out.push_back(module);
      }
    }
  }
  return out;
}

void resolve_size(ModelConfig& m, const OptionValues& v) {
  m.num_layers = v.maybe_integer("num_layers").value_or(0);
  m.hidden_size = v.maybe_integer("hidden_size").value_or(0);
  m.ffn_hidden_size = v.maybe_integer("ffn_hidden_size").value_or(0);
  m.num_attention_heads = v.maybe_integer("num_attention_heads").value_or(0);
  m.kv_channels = v.maybe_integer("kv_channels").value_or(0);
  m.num_query_groups = v.integer("num_query_groups");
  m.group_query_attention = v.flag("group_query_attention");
  m.seq_length = v.maybe_integer("seq_length").value_or(0);
  m.max_position_embeddings = v.maybe_integer("max_position_embeddings").value_or(0);
  m.padded_vocab_size = v.maybe_integer("padded_vocab_size").value_or(0);
  m.make_vocab_size_divisible_by = v.integer("make_vocab_size_divisible_by");
  m.untie_embeddings_and_output_weights = v.flag("untie_embeddings_and_output_weights");
  m.add_bias_linear = v.flag("add_bias_linear");
  m.add_qkv_bias = v.flag("add_qkv_bias");
  m.mtp_num_layers = v.maybe_integer("mtp_num_layers");
  m.mtp_loss_scaling_factor = v.real("mtp_loss_scaling_factor");
  m.num_experts = v.maybe_integer("num_experts");
  m.multi_latent_attention = v.flag("multi_latent_attention");
}

void resolve_attention(ModelConfig& m, const OptionValues& v) {
  using enum AttentionBackend;
  m.attention_backend = pick<AttentionBackend>(v.text("attention_backend"), {{"auto", automatic},
                                                                             {"flash", flash},
                                                                             {"fused", fused},
                                                                             {"unfused", unfused},
                                                                             {"local", local}});
  m.softmax_scale = m.kv_channels > 0 ? 1 / std::sqrt(static_cast<double>(m.kv_channels)) : 0;
  m.apply_query_key_layer_scaling = v.flag("apply_query_key_layer_scaling");
  m.attention_softmax_in_fp32 = v.flag("attention_softmax_in_fp32");
  m.qk_layernorm = v.flag("qk_layernorm");
  m.qk_l2_norm = v.flag("qk_l2_norm");
  m.reset_attention_mask = v.flag("reset_attention_mask");
}

void resolve_positions(ModelConfig& m, const OptionValues& v) {
  using enum PositionEmbedding;
  m.position_embedding_type = pick<PositionEmbedding>(v.text("position_embedding_type"),
                                                      {{"learned_absolute", learned_absolute},
                                                       {"rope", rope},
                                                       {"mrope", mrope},
                                                       {"relative", relative},
                                                       {"none", none}});
  m.rope_type =
      pick<RopeType>(v.text("rope_type"), {{"rope", RopeType::rope}, {"yarn", RopeType::yarn}});
  m.rotary_base = v.integer("rotary_base");
  m.rotary_percent = v.real("rotary_percent");
  m.rotary_interleaved = v.flag("rotary_interleaved");
  m.rotary_seq_len_interpolation_factor = v.maybe_integer("rotary_seq_len_interpolation_factor");
  m.use_rope_scaling = v.flag("use_rope_scaling");
  m.rope_scaling_factor = v.real("rope_scaling_factor");
  m.rotary_scaling_factor = v.real("rotary_scaling_factor");
  m.mscale = v.real("mscale");
  m.mscale_all_dim = v.real("mscale_all_dim");
  m.no_rope_layers = no_rope_layers(v, m.num_layers);
  m.relative_attention_num_buckets = v.integer("relative_attention_num_buckets");
  m.relative_attention_max_distance = v.integer("relative_attention_max_distance");
}

void resolve_layers(ModelConfig& m, const OptionValues& v) {
  m.normalization = pick<Normalization>(
      v.text("normalization"),
      {{"LayerNorm", Normalization::layer_norm}, {"RMSNorm", Normalization::rms_norm}});
  m.norm_epsilon = v.real("norm_epsilon");
  m.apply_layernorm_1p = v.flag("apply_layernorm_1p");
  m.apply_residual_connection_post_layernorm = v.flag("apply_residual_connection_post_layernorm");
  m.activation = activation(v);
  m.gated_linear_unit = v.flag("swiglu");
  m.attention_dropout = v.real("attention_dropout");
  m.hidden_dropout = v.real("hidden_dropout");
  m.seed = v.integer("seed");
  m.init_method_std = v.real("init_method_std");
  m.embedding_init_method_std = v.maybe_real("embedding_init_method_std");
  m.init_method_xavier_uniform = v.flag("init_method_xavier_uniform");
  m.perform_initialization = v.flag("perform_initialization");
  m.use_cpu_initialization = v.flag("use_cpu_initialization");
}

void resolve_precision(ModelConfig& m, const OptionValues& v) {
  using Granularity = RecomputeGranularity;
  m.params_dtype = params_dtype(v);
  m.fp32_residual_connection = v.flag("fp32_residual_connection");
  m.fp16_lm_cross_entropy = v.flag("fp16_lm_cross_entropy");
  m.cross_entropy_loss_fusion = v.flag("cross_entropy_loss_fusion");
  m.gradient_accumulation_fusion = v.flag("gradient_accumulation_fusion");
  m.recompute_granularity = pick<Granularity>(v.maybe_text("recompute_granularity").value_or(""),
                                              {{"", Granularity::none},
                                               {"full", Granularity::full},
                                               {"selective", Granularity::selective}});
  m.recompute_method = pick<RecomputeMethod>(v.maybe_text("recompute_method").value_or(""),
                                             {{"", RecomputeMethod::none},
                                              {"uniform", RecomputeMethod::uniform},
                                              {"block", RecomputeMethod::block}});
  m.recompute_num_layers = v.maybe_integer("recompute_num_layers").value_or(0);
  m.recompute_modules = recompute_modules(v);
  m.distribute_saved_activations = v.flag("distribute_saved_activations");
  m.tp_comm_overlap = v.flag("tp_comm_overlap");
}

ModelConfig resolve_model(const OptionValues& v) {
  ModelConfig m;
  resolve_size(m, v);
  resolve_attention(m, v);
  resolve_positions(m, v);
  resolve_layers(m, v);
  resolve_precision(m, v);
  return m;
}

void resolve_pipeline(ParallelConfig& p, const OptionValues& v) {
  const Index stages = p.pipeline_model_parallel_size;
  p.decoder_first_pipeline_num_layers = v.maybe_integer("decoder_first_pipeline_num_layers");
  p.decoder_last_pipeline_num_layers = v.maybe_integer("decoder_last_pipeline_num_layers");
  p.pipeline_model_parallel_layout = v.maybe_text("pipeline_model_parallel_layout");
  p.account_for_embedding_in_pipeline_split = v.flag("account_for_embedding_in_pipeline_split");
  p.account_for_loss_in_pipeline_split = v.flag("account_for_loss_in_pipeline_split");
  p.virtual_pipeline_model_parallel_size = v.maybe_integer("num_virtual_stages_per_pipeline_rank");
  p.num_layers_per_virtual_pipeline_stage =
      v.maybe_integer("num_layers_per_virtual_pipeline_stage");
  const Index per_chunk = p.num_layers_per_virtual_pipeline_stage.value_or(0);
  if (per_chunk > 0 && stages > 0) {
    const Index blocks = v.maybe_integer("num_layers").value_or(0) +
                         p.account_for_embedding_in_pipeline_split +
                         p.account_for_loss_in_pipeline_split;
    p.virtual_pipeline_model_parallel_size = blocks / stages / per_chunk;
  }
  p.microbatch_group_size_per_vp_stage = v.integer("microbatch_group_size_per_vp_stage");
  p.overlap_p2p_comm =
      (p.virtual_pipeline_model_parallel_size || p.pipeline_model_parallel_layout) &&
      v.flag("overlap_p2p_comm");
  p.pipeline_schedule =
      pick<PipelineSchedule>(v.maybe_text("pipeline_schedule").value_or(""),
                             {{"", PipelineSchedule::automatic},
                              {"1f1b", PipelineSchedule::one_forward_one_backward},
                              {"interleaved", PipelineSchedule::interleaved},
                              {"zero-bubble", PipelineSchedule::zero_bubble}});
  if (v.flag("defer_embedding_wgrad_compute")) {
    p.deferred_embedding_wgrads =
        static_cast<std::size_t>(std::max<Index>(v.integer("wgrad_deferral_limit"), 0));
  }
}

ShardingStrategy resolve_sharding(const OptionValues& v) {
  using enum ShardingStrategy;
  if (v.flag("use_megatron_fsdp")) {
    return pick<ShardingStrategy>(v.text("data_parallel_sharding_strategy"),
                                  {{"no_shard", no_shard},
                                   {"optim", optim},
                                   {"optim_grads", optim_grads},
                                   {"optim_grads_params", optim_grads_params}});
  }
  return v.flag("use_distributed_optimizer") ? optim : no_shard;
}

ParallelConfig resolve_parallel(const OptionValues& v) {
  ParallelConfig p;
  p.world_size = v.integer("world_size");
  p.data_parallel_size = data_parallel_size(v);
  p.tensor_model_parallel_size = v.integer("tensor_model_parallel_size");
  p.pipeline_model_parallel_size = v.integer("pipeline_model_parallel_size");
  p.context_parallel_size = v.integer("context_parallel_size");
  p.expert_model_parallel_size = v.integer("expert_model_parallel_size");
  p.expert_tensor_parallel_size = v.integer("expert_tensor_parallel_size");
  p.sequence_parallel = v.flag("sequence_parallel");
  p.use_tp_pp_dp_mapping = v.flag("use_tp_pp_dp_mapping");
  p.distributed_timeout_minutes = v.real("distributed_timeout_minutes");
  resolve_pipeline(p, v);
  p.use_distributed_optimizer = v.flag("use_distributed_optimizer");
  p.num_distributed_optimizer_instances = v.integer("num_distributed_optimizer_instances");
  p.full_sharding_in_hsdp = v.flag("enable_full_sharding_in_hsdp");
  p.overlap_grad_reduce = v.flag("overlap_grad_reduce");
  p.overlap_param_gather = v.flag("overlap_param_gather");
  p.overlap_param_gather_with_optimizer_step = v.flag("overlap_param_gather_with_optimizer_step");
  p.ddp_bucket_size = v.maybe_integer("ddp_bucket_size");
  p.ddp_num_buckets = v.maybe_integer("ddp_num_buckets");
  p.ddp_average_in_collective = v.flag("ddp_average_in_collective");
  p.ddp_pad_buckets_for_high_nccl_busbw = v.flag("ddp_pad_buckets_for_high_nccl_busbw");
  p.sharding_strategy = resolve_sharding(v);
  p.cp_comm_type = v.words("cp_comm_type");
  p.hierarchical_context_parallel_sizes = v.integers("hierarchical_context_parallel_sizes");
  return p;
}

TrainingConfig resolve_training(const OptionValues& v) {
  TrainingConfig t;
  t.micro_batch_size = v.maybe_integer("micro_batch_size").value_or(0);
  t.global_batch_size = v.maybe_integer("global_batch_size").value_or(0);
  const std::vector<std::string> ramp = v.words("rampup_batch_size");
  if (ramp.size() == 3) {
    t.rampup_batch_size = TrainingConfig::RampupBatchSize{read_integer(ramp[0]).value_or(0),
                                                          read_integer(ramp[1]).value_or(0),
                                                          read_integer(ramp[2]).value_or(0)};
  }
  t.decrease_batch_size_if_needed = v.flag("decrease_batch_size_if_needed");
  t.train_samples = v.maybe_integer("train_samples");
  t.train_iters = v.has("train_iters") ? v.integer("train_iters")
                                       : iterations_for_samples(t, t.train_samples.value_or(0));
  t.seq_length = v.maybe_integer("seq_length").value_or(0);
  t.device = v.text("device");
  t.eval_iters = v.integer("eval_iters");
  t.eval_interval = v.integer("eval_interval");
  t.full_validation = v.flag("full_validation");
  t.multiple_validation_sets = v.flag("multiple_validation_sets");
  t.skip_train = v.flag("skip_train");
  t.calculate_per_token_loss = v.flag("calculate_per_token_loss");
  t.seed = v.integer("seed");
  t.data_parallel_random_init = v.flag("data_parallel_random_init");
  t.deterministic_mode = v.flag("deterministic_mode");
  t.exit_interval = v.maybe_integer("exit_interval");
  t.exit_duration_in_mins = v.maybe_integer("exit_duration_in_mins");
  t.exit_signal_handler = v.flag("exit_signal_handler");
  t.check_for_nan_in_loss_and_grad = v.flag("check_for_nan_in_loss_and_grad");
  t.check_for_spiky_loss = v.flag("check_for_spiky_loss");
  t.check_for_large_grads = v.flag("check_for_large_grads");
  t.check_weight_hash_across_dp_replicas_interval =
      v.maybe_integer("check_weight_hash_across_dp_replicas_interval");
  t.iterations_to_skip = v.integers("iterations_to_skip");
  t.result_rejected_tracker_filename = v.maybe_text("result_rejected_tracker_filename");
  t.profile = v.flag("profile");
  t.profile_step_start = v.integer("profile_step_start");
  t.profile_step_end = v.integer("profile_step_end");
  return t;
}

void resolve_lr(OptimizerConfig& o, const OptionValues& v, const TrainingConfig& t) {
  using enum LrDecayStyle;
  o.lr = v.maybe_real("lr").value_or(0);
  o.min_lr = v.real("min_lr");
  o.lr_decay_style =
      pick<LrDecayStyle>(v.text("lr_decay_style"), {{"constant", constant},
                                                    {"linear", linear},
                                                    {"cosine", cosine},
                                                    {"inverse-square-root", inverse_square_root},
                                                    {"WSD", wsd}});
  o.lr_wsd_decay_style = pick<WsdDecayStyle>(v.text("lr_wsd_decay_style"),
                                             {{"exponential", WsdDecayStyle::exponential},
                                              {"linear", WsdDecayStyle::linear},
                                              {"cosine", WsdDecayStyle::cosine},
                                              {"minus_sqrt", WsdDecayStyle::minus_sqrt}});
  o.lr_warmup_init = v.real("lr_warmup_init");
  const bool samples = t.train_samples.has_value() && !v.has("train_iters");
  const Index unit = samples ? 1 : t.global_batch_size;
  const char* decay = samples ? "lr_decay_samples" : "lr_decay_iters";
  const char* last_phase = samples ? "lr_wsd_decay_samples" : "lr_wsd_decay_iters";
  const char* warmup = samples ? "lr_warmup_samples" : "lr_warmup_iters";
  o.lr_decay_steps = v.maybe_integer(decay).value_or(0) * unit;
  o.lr_wsd_decay_steps = v.maybe_integer(last_phase).value_or(0) * unit;
  const std::optional<double> fraction = v.maybe_real("lr_warmup_fraction");
  o.lr_warmup_steps = fraction ? *fraction * static_cast<double>(o.lr_decay_steps)
                               : static_cast<double>(v.integer(warmup) * unit);
  o.wd_incr_steps = samples ? *t.train_samples : t.train_iters * t.global_batch_size;
  o.decoupled_lr = v.maybe_real("decoupled_lr");
  o.decoupled_min_lr = v.maybe_real("decoupled_min_lr");
  o.override_opt_param_scheduler = v.flag("override_opt_param_scheduler");
  o.use_checkpoint_opt_param_scheduler = v.flag("use_checkpoint_opt_param_scheduler");
}

OptimizerConfig resolve_optimizer(const OptionValues& v, const TrainingConfig& t) {
  OptimizerConfig o;
  o.optimizer = pick<OptimizerKind>(v.text("optimizer"),
                                    {{"adam", OptimizerKind::adam}, {"sgd", OptimizerKind::sgd}});
  o.adam_beta1 = v.real("adam_beta1");
  o.adam_beta2 = v.real("adam_beta2");
  o.adam_eps = v.real("adam_eps");
  o.sgd_momentum = v.real("sgd_momentum");
  o.clip_grad = v.real("clip_grad");
  resolve_lr(o, v, t);
  o.weight_decay = v.real("weight_decay");
  o.start_weight_decay = v.maybe_real("start_weight_decay").value_or(o.weight_decay);
  o.end_weight_decay = v.maybe_real("end_weight_decay").value_or(o.weight_decay);
  o.weight_decay_incr_style = pick<WeightDecayIncrStyle>(
      v.text("weight_decay_incr_style"), {{"constant", WeightDecayIncrStyle::constant},
                                          {"linear", WeightDecayIncrStyle::linear},
                                          {"cosine", WeightDecayIncrStyle::cosine}});
  o.no_weight_decay_on_embedding = v.has("embedding_init_method_std");
  o.fp16 = v.flag("fp16");
  o.bf16 = v.flag("bf16");
  o.params_dtype = params_dtype(v);
  o.accumulate_allreduce_grads_in_fp32 = v.flag("accumulate_allreduce_grads_in_fp32");
  o.main_grad_dtype = o.accumulate_allreduce_grads_in_fp32 ? DType::f32 : o.params_dtype;
  o.loss_scale = v.maybe_real("loss_scale");
  o.initial_loss_scale = v.real("initial_loss_scale");
  o.min_loss_scale = v.real("min_loss_scale");
  o.loss_scale_window = v.real("loss_scale_window");
  o.hysteresis = v.integer("hysteresis");
  o.log_num_zeros_in_grad = v.flag("log_num_zeros_in_grad");
  return o;
}

TokenizerType tokenizer_type(const OptionValues& v) {
  using enum TokenizerType;
  return pick<TokenizerType>(v.maybe_text("tokenizer_type").value_or(""),
                             {{"", none},
                              {"BertWordPieceLowerCase", bert_word_piece_lower_case},
                              {"BertWordPieceCase", bert_word_piece_case},
                              {"GPT2BPETokenizer", gpt2_bpe},
                              {"SentencePieceTokenizer", sentence_piece},
                              {"GPTSentencePieceTokenizer", gpt_sentence_piece},
                              {"HuggingFaceTokenizer", hugging_face},
                              {"Llama2Tokenizer", llama2},
                              {"TikTokenizer", tik_token},
                              {"MultimodalTokenizer", multimodal},
                              {"NullTokenizer", null},
                              {"NullMultimodalTokenizer", null_multimodal},
                              {"SFTTokenizer", sft}});
}

DataConfig resolve_data(const OptionValues& v) {
  DataConfig d;
  d.data_path = v.words("data_path");
  d.split = v.maybe_text("split").value_or("");
  d.train_data_path = v.words("train_data_path");
  d.valid_data_path = v.words("valid_data_path");
  d.test_data_path = v.words("test_data_path");
  d.mock_data = v.flag("mock_data");
  d.data_cache_path = v.maybe_text("data_cache_path");
  d.mmap_bin_files = v.flag("mmap_bin_files");
  d.seq_length = v.maybe_integer("seq_length").value_or(0);
  d.seed = v.integer("seed");
  d.reset_position_ids = v.flag("reset_position_ids");
  d.reset_attention_mask = v.flag("reset_attention_mask");
  d.eod_mask_loss = v.flag("eod_mask_loss");
  d.create_attention_mask_in_dataloader = v.flag("create_attention_mask_in_dataloader");
  d.mid_level_dataset_surplus = v.real("mid_level_dataset_surplus");
  d.full_validation = v.flag("full_validation");
  d.multiple_validation_sets = v.flag("multiple_validation_sets");
  d.dataloader_type =
      pick<DataloaderType>(v.text("dataloader_type"), {{"single", DataloaderType::single},
                                                       {"cyclic", DataloaderType::cyclic},
                                                       {"external", DataloaderType::external}});
  d.num_workers = v.integer("num_workers");
  d.num_dataset_builder_threads = v.integer("num_dataset_builder_threads");
  d.data_sharding = v.flag("data_sharding");
  d.tokenizer_type = tokenizer_type(v);
  d.vocab_size = v.maybe_integer("vocab_size");
  d.padded_vocab_size = v.maybe_integer("padded_vocab_size");
  d.make_vocab_size_divisible_by = v.integer("make_vocab_size_divisible_by");
  d.vocab_file = v.maybe_text("vocab_file");
  d.merge_file = v.maybe_text("merge_file");
  d.vocab_extra_ids = v.integer("vocab_extra_ids");
  d.tokenizer_model = v.maybe_text("tokenizer_model");
  d.tiktoken_pattern = v.maybe_text("tiktoken_pattern");
  d.tiktoken_num_special_tokens = v.integer("tiktoken_num_special_tokens");
  d.tiktoken_special_tokens = v.words("tiktoken_special_tokens");
  return d;
}

LoggingConfig resolve_logging(const OptionValues& v) {
  LoggingConfig l;
  l.log_interval = v.integer("log_interval");
  l.log_params_norm = v.flag("log_params_norm");
  l.log_num_zeros_in_grad = v.flag("log_num_zeros_in_grad");
  l.log_throughput = v.flag("log_throughput");
  l.log_progress = v.flag("log_progress");
  l.timing_log_level = v.integer("timing_log_level");
  l.timing_log_option =
      pick<TimingLogOption>(v.text("timing_log_option"), {{"max", TimingLogOption::max},
                                                          {"minmax", TimingLogOption::minmax},
                                                          {"all", TimingLogOption::all}});
  l.barrier_with_l1_time = v.flag("barrier_with_L1_time");
  l.logging_level = v.maybe_integer("logging_level");
  l.tensorboard_dir = v.maybe_text("tensorboard_dir");
  l.tensorboard_log_interval = v.integer("tensorboard_log_interval");
  l.tensorboard_queue_size = v.integer("tensorboard_queue_size");
  l.log_timers_to_tensorboard = v.flag("log_timers_to_tensorboard");
  l.log_loss_scale_to_tensorboard = v.flag("log_loss_scale_to_tensorboard");
  l.log_validation_ppl_to_tensorboard = v.flag("log_validation_ppl_to_tensorboard");
  l.log_memory_to_tensorboard = v.flag("log_memory_to_tensorboard");
  l.log_world_size_to_tensorboard = v.flag("log_world_size_to_tensorboard");
  l.unigram_baseline = v.flag("unigram_baseline");
  l.sample_prompt = v.maybe_text("sample_prompt");
  l.sample_tokens = v.integer("sample_tokens");
  l.sample_temperature = v.real("sample_temperature");
  return l;
}

CheckpointConfig resolve_checkpoint(const OptionValues& v) {
  CheckpointConfig c;
  c.save = v.maybe_text("save");
  c.save_interval = v.maybe_integer("save_interval");
  c.save_retain_interval = v.maybe_integer("save_retain_interval");
  c.no_save_optim = v.flag("no_save_optim");
  c.save_keep_last = v.maybe_integer("save_keep_last");
  c.load = v.maybe_text("load");
  c.no_load_optim = v.flag("no_load_optim");
  c.allow_random_init = v.flag("allow_random_init");
  c.load_main_params_from_ckpt = v.flag("load_main_params_from_ckpt");
  c.finetune = v.flag("finetune");
  c.pretrained_checkpoint = v.maybe_text("pretrained_checkpoint");
  c.ckpt_step = v.maybe_integer("ckpt_step");
  c.use_checkpoint_args = v.flag("use_checkpoint_args");
  c.use_mp_args_from_checkpoint_args = v.flag("use_mp_args_from_checkpoint_args");
  c.exit_on_missing_checkpoint = v.flag("exit_on_missing_checkpoint");
  c.async_save = v.flag("async_save");
  c.save_staging_gib = v.real("save_staging_gib");
  c.verify_resume = v.flag("verify_resume");
  if (v.given("dist_ckpt_strictness")) {
    c.dist_ckpt_strictness = v.text("dist_ckpt_strictness");
  }
  return c;
}

}  // namespace

RunConfig resolve(const OptionValues& values) {
  RunConfig run;
  run.model = resolve_model(values);
  run.parallel = resolve_parallel(values);
  run.training = resolve_training(values);
  run.optimizer = resolve_optimizer(values, run.training);
  run.data = resolve_data(values);
  run.logging = resolve_logging(values);
  run.checkpoint = resolve_checkpoint(values);
  return run;
}

}  // namespace mpitron::config
