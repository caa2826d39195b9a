#include <array>

#include <fmt/format.h>

#include "config/rules/constraint.h"

// Rules of how samples are made of texts: conversations, and texts filled in the middle.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

Result conversations(const Facts& f) {
  const DataConfig& d = f.run.data;
  if (!d.sft) {
    return {};
  }
  if (d.tokenizer_type != TokenizerType::sft) {
    return Violation{"another tokenizer", "--tokenizer-type SFTTokenizer"};
  }
  return d.mock_data ? Violation{"--mock-data has no conversations", "--data-path FILE.jsonl"}
                     : Result();
}

Result conversations_are_whole(const Facts& f) {
  const DataConfig& d = f.run.data;
  if (!d.sft) {
    return {};
  }
  const char* given = d.reset_position_ids       ? "--reset-position-ids given"
                      : d.reset_attention_mask   ? "--reset-attention-mask given"
                      : d.inter_document_masking ? "--dataloader-inter-document-masking given"
                      : d.eod_mask_loss          ? "--eod-mask-loss given"
                                                 : nullptr;
  return given != nullptr ? Violation{given, ""} : Result();
}

/// Checks that rates are shares, that the suffix-first rate is not 0, and that text to be split
/// into fragments has a rate of them.
Result fim_rates(const Facts& f) {
  if (!f.run.data.fim) {
    return {};
  }
  const FimConfig& fim = *f.run.data.fim;
  const auto share = [](double rate) { return rate >= 0 && rate <= 1; };
  if (fim.split_sample && !fim.fragment_rate) {
    return Violation{"--fim-split-sample without --fim-fragment-rate", "--fim-fragment-rate 0.5"};
  }
  return share(fim.rate) && share(fim.spm_rate) && fim.spm_rate > 0 &&
                 share(fim.fragment_rate.value_or(0))
             ? Result()
             : Violation{fmt::format("rates {}, {}, {}", fim.rate, fim.spm_rate,
                                     fim.fragment_rate.value_or(0)),
                         "--fim-rate 0.5 --fim-spm-rate 0.5"};
}

/// Refuses sources that are no indexed corpus, and masks by documents, whose ends move when a text
/// is rearranged.
Result fim_of_texts(const Facts& f) {
  const DataConfig& d = f.run.data;
  if (!d.fim) {
    return {};
  }
  const char* given = d.sft                      ? "--sft given"
                      : d.mock_data              ? "--mock-data given"
                      : d.inter_document_masking ? "--dataloader-inter-document-masking given"
                                                 : nullptr;
  return given != nullptr ? Violation{given, "--data-path"} : Result();
}

constexpr std::array kSampleRules = std::to_array<Constraint>({
    {"E280", "fim_rates",
     "rates of --fim-data are from 0 to 1, --fim-spm-rate above 0, fragments have one",
     "fim-data fim-rate fim-spm-rate fim-split-sample fim-fragment-rate",
     "They are shares of the texts; the reference refuses the 0, too.", fim_rates},
    {"E281", "fim_of_texts",
     "--fim-data reads corpora, without --dataloader-inter-document-masking",
     "fim-data sft mock-data dataloader-inter-document-masking",
     "Texts are cut anew, so that documents of the index no longer say where they begin.",
     fim_of_texts},
    {"E159", "conversations", "--sft reads files of conversations with SFTTokenizer",
     "sft tokenizer-type data-path mock-data",
     "The tokenizer's prompt format makes text of the turns and knows which of them is learned.",
     conversations},
    {"E160", "conversations_are_whole",
     "--sft excludes --reset-position-ids, --reset-attention-mask and --eod-mask-loss",
     "sft reset-position-ids reset-attention-mask eod-mask-loss",
     "A sample is one conversation; the reference ignores these flags then.",
     conversations_are_whole},
});

}  // namespace

std::span<const Constraint> sample_constraints() {
  return kSampleRules;
}

}  // namespace mpitron::config
