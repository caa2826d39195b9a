#include "train/parity/recorded_heads.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "train/parity/recorded_conversations.h"
#include "utils/error.h"
#include "utils/system/files.h"

namespace mpitron::train {
namespace {

using nlohmann::json;

/// Options that a size of "dims" gives.
constexpr std::pair<const char*, const char*> kHeadSizes[] = {
    {"layers", "--num-layers"},
    {"hidden", "--hidden-size"},
    {"heads", "--num-attention-heads"},
    {"seq", "--seq-length"},
    {"seq", "--max-position-embeddings"},
    {"vocab", "--padded-vocab-size"},
    {"gbs", "--micro-batch-size"},
    {"iters", "--train-iters"},
    {"lr", "--lr"},
    {"min_lr", "--min-lr"},
    {"wd", "--weight-decay"},
    {"clip", "--clip-grad"},
    {"warmup_fraction", "--lr-warmup-fraction"}};

/// What all recorded heads share (README of the recordings).
constexpr const char* kHeadFlags[] = {
    "--attention-dropout", "0",      "--hidden-dropout", "0",
    "--lr-decay-style",    "linear", "--tokenizer-type", "NullTokenizer",
    "--vocab-size",        "1",      "--train-data",     "recorded"};

template <class T>
std::span<const T> columns_part(const std::vector<T>& column, Index first, Index count,
                                Index width) {
  return std::span(column).subspan(static_cast<std::size_t>(first * width),
                                   static_cast<std::size_t>(count * width));
}

}  // namespace

bool is_recorded_head(const std::filesystem::path& folder) {
  if (std::filesystem::exists(folder / "config.json") ||
      !std::filesystem::exists(folder / "losses.json")) {
    return false;
  }
  const json losses = json::parse(read_file(folder / "losses.json"), nullptr, false);
  return losses.is_object() && losses.contains("head");
}

std::vector<std::string> head_flags(const std::filesystem::path& losses_path) {
  const json losses = json::parse(read_file(losses_path), nullptr, false);
  const json dims = losses.is_object() ? losses.value("dims", json()) : json();
  if (!dims.is_object()) {
    throw_data("{}: no 'dims'", losses_path.string());
  }
  std::vector<std::string> flags(std::begin(kHeadFlags), std::end(kHeadFlags));
  for (const auto& [size, option] : kHeadSizes) {
    if (!dims.contains(size)) {
      throw_data("{}: 'dims' lacks '{}'", losses_path.string(), size);
    }
    flags.insert(flags.end(), {option, dims[size].dump()});
  }
  const bool choice = losses.value("head", "") == "multichoice_head";
  const bool three = !choice && losses.value("classes", 2) == 3;
  flags.insert(flags.end(), {"--task", choice ? "RACE" : three ? "MNLI" : "QQP"});
  return flags;
}

RecordedLogits head_logits(const io::SafetensorsFile::Tensor& recorded) {
  RecordedLogits result{
      .samples = recorded.shape.at(0), .length = 1, .columns = recorded.shape.at(1), .values = {}};
  const auto values = recorded.as<float>();
  for (Index i = 0; i < values.size(); ++i) {
    result.values.push_back(values[i]);
  }
  return result;
}

RecordedTexts::RecordedTexts(const std::filesystem::path& folder, const config::TextHead& head)
    : head_(head) {
  const io::SafetensorsFile file(folder / "batches.safetensors");
  const auto columns = [&](const std::string& prefix) {
    const auto read = [&](const char* name) {
      return recorded_column<std::int32_t, std::int64_t>(file, (prefix + name).c_str());
    };
    return Columns{read("text"), read("types"), read("padding_mask"), read("label")};
  };
  learned_ = columns("");
  validation_ = columns("valid_");
  length_ = file.at("text").shape.back();
  ones_.assign(std::max(learned_.labels.size(), validation_.labels.size()), 1.f);
}

HostMicrobatch RecordedTexts::rows(Index first, Index count, bool validation) const {
  const Columns& columns = validation ? validation_ : learned_;
  const Index choices = head_.choices, samples = count / choices;
  return {.samples = count,
          .sequence_length = length_,
          .tokens = columns_part(columns.tokens, first, count, length_),
          .labels = columns_part(columns.labels, first / choices, samples, 1),
          .position_ids = {},
          .loss_mask = columns_part(ones_, 0, samples, 1),
          .attention_mask = {},
          .first_sample = first,
          .padding_mask = columns_part(columns.padding_mask, first, count, length_),
          .token_types = columns_part(columns.types, first, count, length_),
          .choices = choices};
}

}  // namespace mpitron::train
