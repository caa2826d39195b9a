#include <algorithm>
#include <charconv>

#include "cli/command.h"
#include "cli/commands.h"
#include "config/parse/parse.h"
#include "config/values/option_help.h"
#include "data/loading/masked_lm_shares.h"
#include "io/logs/json_text.h"
#include "train/batches/training_data.h"
#include "utils/log.h"

// `mpitron data report`: which share each corpus has in training, validation and test, before a run
// starts. It takes the training command's own options, builds the same data sets and asks them, so
// that the figures are those of the run and its sample indices are left in the cache.

namespace mpitron::cli {
namespace {

using data::SourceShare;
using data::Split;

constexpr const char* kReportHelp =
    "usage: mpitron data report OPTIONS [--dataset gpt|bert|t5] [--json]\n\n"
    "Says what a run reads before it starts: tokens, epochs and samples of each corpus, for each\n"
    "split. Builds the sample indices, which the run then finds in its cache.\n"
    "With --dataset bert or t5: [--mask-prob P] [--short-seq-prob P] [--decoder-seq-length N]\n"
    "[--bert-no-binary-head].\n";

/// The data set that --dataset names, with the options of masked language models that the GPT
/// training command does not know.
struct Kind {
  std::string name = "gpt";
  data::MaskedLmDescription masking;
  bool binary_head = true;
};

/// Leaves `target` as it is without the option; Error(usage) for anything but a number from 0 on.
template <class T>
void take_number(Arguments& flags, const std::string& name, T& target) {
  if (const auto text = take_value(flags, name)) {
    const char* end = text->data() + text->size();
    const auto [rest, error] = std::from_chars(text->data(), end, target);
    if (error != std::errc{} || rest != end || target < 0) {
      throw_usage("{} {}: expected a number from 0 on", name, *text);
    }
  }
}

/// T5's defaults are Megatron's: its decoder length, and spans of words with geometric lengths.
Kind take_kind(Arguments& flags) {
  Kind kind;
  kind.name = take_value(flags, "--dataset").value_or("gpt");
  if (kind.name == "gpt") {
    return kind;
  }
  if (kind.name != "bert" && kind.name != "t5") {
    throw_usage("--dataset {}: allowed are gpt, bert and t5", kind.name);
  }
  take_number(flags, "--mask-prob", kind.masking.masking_probability);
  take_number(flags, "--short-seq-prob", kind.masking.short_sequence_probability);
  if (kind.name == "t5") {
    Index length = 128;
    take_number(flags, "--decoder-seq-length", length);
    kind.masking.decoder_seq_length = length;
    kind.masking.masking_max_ngram = 10;
    kind.masking.geometric = true;
  } else {
    kind.binary_head = !take_flag(flags, "--bert-no-binary-head");
    kind.masking.classification_head = kind.binary_head;
  }
  return kind;
}

struct SplitReport {
  std::string name;
  Index samples = 0;
  std::vector<SourceShare> shares;
};

/// Counts the samples that a run asks for, all of the data set where `wanted` is nothing. A null
/// `dataset` (an empty split) gives a report without shares.
SplitReport report_of(const std::string& name, const data::Dataset* dataset,
                      std::optional<Index> wanted) {
  SplitReport report{name, 0, {}};
  if (dataset != nullptr) {
    report.samples = std::min(wanted.value_or(dataset->size()), dataset->size());
    dataset->add_shares(report.samples, report.shares);
  }
  return report;
}

std::vector<SplitReport> gpt_reports(const data::GptDataRequest& request) {
  const data::GptData sets = data::make_gpt_data(request);
  std::vector<SplitReport> reports{
      report_of("train", sets.train.get(), request.num_samples[Split::train])};
  for (std::size_t i = 0; i < sets.valid.size(); ++i) {
    reports.push_back(report_of(sets.valid.size() > 1 ? fmt::format("valid-{}", i) : "valid",
                                sets.valid[i].get(), request.num_samples[Split::valid]));
  }
  reports.push_back(report_of("test", sets.test.get(), request.num_samples[Split::test]));
  return reports;
}

/// BERT adds three special tokens to a sample ([CLS], [SEP], [SEP]) and needs two sentences for its
/// binary head; T5 adds two and needs one.
std::vector<SplitReport> masked_lm_reports(const data::GptDataRequest& request, const Kind& kind) {
  const bool is_t5 = kind.name == "t5";
  const data::MaskedLmShareRequest shares{.data = request,
                                          .masking = kind.masking,
                                          .special_tokens = is_t5 ? 2 : 3,
                                          .min_sentences = is_t5 || !kind.binary_head ? 1 : 2};
  std::vector<SplitReport> reports;
  for (const Split split : data::kSplits) {
    reports.push_back({data::to_string(split), 0, data::masked_lm_shares(shares, split)});
    for (const SourceShare& share : reports.back().shares) {
      reports.back().samples += share.used;
    }
  }
  return reports;
}

/// Counts epochs in tokens. Conversations have no token count: there, a sequence is a sample and
/// epochs are counted in them.
double epochs_used(const SourceShare& share) {
  const bool counted = share.tokens > 0;
  const Index epoch = counted ? share.tokens : share.sequences;
  return epoch > 0 ? static_cast<double>(counted ? share.used_tokens : share.used) /
                         static_cast<double>(epoch)
                   : 0.0;
}

void print_report(const SplitReport& report) {
  std::size_t width = 6;
  Index tokens = 0;
  for (const SourceShare& share : report.shares) {
    width = std::max(width, share.name.size());
    tokens += share.used_tokens;
  }
  log::print(fmt::format("{}: {} samples, {} tokens", report.name, report.samples, tokens));
  if (report.shares.empty()) {
    return;
  }
  log::print(fmt::format("  {:<{}} {:>12} {:>16} {:>12} {:>16} {:>9} {:>8}", "corpus", width,
                         "sequences", "tokens/epoch", "samples", "tokens", "epochs", "share"));
  for (const SourceShare& share : report.shares) {
    log::print(fmt::format(
        "  {:<{}} {:>12} {:>16} {:>12} {:>16} {:>9.4f} {:>7.2f}%", share.name, width,
        share.sequences, share.tokens, share.used, share.used_tokens, epochs_used(share),
        report.samples > 0
            ? 100.0 * static_cast<double>(share.used) / static_cast<double>(report.samples)
            : 0.0));
  }
}

std::string to_json(const SplitReport& report) {
  std::string corpora;
  for (const SourceShare& share : report.shares) {
    corpora +=
        fmt::format(R"({}{{"corpus": {}, "sequences": {}, "tokens_per_epoch": {}, "samples": {}, )"
                    R"("tokens": {}, "epochs": {}, "indexed_samples": {}, "indexed_epochs": {}}})",
                    corpora.empty() ? "" : ", ", io::json_string(share.name), share.sequences,
                    share.tokens, share.used, share.used_tokens,
                    io::json_number(epochs_used(share)), share.samples, share.epochs);
  }
  return fmt::format(R"("{}": {{"samples": {}, "corpora": [{}]}})", report.name, report.samples,
                     corpora);
}

}  // namespace

int data_report(const Arguments& arguments) {
  if (const auto help = config::requested_help(arguments)) {
    log::print(kReportHelp + *help);
    return static_cast<int>(ExitCode::success);
  }
  Arguments flags = arguments;
  const bool json = take_flag(flags, "--json");
  const Kind kind = take_kind(flags);
  const config::RunConfig config = config::parse_run_config(flags);
  const auto tokenizer = train::make_run_tokenizer(config.data);
  const data::GptDataRequest request = train::make_data_request(config, *tokenizer);
  const std::vector<SplitReport> reports =
      kind.name == "gpt" ? gpt_reports(request) : masked_lm_reports(request, kind);
  std::string text;
  for (const SplitReport& report : reports) {
    if (json) {
      text += (text.empty() ? "" : ", ") + to_json(report);
    } else {
      print_report(report);
    }
  }
  if (json) {
    log::print(fmt::format(R"({{"dataset": "{}", "sequence_length": {}, "splits": {{{}}}}})",
                           kind.name, config.training.seq_length, text));
  }
  return static_cast<int>(ExitCode::success);
}

}  // namespace mpitron::cli
