#include "plan/published/published_table.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "plan/machine/exit_codes.h"
#include "utils/system/files.h"

namespace mpitron::plan {
namespace {

std::vector<std::string> split(const std::string& line, char separator) {
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == separator) {
      cells.emplace_back();
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  return cells;
}

constexpr const char* kColumns[] = {
    "id",         "source",       "table",    "kind",    "hardware", "precision",
    "model",      "layers",       "hidden",   "ffn",     "heads",    "kv_heads",
    "head_dim",   "gated",        "vocab",    "experts", "topk",     "moe_ffn",
    "shared_ffn", "dense_layers", "seq",      "gpus",    "gbs",      "mbs",
    "tp",         "sp",           "pp",       "vp",      "cp",       "ep",
    "dp_kind",    "recompute",    "reported", "value",   "step_s",   "options"};

template <class T>
struct Word {
  const char* text;
  T value;
};
using config::ShardingStrategy;
constexpr Word<ShardingStrategy> kSharding[] = {{"ddp", ShardingStrategy::no_shard},
                                                {"zero1", ShardingStrategy::optim},
                                                {"zero2", ShardingStrategy::optim_grads},
                                                {"zero3", ShardingStrategy::optim_grads_params}};
enum class Recompute { none, selective, products, full };
constexpr Word<Recompute> kRecompute[] = {{"none", Recompute::none},
                                          {"selective", Recompute::selective},
                                          {"selective-op", Recompute::products},
                                          {"full", Recompute::full}};
constexpr Word<Precision> kPrecision[] = {{"bf16", Precision::bf16},
                                          {"fp16", Precision::bf16},
                                          {"fp8", Precision::fp8},
                                          {"mxfp8", Precision::mxfp8},
                                          {"nvfp4", Precision::nvfp4}};
constexpr double kRecomputedProducts = 0.5;  // every second product of a layer

/// What the public configuration of a model has beside the columns.
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

class TableReader {
 public:
  TableReader(std::string path, const std::string& header) : path_(std::move(path)) {
    const std::vector<std::string> names = split(header, '\t');
    for (std::size_t i = 0; i < names.size(); ++i) {
      columns_[names[i]] = i;
    }
    for (const char* column : kColumns) {
      if (!columns_.contains(column)) {
        throw Error(kBadTable, fmt::format("{}:1: column {} is missing", path_, column));
      }
    }
  }

  PublishedRow read(const std::string& text, Index line) {
    line_ = line;
    cells_ = split(text, '\t');
    if (cells_.size() != columns_.size()) {
      throw Error(kBadTable, fmt::format("{}:{}: {} columns are expected, not {}", path_, line,
                                         columns_.size(), cells_.size()));
    }
    PublishedRow row{.line = line,
                     .id = cell("id"),
                     .source = cell("source"),
                     .table = cell("table"),
                     .kind = cell("kind"),
                     .hardware = cell("hardware"),
                     .precision = cell("precision"),
                     .model = cell("model"),
                     .options = cell("options")};
    row.layout_known = row.kind != "search";
    row.practice.precision = word("precision", kPrecision);
    row.value = number("value");
    row.unit = cell("reported");
    if (row.layout_known) {
      read_model(row);
      read_layout(row);
      read_recompute(row);
      row.seconds = number("step_s");
    }
    return row;
  }

 private:
  const std::string& cell(const char* column) const { return cells_[columns_.at(column)]; }

  [[noreturn]] void fail(const char* column, const std::string& expected) const {
    throw Error(kBadTable,
                fmt::format("{}:{}: {} '{}': {}", path_, line_, column, cell(column), expected));
  }

  double number(const char* column) const {
    char* end = nullptr;
    const double value = std::strtod(cell(column).c_str(), &end);
    if (cell(column).empty() || *end != '\0' || !std::isfinite(value) || value <= 0) {
      fail(column, "a number above 0 is expected");
    }
    return value;
  }

  Index whole(const char* column, Index least) const {
    char* end = nullptr;
    const Index value = std::strtoll(cell(column).c_str(), &end, 10);
    if (cell(column).empty() || *end != '\0' || value < least) {
      fail(column, fmt::format("a whole number of at least {} is expected", least));
    }
    return value;
  }

  std::optional<Index> maybe_whole(const char* column) const {
    return cell(column) == "?" ? std::nullopt : std::optional(whole(column, 1));
  }

  template <class T, std::size_t n>
  T word(const char* column, const Word<T> (&words)[n]) const {
    std::string known;
    for (const Word<T>& one : words) {
      if (cell(column) == one.text) {
        return one.value;
      }
      known += fmt::format("{}{}", known.empty() ? "" : ", ", one.text);
    }
    fail(column, fmt::format("one of {} is expected", known));
  }

  void read_model(PublishedRow& row) const {
    config::ModelConfig& model = row.run.model;
    model.num_layers = whole("layers", 1);
    model.hidden_size = whole("hidden", 1);
    model.ffn_hidden_size = whole("ffn", 0);
    model.num_attention_heads = whole("heads", 1);
    model.num_query_groups = whole("kv_heads", 1);
    model.kv_channels = whole("head_dim", 1);
    model.gated_linear_unit = whole("gated", 0) != 0;
    model.padded_vocab_size = whole("vocab", 1);
    model.untie_embeddings_and_output_weights = true;
    model.seq_length = whole("seq", 1);
    if (const Index experts = whole("experts", 0); experts > 0) {
      config::MoeConfig& moe = model.moe.emplace();
      moe.num_experts = experts;
      moe.topk = whole("topk", 1);
      moe.ffn_hidden_size = whole("moe_ffn", 1);
      moe.shared_expert_intermediate_size = whole("shared_ffn", 0);
      moe.layers.assign(static_cast<std::size_t>(model.num_layers), true);
      std::fill_n(moe.layers.begin(), std::min(whole("dense_layers", 0), model.num_layers), false);
      row.practice.bounded_experts = row.options.find("capacity factor") != std::string::npos;
    }
    if (row.practice.precision != Precision::bf16) {
      model.fp8.emplace();
    }
    complete_named_model(row.model, model);
  }

  void read_layout(PublishedRow& row) const {
    row.micro_batch = maybe_whole("mbs");
    row.chunks = maybe_whole("vp");
    const Layout layout{.gpus = whole("gpus", 1),
                        .tensor = whole("tp", 1),
                        .context = whole("cp", 1),
                        .pipeline = whole("pp", 1),
                        .chunks = row.chunks.value_or(1),
                        .expert = whole("ep", 1),
                        .micro_batch = row.micro_batch.value_or(1),
                        .sharding = word("dp_kind", kSharding)};
    const Index model_parallel = layout.tensor * layout.pipeline * layout.context;
    if (layout.gpus % model_parallel != 0) {
      fail("gpus", fmt::format("a multiple of tp x pp x cp = {} is expected", model_parallel));
    }
    apply(layout, row.run);
    row.run.parallel.sequence_parallel = whole("sp", 0) != 0;
    row.run.training.global_batch_size = whole("gbs", 1);
    const auto said = [&](const char* words) {
      return row.options.find(words) != std::string::npos;
    };
    const bool narrow = row.precision == "fp16" || said("PURE") || said("gradients in fp16") ||
                        said("reduced in bf16");
    row.run.optimizer.main_grad_dtype = narrow ? DType::bf16 : DType::f32;
  }

  void read_recompute(PublishedRow& row) const {
    row.recompute_known = cell("recompute") != "?";
    if (!row.recompute_known) {
      return;
    }
    config::ModelConfig& model = row.run.model;
    switch (word("recompute", kRecompute)) {
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

  std::string path_;
  std::map<std::string, std::size_t> columns_;
  std::vector<std::string> cells_;
  Index line_ = 0;
};

}  // namespace

std::vector<PublishedRow> read_published_table(const std::filesystem::path& path) {
  const std::vector<std::string> lines = split(read_file(path), '\n');
  TableReader reader(path.string(), lines.front());
  std::vector<PublishedRow> rows;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (!lines[i].empty()) {
      rows.push_back(reader.read(lines[i], static_cast<Index>(i) + 1));
    }
  }
  if (rows.empty()) {
    throw Error(kBadTable, fmt::format("{}: no rows", path.string()));
  }
  return rows;
}

}  // namespace mpitron::plan
