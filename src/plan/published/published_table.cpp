#include "plan/published/published_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "plan/machine/exit_codes.h"
#include "plan/published/table_cells.h"
#include "utils/system/files.h"

// Reads tables of steps that articles and release notes publish (docs/how-to/plan-a-large-run.md):
// one row a run, its columns turned into options of a run of this program.

namespace mpitron::plan {
namespace {

constexpr bool kNeeded = true;
/// Known columns; the needed ones determine model, machine and layout.
constexpr TableColumn kColumns[] = {{"id"},
                                    {"source"},
                                    {"table"},
                                    {"kind"},
                                    {"precision", kNeeded},
                                    {"hardware", kNeeded},
                                    {"model"},
                                    {"layers", kNeeded},
                                    {"hidden", kNeeded},
                                    {"ffn"},
                                    {"heads", kNeeded},
                                    {"kv_heads"},
                                    {"head_dim"},
                                    {"gated"},
                                    {"vocab", kNeeded},
                                    {"experts"},
                                    {"topk"},
                                    {"moe_ffn"},
                                    {"shared_ffn"},
                                    {"dense_layers"},
                                    {"seq", kNeeded},
                                    {"gpus", kNeeded},
                                    {"gbs", kNeeded},
                                    {"mbs"},
                                    {"tp", kNeeded},
                                    {"sp"},
                                    {"pp", kNeeded},
                                    {"vp"},
                                    {"cp"},
                                    {"ep"},
                                    {"dp_kind"},
                                    {"recompute"},
                                    {"reported"},
                                    {"value"},
                                    {"step_s"},
                                    {"options"},
                                    {"note"}};

/// Largest values that are plausible: beyond them a cell is in the wrong column.
constexpr Index kMostLayers = 10'000;
constexpr Index kMostWidth = 10'000'000;
constexpr Index kMostHeads = 100'000;
constexpr Index kMostTokens = 1'000'000'000;
constexpr Index kMostGpus = 10'000'000;
constexpr double kMostSeconds = 1e7;

/// Words of cells. The 16-bit formats count as one: they run at one speed.
using config::ShardingStrategy;
constexpr TableWord<ShardingStrategy> kSharding[] = {
    {"ddp", ShardingStrategy::no_shard},
    {"zero1", ShardingStrategy::optim},
    {"zero2", ShardingStrategy::optim_grads},
    {"zero3", ShardingStrategy::optim_grads_params}};
enum class Recompute { none, selective, products, full };
constexpr TableWord<Recompute> kRecompute[] = {{"none", Recompute::none},
                                               {"selective", Recompute::selective},
                                               {"selective-op", Recompute::products},
                                               {"full", Recompute::full}};
constexpr TableWord<Precision> kPrecision[] = {{"bf16", Precision::bf16},
                                               {"fp16", Precision::bf16},
                                               {"fp8", Precision::fp8},
                                               {"mxfp8", Precision::mxfp8},
                                               {"nvfp4", Precision::nvfp4}};
constexpr TableWord<FigureUnit> kUnits[] = {
    {"s/iteration", FigureUnit::seconds},        {"s/step", FigureUnit::seconds},
    {"ms/iteration", FigureUnit::milliseconds},  {"ms/step", FigureUnit::milliseconds},
    {"tokens/s/GPU", FigureUnit::tokens_of_gpu}, {"tokens/s", FigureUnit::tokens},
    {"samples/s", FigureUnit::samples},          {"TFLOP/s/GPU", FigureUnit::tera_of_gpu},
    {"MFU %", FigureUnit::utilization}};
constexpr double kRecomputedProducts = 0.5;  // every second product of a layer

/// Returns how a source counts operations: all of attention unless the source or its note says
/// otherwise.
FlopsFormula formula_of(const std::string& source, const std::string& note) {
  const auto says = [&](const char* words) { return note.find(words) != std::string::npos; };
  if (says("96Bslh")) {
    return FlopsFormula::hardware;
  }
  return source.starts_with("Megatron") || says("causal halved") ? FlopsFormula::megatron
                                                                 : FlopsFormula::full;
}

/// Adds what the public configuration of a model has beside the columns.
void complete_named_model(const std::string& name, config::ModelConfig& model) {
  if (name.starts_with("deepseek") || name.starts_with("kimi")) {
    model.multi_latent_attention = true;  // arXiv:2412.19437
    model.q_lora_rank = 1536;
    model.kv_lora_rank = 512;
  }
  if (name.starts_with("deepseek") && model.moe) {
    model.moe->num_groups = 8;
    model.moe->group_topk = 4;
  }
  if (name.starts_with("gpt-oss")) {  // every second layer sees 128 tokens
    model.window_size = {{127, 0}};
    for (Index layer = 0; layer < model.num_layers; ++layer) {
      model.window_layers.push_back(layer % 2 == 0);
    }
  }
}

/// Turns a line of the table into a run of this program: model, layout, batch, and the step's time.
/// Throws Error(kBadTable) with line and column where a cell does not fit.
class RowReader {
 public:
  RowReader(std::string path, const std::string& header)
      : cells_(std::move(path), header, kColumns) {}

  /// Reads a line; `line` counts from 1, for messages. A row of a search, or with ? for tp or pp,
  /// has no layout, and only as much of the model as its cells say.
  PublishedRow read(const std::string& text, Index line) {
    cells_.read(text, line);
    PublishedRow row{.line = line,
                     .id = cells_.says("id") ? cells_.text("id") : fmt::format("line {}", line),
                     .source = cells_.text("source"),
                     .table = cells_.text("table"),
                     .kind = cells_.text("kind"),
                     .hardware = cells_.text("hardware"),
                     .precision = cells_.text("precision"),
                     .model = cells_.text("model"),
                     .options = cells_.text("options")};
    if (row.hardware.empty()) {
      cells_.fail("hardware", "a machine is expected");
    }
    row.practice.precision = cells_.word("precision", kPrecision);
    row.layout_known = row.kind != "search" && cells_.text("tp") != "?" && cells_.text("pp") != "?";
    read_job(row);
    if (row.layout_known) {
      read_layout(row);
      read_recompute(row);
    }
    read_figure(row);
    return row;
  }

 private:
  /// Reads model, GPUs and batch; of a row without layout as far as it has them.
  void read_job(PublishedRow& row) const {
    row.run.parallel.world_size = cells_.whole("gpus", 1, kMostGpus);
    row.run.model.seq_length = cells_.whole("seq", 1, kMostTokens);
    row.run.model.padded_vocab_size = cells_.whole("vocab", 1, kMostWidth);
    if (row.layout_known || cells_.says("gbs")) {
      row.run.training.global_batch_size = cells_.whole("gbs", 1, kMostTokens);
    }
    if (row.layout_known || cells_.says("layers")) {
      read_model(row);
    }
    complete_named_model(row.model, row.run.model);
  }

  /// Reads the shape of the decoder. Defaults are those of a plain GPT: as many keys as queries,
  /// heads that share the width, an MLP of 4 h; a gated one has no default. Embeddings are untied.
  void read_model(PublishedRow& row) const {
    config::ModelConfig& model = row.run.model;
    model.num_layers = cells_.whole("layers", 1, kMostLayers);
    model.hidden_size = cells_.whole("hidden", 1, kMostWidth);
    model.num_attention_heads = cells_.whole("heads", 1, kMostHeads);
    model.num_query_groups = cells_.whole("kv_heads", 1, kMostHeads, model.num_attention_heads);
    if (model.num_attention_heads % model.num_query_groups != 0) {
      cells_.fail("kv_heads",
                  fmt::format("a divisor of {} heads is expected", model.num_attention_heads));
    }
    if (!cells_.says("head_dim") && model.hidden_size % model.num_attention_heads != 0) {
      cells_.fail("head_dim", fmt::format("a width is expected, as {} heads do not divide {}",
                                          model.num_attention_heads, model.hidden_size));
    }
    model.kv_channels =
        cells_.whole("head_dim", 1, kMostWidth, model.hidden_size / model.num_attention_heads);
    model.gated_linear_unit = cells_.whole("gated", 0, 1, 0) != 0;
    model.untie_embeddings_and_output_weights = true;
    const Index experts = cells_.whole("experts", 0, kMostHeads, 0);
    const Index least = experts > 0 ? 0 : 1;  // all layers may have experts
    model.ffn_hidden_size = experts > 0 || model.gated_linear_unit
                                ? cells_.whole("ffn", least, kMostWidth)
                                : cells_.whole("ffn", least, kMostWidth, 4 * model.hidden_size);
    if (experts > 0) {
      read_experts(experts, row);
    }
    if (row.practice.precision != Precision::bf16) {
      model.fp8.emplace();
    }
  }

  /// Makes experts in all layers but the first `dense_layers`. With a capacity factor the host need
  /// not wait for counts of tokens (Practice::bounded_experts).
  void read_experts(Index experts, PublishedRow& row) const {
    config::ModelConfig& model = row.run.model;
    config::MoeConfig& moe = model.moe.emplace();
    moe.num_experts = experts;
    moe.topk = cells_.whole("topk", 1, experts);
    moe.ffn_hidden_size = cells_.whole("moe_ffn", 1, kMostWidth);
    moe.shared_expert_intermediate_size = cells_.whole("shared_ffn", 0, kMostWidth, 0);
    moe.layers.assign(static_cast<std::size_t>(model.num_layers), true);
    std::fill_n(moe.layers.begin(), cells_.whole("dense_layers", 0, model.num_layers, 0), false);
    row.practice.bounded_experts = row.options.find("capacity factor") != std::string::npos;
  }

  std::optional<Index> maybe_whole(const char* column, Index most) const {
    return cells_.says(column) ? std::optional(cells_.whole(column, 1, most)) : std::nullopt;
  }

  /// Reads the layout and writes it into the run. Sharding is ZeRO-1 and, with tensor ranks,
  /// sequence parallelism is on unless the row says otherwise.
  void read_layout(PublishedRow& row) const {
    const config::ModelConfig& model = row.run.model;
    row.micro_batch = maybe_whole("mbs", kMostTokens);
    row.chunks = maybe_whole("vp", model.num_layers);
    const Index tensor = cells_.whole("tp", 1, kMostHeads);
    const Layout layout{.gpus = row.run.parallel.world_size,
                        .tensor = tensor,
                        .context = cells_.whole("cp", 1, model.seq_length, 1),
                        .pipeline = cells_.whole("pp", 1, model.num_layers),
                        .chunks = row.chunks.value_or(1),
                        .expert = cells_.whole("ep", 1, kMostHeads, 1),
                        .expert_tensor = 1,
                        .micro_batch = row.micro_batch.value_or(1),
                        .sharding = cells_.says("dp_kind") ? cells_.word("dp_kind", kSharding)
                                                           : ShardingStrategy::optim};
    check(layout, row);
    apply(layout, row.run);
    row.run.parallel.sequence_parallel = cells_.whole("sp", 0, 1, tensor > 1 ? 1 : 0) != 0;
    const auto said = [&](const char* words) {
      return row.options.find(words) != std::string::npos;
    };
    /// Gradients are reduced in fp32 unless the options say otherwise.
    const bool narrow = row.precision == "fp16" || said("PURE") || said("gradients in fp16") ||
                        said("reduced in bf16");
    row.run.optimizer.main_grad_dtype = narrow ? DType::bf16 : DType::f32;
  }

  /// Refuses sizes that do not divide.
  void check(const Layout& layout, const PublishedRow& row) const {
    const config::ModelConfig& model = row.run.model;
    const Index model_parallel = layout.tensor * layout.pipeline * layout.context;
    if (layout.gpus % model_parallel != 0) {
      cells_.fail("gpus",
                  fmt::format("a multiple of tp x pp x cp = {} is expected", model_parallel));
    }
    if (model.seq_length % layout.context != 0) {
      cells_.fail("cp", fmt::format("a divisor of {} tokens is expected", model.seq_length));
    }
    const Index at_once = layout.data() * layout.micro_batch;
    if (row.run.training.global_batch_size % at_once != 0) {
      cells_.fail("gbs", fmt::format("a multiple of data ranks x mbs = {} is expected", at_once));
    }
    if (model.num_attention_heads % layout.tensor != 0) {
      cells_.fail("tp",
                  fmt::format("a divisor of {} heads is expected", model.num_attention_heads));
    }
    if (layout.pipeline * layout.chunks > model.num_layers + 2) {
      cells_.fail("vp", fmt::format("{} layers are fewer than pp x vp", model.num_layers));
    }
    const Index experts = model.moe ? model.moe->num_experts : 1;
    if (experts % layout.expert != 0 || layout.gpus % (layout.pipeline * layout.expert) != 0) {
      cells_.fail("ep",
                  fmt::format("a divisor of {} experts and of the {} GPUs of a stage is expected",
                              experts, layout.gpus / layout.pipeline));
    }
  }

  /// Reads what backward computes again. An empty cell is "not told", which the prediction treats
  /// otherwise than `none`.
  void read_recompute(PublishedRow& row) const {
    row.recompute_known = cells_.says("recompute");
    if (!row.recompute_known) {
      return;
    }
    config::ModelConfig& model = row.run.model;
    switch (cells_.word("recompute", kRecompute)) {
      case Recompute::none:
        return;
      case Recompute::selective:
        model.recompute_granularity = config::RecomputeGranularity::selective;
        model.recompute_modules = {config::RecomputeModule::core_attn};
        return;
      case Recompute::products:
        row.practice.recomputed_products = kRecomputedProducts;
        return;
      case Recompute::full:
        model.recompute_granularity = config::RecomputeGranularity::full;
        model.recompute_method = config::RecomputeMethod::uniform;
        model.recompute_num_layers = 1;
        return;
    }
  }

  /// Reads the time of a step, or else the figure that it follows from (measured_seconds).
  void read_figure(PublishedRow& row) const {
    if (cells_.says("step_s")) {
      row.seconds = cells_.number("step_s", 1e-6, kMostSeconds);
      return;
    }
    if (!cells_.says("value")) {
      cells_.fail("step_s", "seconds are expected, or else a value and what is reported");
    }
    row.value = cells_.number("value", 1e-9, 1e15);
    row.unit = cells_.word("reported", kUnits);
    row.formula = formula_of(row.source, cells_.text("note"));
  }

  TableCells cells_;
};

}  // namespace

std::vector<PublishedRow> read_published_table(const std::filesystem::path& path) {
  const std::vector<std::string> lines = split_text(read_file(path), '\n');
  RowReader reader(path.string(), lines.front());
  std::vector<PublishedRow> rows;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].find_first_not_of(" \t") != std::string::npos) {
      rows.push_back(reader.read(lines[i], static_cast<Index>(i) + 1));
    }
  }
  if (rows.empty()) {
    throw Error(kBadTable, fmt::format("{}: no rows", path.string()));
  }
  return rows;
}

}  // namespace mpitron::plan
