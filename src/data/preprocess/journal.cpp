#include "data/preprocess/journal.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sstream>

#include <fcntl.h>
#include <unistd.h>

#include "utils/error.h"
#include "utils/system/files.h"
#include "utils/text/hash.h"

// A journal of lines that end in a hash of themselves; a line that a kill has torn has a wrong one
// and is cut off when the file is opened again.

namespace mpitron::data {
namespace {

std::string header(const std::string& identity) {
  return "mpitron-journal 1 " + identity + "\n";
}

std::string line_of(std::span<const Index> entry) {
  std::string line;
  for (const Index number : entry) {
    line += fmt::format("{} ", number);
  }
  return line + fmt::format("#{:016x}\n", hash64(line));
}

/// Returns the numbers of a line; none where the line is not whole.
std::vector<Index> parse(const std::string& line) {
  std::vector<Index> entry;
  std::istringstream words(line);
  for (Index number = 0; words >> number;) {
    entry.push_back(number);
  }
  return line_of(entry) == line + "\n" ? entry : std::vector<Index>();
}

}  // namespace

Journal::Journal(std::string path, std::string identity)
    : path_(std::move(path)), identity_(std::move(identity)) {
  if (std::filesystem::exists(path_)) {
    read();
  }
}

Journal::~Journal() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

void Journal::read() {
  const std::string text = read_file(path_);
  const std::string first = header(identity_);
  foreign_ = !text.starts_with(first);
  if (foreign_) {
    return;
  }
  for (std::size_t at = first.size(), end = 0; (end = text.find('\n', at)) != std::string::npos;
       at = end + 1) {
    std::vector<Index> entry = parse(text.substr(at, end - at));
    if (entry.empty()) {
      break;
    }
    last_ = std::move(entry);
    valid_bytes_ = static_cast<Index>(end + 1);
  }
}

void Journal::forget() {
  last_.clear();
  valid_bytes_ = 0;
}

void Journal::add(std::span<const Index> entry) {
  std::string text = line_of(entry);
  if (descriptor_ < 0) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    text = (valid_bytes_ == 0 ? header(identity_) : "") + text;
    if (descriptor_ < 0 || ::ftruncate(descriptor_, valid_bytes_) != 0 ||
        ::lseek(descriptor_, valid_bytes_, SEEK_SET) < 0) {
      throw_data("{}: cannot write: {}", path_, std::strerror(errno));
    }
  }
  if (::write(descriptor_, text.data(), text.size()) != std::ssize(text) ||
      ::fdatasync(descriptor_) != 0) {
    throw_data("{}: cannot write: {}; free space there and run again", path_, std::strerror(errno));
  }
  last_.assign(entry.begin(), entry.end());
}

void Journal::remove() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

}  // namespace mpitron::data
