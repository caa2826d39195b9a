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
constexpr Word<Sharding> kSharding[] = {{"ddp", Sharding::none},
                                        {"zero1", Sharding::optimizer},
                                        {"zero2", Sharding::gradients},
                                        {"zero3", Sharding::full}};
constexpr Word<Recompute> kRecompute[] = {{"none", Recompute::none},
                                          {"selective", Recompute::selective},
                                          {"selective-op", Recompute::selective_products},
                                          {"full", Recompute::full}};
constexpr Word<Precision> kPrecision[] = {{"bf16", Precision::bf16},
                                          {"fp16", Precision::bf16},
                                          {"fp8", Precision::fp8},
                                          {"mxfp8", Precision::mxfp8},
                                          {"nvfp4", Precision::nvfp4}};

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
                     .model = cell("model"),
                     .options = cell("options")};
    row.layout_known = row.kind != "search";
    row.job.precision = word("precision", kPrecision);
    row.value = number("value");
    row.unit = cell("reported");
    if (row.layout_known) {
      row.job.model = model(row.model);
      read_layout(row);
      row.seconds = number("step_s");
      check_layout(row);
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

  ModelShape model(const std::string& name) const {
    return {.layers = whole("layers", 1),
            .hidden = whole("hidden", 1),
            .ffn = whole("ffn", 0),
            .heads = whole("heads", 1),
            .kv_heads = whole("kv_heads", 1),
            .head_dim = whole("head_dim", 1),
            .gated = whole("gated", 0) != 0,
            .vocab = whole("vocab", 1),
            .experts = whole("experts", 0),
            .top_k = whole("topk", 0),
            .moe_ffn = whole("moe_ffn", 0),
            .shared_ffn = whole("shared_ffn", 0),
            .dense_layers = whole("dense_layers", 0),
            .latent_attention = name.starts_with("deepseek") || name.starts_with("kimi")};
  }

  void read_layout(PublishedRow& row) const {
    row.micro_batch = maybe_whole("mbs");
    row.chunks = maybe_whole("vp");
    if (cell("recompute") != "?") {
      row.recompute = word("recompute", kRecompute);
    }
    row.job.layout = {.gpus = whole("gpus", 1),
                      .tensor = whole("tp", 1),
                      .pipeline = whole("pp", 1),
                      .chunks = row.chunks.value_or(1),
                      .context = whole("cp", 1),
                      .expert = whole("ep", 1),
                      .sequence_parallel = whole("sp", 0) != 0,
                      .micro_batch = row.micro_batch.value_or(1),
                      .sharding = word("dp_kind", kSharding),
                      .recompute = row.recompute.value_or(Recompute::none)};
    row.job.sequence = whole("seq", 1);
    row.job.global_batch = whole("gbs", 1);
    const bool narrow = cell("precision") == "fp16" ||
                        row.options.find("PURE") != std::string::npos ||
                        row.options.find("gradients in fp16") != std::string::npos ||
                        row.options.find("reduced in bf16") != std::string::npos;
    row.job.gradient_bytes = narrow ? 2 : 4;
  }

  void check_layout(const PublishedRow& row) const {
    const Layout& l = row.job.layout;
    const Index model_parallel = l.tensor * l.pipeline * l.context;
    if (l.gpus % model_parallel != 0) {
      fail("gpus", fmt::format("a multiple of tp x pp x cp = {} is expected", model_parallel));
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
