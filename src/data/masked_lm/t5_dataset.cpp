#include "data/masked_lm/t5_dataset.h"

#include <algorithm>

#include "utils/check.h"
#include "utils/error.h"

// Makes samples of T5: spans of words leave the encoder's text, a sentinel in the place of each,
// and stand behind the same sentinels in the decoder's.

namespace mpitron::data {
namespace {

constexpr Index kT5SpecialTokens = 2;  // BOS, EOS

T5DatasetOptions completed(T5DatasetOptions options) {
  options.index.special_tokens = kT5SpecialTokens;
  options.index.min_sentences = 1;
  return options;
}

void pad(std::vector<std::int64_t>& text, std::vector<std::int64_t>& mask, Index length,
         std::int64_t value) {
  mask.assign(text.size(), 1);
  mask.resize(static_cast<std::size_t>(length), 0);
  text.resize(static_cast<std::size_t>(length), value);
}

}  // namespace

T5Dataset::T5Dataset(std::shared_ptr<const io::TokenFile> corpus, T5DatasetOptions options)
    : corpus_(std::move(corpus)),
      options_(completed(std::move(options))),
      index_(*corpus_, options_.index) {
  MPITRON_CHECK(options_.index.description.masked_lm->decoder_seq_length);
}

/// Reads a run and chooses its spans. They were drawn in random order; sentinels count in the order
/// of the text.
std::vector<MaskedSpan> T5Dataset::mask(Index sample, std::vector<std::int64_t>& text,
                                        bool& truncated) const {
  const SentenceRun run = index_[sample];
  const GptDescription& description = options_.index.description;
  const auto target = static_cast<std::size_t>(run.target);
  for (Index i = run.begin; i < run.end && text.size() <= target; ++i) {
    const std::size_t before = text.size();
    text.resize(before + static_cast<std::size_t>(corpus_->length(i)));
    corpus_->read(i, 0, std::span(text).subspan(before));
  }
  truncated = text.size() > target;
  text.resize(std::min(text.size(), target));
  RandomState random(static_cast<std::uint32_t>(description.seed + sample));
  const MaskingOptions masking{.probability = description.masked_lm->masking_probability,
                               .target = run.target,
                               .max_words = description.masked_lm->masking_max_ngram,
                               .geometric = true,
                               .replace = {}};
  std::vector<MaskedSpan> spans = mask_words(masking, options_.vocabulary, text, random);
  std::sort(spans.begin(), spans.end(), [](const MaskedSpan& a, const MaskedSpan& b) {
    return a.positions[0] < b.positions[0];
  });
  return spans;
}

void T5Dataset::check_room(Index sample, std::size_t spans, std::size_t decoder_tokens) const {
  const Index length = *options_.index.description.masked_lm->decoder_seq_length;
  if (static_cast<Index>(decoder_tokens) > length) {
    throw_usage(
        "--decoder-seq-length {}: sample {} of {} needs {} tokens of the decoder; raise it, or "
        "lower --mask-prob or --seq-length",
        length, sample, corpus_->prefix(), decoder_tokens);
  }
  const Index sentinels = options_.vocabulary.end_sentinel - options_.vocabulary.first_sentinel;
  if (static_cast<Index>(spans) > sentinels) {
    throw_usage("--vocab-extra-ids {}: sample {} of {} has {} masked spans; raise it to {} or more",
                sentinels, sample, corpus_->prefix(), spans, spans);
  }
}

void T5Dataset::read(Index sample, T5Sample& out) const {
  const MaskedLmVocabulary& vocabulary = options_.vocabulary;
  std::vector<std::int64_t> text;
  const std::vector<MaskedSpan> spans = mask(sample, text, out.truncated);
  out.encoder_text.clear();
  out.decoder_text.assign(1, vocabulary.bos);
  std::size_t next = 0;  // token of the text that the encoder gets next
  std::int64_t sentinel = vocabulary.first_sentinel;
  for (const MaskedSpan& span : spans) {
    // Only neighbouring words make a span, but a separator may lie between them: the encoder keeps
    // what lies before the span and behind its last token.
    const auto begin = static_cast<std::size_t>(span.positions.front());
    out.encoder_text.insert(out.encoder_text.end(),
                            text.begin() + static_cast<std::ptrdiff_t>(next),
                            text.begin() + static_cast<std::ptrdiff_t>(begin));
    out.encoder_text.push_back(sentinel);
    out.decoder_text.push_back(sentinel++);
    out.decoder_text.insert(out.decoder_text.end(), span.tokens.begin(), span.tokens.end());
    next = static_cast<std::size_t>(span.positions.back()) + 1;
  }
  out.encoder_text.insert(out.encoder_text.end(), text.begin() + static_cast<std::ptrdiff_t>(next),
                          text.end());
  check_room(sample, spans.size(), out.decoder_text.size());

  const GptDescription& description = options_.index.description;
  const Index d = *description.masked_lm->decoder_seq_length;
  out.labels.assign(out.decoder_text.begin() + 1, out.decoder_text.end());
  out.labels.push_back(vocabulary.eos);
  pad(out.labels, out.loss_mask, d, -1);
  pad(out.encoder_text, out.encoder_mask, description.seq_length, vocabulary.pad);
  pad(out.decoder_text, out.decoder_mask, d, vocabulary.pad);
}

}  // namespace mpitron::data
