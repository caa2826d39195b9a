#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include "io/compressed/byte_source.h"
#include "support/corpus.h"

namespace mpitron::test {

/// A gzip member.
inline std::string gzip(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// A zstd frame with a checksum at its end.
inline std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  out.resize(ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return out;
}

/// Gives its bytes in pieces of at most `piece`.
class SourceInPieces : public io::ByteSource {
 public:
  SourceInPieces(std::string bytes, std::size_t piece) : bytes_(std::move(bytes)), piece_(piece) {}
  std::size_t read(char* out, std::size_t bytes) override {
    const std::size_t n = bytes_.copy(out, std::min(bytes, piece_), at_);
    at_ += n;
    return n;
  }

 private:
  std::string bytes_;
  std::size_t piece_;
  std::size_t at_ = 0;
};

/// All that `source` gives when it is asked for `wanted` bytes at a time.
inline std::string read_all(io::ByteSource& source, std::size_t wanted) {
  std::string all;
  std::string buffer(wanted, '\0');
  while (const std::size_t n = source.read(buffer.data(), wanted)) {
    EXPECT_LE(n, wanted);
    all.append(buffer, 0, n);
  }
  EXPECT_EQ(source.read(buffer.data(), wanted), 0U) << "the end stays the end";
  return all;
}

/// A format: its name, what writes it and what reads it.
struct Compression {
  const char *name, *file;
  std::string (*compress)(const std::string& text);
  std::unique_ptr<io::ByteSource> (*open)(std::unique_ptr<io::ByteSource> compressed,
                                          std::string name);

  /// What `bytes` hold, where they come in pieces of `piece` and are asked for `wanted` at a time.
  std::string read(const std::string& bytes, std::size_t piece = 1 << 20,
                   std::size_t wanted = 1000) const {
    const auto source = open(std::make_unique<SourceInPieces>(bytes, piece), file);
    return read_all(*source, wanted);
  }
  /// The message has `part` in it, the file's name, and what tests it.
  void expect_damaged(const std::string& bytes, const std::string& part) const {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{1} << 20}) {
      const std::string message = message_of([&] { read(bytes, piece); });
      for (const std::string& wanted :
           {part, file + std::string(": "), std::string("test it with: ") + name + " -t " + file}) {
        EXPECT_NE(message.find(wanted), std::string::npos) << message;
      }
    }
  }
};
inline constexpr Compression kGzip{"gzip", "f.gz", gzip, io::gunzip};
inline constexpr Compression kZstd{"zstd", "f.zst", zstd, io::unzstd};

}  // namespace mpitron::test
