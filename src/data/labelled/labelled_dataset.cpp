#include "data/labelled/labelled_dataset.h"

#include <algorithm>
#include <utility>

#include "utils/check.h"

// Labelled texts of GLUE and RACE as tokens, in the reference's format of pairs.

namespace mpitron::data {
namespace {

void append(std::vector<std::int64_t>& to, const std::vector<std::int64_t>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

LabelledDataset::LabelledDataset(std::string description, std::vector<LabelledText> texts,
                                 Options options)
    : description_(std::move(description)), texts_(std::move(texts)), options_(std::move(options)) {
  MPITRON_CHECK(options_.length > 2 && !texts_.empty(), options_.length, texts_.size());
}

void LabelledDataset::read(Index sample, std::span<std::int64_t> tokens) const {
  LabelledRows rows;
  read_sample(sample, rows);
  std::copy_n(rows.tokens.begin(), std::min(tokens.size(), rows.tokens.size()), tokens.begin());
}

void LabelledDataset::read_sample(Index sample, LabelledRows& rows) const {
  rows = {.label = text(sample).label};
  for (const TextPair& pair : text(sample).pairs) {
    write_pair(pair, rows);
  }
}

/// Joins a pair; a text too long is cut, and its last token becomes the end mark that would have
/// been lost.
void LabelledDataset::write_pair(const TextPair& pair, LabelledRows& rows) const {
  const std::int64_t between = options_.encoder ? options_.sep : options_.eod;
  std::vector<std::int64_t> first = options_.encode(pair.first);
  if (options_.choices > 1) {
    first.resize(std::min(first.size(), static_cast<std::size_t>(options_.longest_choice)));
  }
  std::vector<std::int64_t> ids;
  if (options_.encoder) {
    ids.push_back(options_.cls);
  }
  append(ids, first);
  ids.push_back(between);
  const std::size_t second = ids.size();
  if (pair.second) {
    append(ids, options_.encode(*pair.second));
  }
  const auto length = static_cast<std::size_t>(options_.length);
  const bool cut = ids.size() >= length;
  ids.resize(std::min(ids.size(), length - 1));
  if (pair.second || cut) {
    ids.push_back(between);
  }
  rows.last_tokens.push_back(static_cast<std::int64_t>(ids.size()) - 1);
  for (std::size_t i = 0; i < length; ++i) {
    const bool token = i < ids.size();
    const std::int64_t type = pair.second && (i >= second || i + 1 == ids.size()) ? 1 : 0;
    const std::int64_t padding = options_.encoder ? options_.pad : options_.eod;
    rows.tokens.push_back(token ? ids[i] : padding);
    rows.token_types.push_back(token ? type : 0);
    rows.padding_mask.push_back(token ? 1 : 0);
  }
}

}  // namespace mpitron::data
