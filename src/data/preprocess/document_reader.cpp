#include "data/preprocess/document_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/preprocess/document_blocks.h"
#include "io/compressed/byte_source.h"
#include "utils/error.h"

// Cuts files of any size into batches of whole documents, by blocks: of a block the part behind its
// last document's end is kept for the next one.

namespace mpitron::data {
namespace {

constexpr std::string_view kBlank = " \t\r\n\v\f";

bool blank(std::string_view line) {
  return line.find_first_not_of(kBlank) == std::string_view::npos;
}

std::size_t nowhere(std::string_view, std::size_t) {
  return 0;
}

/// A line ends behind its line feed.
std::size_t end_of_lines(std::string_view block, std::size_t searched) {
  const std::size_t last = block.substr(searched).rfind('\n');
  return last == std::string_view::npos ? 0 : searched + last + 1;
}

/// A paragraph ends behind a blank line; lines are looked at from the end on.
std::size_t end_of_paragraphs(std::string_view block, std::size_t searched) {
  for (std::size_t end = end_of_lines(block, searched); end > searched;) {
    const std::size_t begin = end_of_lines(block.substr(0, end - 1), 0);
    if (begin > 0 && blank(block.substr(begin, end - begin))) {
      return end;
    }
    end = begin;
  }
  return 0;
}

}  // namespace

std::string DocumentBatch::complaint(const RawDocument& document, std::string_view why) const {
  return fmt::format("{}:{}: document at byte {}: {}", *file, document.line, document.offset, why);
}

bool names_plain_text(const std::string& file) {
  return file.ends_with(".txt") || file.ends_with(".txt.gz") || file.ends_with(".txt.zst");
}

DocumentReader::DocumentReader(std::vector<std::string> files, TextDocuments text_documents,
                               std::size_t batch_bytes, std::function<bool()> stop)
    : files_(std::move(files)),
      text_documents_(text_documents),
      batch_bytes_(batch_bytes),
      stop_(std::move(stop)) {
  bool unknown = false;
  for (const std::string& file : files_) {
    struct stat info {};
    if (file == "-") {
      unknown = true;
      continue;
    }
    if (::stat(file.c_str(), &info) != 0) {
      throw_data("--input {}: {}", file, std::strerror(errno));
    }
    if (S_ISDIR(info.st_mode)) {
      throw_data("--input {}: is a folder; name the files in it", file);
    }
    if (::access(file.c_str(), R_OK) != 0) {
      throw_data("--input {}: {}", file, std::strerror(errno));
    }
    unknown = unknown || !S_ISREG(info.st_mode) || io::names_compressed(file);
    total_bytes_ += info.st_size;
  }
  total_bytes_ = unknown ? 0 : total_bytes_;
}

DocumentReader::~DocumentReader() = default;

void DocumentReader::start_at(const InputPosition& position) {
  at_ = position;
}

EndOfDocuments DocumentReader::end_of_documents(bool json) const {
  if (json || text_documents_ == TextDocuments::lines) {
    return end_of_lines;
  }
  return text_documents_ == TextDocuments::paragraphs ? end_of_paragraphs : nowhere;
}

bool DocumentReader::next(DocumentBatch& batch) {
  for (; at_.file < std::ssize(files_); at_ = {at_.file + 1, 0, 1, at_.documents}, input_.reset()) {
    const std::string& file = files_[static_cast<std::size_t>(at_.file)];
    if (!input_) {
      input_ = std::make_unique<DocumentBlocks>(file, at_.offset, stop_);
    }
    batch.json = !names_plain_text(file);
    if (const std::size_t bytes =
            input_->next(batch.storage, batch_bytes_, end_of_documents(batch.json), at_.line);
        bytes > 0) {
      batch.number = batches_++;
      batch.first_document = at_.documents;
      batch.file = &file;
      batch.file_bytes = static_cast<Index>(bytes);
      batch.blank_lines = 0;
      batch.documents.clear();
      cut(batch);
      at_.documents += std::ssize(batch.documents);
      batch.end = at_;
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
      open = {{}, at_.line, at_.offset + static_cast<Index>(at)};
    } else if (paragraphs && empty) {
      close(at - 1);
    }
    if (!whole && !paragraphs) {
      close(feed);
      batch.blank_lines += batch.json && empty;
    }
    at = feed + 1;
    ++at_.line;
  }
  close(text.size() - (paragraphs && text.ends_with('\n') ? 1 : 0));
  at_.offset += batch.file_bytes;
}

}  // namespace mpitron::data
