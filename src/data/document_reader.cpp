#include "data/document_reader.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/json_text.h"
#include "utils/error.h"

namespace mpitron::data {
namespace {

constexpr int kAskedEveryMs = 100;  // a signal may have reached another thread than the waiting one
constexpr std::string_view kBlank = " \t\r\n\v\f";

bool blank(std::string_view line) {
  return line.find_first_not_of(kBlank) == std::string_view::npos;
}

bool plain_text(const std::string& file) {
  return std::filesystem::path(file).extension() == ".txt";
}

void refuse_compressed(const std::string& file) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kPrograms = {
      {{".gz", "zcat"}, {".zst", "zstdcat"}, {".xz", "xzcat"}, {".bz2", "bzcat"}}};
  for (const auto& [ending, program] : kPrograms) {
    if (file.ends_with(ending)) {
      throw_data(
          "--input {}: compressed input is not read directly; use: {} {} | mpitron preprocess "
          "--input "
          "/dev/stdin ...",
          file, program, file);
    }
  }
}

// Where the last whole document of a block ends; 0 where none does.
using EndOfDocuments = std::size_t (*)(std::string_view block);

std::size_t nowhere(std::string_view) {
  return 0;
}

std::size_t end_of_lines(std::string_view block) {
  return block.rfind('\n') + 1;
}

std::size_t end_of_paragraphs(std::string_view block) {
  for (std::size_t end = end_of_lines(block); end > 0;) {
    const std::size_t begin = end_of_lines(block.substr(0, end - 1));
    if (begin > 0 && blank(block.substr(begin, end - begin))) {
      return end;
    }
    end = begin;
  }
  return 0;
}

}  // namespace

// One open file that hands out blocks ending at a document boundary.
class DocumentReader::Input {
 public:
  /// Does not wait for a pipe's writer: that is left to the first reading, which can be stopped.
  Input(const std::string& file, const std::function<bool()>& stop)
      : file_(file),
        stop_(stop),
        descriptor_(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (descriptor_ < 0) {
      throw_data("--input {}: cannot open: {}", file, std::strerror(errno));
    }
    struct stat info {};
    waits_ = ::fstat(descriptor_, &info) == 0 && !S_ISREG(info.st_mode);
    ::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL);  // the kernel reads farther ahead
  }
  ~Input() { ::close(descriptor_); }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  /// Puts whole documents at the front of `block` and returns their bytes: about `bytes`, or more
  /// until `end_of_documents` finds an end in them; 0 at the end of the file. The block only grows,
  /// so that it is not filled with zeros before each read.
  std::size_t next(std::string& block, std::size_t bytes, EndOfDocuments end_of_documents) {
    std::size_t filled = rest_.size();
    reserve(block, filled);
    rest_.copy(block.data(), filled);
    rest_.clear();
    while (!ended_) {
      filled += read_some(block, filled, std::max(bytes, 2 * filled));
      if (ended_) {
        break;
      }
      if (const std::size_t cut = end_of_documents({block.data(), filled}); cut > 0) {
        rest_.assign(block, cut, filled - cut);
        return cut;
      }
    }
    return filled;
  }

 private:
  static void reserve(std::string& block, std::size_t bytes) {
    block.resize(std::max(block.size(), bytes + JsonTextParser::kPadding));
  }

  // False where the input was stopped before anything came.
  bool something_to_read() const {
    while (waits_) {
      pollfd input{.fd = descriptor_, .events = POLLIN, .revents = 0};
      const int ready = ::poll(&input, 1, stop_ ? kAskedEveryMs : -1);
      if (ready > 0 || (ready < 0 && errno != EINTR)) {
        break;  // a writer that has gone is ready too: reading says that it ends
      }
      if (stop_ && stop_()) {
        return false;
      }
    }
    return true;
  }

  // One successful read behind `filled` bytes, up to `size` of them together: a pipe's block holds
  // what has come so far.
  std::size_t read_some(std::string& block, std::size_t filled, std::size_t size) {
    size = std::max(size, filled + 1);
    reserve(block, size);
    ssize_t n = 0;
    do {
      n = something_to_read() ? ::read(descriptor_, block.data() + filled, size - filled) : 0;
    } while (n < 0 && (errno == EINTR || errno == EAGAIN));
    if (n < 0) {
      throw_data("--input {}: cannot read: {}", file_, std::strerror(errno));
    }
    ended_ = n == 0;
    return static_cast<std::size_t>(n);
  }

  const std::string& file_;
  const std::function<bool()>& stop_;
  int descriptor_;
  bool waits_ = false;  // a pipe or a terminal
  bool ended_ = false;
  std::string rest_;
};

DocumentReader::DocumentReader(std::vector<std::string> files, TextDocuments text_documents,
                               std::size_t batch_bytes, std::function<bool()> stop)
    : files_(std::move(files)),
      text_documents_(text_documents),
      batch_bytes_(batch_bytes),
      stop_(std::move(stop)) {
  bool pipe = false;
  for (const std::string& file : files_) {
    struct stat info {};
    if (::stat(file.c_str(), &info) != 0) {
      throw_data("--input {}: {}", file, std::strerror(errno));
    }
    if (S_ISDIR(info.st_mode)) {
      throw_data("--input {}: is a folder; name the files in it", file);
    }
    if (::access(file.c_str(), R_OK) != 0) {
      throw_data("--input {}: {}", file, std::strerror(errno));
    }
    refuse_compressed(file);
    pipe = pipe || !S_ISREG(info.st_mode);
    total_bytes_ += info.st_size;
  }
  total_bytes_ = pipe ? 0 : total_bytes_;
}

DocumentReader::~DocumentReader() = default;

bool DocumentReader::next(DocumentBatch& batch) {
  for (; file_ < files_.size(); ++file_, input_.reset()) {
    const std::string& file = files_[file_];
    if (!input_) {
      input_ = std::make_unique<Input>(file, stop_);
      line_ = 1;
      offset_ = 0;
    }
    batch.json = !plain_text(file);
    const EndOfDocuments end = batch.json || text_documents_ == TextDocuments::lines ? end_of_lines
                               : text_documents_ == TextDocuments::paragraphs ? end_of_paragraphs
                                                                              : nowhere;
    if (const std::size_t bytes = input_->next(batch.storage, batch_bytes_, end); bytes > 0) {
      batch.number = batches_++;
      batch.file = &file;
      batch.file_bytes = static_cast<Index>(bytes);
      batch.blank_lines = 0;
      batch.documents.clear();
      cut(batch);
      return true;
    }
  }
  return false;
}

// Documents keep their inner line feeds; line and offset of each are kept for messages.
void DocumentReader::cut(DocumentBatch& batch) {
  const std::string_view text(batch.storage.data(), static_cast<std::size_t>(batch.file_bytes));
  const bool whole = !batch.json && text_documents_ == TextDocuments::file;
  const bool paragraphs = !batch.json && text_documents_ == TextDocuments::paragraphs;
  std::size_t begin = std::string_view::npos;  // of the open document
  RawDocument open;
  const auto close = [&](std::size_t end) {
    if (begin != std::string_view::npos) {
      open.text = text.substr(begin, end - begin);
      batch.documents.push_back(open);
      begin = std::string_view::npos;
    }
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t feed = std::min(text.find('\n', at), text.size());
    const bool empty = blank(text.substr(at, feed - at));
    if (begin == std::string_view::npos && (whole || !empty)) {
      begin = at;
      open = {{}, line_, offset_ + static_cast<Index>(at)};
    } else if (paragraphs && empty) {
      close(at - 1);
    }
    if (!whole && !paragraphs) {
      close(feed);
      batch.blank_lines += batch.json && empty;
    }
    at = feed + 1;
    ++line_;
  }
  close(text.size() - (paragraphs && text.ends_with('\n') ? 1 : 0));
  offset_ += batch.file_bytes;
}

}  // namespace mpitron::data
