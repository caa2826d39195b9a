#include "io/tokens/token_hdf5.h"

#include "utils/error.h"

// The same arrays as `.bin/.idx` in one HDF5 file: tokens are mapped from it as from a `.bin` file.

namespace mpitron::io {
namespace {

constexpr SealedFormat kCorpus{.magic = "MPITOKEN",
                               .content = "a corpus",
                               .writer = "mpitron dataset convert",
                               .names = {"tokens", "lengths", "offsets", "documents", "modes"}};
enum Array : std::size_t { tokens, lengths, offsets, documents, modes };

DType dtype_of_tokens(TokenType type) {
  constexpr std::array kTypes{DType::u8,  DType::u8,  DType::i8,  DType::i16, DType::i32,
                              DType::i64, DType::f64, DType::f32, DType::u16};
  return kTypes[static_cast<std::size_t>(type)];
}

TokenType token_type_of(DType dtype, const std::string& path) {
  for (int code = 1; code <= 8; ++code) {
    if (dtype_of_tokens(static_cast<TokenType>(code)) == dtype) {
      return static_cast<TokenType>(code);
    }
  }
  throw_data("{}: the data set tokens has the type {}, which no corpus has", path, name_of(dtype));
}

/// Without their places.
std::array<DataSet, kSealedArrays> data_sets_of(const TokenFile& corpus) {
  Index all = 0;
  for (Index i = 0; i < corpus.sequence_count(); ++i) {
    all += corpus.length(i);
  }
  const Index n = corpus.sequence_count();
  return {{{.name = {}, .shape = {all}, .dtype = dtype_of_tokens(corpus.type())},
           {.name = {}, .shape = {n}, .dtype = DType::i32},
           {.name = {}, .shape = {n}, .dtype = DType::i64},
           {.name = {}, .shape = {corpus.document_count() + 1}, .dtype = DType::i64},
           {.name = {}, .shape = {corpus.has_modes() ? n : 0}, .dtype = DType::i8}}};
}

void write_array(const TokenFile& corpus, std::size_t array, AtomicFile& file) {
  const auto put = [&](std::span<const std::byte> bytes) {
    file.write(bytes.data(), bytes.size());
  };
  if (array == lengths) {
    put(corpus.lengths().bytes());
  } else if (array == documents) {
    put(corpus.documents().bytes());
  }
  Index offset = 0;
  for (Index i = 0; i < corpus.sequence_count(); ++i) {
    if (array == tokens) {
      put(corpus.raw(i));
    } else if (array == offsets) {
      file.write(&offset, sizeof(offset));
      offset += corpus.length(i);
    } else if (array == modes && corpus.has_modes()) {
      const auto mode = static_cast<std::int8_t>(corpus.mode(i));
      file.write(&mode, sizeof(mode));
    }
  }
}

/// Error(data) where types and sizes do not fit each other.
void check_arrays(const SealedArrays& found, const std::string& path) {
  const std::array kTypes{found.arrays[tokens].dtype, DType::i32, DType::i64, DType::i64,
                          DType::i8};
  const Index n = found.arrays[lengths].shape.numel();
  for (std::size_t i = 0; i < kSealedArrays; ++i) {
    const Index count = found.arrays[i].shape.numel();
    const bool right_size =
        i == tokens || (i == documents ? count >= 1 : count == n) || (i == modes && count == 0);
    if (found.arrays[i].dtype != kTypes[i] || !right_size) {
      throw_data("{}: the data set {} has {} elements of {}", path, kCorpus.names[i], count,
                 name_of(found.arrays[i].dtype));
    }
  }
}

}  // namespace

TokenHdf5 read_token_hdf5(const MappedFile& file) {
  const std::string path = file.path().string();
  const SealedArrays found = read_sealed(file, kCorpus);
  TokenHdf5 result{.type = token_type_of(found.arrays[tokens].dtype, path),
                   .tokenizer_hash = {},
                   .tokens = found.range(tokens),
                   .lengths = found.range(lengths),
                   .offsets = found.range(offsets),
                   .documents = found.range(documents),
                   .modes = found.range(modes)};
  check_arrays(found, path);
  if (const auto hash = found.attributes.find("tokenizer_hash"); hash != found.attributes.end()) {
    const auto* text = std::get_if<std::string>(&hash->second);
    result.tokenizer_hash = text != nullptr ? *text : "";
  }
  return result;
}

void write_token_hdf5(const TokenFile& corpus, const std::filesystem::path& path,
                      const std::string& tokenizer_hash) {
  corpus.verify();
  write_sealed(path, kCorpus, data_sets_of(corpus),
               {{"format", std::string("mpitron tokens")},
                {"token_type", std::string(to_string(corpus.type()))},
                {"tokenizer_hash", tokenizer_hash}},
               [&](std::size_t array, AtomicFile& file) { write_array(corpus, array, file); });
}

}  // namespace mpitron::io
