#include "data/loading/gpt_data.h"

#include <filesystem>

#include "data/gpt/gpt_dataset.h"
#include "data/gpt/packed_sft_dataset.h"
#include "data/gpt/pair_dataset.h"
#include "data/loading/blended_dataset.h"
#include "utils/error.h"
#include "utils/system/parallel_for.h"

// Opens the three splits of a run from the words of the command line: corpora, blends or files of
// conversations, each with as many samples as the run takes.

namespace mpitron::data {
namespace {

using DatasetPtr = std::shared_ptr<const Dataset>;
using Matrix = PerSplit<std::optional<Fractions>>;
using SampleCounts = PerSplit<std::optional<Index>>;

/// Makes data sets of a request; the splits of one corpus share its file.
class Builder {
 public:
  explicit Builder(const GptDataRequest& request) : request_(request) {}

  /// Makes one data set per split of one corpus; null for splits without a share.
  PerSplit<DatasetPtr> corpus(const std::string& prefix, const Matrix& matrix,
                              const SampleCounts& counts) const {
    if (request_.masked_lm) {
      return sentences(prefix, matrix, counts);
    }
    if (request_.encode) {
      return conversations(prefix, matrix, counts);
    }
    const auto source = std::make_shared<const CorpusSource>(
        prefix, request_.mmap_bin_files ? io::BinAccess::mapped : io::BinAccess::read);
    check_tokenizer(source->file());
    GptDatasetOptions options = base_options();
    options.description.dataset_path = prefix;
    options.cache_folder = cache_folder(prefix, "GPTDataset");
    return splits(source, options, matrix, counts);
  }

  /// Makes the reference's mock data, whose splits are equal thirds.
  PerSplit<DatasetPtr> mock() const {
    GptDatasetOptions options = base_options();
    options.description.class_name = "MockGPTDataset";
    options.description.split = "1,1,1";
    options.cache_folder = request_.cache_path.value_or("");
    const auto source =
        std::make_shared<const MockSource>(request_.sample.eod, request_.vocab_size);
    return splits(source, options, parse_split("1,1,1"), request_.num_samples);
  }

  /// Makes a blend, or its one corpus; members are built on several threads.
  PerSplit<DatasetPtr> blend(const Blend& blend, const Matrix& matrix,
                             const SampleCounts& counts) const {
    if (blend.prefixes.size() == 1) {
      return corpus(blend.prefixes[0], matrix, counts);
    }
    const std::vector<double> weights =
        blend.weights.empty() ? std::vector<double>{} : normalized(blend.weights);
    std::vector<PerSplit<DatasetPtr>> members(blend.prefixes.size());
    parallel_for(members.size(), request_.builder_threads, [&](std::size_t i) {
      const SampleCounts own =
          member_counts(counts, matrix, weights.empty() ? nullptr : &weights[i]);
      members[i] = corpus(blend.prefixes[i], matrix, own);
    });
    PerSplit<DatasetPtr> result;
    for (const Split split : kSplits) {
      if (matrix[split] && counts[split] != Index{0}) {
        result[split] = blended(split, members, weights, counts[split]);
      }
    }
    return result;
  }

 private:
  /// Refuses a corpus of another tokenizer, where both have a fingerprint: its ids would mean other
  /// words.
  void check_tokenizer(const io::TokenFile& file) const {
    const std::string& hash = file.tokenizer_hash();
    if (!hash.empty() && !request_.tokenizer_hash.empty() && hash != request_.tokenizer_hash) {
      throw_data(
          "{}: was made with another tokenizer (fingerprint {}, that of --tokenizer-type is {}); "
          "give the tokenizer's files that it was made with",
          file.prefix(), hash, request_.tokenizer_hash);
    }
  }

  /// Returns --data-cache-path, else a folder beside the corpus.
  std::filesystem::path cache_folder(const std::string& prefix,
                                     const std::string& class_name) const {
    return request_.cache_path
               ? std::filesystem::path(*request_.cache_path)
               : std::filesystem::path(prefix).parent_path() / "cache" / (class_name + "_indices");
  }

  PerSplit<DatasetPtr> sentences(const std::string& prefix, const Matrix& matrix,
                                 const SampleCounts& counts) const {
    MaskedLmCorpus corpus{
        .description = base_options().description,
        .cache_folder = cache_folder(prefix, request_.masked_lm->class_name()),
        .access = request_.mmap_bin_files ? io::BinAccess::mapped : io::BinAccess::read};
    corpus.description.dataset_path = prefix;
    return make_masked_lm_splits(*request_.masked_lm, corpus, matrix, counts);
  }

  GptDatasetOptions base_options() const {
    GptDatasetOptions options;
    options.description.seed = request_.seed;
    options.description.seq_length = request_.sample.seq_length;
    options.description.tokenizer = request_.tokenizer;
    if (!request_.blend.prefixes.empty()) {
      options.description.split = request_.split;
    }
    options.add_extra_token = request_.sample.add_extra_token;
    options.pad = request_.sample.pad;
    options.vocab_size = request_.vocab_size;
    return options;
  }

  PerSplit<DatasetPtr> conversations(const std::string& path, const Matrix& matrix,
                                     const SampleCounts& counts) const {
    const auto file = std::make_shared<const ConversationFile>(path);
    SftDatasetOptions options{.description = base_options().description,
                              .eod = request_.sample.eod,
                              .pad = request_.sample.pad};
    options.description.class_name = "SFTDataset";
    options.description.dataset_path = path;
    PerSplit<DatasetPtr> result;
    for (const Split split : kSplits) {
      if (!matrix[split] || counts[split] == Index{0}) {
        continue;
      }
      std::tie(options.begin, options.end) = split_bounds(*matrix[split], file->size());
      options.description.index_split = split;
      options.description.num_samples = counts[split];
      result[split] = conversation_samples(file, options);
    }
    return result;
  }

  DatasetPtr conversation_samples(const std::shared_ptr<const ConversationFile>& file,
                                  const SftDatasetOptions& options) const {
    using enum ConversationSamples;
    switch (request_.conversations) {
      case packed:
        return std::make_shared<const PackedSftDataset>(file, options, request_.encode,
                                                        request_.builder_threads);
      case pairs:
      case pairs_by_length:
        return std::make_shared<const PairDataset>(file, options, request_.encode,
                                                   request_.conversations == pairs_by_length);
      default:
        return std::make_shared<const SftDataset>(file, options, request_.encode);
    }
  }

  PerSplit<DatasetPtr> splits(const std::shared_ptr<const SequenceSource>& source,
                              const GptDatasetOptions& base, const Matrix& matrix,
                              const SampleCounts& counts) const {
    PerSplit<DatasetPtr> result;
    for (const Split split : kSplits) {
      if (!matrix[split]) {
        continue;
      }
      GptDatasetOptions options = base;
      std::tie(options.begin, options.end) = split_bounds(*matrix[split], source->lengths().size());
      options.description.index_split = split;
      options.description.num_samples = counts[split];
      options.drop_last_partial = split != Split::valid || request_.drop_last_partial_validation;
      if (options.begin < options.end || counts[split] != Index{0}) {  // nothing of nothing is null
        result[split] = std::make_shared<const GptDataset>(source, std::move(options));
        if (request_.fim) {
          result[split] = std::make_shared<const FimDataset>(result[split], *request_.fim);
        }
      }
    }
    return result;
  }

  /// Returns the samples asked of a member; without weights each gives one epoch.
  SampleCounts member_counts(const SampleCounts& counts, const Matrix& matrix,
                             const double* weight) const {
    SampleCounts own;
    for (const Split split : kSplits) {
      if (weight == nullptr || !matrix[split]) {
        continue;
      }
      if (!counts[split]) {
        throw_usage(
            "--full-validation: a blend with weights has no natural length; give --{}"
            "-data-path without weights",
            to_string(split));
      }
      own[split] = member_samples(*counts[split], *weight, request_.surplus);
    }
    return own;
  }

  DatasetPtr blended(Split split, const std::vector<PerSplit<DatasetPtr>>& members,
                     const std::vector<double>& weights, std::optional<Index> count) const {
    std::vector<DatasetPtr> own;
    for (const PerSplit<DatasetPtr>& member : members) {
      own.push_back(member[split]);
    }
    BlendedDatasetOptions options{split, weights, count, request_.cache_path.value_or("")};
    if (!weights.empty()) {
      options.size = blended_size(*count, weights);
    }
    return std::make_shared<const BlendedDataset>(std::move(own), std::move(options));
  }

  const GptDataRequest& request_;
};

/// Returns the value for one split, nothing for the others: the whole of the corpora is for it.
template <class T>
PerSplit<std::optional<T>> only(Split split, const std::optional<T>& value) {
  PerSplit<std::optional<T>> result;
  result[split] = value;
  return result;
}

/// Opens the corpora of --train-data-path and its like; several validation sets stay apart where
/// they are asked for.
GptData per_split_data(const GptDataRequest& request, const Builder& builder) {
  PerSplit<std::vector<DatasetPtr>> found;
  for (const Split split : kSplits) {
    const Blend& blend = request.per_split[split];
    const Matrix matrix = only<Fractions>(split, Fractions{0.0, 1.0});
    const SampleCounts counts = only<Index>(split, request.num_samples[split]);
    if (split == Split::valid && request.multiple_validation_sets) {
      if (!blend.weights.empty()) {
        throw_usage(
            "--multiple-validation-sets: --valid-data-path has weights, but each set is evaluated "
            "on its own; give prefixes without weights");
      }
      for (const std::string& prefix : blend.prefixes) {
        found[split].push_back(builder.corpus(prefix, matrix, counts)[split]);
      }
    } else if (!blend.prefixes.empty()) {
      found[split].push_back(builder.blend(blend, matrix, counts)[split]);
    }
  }
  const auto first = [&](Split split) {
    return found[split].empty() ? nullptr : found[split].front();
  };
  return {first(Split::train), found[Split::valid], first(Split::test)};
}

}  // namespace

GptData make_gpt_data(const GptDataRequest& request) {
  const Builder builder(request);
  PerSplit<DatasetPtr> data;
  if (request.mock) {
    data = builder.mock();
  } else if (!request.blend.prefixes.empty()) {
    data = builder.blend(request.blend, parse_split(request.split), request.num_samples);
  } else {
    return per_split_data(request, builder);
  }
  GptData result{data[Split::train], {}, data[Split::test]};
  if (data[Split::valid]) {
    result.valid.push_back(data[Split::valid]);
  }
  return result;
}

}  // namespace mpitron::data
