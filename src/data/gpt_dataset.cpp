#include "data/gpt_dataset.h"

#include <algorithm>
#include <limits>

#include "data/index_cache.h"
#include "utils/check.h"
#include "utils/error.h"
#include "utils/hash.h"

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

/// What the reference would loop over for ever, or abort on.
void check_not_empty(const SequenceSource& source, const GptDatasetOptions& options) {
  Index tokens = 0;
  for (Index i = options.begin; i < options.end && tokens < 2; ++i) {
    tokens += source.lengths()[i];
  }
  if (tokens < 2) {
    throw_usage(
        "--split {}: the {} split of {} ({} of {} sequences) has {} tokens, too few for a sample; "
        "give it a larger share, use a larger corpus, or ask for none of its samples (--eval-iters "
        "0)",
        options.description.split.value_or("(per-split paths)"),
        to_string(options.description.index_split), source.name(), options.end - options.begin,
        source.lengths().size(), tokens);
  }
}

std::string hash_of(const SequenceSource& source) {
  const std::span<const std::byte> bytes = source.lengths().bytes();
  return hash128_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

/// Options that change the index but not the reference's description, and so not its file name.
std::string variant(const GptDatasetOptions& options) {
  return std::string(options.add_extra_token ? "" : "-no_extra_token") +
         (options.drop_last_partial ? "" : "-with_partial");
}

}  // namespace

GptDataset::GptDataset(std::shared_ptr<const SequenceSource> source, GptDatasetOptions options)
    : source_(std::move(source)),
      description_(describe(options.description)),
      pad_(options.pad),
      vocab_size_(options.vocab_size) {
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
  if (auto found = cache.load(names, shapes)) {
    documents_ = (*found)[0];
    samples_ = (*found)[1];
    shuffle_ = (*found)[2];
    return;
  }
  build(request);
  cache.store(names, shapes, {documents_, samples_, shuffle_});
}

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
  if (std::is_same_v<Document, std::int64_t> || static_cast<Index>(order.size()) > kInt32Max) {
    samples_ = IndexArray(build_sample_index<std::int64_t>(request, plan_, order));
  } else {
    samples_ = IndexArray(build_sample_index<std::int32_t>(request, plan_, order));
  }
  documents_ = IndexArray(std::move(documents));
}

void GptDataset::read(Index sample, std::span<std::int64_t> tokens) const {
  MPITRON_CHECK(sample >= 0 && sample < size(), sample, size());
  const Index row = shuffle_[sample];
  if (row < 0 || row >= plan_.samples) {
    fail_index(sample);
  }
  Index position = samples_[2 * row];
  Index offset = samples_[2 * row + 1];
  for (; !tokens.empty() && position < documents_.size(); ++position, offset = 0) {
    const Index sequence = position < 0 ? -1 : documents_[position];
    if (sequence < 0 || sequence >= source_->lengths().size() || offset < 0) {
      fail_index(sample);
    }
    const Index left = std::max(source_->lengths()[sequence] - offset, Index{0});
    const auto count = std::min(static_cast<std::size_t>(left), tokens.size());
    const std::span<std::int64_t> piece = tokens.first(count);
    if (count > 0) {
      source_->read(sequence, offset, piece);
      check_vocabulary(sequence, piece);
    }
    tokens = tokens.subspan(count);
  }
  std::fill(tokens.begin(), tokens.end(), pad_);
}

void GptDataset::check_vocabulary(Index sequence, std::span<const std::int64_t> tokens) const {
  if (vocab_size_ == 0) {
    return;
  }
  std::uint64_t largest = 0;
  for (const std::int64_t token : tokens) {
    largest = std::max(largest, static_cast<std::uint64_t>(token));
  }
  if (largest >= static_cast<std::uint64_t>(vocab_size_)) {
    throw_data(
        "{}: sequence {} holds the token id {}, but the vocabulary has {}; the corpus was made "
        "with another tokenizer",
        source_->name(), sequence, static_cast<std::int64_t>(largest), vocab_size_);
  }
}

void GptDataset::fail_index(Index sample) const {
  throw_data(
      "{}: the cached index of sample {} points outside the corpus; delete the files of the "
      "index cache (--data-cache-path)",
      source_->name(), sample);
}

}  // namespace mpitron::data
