#include "convert/convert.h"

#include <algorithm>
#include <cctype>

#include "build_info.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "convert/adapters.h"
#include "device/device.h"
#include "train/log/progress_bar.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/timer.h"

// `mpitron convert` and `mpitron adapter`: flags in, a folder of another format out. The work is
// done by src/convert; this file turns flags (its own names and those of Megatron's
// tools/checkpoint/convert.py) into ConvertSettings and prints what the conversion reports. The
// exit code is result_rejected where --verify finds a tensor that came back different.

namespace mpitron::cli {

namespace {

constexpr Index kDecimalMegabyte = 1'000'000, kLargestSize = 1'000'000'000;

/// Everything as it was typed; empty texts and zeros mean that a flag was not given.
struct ConvertFlags {
  std::string from, to, from_format, to_format, model_type, dtype, loader, saver, adapter;
  Index divisible_by = 128, true_vocab_size = 0, shard_megabytes = 5000;
  Index tensor_ranks = 0, pipeline_ranks = 0;  // 0: not given
  bool verify = false, verify_logits = false, lenient = false, json = false;
};

void declare(Flags& flags, ConvertFlags& o) {
  flags.option("--from", o.from, "what to convert: a checkpoint or a folder of one");
  flags.option("--to", o.to, "folder to write");
  flags.option("--from-format", o.from_format, "found out unless given");
  flags.choices(convert::format_names());
  flags.option("--to-format", o.to_format,
               "mpitron or huggingface; the default is the one that --from is not, and mpitron "
               "where a target size is given");
  flags.choices(convert::format_names());
  flags.option(
      "--model-type", o.model_type,
      "family, as config.json calls it (llama, mixtral, ...); known or found out unless given. "
      "clip_vision_model, siglip_vision_model: the image encoder alone");
  flags.option("--make-vocab-size-divisible-by", o.divisible_by,
               "pad the vocabulary of an import to a multiple of this");
  flags.option("--true-vocab-size", o.true_vocab_size,
               "rows of the vocabulary that stand for tokens, where the source does not say");
  flags.option("--dtype", o.dtype, "type of all tensors; the default keeps each as it is");
  flags.choices({"fp32", "bf16", "fp16"});
  flags.option("--max-shard-size", o.shard_megabytes, "MB of a safetensors file");
  flags.flag("--allow-unmapped", o.lenient, "leave out tensors that have no counterpart");
  flags.flag("--verify", o.verify, "convert back and compare the hashes of all tensors");
  flags.flag("--verify-logits", o.verify_logits,
             "the same, and compare the logits of 500 tokens; needs memory for the model");
  flags.option("--merge-adapter", o.adapter,
               "a folder of PEFT whose updates are added to the weights; huggingface only");
  flags.flag("--json", o.json, "print the report as JSON");
  // The form of Megatron's own tool.
  flags.option("--load-dir", o.from, "other name of --from");
  flags.option("--save-dir", o.to, "other name of --to");
  flags.option("--loader", o.loader, "kind of source as Megatron's tool calls it");
  flags.choices({"core", "mcore", "legacy", "megatron", "llama_mistral", "mpitron"});
  flags.option("--saver", o.saver, "kind of output as Megatron's tool calls it");
  flags.choices({"core", "mcore", "legacy", "megatron", "hf", "mpitron"});
  flags.option("--target-tensor-parallel-size", o.tensor_ranks,
               "checked only: a checkpoint of mpitron loads in every layout");
  flags.option("--target-pipeline-parallel-size", o.pipeline_ranks, "checked only, likewise");
}

/// Returns nothing for an empty name, which keeps every tensor's own type.
std::optional<DType> parse_dtype(const std::string& name) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    if (name == name_of(dtype)) {
      return dtype;
    }
  }
  return std::nullopt;
}

/// Megatron's tool takes GPT as the kind of model, which is no family.
std::string family_of(std::string name) {
  for (char& c : name) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return name == "gpt" ? "" : name;
}

/// Decides what is written, in this order: --to-format, --saver, a target layout, and at last the
/// format that the source is not.
convert::Format output_format(const ConvertFlags& options, convert::Format from) {
  using enum convert::Format;
  if (!options.to_format.empty()) {
    return convert::parse_format(options.to_format, "--to-format");
  }
  if (!options.saver.empty()) {
    return options.saver == "hf" ? hugging_face : mpitron;
  }
  // Who names a layout wants a checkpoint to train on.
  if (options.tensor_ranks > 0 || options.pipeline_ranks > 0) {
    return mpitron;
  }
  return from == mpitron ? hugging_face : mpitron;
}

/// Checks all numbers before the source is opened, so that a mistake costs no minutes of reading.
/// The vocabulary is padded to a multiple of --make-vocab-size-divisible-by times the target's
/// tensor ranks, as Megatron pads it. Error(usage) for missing paths, numbers out of range and a
/// target that is the source.
convert::ConvertSettings settings_of(const ConvertFlags& options) {
  if (options.from.empty() || options.to.empty()) {
    throw_usage("convert: --from and --to are needed (or --load-dir and --save-dir)");
  }
  for (const auto& [name, value] :
       {std::pair("--make-vocab-size-divisible-by", options.divisible_by),
        std::pair("--max-shard-size", options.shard_megabytes)}) {
    if (value < 1 || value > kLargestSize) {
      throw_usage("{} {}: allowed are 1 to {}", name, value, kLargestSize);
    }
  }
  for (const auto& [name, value] :
       {std::pair("--target-tensor-parallel-size", options.tensor_ranks),
        std::pair("--target-pipeline-parallel-size", options.pipeline_ranks)}) {
    if (value < 0 || value > kLargestSize) {
      throw_usage("{} {}: allowed are 1 to {}", name, value, kLargestSize);
    }
  }
  if (options.true_vocab_size < 0) {
    throw_usage("--true-vocab-size {}: allowed are positive numbers", options.true_vocab_size);
  }
  std::error_code absent;
  if (std::filesystem::equivalent(options.from, options.to, absent)) {
    throw_usage("--to {}: is what --from names; give an empty folder", options.to);
  }
  const Index tensor_ranks = std::max<Index>(options.tensor_ranks, 1);
  convert::ConvertSettings settings{
      .from = options.from,
      .to = options.to,
      .from_format = {},
      .to_format = {},
      .model_type = family_of(options.model_type),
      .make_vocab_size_divisible_by = options.divisible_by * tensor_ranks,
      .true_vocab_size = options.true_vocab_size,
      .dtype = parse_dtype(options.dtype),
      .strict = !options.lenient,
      .verify = options.verify || options.verify_logits,
      .verify_logits = options.verify_logits,
      .bytes_per_file = options.shard_megabytes * kDecimalMegabyte,
      .build = fmt::format("mpitron {} (commit {})", build_info::kVersion, build_info::kCommit),
      .merge_adapter = options.adapter,
      .target_tensor_ranks = tensor_ranks,
      .target_pipeline_ranks = std::max<Index>(options.pipeline_ranks, 1)};
  settings.from_format = options.from_format.empty()
                             ? convert::detect_format(settings.from)
                             : convert::parse_format(options.from_format, "--from-format");
  settings.to_format = output_format(options, *settings.from_format);
  return settings;
}

/// A bar on a terminal, with rate and time left, for each part of the work.
class Bars {
 public:
  void update(const std::string& part, Index done, Index total, const std::string& name) {
    if (part != part_) {
      bar_.reset();
      bar_ = std::make_unique<train::ProgressBar>(megabytes(total), "MB");
      part_ = part;
    }
    bar_->update(megabytes(done), part + " " + name);
  }
  void clear() { bar_.reset(); }

 private:
  /// Rounds up, so that the bars of small models have a length.
  static Index megabytes(Index bytes) { return (bytes + kDecimalMegabyte - 1) / kDecimalMegabyte; }

  std::string part_;
  std::unique_ptr<train::ProgressBar> bar_;
};

/// Prints the first ten names and counts the others: a model of experts has thousands of tensors.
void print_list(const char* title, const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 10;
  for (std::size_t i = 0; i < std::min(kShown, names.size()); ++i) {
    log::print(fmt::format("  {}: {}", title, names[i]));
  }
  if (names.size() > kShown) {
    log::print(fmt::format("  {}: {} more", title, names.size() - kShown));
  }
}

void print_report(const convert::ConvertSettings& settings, const convert::ConvertReport& report,
                  double seconds) {
  log::print(fmt::format("{} ({}) -> {} ({}): {} tensors, {:.1f} MB, {:.1f} s",
                         settings.from.string(), name_of(report.from_format),
                         report.output.string(), name_of(settings.to_format), report.tensors,
                         static_cast<double>(report.bytes) / kDecimalMegabyte, seconds));
  print_list("not a weight or a repetition", report.ignored);
  print_list("left out, without a counterpart", report.unmapped);
  print_list("note", report.notes);
  if (report.round_trip) {
    print_list("came back different", report.round_trip->different());
    log::print(fmt::format(
        "  round trip: {} of {} tensors are the same bit for bit{}",
        report.round_trip->tensors.size() - report.round_trip->different().size(),
        report.round_trip->tensors.size(),
        report.logits_difference ? fmt::format(", logits differ by {:g}", *report.logits_difference)
                                 : ""));
  }
}

}  // namespace

int convert(const Arguments& arguments) {
  ConvertFlags options;
  Flags flags(
      "convert",
      "Converts models between mpitron, Hugging Face (GPT-2, Llama, Mistral, Qwen2, Mixtral, "
      "DeepSeek-V2, Megatron-BERT, T5) and, read only, Megatron's torch and torch_dist "
      "checkpoints.");
  declare(flags, options);
  if (!flags.parse(arguments)) {
    return 0;
  }
  const convert::ConvertSettings settings = settings_of(options);
  const Timer timer;
  std::optional<device::HostRuntime> runtime;
  if (settings.verify_logits) {
    runtime.emplace();
  }
  Bars bars;
  const convert::ConvertReport report =
      convert::convert(settings, [&](const char* part, Index done, Index total, auto& name) {
        bars.update(part, done, total, name);
      });
  bars.clear();
  if (options.json) {
    log::print(convert::record_json(settings, report));
  } else {
    print_report(settings, report, timer.seconds());
  }
  return static_cast<int>(report.proven() ? ExitCode::success : ExitCode::result_rejected);
}

int adapter(const Arguments& arguments) {
  std::string load, output;
  Flags flags("adapter",
              "Writes the low-rank updates of a checkpoint as a folder of PEFT "
              "(adapter_config.json, adapter_model.safetensors). `mpitron convert --merge-adapter` "
              "adds such a folder to its model.");
  flags.option("--load", load, "a checkpoint of a run with --lora-rank");
  flags.required();
  flags.option("--output", output, "folder to write");
  flags.required();
  if (!flags.parse(arguments)) {
    return 0;
  }
  const Index tensors = convert::export_adapter(load, output);
  log::print(fmt::format("{}: {} tensors", output, tensors));
  return 0;
}

}  // namespace mpitron::cli
