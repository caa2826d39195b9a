#include "io/arrays/safetensors.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include <nlohmann/json.hpp>

#include "utils/check.h"
#include "utils/error.h"
#include "utils/text/json_nesting.h"

// A JSON header with the place of every tensor, then their bytes. The header of a file from
// elsewhere is checked in full before anything is read by it.

namespace mpitron::io {
namespace {

// What is read is looked up by name, which an ordered object does one member after the other.
using Json = nlohmann::json;
constexpr std::size_t kHeaderLimit = 100'000'000;  // as the reference implementation

bool is_natural(const Json& value) {
  return value.is_number_unsigned();
}

/// One entry of the header; false when a field is missing, of another kind or outside `data`.
bool parse_tensor(const Json& json, std::span<const std::byte> data, SafetensorsFile::Tensor& out) {
  if (!json.is_object() || json.size() != 3 || !json.contains("dtype") || !json.contains("shape") ||
      !json.contains("data_offsets")) {
    return false;
  }
  const Json& dtype = json["dtype"];
  const Json& shape = json["shape"];
  const Json& offsets = json["data_offsets"];
  const auto type =
      dtype.is_string() ? from_safetensors_name(dtype.get_ref<const std::string&>()) : std::nullopt;
  if (!type || !shape.is_array() || !std::all_of(shape.begin(), shape.end(), is_natural) ||
      !offsets.is_array() || offsets.size() != 2 || !is_natural(offsets[0]) ||
      !is_natural(offsets[1])) {
    return false;
  }
  out.type = *type;
  out.shape = shape.get<std::vector<Index>>();
  const auto begin = offsets[0].get<std::uint64_t>();
  const auto end = offsets[1].get<std::uint64_t>();
  const Index numel = checked_numel(out);
  if (begin > end || end > data.size() || numel < 0 ||
      static_cast<std::uint64_t>(numel) * size_of(out.type) != end - begin) {
    return false;
  }
  out.data = data.subspan(begin, end - begin);
  return true;
}

SafetensorsMetadata parse_metadata(const Json& json, const std::filesystem::path& path) {
  SafetensorsMetadata metadata;
  for (const auto& [key, text] : json.items()) {
    if (!json.is_object() || !text.is_string()) {
      throw_data("{}: {}: expected an object of texts, found {} {}", path.string(), kMetadata,
                 text.type_name(), key);
    }
    metadata[key] = text.get<std::string>();
  }
  return metadata;
}

}  // namespace

Index checked_numel(const SafetensorsEntry& entry) {
  Index bytes = static_cast<Index>(size_of(entry.type));
  for (const Index extent : entry.shape) {
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes)) {
      return -1;
    }
  }
  return bytes / static_cast<Index>(size_of(entry.type));
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : file_(path) {
  const std::size_t header = header_bytes();
  const std::string_view text = file_.text().substr(kPrefixBytes, header);
  const Json json = nests_too_deep(text) ? Json() : Json::parse(text, nullptr, false);
  if (!json.is_object()) {
    throw_data("{}: byte {}: expected a JSON object of {} bytes", path.string(), kPrefixBytes,
               header);
  }
  const std::span<const std::byte> data = file_.bytes().subspan(kPrefixBytes + header);
  for (const auto& [name, value] : json.items()) {
    if (name == kMetadata) {
      metadata_ = parse_metadata(value, path);
      continue;
    }
    Tensor tensor{{name, ElementType::f32, {}}, {}};
    if (!parse_tensor(value, data, tensor)) {
      throw_data(
          "{}: tensor {}: expected a known dtype, and data_offsets inside the {} bytes of data "
          "that "
          "equal the size of its shape: truncated or corrupt",
          path.string(), name, data.size());
    }
    tensors_.emplace(name, std::move(tensor));
  }
  check_coverage(data);
}

std::size_t SafetensorsFile::header_bytes() const {
  const std::size_t size = file_.bytes().size();
  std::uint64_t header = 0;
  if (size >= kPrefixBytes) {
    std::memcpy(&header, file_.bytes().data(), kPrefixBytes);
  }
  if (size < kPrefixBytes || header > kHeaderLimit || header > size - kPrefixBytes) {
    throw_data(
        "{}: byte 0: expected the length of a header inside the {} bytes of the file, found "
        "{}: truncated, or no safetensors file",
        file_.path().string(), size, header);
  }
  return header;
}

void SafetensorsFile::check_coverage(std::span<const std::byte> data) const {
  std::vector<std::span<const std::byte>> ranges;
  for (const auto& [name, tensor] : tensors_) {
    ranges.push_back(tensor.data);
  }
  std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) {
    return a.data() != b.data() ? a.data() < b.data() : a.size() < b.size();
  });
  const std::byte* next = data.data();
  for (const auto& range : ranges) {
    if (!range.empty() && range.data() != next) {
      throw_data("{}: data byte {}: tensors overlap or leave a gap", file_.path().string(),
                 next - data.data());
    }
    next += range.size();
  }
  if (next != data.data() + data.size()) {
    throw_data("{}: tensors cover {} of {} bytes of data", file_.path().string(),
               next - data.data(), data.size());
  }
}

const SafetensorsFile::Tensor* SafetensorsFile::find(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

const SafetensorsFile::Tensor& SafetensorsFile::at(const std::string& name) const {
  const Tensor* tensor = find(name);
  if (tensor == nullptr) {
    throw_data("{}: no tensor {} among {}", file_.path().string(), name, tensors_.size());
  }
  return *tensor;
}

}  // namespace mpitron::io
