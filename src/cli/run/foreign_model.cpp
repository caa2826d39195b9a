#include <filesystem>

#include "cli/run/pretrain.h"
#include "convert/encoder_reader.h"
#include "convert/model_reader.h"
#include "utils/text/hash.h"

// Training from a Hugging Face folder: --load and --pretrained-checkpoint may name one. The option
// is taken away, and the session gets the weights by name and part instead of a checkpoint.

namespace mpitron::cli {
namespace {

namespace fs = std::filesystem;

bool is_hugging_face(const std::string& path) {
  return fs::exists(fs::path(path) / "config.json") &&
         convert::detect_format(path) == convert::Format::hugging_face;
}

bool gives_option(const Arguments& arguments, const std::string& option) {
  return std::ranges::any_of(arguments, [&](const std::string& word) {
    return word == option || word.starts_with(option + "=");
  });
}

/// Hashes all tensors; a resumed run compares it, so that its start is known to be the same model.
std::string fingerprint_of(convert::TensorSource& stored) {
  std::string hashes;
  for (const convert::TensorInfo& info : stored.tensors()) {
    const convert::HostTensor tensor = stored.read(info.name);
    const auto bytes = tensor.bytes();
    hashes += hash128_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  return hash128_hex(hashes);
}

/// Reads tensors one at a time as ranks ask for them; the reader, of models or of a part of them,
/// lives as long as the last of them.
template <class Reader>
std::shared_ptr<const train::ForeignWeights> weights_of(train::ForeignWeights weights,
                                                        const std::shared_ptr<Reader>& reader) {
  weights.has = [reader](const std::string& name) { return reader->ours().find(name) != nullptr; };
  weights.read = [reader](const std::string& name,
                          const std::function<void(device::ConstTensorView)>& use) {
    const convert::HostTensor tensor = reader->ours().read(name);
    use({tensor.bytes().data(), tensor.dtype(), tensor.shape()});
  };
  weights.fingerprint = [reader] { return fingerprint_of(reader->stored()); };
  return std::make_shared<const train::ForeignWeights>(std::move(weights));
}

/// An image encoder, whose sizes the run takes where no others are given.
ForeignModel encoder_of(const std::string& path, Arguments& arguments) {
  const auto reader = std::make_shared<convert::EncoderReader>(path);
  for (const auto& [option, value] : reader->options()) {
    if (!gives_option(arguments, option)) {
      arguments.insert(arguments.end(), {option, value});
    }
  }
  return {.arguments = {}, .weights = weights_of({.path = path, .part = true}, reader)};
}

}  // namespace

/// Adds what such a folder implies and the user has not said: its tokenizer and, with
/// --use-checkpoint-args, its sizes and longest sequence.
std::optional<ForeignModel> take_foreign_model(Arguments& arguments) {
  for (const char* option : {"--load", "--pretrained-checkpoint"}) {
    Arguments without = arguments;
    const auto path = take_value(without, option);
    if (!path || !is_hugging_face(*path)) {
      continue;
    }
    arguments = std::move(without);
    if (convert::is_image_encoder(*path)) {
      return encoder_of(*path, arguments);
    }
    const auto reader = std::make_shared<convert::ModelReader>(
        *path, convert::ModelReader::Settings{.format = convert::Format::hugging_face});
    const bool has_words = reader->description().model.family().has_words();
    if (has_words && !gives_option(arguments, "--tokenizer-type") &&
        fs::exists(fs::path(*path) / "tokenizer.json")) {
      arguments.insert(arguments.end(),
                       {"--tokenizer-type", "HuggingFaceTokenizer", "--tokenizer-model", *path});
    }
    ForeignModel model{
        .weights = weights_of(
            {.path = *path, .vocabulary_rows = reader->description().model.padded_vocab_size},
            reader)};
    if (take_flag(arguments, "--use-checkpoint-args")) {
      model.arguments = {.configuration = convert::to_configuration(reader->description()),
                         .path = *path};
      if (!gives_option(arguments, "--seq-length")) {
        const Index longest = reader->description().model.max_position_embeddings;
        arguments.insert(arguments.end(), {"--seq-length", fmt::format("{}", longest)});
      }
    }
    return model;
  }
  return std::nullopt;
}

}  // namespace mpitron::cli
