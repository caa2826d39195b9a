#include <limits>

#include "data/gpt/gpt_dataset.h"
#include "data/index/index_cache.h"
#include "utils/check.h"
#include "utils/error.h"
#include "utils/text/hash.h"

// Builds the index of a GPT data set: which documents its samples are made of.

namespace mpitron::data {
namespace {

constexpr Index kInt32Max = std::numeric_limits<std::int32_t>::max();
constexpr Index kUint32Max = std::numeric_limits<std::uint32_t>::max();

GptIndexRequest index_request(const SequenceSource& source, const GptDatasetOptions& options) {
  const GptDescription& description = options.description;
  return {source.lengths(),
          options.begin,
          options.end,
          description.num_samples,
          description.seq_length,
          description.seed,
          options.add_extra_token,
          options.drop_last_partial};
}

/// Refuses a split without a sample, over which the reference would loop for ever, or abort.
void check_not_empty(const SequenceSource& source, const GptDatasetOptions& options) {
  Index tokens = 0;
  for (Index i = options.begin; i < options.end && tokens < 2; ++i) {
    tokens += source.lengths()[i];
  }
  if (tokens < 2) {
    source.verify();  // a negative length may be why
    throw_usage(
        "--split {}: the {} split of {} ({} of {} sequences) has {} tokens, too few for a sample; "
        "give it a larger share, use a larger corpus, or ask for none of its samples (--eval-iters "
        "0)",
        options.description.split.value_or("(per-split paths)"),
        to_string(options.description.index_split), source.name(), options.end - options.begin,
        source.lengths().size(), tokens);
  }
}

/// Hashes the lengths alone: tokens do not decide where samples lie.
std::string hash_of(const SequenceSource& source) {
  const std::span<const std::byte> bytes = source.lengths().bytes();
  return hash128_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

/// Names the options that change the index but not the reference's description, and so not its file
/// name.
std::string variant(const GptDatasetOptions& options) {
  return std::string(options.add_extra_token ? "" : "-no_extra_token") +
         (options.drop_last_partial ? "" : "-with_partial");
}

}  // namespace

/// Gets three indices, from the cache where it has them: the order of sequences, where each sample
/// begins in their stream, the order of samples.
GptDataset::GptDataset(std::shared_ptr<const SequenceSource> source, GptDatasetOptions options)
    : source_(std::move(source)),
      description_(describe(options.description)),
      pad_(options.pad),
      vocab_size_(options.vocab_size),
      sequences_(options.end - options.begin),
      seq_length_(options.description.seq_length),
      extra_token_(options.add_extra_token ? 1 : 0) {
  check_not_empty(*source_, options);
  const GptIndexRequest request = index_request(*source_, options);
  plan_ = plan_gpt_index(request);
  const IndexCache cache(
      options.cache_folder,
      options.description.class_name + "-" + to_string(options.description.index_split),
      description_,
      {.variant = variant(options),
       .sequences = options.cache_folder.empty() ? "" : hash_of(*source_)});
  const std::vector<std::string> names{"document_index", "sample_index", "shuffle_index"};
  const std::vector<std::vector<Index>> shapes{
      {plan_.epochs * (options.end - options.begin)}, {plan_.samples + 1, 2}, {plan_.samples}};
  const std::vector<IndexArray> arrays = cache.get(names, shapes, [&] {
    build(request);
    return std::vector{documents_, samples_, shuffle_};
  });
  documents_ = arrays[0];
  samples_ = arrays[1];
  shuffle_ = arrays[2];
}

/// Builds the indices with one generator, in the reference's order. Numbers are as small as they
/// can be, as in the reference's files.
void GptDataset::build(const GptIndexRequest& request) {
  source_->verify();
  RandomState random(static_cast<std::uint32_t>(request.seed));
  if (source_->lengths().size() <= kInt32Max) {
    build_samples(request, build_document_index<std::int32_t>(request, plan_, random));
  } else {
    build_samples(request, build_document_index<std::int64_t>(request, plan_, random));
  }
  shuffle_ = plan_.samples < kUint32Max - 1
                 ? IndexArray(build_shuffle_index<std::uint32_t>(plan_, random))
                 : IndexArray(build_shuffle_index<std::int64_t>(plan_, random));
}

template <class Document>
void GptDataset::build_samples(const GptIndexRequest& request, std::vector<Document> documents) {
  const std::span<const Document> order(documents);
  // Documents of 64 bits, or more of them than 31 bits count, need wide places.
  if (std::is_same_v<Document, std::int64_t> || static_cast<Index>(order.size()) > kInt32Max) {
    samples_ = IndexArray(build_sample_index<std::int64_t>(request, plan_, order));
  } else {
    samples_ = IndexArray(build_sample_index<std::int32_t>(request, plan_, order));
  }
  documents_ = IndexArray(std::move(documents));
}

}  // namespace mpitron::data
