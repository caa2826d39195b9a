#include "data/masked_lm/masked_lm_dataset.h"

#include <algorithm>

#include "utils/check.h"
#include "utils/error.h"

// BERT's and T5's samples as rows of numbers, with their columns one behind the other, and the
// splits of a corpus of sentences.

namespace mpitron::data {
namespace {

using enum MaskedLmColumn;

constexpr MaskedLmColumn kColumns[] = {tokens,         padding_mask,        labels,
                                       loss_mask,      token_types,         sentence_order,
                                       decoder_tokens, decoder_padding_mask};

/// Copies columns to their places in a row.
class RowWriter {
 public:
  RowWriter(const MaskedLmLayout& layout, std::span<std::int64_t> row)
      : layout_(layout), row_(row) {
    MPITRON_CHECK(static_cast<Index>(row.size()) == layout.width(), row.size());
  }
  void put(MaskedLmColumn column, std::span<const std::int64_t> values) const {
    MPITRON_CHECK(static_cast<Index>(values.size()) == layout_.width(column), values.size());
    std::ranges::copy(values, row_.begin() + layout_.offset(column));
  }

 private:
  const MaskedLmLayout& layout_;
  std::span<std::int64_t> row_;
};

}  // namespace

/// Returns 0 for columns that the model has not: BERT no decoder, T5 no types and no order of
/// sentences.
Index MaskedLmLayout::width(MaskedLmColumn column) const {
  const bool t5 = decoder_length > 0;
  switch (column) {
    case tokens:
    case padding_mask:
      return length;
    case labels:
    case loss_mask:
      return t5 ? decoder_length : length;
    case token_types:
      return t5 ? 0 : length;
    case sentence_order:
      return t5 ? 0 : 1;
    case decoder_tokens:
    case decoder_padding_mask:
      break;
  }
  return decoder_length;
}

Index MaskedLmLayout::offset(MaskedLmColumn column) const {
  Index sum = 0;
  for (const MaskedLmColumn before : kColumns) {
    if (before == column) {
      break;
    }
    sum += width(before);
  }
  return sum;
}

Index MaskedLmLayout::width() const {
  return offset(decoder_padding_mask) + width(decoder_padding_mask);
}

Index MaskedLmDataset::size() const {
  return std::visit([](const auto& dataset) { return dataset.size(); }, dataset_);
}

const std::string& MaskedLmDataset::description() const {
  return std::visit(
      [](const auto& dataset) -> const std::string& { return dataset.index().description(); },
      dataset_);
}

void MaskedLmDataset::read(Index sample, std::span<std::int64_t> row) const {
  std::visit([&](const auto& dataset) { read_parts(dataset, sample, row); }, dataset_);
}

/// The order of sentences is 1 where the two parts were exchanged.
void MaskedLmDataset::read_parts(const BertDataset& dataset, Index sample,
                                 std::span<std::int64_t> row) const {
  BertSample parts;
  dataset.read(sample, parts);
  const std::int64_t order = parts.is_random ? 1 : 0;
  const RowWriter writer(layout_, row);
  writer.put(tokens, parts.text);
  writer.put(padding_mask, parts.padding_mask);
  writer.put(labels, parts.labels);
  writer.put(loss_mask, parts.loss_mask);
  writer.put(token_types, parts.types);
  writer.put(sentence_order, {&order, 1});
}

void MaskedLmDataset::read_parts(const T5Dataset& dataset, Index sample,
                                 std::span<std::int64_t> row) const {
  T5Sample parts;
  dataset.read(sample, parts);
  const RowWriter writer(layout_, row);
  writer.put(tokens, parts.encoder_text);
  writer.put(padding_mask, parts.encoder_mask);
  writer.put(labels, parts.labels);
  writer.put(loss_mask, parts.loss_mask);
  writer.put(decoder_tokens, parts.decoder_text);
  writer.put(decoder_padding_mask, parts.decoder_mask);
}

/// Splits are ranges of documents; the file is opened once for all of them.
PerSplit<std::shared_ptr<const Dataset>> make_masked_lm_splits(
    const MaskedLmRequest& request, const MaskedLmCorpus& corpus, const SplitMatrix& matrix,
    const PerSplit<std::optional<Index>>& num_samples) {
  const auto file =
      std::make_shared<const io::TokenFile>(*corpus.description.dataset_path, corpus.access);
  const MaskedLmLayout layout{corpus.description.seq_length,
                              request.description.decoder_seq_length.value_or(0)};
  PerSplit<std::shared_ptr<const Dataset>> result;
  for (const Split split : kSplits) {
    if (!matrix[split] || num_samples[split] == Index{0}) {
      continue;
    }
    if (!num_samples[split]) {
      throw_usage(
          "--full-validation: samples of BERT and T5 are drawn, so that a validation set has no "
          "natural length; leave it out, and set --eval-iters");
    }
    MaskedLmIndexOptions index{.description = corpus.description,
                               .cache_folder = corpus.cache_folder};
    index.description.class_name = request.class_name();
    index.description.index_split = split;
    index.description.num_samples = num_samples[split];
    index.description.masked_lm = request.description;
    std::tie(index.begin, index.end) = split_bounds(*matrix[split], file->document_count());
    result[split] = request.is_t5() ? std::make_shared<const MaskedLmDataset>(
                                          T5Dataset(file, {index, request.vocabulary}), layout)
                                    : std::make_shared<const MaskedLmDataset>(
                                          BertDataset(file, {index, request.vocabulary}), layout);
  }
  return result;
}

}  // namespace mpitron::data
