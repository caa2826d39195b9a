#include "io/arrays/npy.h"

#include <charconv>
#include <cstring>
#include <string>
#include <string_view>

#include "utils/error.h"

// The header is a Python dictionary as text; only the form that numpy itself writes is read.

namespace mpitron::io {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64;

/// The text that follows `'key':` in the header, which is the text of a Python dictionary.
std::string_view value_of(std::string_view header, std::string_view key) {
  const std::size_t at = header.find(key);
  if (at == std::string_view::npos) {
    return {};
  }
  header.remove_prefix(at + key.size());
  const std::size_t start = header.find_first_not_of(" :");
  return start == std::string_view::npos ? std::string_view{} : header.substr(start);
}

/// The integers of "(12, 3)"; false when the text is anything else.
bool parse_shape(std::string_view text, std::vector<Index>& shape) {
  const std::size_t end = text.find(')');
  if (!text.starts_with('(') || end == std::string_view::npos) {
    return false;
  }
  text = text.substr(1, end - 1);
  while (!text.empty()) {
    Index extent = -1;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc{} || extent < 0) {
      return false;
    }
    shape.push_back(extent);
    text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
    text.remove_prefix(std::min(text.find_first_not_of(", "), text.size()));
  }
  return true;
}

}  // namespace

NpyFile::NpyFile(const std::filesystem::path& path) : file_(path) {
  const std::string_view text = file_.text();
  if (text.size() < 12 || !text.starts_with(kMagic)) {
    throw_data("{}: byte 0: expected the magic \\x93NUMPY and a header; this is no .npy file",
               path.string());
  }
  const int version = text[6];
  if (version < 1 || version > 3) {
    throw_data("{}: byte 6: expected version 1, 2 or 3, found {}", path.string(), version);
  }
  const std::size_t start = version == 1 ? 10 : 12;
  std::uint32_t length = 0;
  std::memcpy(&length, text.data() + 8, version == 1 ? 2 : 4);
  if (length > text.size() - start) {
    throw_data("{}: byte 8: the header has {} bytes, the file only {}: truncated", path.string(),
               length, text.size());
  }
  parse_header(text.substr(start, length));
  data_ = file_.bytes().subspan(start + length);
  std::size_t left = data_.size() / size_of(type_);
  std::size_t count = 1;
  for (const Index extent : shape_) {  // no product may overflow before it is compared
    const auto n = static_cast<std::size_t>(extent);
    count = n == 0 ? 0 : (count > left / n ? left + 1 : count * n);
  }
  if (count * size_of(type_) != data_.size()) {
    throw_data(
        "{}: byte {}: {} bytes of data do not fit the shape in the header: truncated or "
        "corrupt",
        path.string(), start + length, data_.size());
  }
}

void NpyFile::parse_header(std::string_view header) {
  const std::string_view descr = value_of(header, "'descr'");
  const std::size_t quote = descr.size() > 1 ? descr.find(descr[0], 1) : std::string_view::npos;
  const auto type =
      quote == std::string_view::npos ? std::nullopt : from_npy_name(descr.substr(1, quote - 1));
  if (!type) {
    throw_data("{}: header: unknown element type in {}", file_.path().string(), header);
  }
  type_ = *type;
  if (!value_of(header, "'fortran_order'").starts_with("False")) {
    throw_data("{}: header: expected 'fortran_order': False", file_.path().string());
  }
  if (!parse_shape(value_of(header, "'shape'"), shape_)) {
    throw_data("{}: header: expected a 'shape' of integers in {}", file_.path().string(), header);
  }
}

void NpyFile::require(ElementType type) const {
  if (type != type_) {
    throw_data("{}: expected elements {}, found {}", file_.path().string(), npy_name(type),
               npy_name(type_));
  }
}

void write_npy(const std::filesystem::path& path, ElementType type, const std::vector<Index>& shape,
               std::span<const std::byte> data) {
  std::string extents;
  std::size_t count = 1;
  for (const Index extent : shape) {
    extents += fmt::format("{}{}", extents.empty() ? "" : ", ", extent);
    count *= static_cast<std::size_t>(extent);
  }
  MPITRON_CHECK(count * size_of(type) == data.size(), count, data.size());
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                   npy_name(type), extents, shape.size() == 1 ? "," : "");
  constexpr std::size_t kPreamble = 10;
  const std::size_t total = (kPreamble + header.size() + kAlignment) / kAlignment * kAlignment;
  header.resize(total - kPreamble - 1, ' ');
  header += '\n';
  const auto length = static_cast<std::uint16_t>(header.size());
  AtomicFile file(path);
  file.write(kMagic);
  file.write(std::string_view("\x01\x00", 2));
  file.write(&length, sizeof(length));
  file.write(header);
  file.write(data.data(), data.size());
  file.commit();
}

}  // namespace mpitron::io
