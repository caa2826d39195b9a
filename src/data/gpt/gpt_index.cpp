#include "data/gpt/gpt_index.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/gpt/document_lengths.h"
#include "utils/check.h"

// Builds the three indices of a GPT data set exactly as Megatron does, with numpy's generator: one
// more epoch than samples need, whose last part is shuffled apart where it is short.

namespace mpitron::data {
namespace {

constexpr double kSeparateBelow = 0.80;

Index ceil_div(Index a, Index b) {
  return (a + b - 1) / b;
}

/// Counts all whole samples, or with a partial one at the end: then in fp32, as the reference
/// counts, but never past the end.
Index sample_count(const GptIndexRequest& request, Index tokens) {
  if (request.drop_last_partial) {
    return tokens / request.seq_length;
  }
  const float count =
      std::ceil(static_cast<float>(tokens) / static_cast<float>(request.seq_length));
  return std::min(static_cast<Index>(count), ceil_div(tokens, request.seq_length));
}

}  // namespace

/// Plans as many epochs as the wanted samples need; the last one is shuffled apart where less than
/// the share kSeparateBelow of it is wanted, so that all samples of the epochs before it are used.
/// Source: GPTDataset of the reference.
GptIndexPlan plan_gpt_index(const GptIndexRequest& request) {
  GptIndexPlan plan;
  for (Index i = request.begin; i < request.end; ++i) {
    // Negative ones, of a damaged corpus, are told when the index is built.
    plan.tokens_per_epoch += std::max(request.lengths[i], 0);
  }
  const Index extra = request.add_extra_token ? 1 : 0;
  const Index wanted = request.num_samples.value_or(0);
  MPITRON_CHECK(plan.tokens_per_epoch > 0 && request.seq_length > 0, plan.tokens_per_epoch);
  if (request.num_samples) {
    plan.epochs =
        std::max(Index{1}, ceil_div(wanted * request.seq_length + extra, plan.tokens_per_epoch));
  }
  plan.samples = sample_count(request, plan.epochs * plan.tokens_per_epoch - extra);
  plan.samples_sans_final = plan.samples;
  if (plan.epochs > 1) {
    const Index sans_final =
        ((plan.epochs - 1) * plan.tokens_per_epoch - extra) / request.seq_length;
    const Index per_epoch = (plan.tokens_per_epoch - extra) / request.seq_length;
    plan.separate_final_epoch =
        wanted - sans_final < static_cast<Index>(kSeparateBelow * static_cast<double>(per_epoch));
    if (plan.separate_final_epoch) {
      plan.samples_sans_final = sans_final;
    }
  }
  return plan;
}

/// Every sequence once an epoch, shuffled over all epochs together.
template <class T>
std::vector<T> build_document_index(const GptIndexRequest& request, const GptIndexPlan& plan,
                                    RandomState& random) {
  const auto per_epoch = static_cast<std::size_t>(request.end - request.begin);
  std::vector<T> index(per_epoch * static_cast<std::size_t>(plan.epochs));
  for (std::size_t i = 0; i < index.size(); i += per_epoch) {
    std::iota(&index[i], &index[i] + per_epoch, static_cast<T>(request.begin));
  }
  const std::size_t first = plan.separate_final_epoch ? index.size() - per_epoch : index.size();
  random.shuffle(std::span(index).first(first));
  random.shuffle(std::span(index).subspan(first));
  return index;
}

// Sample i begins at token i * seq_length of the stream of documents. With the extra token, that
// token is the label overlap and its document is the place; without it, the place is one past the
// token before, which may be the end of a document.
template <class T, class Document>
std::vector<T> build_sample_index(const GptIndexRequest& request, const GptIndexPlan& plan,
                                  std::span<const Document> documents) {
  std::vector<T> index(static_cast<std::size_t>(plan.samples + 1) * 2);
  const Index behind = request.add_extra_token ? 0 : 1;
  std::size_t row = 1;  // row 0 is (0, 0)
  Index next = request.seq_length -
               behind;  // token whose document holds the row, from the start of this document
  const std::size_t rows = static_cast<std::size_t>(plan.samples) + 1;
  for_lengths(request.lengths, documents, [&](std::size_t d, Index length) {
    for (; next < length && row < rows; next += request.seq_length, ++row) {
      index[2 * row] = static_cast<T>(d);
      index[2 * row + 1] = static_cast<T>(next + behind);
    }
    next -= length;
  });
  if (row < rows) {  // the partial sample ends with the stream
    MPITRON_CHECK(row + 1 == rows && !request.drop_last_partial, row, rows);
    index[2 * row] = static_cast<T>(documents.size() - 1);
    index[2 * row + 1] =
        static_cast<T>(request.lengths[static_cast<Index>(documents.back())] - (1 - behind));
  }
  return index;
}

/// Samples in random order, those of a separate last epoch behind the others.
template <class T>
std::vector<T> build_shuffle_index(const GptIndexPlan& plan, RandomState& random) {
  std::vector<T> index(static_cast<std::size_t>(plan.samples));
  std::iota(index.begin(), index.end(), T{0});
  const auto first = static_cast<std::size_t>(plan.samples_sans_final);
  random.shuffle(std::span(index).first(first));
  random.shuffle(std::span(index).subspan(first));
  return index;
}

template std::vector<std::int32_t> build_document_index(const GptIndexRequest&, const GptIndexPlan&,
                                                        RandomState&);
template std::vector<std::int64_t> build_document_index(const GptIndexRequest&, const GptIndexPlan&,
                                                        RandomState&);
template std::vector<std::int32_t> build_sample_index(const GptIndexRequest&, const GptIndexPlan&,
                                                      std::span<const std::int32_t>);
template std::vector<std::int64_t> build_sample_index(const GptIndexRequest&, const GptIndexPlan&,
                                                      std::span<const std::int32_t>);
template std::vector<std::int64_t> build_sample_index(const GptIndexRequest&, const GptIndexPlan&,
                                                      std::span<const std::int64_t>);
template std::vector<std::uint32_t> build_shuffle_index(const GptIndexPlan&, RandomState&);
template std::vector<std::int64_t> build_shuffle_index(const GptIndexPlan&, RandomState&);

}  // namespace mpitron::data
