#include <deque>

#include <nlohmann/json.hpp>

#include "inference/replay/replay_row.h"
#include "inference/sampling/token_sampler.h"
#include "inference/scheduling/batching_limits.h"
#include "inference/scheduling/scheduler.h"
#include "inference/templates/chat_prompt.h"
#include "utils/error.h"
#include "utils/system/files.h"

// Recorded rules without a model: which candidates sampling keeps, how draws are spread, how blocks
// and batches are sized, how chats are written.

namespace mpitron::inference {
namespace {

using nlohmann::json;

constexpr double kProbabilityTolerance = 3e-6;

SamplingRule rule_of(const json& values) {
  SamplingRule rule{.temperature = values.value("temperature", 1.0),
                    .top_k = values.value("top_k", 0),
                    .top_p = values.value("top_p", 1.0),
                    .min_p = values.value("min_p", 0.0),
                    .repetition_penalty = values.value("repetition_penalty", 1.0),
                    .presence_penalty = values.value("presence_penalty", 0.0),
                    .frequency_penalty = values.value("frequency_penalty", 0.0),
                    .banned = values.value("banned", TokenIds{})};
  rule.top_p = rule.top_p == 0 ? 1 : rule.top_p;  // off, as the reference means it
  const json bias = values.value("logit_bias", json::object());
  for (const auto& [id, value] : bias.items()) {
    rule.bias.emplace_back(std::stoi(id), value.get<double>());
  }
  return rule;
}

/// Tells whether the same ids are left; their probabilities are compared relative to the recorded
/// ones.
bool same_candidates(const TokenSampler& sampler, const json& recorded, ReplayRow& row) {
  double total = 0;
  for (const TokenSampler::Candidate& candidate : sampler.candidates()) {
    total += candidate.weight;
  }
  for (const TokenSampler::Candidate& candidate : sampler.candidates()) {
    const auto found = recorded.find(std::to_string(candidate.id));
    if (found == recorded.end()) {
      return false;
    }
    row.compare(candidate.weight / total / found->get<double>(), 1);
  }
  return sampler.candidates().size() == recorded.size();
}

ReplayRow sampling(const json& file) {
  ReplayRow row{.of = "sampling.json", .what = "distributions", .allowed = kProbabilityTolerance};
  TokenSampler sampler(static_cast<Index>(file.at("logits").at(0).size()));
  for (const json& each : file.at("cases")) {
    for (const json& recorded : each.at("rows")) {
      const auto logits = file.at("logits").at(recorded.at("row").get<std::size_t>());
      sampler.sample(logits.get<std::vector<float>>(), rule_of(each), {}, {});
      row.count(same_candidates(sampler, recorded.at("probabilities"), row));
    }
  }
  return row;
}

ReplayRow draws(const json& file) {
  ReplayRow row{.of = "draws.json", .what = "draws", .allowed = kProbabilityTolerance};
  TokenSampler sampler(file.at("vocab").get<Index>());
  const auto prompt = file.at("prompt").get<TokenIds>();
  const auto answer = file.at("generated").get<TokenIds>();
  for (const json& each : file.at("cases")) {
    const auto logits = file.at("logits").at(each.at("row").get<std::size_t>());
    sampler.sample(logits.get<std::vector<float>>(), rule_of(each), prompt, answer);
    bool same = same_candidates(sampler, each.at("probabilities"), row);
    for (const json& draw : each.at("draws")) {
      const double uniform = uniform_draw(std::stoull(draw.at("seed").get<std::string>()),
                                          draw.at("choice").get<std::uint32_t>(),
                                          draw.at("position").get<std::uint32_t>());
      same &= sampler.draw(uniform) == draw.at("token").get<TokenId>();
    }
    row.count(same);
  }
  return row;
}

EngineShape shape_of(const json& trace) {
  const json& first = trace.at("steps").at(0);
  Index blocks = first.at("blocks_free").get<Index>();
  for (const auto& [id, used] : first.at("blocks").items()) {
    blocks += static_cast<Index>(used.size());
  }
  const json& context = trace.at("context");
  return {.block_size = context.at("chunk_size_tokens").get<Index>(),
          .blocks = blocks,
          .slots = context.at("max_requests_override").get<Index>(),
          .max_step_tokens = context.at("max_tokens_override").get<Index>(),
          .max_positions = context.at("max_sequence_length").get<Index>()};
}

/// Counts the steps until all requests have their lengths; a scheduler may need fewer than the
/// reference's, never more.
std::size_t steps_of(const json& trace) {
  Scheduler scheduler(shape_of(trace), {});
  std::deque<Sequence> sequences;
  for (const json& request : trace.at("requests")) {
    const auto prompt = request.at("prompt").get<Index>();
    Sequence sequence{.prompt_size = prompt,
                      .longest = prompt + request.at("generate").get<Index>()};
    for (Index i = 0; i < prompt; ++i) {  // no two prompts share a beginning
      sequence.tokens.push_back(static_cast<TokenId>(1000 * sequences.size()) +
                                static_cast<TokenId>(i));
    }
    scheduler.add(sequences.emplace_back(std::move(sequence)));
  }
  std::size_t steps = 0;
  for (; !scheduler.plan().empty(); ++steps) {
    for (const Scheduler::Part part : scheduler.oldest()) {
      Sequence& sequence = *part.sequence;
      scheduler.computed(part, 0);
      if (sequence.computed == sequence.size()) {
        sequence.tokens.push_back(1);
        if (sequence.size() >= sequence.longest) {
          scheduler.remove(sequence);
        }
      }
    }
    scheduler.end_oldest();
  }
  return steps;
}

ReplayRow traces(const json& file) {
  ReplayRow row{.of = "batching_traces.json", .what = "no more steps"};
  for (const auto& [name, trace] : file.items()) {
    if (trace.is_object()) {
      row.count(steps_of(trace) <= trace.at("steps").size());
    }
  }
  return row;
}

BatchingLimits limits_of(const json& each) {
  const auto ranks = each.at("tensor_model_parallel_size").get<Index>();
  BlockContents block{.layers = each.at("num_layers").get<Index>(),
                      .positions = each.at("chunk_size_tokens").get<Index>(),
                      .groups = each.at("num_attention_heads").get<Index>() / ranks,
                      .head_dim = each.at("kv_channels").get<Index>(),
                      .dtype = each.at("params_dtype") == "float32" ? DType::f32 : DType::bf16};
  if (each.value("cache_mla_latent", false)) {
    block.latent_width =
        each.at("kv_lora_rank").get<Index>() + each.at("qk_pos_emb_head_dim").get<Index>();
  }
  const auto number = [&](const char* name) {
    return each.contains(name) ? std::optional(each.at(name).get<Index>()) : std::nullopt;
  };
  BatchingSettings settings{
      .buffer_size_gb = each.at("buffer_size_gb").get<double>(),
      .guaranteed_fraction = each.at("buffer_guaranteed_fraction").get<double>(),
      .max_requests = number("max_requests_override"),
      .max_tokens = number("max_tokens_override"),
      .graphs = number("num_cuda_graphs"),
      .max_sequence_length = each.at("max_sequence_length").get<Index>(),
      .tensor_ranks = ranks};
  if (each.contains("buffer_overflow_factor")) {
    settings.overflow_factor = each.at("buffer_overflow_factor").get<double>();
  }
  return {block, settings};
}

ReplayRow sizes(const json& file) {
  ReplayRow row{.of = "batching_sizes.json", .what = "sizes"};
  for (const json& each : file.at("cases")) {
    const BatchingLimits limits = limits_of(each);
    const json& want = each.at("result");
    const json graphs = limits.graph_sizes.empty() ? json() : json(limits.graph_sizes);
    row.count(limits.blocks == want.at("blocks") &&
              limits.max_requests == want.at("max_requests") &&
              limits.max_tokens == want.at("max_tokens") &&
              limits.blocks_per_request == want.at("blocks_per_request") &&
              limits.guaranteed_requests == want.at("guaranteed_requests") &&
              limits.guaranteed_blocks == want.at("guaranteed_blocks") &&
              graphs == want.at("decode_graph_sizes"));
  }
  return row;
}

/// Compares chats; templates write dictionaries, so their entries keep the order of the file.
ReplayRow chat(const std::filesystem::path& path) {
  const auto file = nlohmann::ordered_json::parse(read_file(path));
  ReplayRow row{.of = "chat.json", .what = "rendered"};
  for (const auto& each : file.at("rendered")) {
    const auto text = file.at("templates").at(each.at("template").get<std::string>());
    const auto& messages = file.at("conversations").at(each.at("conversation").get<std::size_t>());
    try {
      const tokenizers::ChatTemplate chat(text.get<std::string>(),
                                          {{"bos_token", "<s>"}, {"eos_token", "</s>"}});
      const std::string written = chat_prompt(
          chat, {.messages = messages.dump(),
                 .tools = each.value("tools", nlohmann::ordered_json()).dump(),
                 .add_generation_prompt = each.at("add_generation_prompt").get<bool>()});
      row.count(written == each.value("text", ""));
    } catch (const Error& error) {
      row.count(error.what() == each.value("error", ""));
    }
  }
  return row;
}

}  // namespace

std::vector<ReplayRow> replay_rules(const std::filesystem::path& folder) {
  std::vector<ReplayRow> rows;
  const auto add = [&](const char* name, ReplayRow (*replay)(const json&)) {
    if (std::filesystem::exists(folder / name)) {
      rows.push_back(replay(recorded_json(folder / name)));
    }
  };
  add("sampling.json", sampling);
  add("draws.json", draws);
  add("batching_traces.json", traces);
  add("batching_sizes.json", sizes);
  if (const auto path = folder / "chat.json"; std::filesystem::exists(path)) {
    rows.push_back(chat(path));
  }
  return rows;
}

}  // namespace mpitron::inference
