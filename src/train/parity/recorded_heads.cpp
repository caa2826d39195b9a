#include <algorithm>

#include <nlohmann/json.hpp>

#include "models/bert/bert_batch.h"
#include "train/parity/recorded_batches.h"
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

RecordedHeadTexts::RecordedHeadTexts(const std::filesystem::path& folder,
                                     const config::TextHead& head, const std::string& prefix)
    : choices_(head.choices) {
  const io::SafetensorsFile file(folder / "batches.safetensors");
  const auto read = [&](const char* name) {
    return recorded_column<std::int32_t, std::int64_t>(file, (prefix + name).c_str());
  };
  tokens_ = read("text");
  types_ = read("types");
  padding_mask_ = read("padding_mask");
  labels_ = read("label");
  ones_.assign(labels_.size(), 1.f);
  texts_ = static_cast<Index>(labels_.size()) * choices_;
}

HostMicrobatch RecordedHeadTexts::rows(Index first, Index count) {
  const auto texts = [&](const auto& column) {
    return recorded_rows(column, texts_, first, count);
  };
  const auto samples = [&](const auto& column) {
    return recorded_rows(column, texts_ / choices_, first / choices_, count / choices_);
  };
  return {.samples = count,
          .sequence_length = static_cast<Index>(tokens_.size()) / texts_,
          .first_sample = first,
          .columns = {{models::kTokens, texts(tokens_)},
                      {models::kLabels, samples(labels_)},
                      {models::kLossMask, samples(ones_)},
                      {models::kPaddingMask, texts(padding_mask_)},
                      {models::kTokenTypes, texts(types_)}}};
}

}  // namespace mpitron::train
