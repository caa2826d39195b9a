#include "io/tokens/token_file_parts.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

#include "io/tokens/token_index_writer.h"
#include "utils/check.h"
#include "utils/error.h"
#include "utils/system/files.h"

// A corpus on its way: tokens go to `.part` files at known lengths, which the journal notes. After
// a kill the files are cut back to what was noted, and writing goes on there.

namespace mpitron::io {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 20;
constexpr std::size_t kDirect = std::size_t{1} << 16;  // written from where it lies

/// Index files that a killed run had not finished, under the names that AtomicFile gives.
void remove_unfinished_index(const std::filesystem::path& index) {
  const std::string begin = index.filename().string() + ".";
  std::error_code ignored;
  for (std::filesystem::directory_iterator
           at(index.parent_path().empty() ? "." : index.parent_path(), ignored),
       end;
       at != end; at.increment(ignored)) {
    const std::string name = at->path().filename();
    if (name.starts_with(begin) && name.ends_with(".tmp")) {
      std::filesystem::remove(at->path(), ignored);
    }
  }
}

}  // namespace

// A file that grows; messages name the file that it is to become.
class TokenFileParts::Part {
 public:
  Part(std::string path, std::string becomes, Index bytes)
      : path_(std::move(path)), becomes_(std::move(becomes)) {
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) {
      fail("create");
    }
    const Index held = ::lseek(descriptor_, 0, SEEK_END);
    if (held < bytes) {
      ::close(descriptor_);
      throw_data(
          "{}: holds {} bytes, but the journal says {}; delete the .part files and run again",
          path_, held, bytes);
    }
    if (::ftruncate(descriptor_, bytes) != 0 || ::lseek(descriptor_, bytes, SEEK_SET) < 0) {
      ::close(descriptor_);
      fail("cut");
    }
    buffer_.reserve(kBuffer);
  }
  ~Part() { close(); }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  void write(const void* data, std::size_t bytes) {
    if (buffer_.size() + bytes > kBuffer || bytes >= kDirect) {
      flush();
    }
    const std::string_view text(static_cast<const char*>(data), bytes);
    if (bytes >= kDirect) {
      write_through(text);
    } else {
      buffer_.append(text);
    }
  }

  void flush() {
    write_through(buffer_);
    buffer_.clear();
  }

  void sync() {
    flush();
    if (::fdatasync(descriptor_) != 0) {
      fail("flush");
    }
  }

  /// Calls `use(std::span<const T>)` with the content, piece by piece.
  template <class T, class Use>
  void for_each_piece(const Use& use) {
    flush();
    std::vector<T> piece(kBuffer / sizeof(T));
    for (off_t at = 0;;) {
      const std::size_t bytes = read_at(at, piece.data(), kBuffer);
      if (bytes == 0) {
        return;
      }
      use(std::span<const T>(piece.data(), bytes / sizeof(T)));
      at += static_cast<off_t>(bytes);
    }
  }

  void rename_to(const std::string& path) {
    close();
    if (::rename(path_.c_str(), path.c_str()) != 0) {
      fail("rename");
    }
  }

  void remove() {
    close();
    ::unlink(path_.c_str());
  }

 private:
  void close() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
      descriptor_ = -1;
    }
  }

  // Fewer than `bytes` only at the end.
  std::size_t read_at(off_t at, void* out, std::size_t bytes) const {
    std::size_t got = 0;
    while (got < bytes) {
      const ssize_t n = ::pread(descriptor_, static_cast<char*>(out) + got, bytes - got,
                                at + static_cast<off_t>(got));
      if (n < 0 && errno != EINTR) {
        fail("read");
      }
      if (n == 0) {
        break;
      }
      got += n > 0 ? static_cast<std::size_t>(n) : 0;
    }
    return got;
  }

  void write_through(std::string_view bytes) const {
    if (!write_all(descriptor_, bytes)) {
      fail("write");
    }
  }

  [[noreturn]] void fail(const char* action) const {
    throw_data("{}: cannot {}: {} ({}); free space there or choose another place and run again",
               becomes_, action, std::strerror(errno), path_);
  }

  std::string path_;
  std::string becomes_;
  int descriptor_ = -1;
  std::string buffer_;
};

TokenFileParts::TokenFileParts(const std::string& prefix, TokenType type, const TokenExtent& extent)
    : prefix_(prefix),
      type_(type),
      extent_(extent),
      bin_(std::make_unique<Part>(prefix + ".bin.part", prefix + ".bin",
                                  extent.tokens * static_cast<Index>(size_of(type)))),
      lengths_(
          std::make_unique<Part>(prefix + ".lengths.part", prefix + ".idx", extent.sequences * 4)),
      documents_(std::make_unique<Part>(prefix + ".documents.part", prefix + ".idx",
                                        extent.documents * 8)) {
  remove_unfinished_index(prefix + ".idx");
}

TokenFileParts::~TokenFileParts() = default;
TokenFileParts::TokenFileParts(TokenFileParts&&) noexcept = default;

bool TokenFileParts::exist(const std::string& prefix, TokenType type, const TokenExtent& extent) {
  const auto holds = [&](const char* end, Index bytes) {
    std::error_code failed;
    const auto held = std::filesystem::file_size(prefix + end, failed);
    return !failed && static_cast<Index>(held) >= bytes;
  };
  return holds(".bin.part", extent.tokens * static_cast<Index>(size_of(type))) &&
         holds(".lengths.part", extent.sequences * 4) &&
         holds(".documents.part", extent.documents * 8);
}

void TokenFileParts::append(const TokenBlock& block) {
  MPITRON_CHECK(block.type() == type_, prefix_);
  bin_->write(block.bytes().data(), block.bytes().size());
  lengths_->write(block.sequence_lengths().data(), block.sequence_lengths().size_bytes());
  for (const std::int64_t end : block.document_ends()) {
    const std::int64_t sequences = extent_.sequences + end;
    documents_->write(&sequences, sizeof sequences);
  }
  extent_.tokens += block.token_count();
  extent_.sequences += std::ssize(block.sequence_lengths());
  extent_.documents += std::ssize(block.document_ends());
}

void TokenFileParts::append(const TokenFile& corpus) {
  if (corpus.type() != type_ || corpus.has_modes()) {
    throw_data("{}: {}{} cannot be merged with {}; all parts need one type and no modes",
               corpus.prefix(), to_string(corpus.type()), corpus.has_modes() ? " with modes" : "",
               to_string(type_));
  }
  corpus.verify();
  for (Index i = 0; i < corpus.sequence_count(); ++i) {
    const std::span<const std::byte> bytes = corpus.raw(i);
    const std::int32_t length = corpus.length(i);
    bin_->write(bytes.data(), bytes.size());
    lengths_->write(&length, sizeof length);
    extent_.tokens += length;
  }
  for (Index i = 1; i <= corpus.document_count(); ++i) {
    const std::int64_t end = extent_.sequences + corpus.document_begin(i);
    documents_->write(&end, sizeof end);
  }
  extent_.sequences += corpus.sequence_count();
  extent_.documents += corpus.document_count();
}

void TokenFileParts::append(TokenFileParts& other) {
  MPITRON_CHECK(other.type_ == type_, prefix_);
  const auto copy = [](Part& from, Part& to) {
    from.for_each_piece<std::byte>(
        [&](std::span<const std::byte> piece) { to.write(piece.data(), piece.size()); });
  };
  copy(*other.bin_, *bin_);
  copy(*other.lengths_, *lengths_);
  other.documents_->for_each_piece<std::int64_t>([&](std::span<const std::int64_t> piece) {
    for (const std::int64_t sequences : piece) {
      const std::int64_t end = extent_.sequences + sequences;
      documents_->write(&end, sizeof end);
    }
  });
  extent_.tokens += other.extent_.tokens;
  extent_.sequences += other.extent_.sequences;
  extent_.documents += other.extent_.documents;
}

void TokenFileParts::sync() {
  bin_->sync();
  lengths_->sync();
  documents_->sync();
}

void TokenFileParts::commit() {
  sync();
  TokenIndexWriter index(prefix_, type_, extent_.sequences, extent_.documents);
  lengths_->for_each_piece<std::int32_t>(
      [&](std::span<const std::int32_t> piece) { index.add_lengths(piece); });
  lengths_->for_each_piece<std::int32_t>(
      [&](std::span<const std::int32_t> piece) { index.add_pointers(piece); });
  constexpr std::array<std::int64_t, 1> kFirst = {0};
  index.add_documents(kFirst);
  documents_->for_each_piece<std::int64_t>(
      [&](std::span<const std::int64_t> piece) { index.add_documents(piece); });
  index.commit([&] { bin_->rename_to(prefix_ + ".bin"); });
  lengths_->remove();
  documents_->remove();
}

void TokenFileParts::discard() {
  bin_->remove();
  lengths_->remove();
  documents_->remove();
}

}  // namespace mpitron::io
