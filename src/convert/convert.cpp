#include "convert/convert.h"

#include <nlohmann/json.hpp>

#include "convert/adapters.h"
#include "convert/description/config_reading.h"
#include "convert/encoder_writer.h"
#include "convert/formats/folded_frames.h"
#include "convert/formats/hugging_face_folder.h"
#include "convert/formats/mpitron_checkpoint.h"
#include "convert/formats/stacked_experts.h"
#include "convert/model_logits.h"
#include "convert/names/hugging_face_config.h"
#include "convert/translation.h"
#include "utils/error.h"
#include "utils/system/files.h"

// One conversion: open the source as ours, write it in the other format, and where it is asked for
// read it back and compare hashes and logits.

namespace mpitron::convert {
namespace {

namespace fs = std::filesystem;

constexpr Index kPromptLength = 500;

void write_text(const fs::path& path, const std::string& text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

/// Returns the family to write: the one asked for, the source's own, or the first that has such a
/// model.
std::string family_for(const ConvertSettings& settings, const ModelDescription& description) {
  if (!settings.model_type.empty()) {
    return settings.model_type;
  }
  return description.model_type.empty() ? std::string(matching_model_type(description))
                                        : description.model_type;
}

/// Returns the source's description, with the vocabulary's true size and the family that were asked
/// for.
ModelDescription describe(const ConvertSettings& settings, const ModelReader& reader) {
  ModelDescription description = reader.description();
  if (settings.true_vocab_size > 0) {
    if (!description.model.family().has_words()) {
      throw_usage("--true-vocab-size {}: the model is a {}, which has no vocabulary; leave it out",
                  settings.true_vocab_size, description.model.family().title);
    }
    description.vocab_size = settings.true_vocab_size;
  }
  description.model_type = family_for(settings, description);
  return description;
}

/// Writes tensors under the family's names, with stacked experts as one tensor, and matrices of two
/// frames, where the family has them.
void write_weights(const ConvertSettings& settings, TensorSource& theirs,
                   const std::string& model_type, const Progress& progress) {
  std::unique_ptr<TensorSource> packed;
  if (const auto order = stacked_experts(model_type)) {
    packed = stack_experts(theirs, *order);
  } else if (has_two_frames(model_type)) {
    packed = unfold_frames(theirs);
  }
  write_hugging_face_weights(settings.to, packed ? *packed : theirs, settings.bytes_per_file,
                             progress);
}

/// Checks all names and shapes before the folder is made, so that a refusal leaves nothing behind.
fs::path write_hugging_face(const ConvertSettings& settings, ModelReader& source,
                            const ModelDescription& description, const Progress& progress) {
  if (description.model_type.empty()) {
    throw_data(
        "{}: no family of Hugging Face has such a model; --model-type tells what one would need",
        settings.from.string());
  }
  const NameTable table = make_name_table(description.model_type, description);
  if (const std::string problems = check_ours(source.ours(), table).problems(settings.strict);
      !problems.empty()) {
    throw_data("{}: tensors and configuration do not fit:{}", settings.from.string(), problems);
  }
  make_folder("--to", settings.to);
  const auto theirs = to_theirs(source.ours(), table);
  if (settings.merge_adapter.empty()) {
    write_weights(settings, *theirs, description.model_type, progress);
  } else {
    const io::PeftFolder adapter(settings.merge_adapter);
    write_weights(settings, *merged(*theirs, adapter), description.model_type, progress);
  }
  for (const auto& [name, bytes] : description.files) {
    write_text(settings.to / fs::path(name).filename(), bytes);
  }
  write_text(settings.to / "config.json",
             write_hugging_face_config(description, description.model_type));
  return settings.to;
}

/// Counts the columns of logits that mean something: words, or classes of images.
Index answers_of(const ModelDescription& description) {
  return description.model.family().has_words() ? description.stored_vocab_size()
                                                : description.model.vision.classes;
}

/// Settings that read the output: strict, and in the types that it has.
ModelReader::Settings output_settings(const ConvertSettings& settings) {
  return {.format = settings.to_format,
          .model_type = {},
          .make_vocab_size_divisible_by = settings.make_vocab_size_divisible_by,
          .dtype = {},
          .strict = true};
}

/// Reads the output back as ours, compares hashes and, where asked for, logits, and leaves the
/// record beside the output.
void verify(const ConvertSettings& settings, ModelReader& source, ConvertReport& report,
            const ConvertProgress& progress) {
  ModelReader output(report.output, output_settings(settings));
  report.round_trip = check_round_trip(source, output, [&](Index done, Index total, auto& name) {
    progress("verify", done, total, name);
  });
  if (settings.verify_logits) {
    const std::vector<std::int64_t> prompt = make_prompt(kPromptLength, describe(settings, source));
    report.logits_difference =
        largest_difference(model_logits(source.description(), source.ours(), prompt),
                           model_logits(output.description(), output.ours(), prompt),
                           answers_of(describe(settings, source)));
  }
  write_text(settings.to / "conversion_record.json", record_json(settings, report));
}

/// Writes the image encoder of a model alone, and reads it back where that is asked for.
void convert_encoder(const ConvertSettings& settings, const ModelDescription& description,
                     TensorSource& ours, ConvertReport& report, const ConvertProgress& progress) {
  if (settings.to_format != Format::hugging_face || settings.verify_logits ||
      !settings.merge_adapter.empty()) {
    throw_usage(
        "--model-type {}: an image encoder alone is a folder of Hugging Face (--to-format "
        "huggingface) and tells no words: --verify compares its hashes; no --verify-logits, no "
        "--merge-adapter",
        settings.model_type);
  }
  EncoderWriter writer(description, ours);
  make_folder("--to", settings.to);
  report.output = settings.to;
  writer.write(settings.to, settings.bytes_per_file, [&](Index done, Index total, auto& name) {
    progress("convert", done, total, name);
  });
  if (settings.verify) {
    report.round_trip = writer.compare(settings.to, [&](Index done, Index total, auto& name) {
      progress("verify", done, total, name);
    });
    write_text(settings.to / "conversion_record.json", record_json(settings, report));
  }
}

/// Checks what loading in the target layout would find; a checkpoint of this program has no layout.
void check_layout(const ConvertSettings& settings, const config::ModelConfig& model,
                  ConvertReport& report) {
  const Index t = settings.target_tensor_ranks, p = settings.target_pipeline_ranks;
  const std::pair<const char*, Index> divided[] = {
      {"num_attention_heads", model.num_attention_heads},
      {"ffn_hidden_size", model.ffn_hidden_size},
      {"padded_vocab_size", model.padded_vocab_size}};  // 0 without words
  for (const auto& [name, value] : divided) {
    if (value % t != 0) {
      throw_usage("--target-tensor-parallel-size {}: {} is {}, which it does not divide", t, name,
                  value);
    }
  }
  if (model.num_layers % p != 0) {
    throw_usage("--target-pipeline-parallel-size {}: num_layers is {}, which it does not divide", p,
                model.num_layers);
  }
  if (t * p > 1) {
    report.notes.push_back(fmt::format(
        "the checkpoint has no layout: {} tensor and {} pipeline ranks load it, and so does every "
        "other layout that fits the model",
        t, p));
  }
}

/// Collects sentences on what a user might not expect of the output.
void note_surprises(const ConvertSettings& settings, const ModelDescription& description,
                    ConvertReport& report) {
  const Index padded = description.model.padded_vocab_size;
  const bool has_words = description.model.family().has_words();
  if (settings.to_format == Format::hugging_face && has_words && description.vocab_size == 0) {
    report.notes.push_back(fmt::format(
        "how many of the {} rows of the vocabulary stand for tokens is not known: all are written; "
        "--true-vocab-size N cuts off the padding",
        padded));
  }
  if (report.from_format == Format::mpitron && settings.to_format == Format::mpitron) {
    report.notes.emplace_back(
        "weights alone are written, for --pretrained-checkpoint; optimizer state stays where it "
        "is: --load of the source resumes in every layout");
  }
  if (description.model_type == "qwen2_vl_text") {
    report.notes.emplace_back(
        "of Qwen2-VL the language model alone is here: an image encoder (visual.*) stays behind");
  }
  const bool neighbours_rotate_there = description.model_type.starts_with("llama4");
  if (!description.model.rotary_interleaved || neighbours_rotate_there ||
      settings.to_format == Format::mpitron) {
    return;
  }
  report.notes.emplace_back(
      "rows of queries and keys were reordered from --rotary-interleaved to rotated halves");
}

}  // namespace

/// Checks the settings first, then reads only the source's description: tensors pass one by one
/// while they are written.
ConvertReport convert(const ConvertSettings& settings, const ConvertProgress& progress) {
  ConvertReport report;
  report.from_format = settings.from_format.value_or(detect_format(settings.from));
  if (settings.to_format != Format::mpitron && settings.to_format != Format::hugging_face) {
    throw_usage("--to-format {}: only mpitron and huggingface can be written",
                name_of(settings.to_format));
  }
  if (!settings.merge_adapter.empty() &&
      (settings.to_format != Format::hugging_face || settings.verify)) {
    throw_usage(
        "--merge-adapter {}: writes a folder of Hugging Face (--to-format huggingface), without "
        "--verify: the weights are others than the source's",
        settings.merge_adapter.string());
  }
  const bool theirs = report.from_format == Format::hugging_face;
  const bool encoder = is_encoder_type(settings.model_type);
  ModelReader source(settings.from,
                     {.format = report.from_format,
                      .model_type = theirs && !encoder ? settings.model_type : "",
                      .make_vocab_size_divisible_by = settings.make_vocab_size_divisible_by,
                      .dtype = settings.dtype,
                      .strict = settings.strict});
  const ModelDescription description = describe(settings, source);
  report.model_type = description.model_type;
  report.ignored = source.ignored();
  report.unmapped = source.unmapped();
  report.tensors = static_cast<Index>(source.ours().tensors().size());
  report.bytes = source.ours().bytes();
  check_layout(settings, description.model, report);
  if (encoder) {
    convert_encoder(settings, description, source.ours(), report, progress);
    return report;
  }
  note_surprises(settings, description, report);
  const Progress part = [&](Index done, Index total, const std::string& name) {
    progress("convert", done, total, name);
  };
  report.output =
      settings.to_format == Format::mpitron
          ? write_mpitron_checkpoint(settings.to, description, source.ours(), settings.build, part)
          : write_hugging_face(settings, source, description, part);
  if (settings.verify || settings.verify_logits) {
    verify(settings, source, report, progress);
  }
  return report;
}

/// Hashes are of each tensor of the source, and of the one that was converted back.
std::string record_json(const ConvertSettings& settings, const ConvertReport& report) {
  using Json = nlohmann::ordered_json;
  Json json = {{"from", settings.from.string()},
               {"from_format", name_of(report.from_format)},
               {"to", report.output.string()},
               {"to_format", name_of(settings.to_format)},
               {"model_type", report.model_type},
               {"dtype", settings.dtype ? mpitron::name_of(*settings.dtype) : "unchanged"},
               {"tensors", report.tensors},
               {"bytes", report.bytes},
               {"ignored", report.ignored},
               {"without_counterpart", report.unmapped},
               {"notes", report.notes},
               {"build", settings.build}};
  if (report.round_trip) {
    Json hashes = Json::array();
    for (const ComparedTensor& tensor : report.round_trip->tensors) {
      hashes.push_back({{"name", tensor.name},
                        {"source", tensor.before.hex()},
                        {"converted_back", tensor.after.hex()}});
    }
    json["verified"] = {{"equal", report.proven()},
                        {"different", report.round_trip->different()},
                        {"bytes", report.round_trip->bytes},
                        {"xxh3_128", std::move(hashes)}};
    if (report.logits_difference) {
      json["verified"]["largest_logits_difference"] = *report.logits_difference;
    }
  }
  return json.dump(2) + "\n";
}

}  // namespace mpitron::convert
