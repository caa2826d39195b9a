#include "data/loading/masked_lm_shares.h"

#include <algorithm>
#include <cmath>

#include "data/masked_lm/masked_lm_index.h"
#include "utils/error.h"

// Shares of BERT's and T5's corpora, for `mpitron dataset`: how many samples and tokens a run takes
// of each, by the index it would use.

namespace mpitron::data {
namespace {

MaskedLmIndexOptions index_options(const MaskedLmShareRequest& request, Split split,
                                   const std::string& prefix, Index samples) {
  const bool is_t5 = request.masking.decoder_seq_length.has_value();
  MaskedLmIndexOptions options;
  GptDescription& description = options.description;
  description.class_name = is_t5 ? "T5MaskedWordPieceDataset" : "BERTMaskedWordPieceDataset";
  description.dataset_path = prefix;
  description.num_samples = samples;
  description.index_split = split;
  description.seed = request.data.seed;
  description.seq_length = request.data.sample.seq_length;
  description.tokenizer = request.data.tokenizer;
  description.masked_lm = request.masking;
  if (!request.data.blend.prefixes.empty()) {
    description.split = request.data.split;
  }
  options.special_tokens = request.special_tokens;
  options.min_sentences = request.min_sentences;
  options.cache_folder = request.data.cache_path.value_or("");
  return options;
}

Index tokens_of(const io::TokenFile& corpus, Index begin, Index end) {
  Index tokens = 0;
  for (Index i = begin; i < end; ++i) {
    tokens += corpus.length(i);
  }
  return tokens;
}

/// Counts epochs: each has one row that begins where the first used document does.
Index epochs_of(const MaskedLmIndex& index) {
  Index first = index[0].begin;
  Index epochs = 0;
  for (Index i = 0; i < index.size(); ++i) {
    const Index begin = index[i].begin;
    epochs = begin < first ? 1 : epochs + (begin == first ? 1 : 0);
    first = std::min(first, begin);
  }
  return epochs;
}

SourceShare share_of(const io::TokenFile& corpus, const MaskedLmIndexOptions& options, Index used) {
  const MaskedLmIndex index(corpus, options);
  const Index begin = corpus.document_begin(options.begin);
  const Index end = corpus.document_begin(options.end);
  SourceShare share{.name = corpus.prefix(),
                    .sequences = end - begin,
                    .tokens = tokens_of(corpus, begin, end),
                    .epochs = epochs_of(index),
                    .samples = index.size(),
                    .used = std::min(used, index.size())};
  for (Index i = 0; i < share.used; ++i) {
    const SentenceRun run = index[i];
    share.used_tokens += std::min(tokens_of(corpus, run.begin, run.end), run.target);
  }
  return share;
}

}  // namespace

std::vector<SourceShare> masked_lm_shares(const MaskedLmShareRequest& request, Split split) {
  const GptDataRequest& data = request.data;
  const bool shared = !data.blend.prefixes.empty();
  const Blend& blend = shared ? data.blend : data.per_split[split];
  const auto fractions = shared ? parse_split(data.split)[split] : Fractions{0.0, 1.0};
  std::vector<SourceShare> shares;
  if (!data.num_samples[split]) {
    throw_usage("--full-validation: BERT and T5 need a number of samples; give --eval-iters");
  }
  const Index wanted = *data.num_samples[split];
  if (!fractions || wanted == 0) {
    return shares;
  }
  const std::vector<double> weights =
      blend.weights.empty() ? std::vector<double>(blend.prefixes.size(), 1.0) : blend.weights;
  const std::vector<double> normal = normalized(weights);
  for (std::size_t i = 0; i < blend.prefixes.size(); ++i) {
    const bool alone = blend.prefixes.size() == 1;
    const io::TokenFile corpus(blend.prefixes[i]);
    MaskedLmIndexOptions options =
        index_options(request, split, blend.prefixes[i],
                      alone ? wanted : member_samples(wanted, normal[i], data.surplus));
    std::tie(options.begin, options.end) = split_bounds(*fractions, corpus.document_count());
    const auto used = static_cast<Index>(std::ceil(static_cast<double>(wanted) * normal[i]));
    shares.push_back(share_of(corpus, options, used));
  }
  return shares;
}

}  // namespace mpitron::data
