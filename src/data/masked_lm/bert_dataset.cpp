#include "data/masked_lm/bert_dataset.h"

#include <utility>

// Samples of BERT as Megatron makes them, with a generator of each sample's own: how the parts are
// cut and swapped, and what is masked, follows from seed and number.

namespace mpitron::data {
namespace {

constexpr Index kBertSpecialTokens = 3;  // CLS, SEP, SEP
constexpr double kMaskShare = 0.8;       // of the tokens to predict, half of the others stay

std::vector<std::int64_t> read_sentences(const io::TokenFile& corpus, Index begin, Index end) {
  std::vector<std::int64_t> tokens;
  for (Index i = begin; i < end; ++i) {
    const std::size_t before = tokens.size();
    tokens.resize(before + static_cast<std::size_t>(corpus.length(i)));
    corpus.read(i, 0, std::span(tokens).subspan(before));
  }
  return tokens;
}

/// Takes tokens off the longer part (b where they are equal), each from its front or its back by a
/// draw, until both fit. Returns whether any went.
bool truncate(std::span<const std::int64_t>& a, std::span<const std::int64_t>& b,
              std::size_t target, RandomState& random) {
  const bool too_long = a.size() + b.size() > target;
  while (a.size() + b.size() > target) {
    std::span<const std::int64_t>& longer = a.size() > b.size() ? a : b;
    longer = random.random() < 0.5 ? longer.subspan(1) : longer.first(longer.size() - 1);
  }
  return too_long;
}

void append(std::vector<std::int64_t>& to, std::span<const std::int64_t> tokens,
            std::int64_t last) {
  to.insert(to.end(), tokens.begin(), tokens.end());
  to.push_back(last);
}

/// The binary head needs two parts, and so two sentences.
BertDatasetOptions completed(BertDatasetOptions options) {
  options.index.special_tokens = kBertSpecialTokens;
  const auto& masked_lm = options.index.description.masked_lm;
  options.index.min_sentences = masked_lm && masked_lm->classification_head.value_or(false) ? 2 : 1;
  return options;
}

}  // namespace

BertDataset::BertDataset(std::shared_ptr<const io::TokenFile> corpus, BertDatasetOptions options)
    : corpus_(std::move(corpus)),
      options_(completed(std::move(options))),
      index_(*corpus_, options_.index) {}

bool BertDataset::has_binary_head() const {
  return options_.index.min_sentences == 2;
}

void BertDataset::read(Index sample, BertSample& out) const {
  const SentenceRun run = index_[sample];
  const GptDescription& description = options_.index.description;
  const MaskedLmVocabulary& vocabulary = options_.vocabulary;
  // Draws come in the reference's order: pivot, swap, cuts, masks.
  RandomState random(static_cast<std::uint32_t>(description.seed + sample));
  Index pivot = run.end;
  out.is_random = false;
  if (has_binary_head()) {
    pivot = run.begin + random.randint(1, run.end - run.begin);
    out.is_random = random.random() < 0.5;
  }
  std::vector<std::int64_t> first = read_sentences(*corpus_, run.begin, pivot);
  std::vector<std::int64_t> second = read_sentences(*corpus_, pivot, run.end);
  if (out.is_random) {
    std::swap(first, second);
  }
  std::span<const std::int64_t> a(first);
  std::span<const std::int64_t> b(second);
  out.truncated = truncate(a, b, static_cast<std::size_t>(run.target), random);

  out.text.assign(1, vocabulary.cls);
  append(out.text, a, vocabulary.sep);
  out.types.assign(out.text.size(), 0);
  if (!b.empty()) {
    append(out.text, b, vocabulary.sep);
    out.types.resize(out.text.size(), 1);
  }
  const auto replace = [&](std::int64_t token) {
    if (random.random() < kMaskShare) {
      return vocabulary.mask;
    }
    return random.random() < 0.5 ? token : random.randint(0, vocabulary.size);
  };
  const MaskingOptions masking{.probability = description.masked_lm->masking_probability,
                               .target = run.target,
                               .max_words = description.masked_lm->masking_max_ngram,
                               .replace = replace};
  const auto s = static_cast<std::size_t>(description.seq_length);
  out.labels.assign(s, -1);
  out.loss_mask.assign(s, 0);
  for (const MaskedSpan& span : mask_words(masking, vocabulary, out.text, random)) {
    for (std::size_t i = 0; i < span.positions.size(); ++i) {
      const auto position = static_cast<std::size_t>(span.positions[i]);
      out.labels[position] = span.tokens[i];
      out.loss_mask[position] = 1;
    }
  }
  out.padding_mask.assign(out.text.size(), 1);
  for (auto* values : {&out.text, &out.types, &out.padding_mask}) {
    values->resize(s, vocabulary.pad);
  }
}

}  // namespace mpitron::data
