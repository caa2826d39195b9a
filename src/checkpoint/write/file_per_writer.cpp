#include <cstring>

#include "checkpoint/format/writer_files.h"
#include "checkpoint/write/file_scheme.h"

// The scheme of a file for each writer (schema 2): every rank seals its own, and rank 0 writes the
// view that shows them as one.

namespace mpitron::checkpoint {
namespace {

/// A writer's part without its ranges, as it travels before them.
struct PartHead {
  Index writer = 0, bytes = 0;
  Hash128 seal;
};

class FilePerWriter : public FileScheme {
 public:
  FilePerWriter(SaveContents contents, Index rank, std::vector<PlacedRange> own)
      : contents_(std::move(contents)),
        rank_(rank),
        target_{.path = writer_file(contents_.path, rank), .ranges = std::move(own)} {}

  std::string create() override { return {}; }

  WriterTarget open(const std::string& /*created*/) override {
    create_writer_file(target_.path, rank_, contents_.data_sets, target_.ranges);
    return target_;
  }

  std::string close(std::vector<Extent> extents) override {
    seal_file(target_.path, std::move(extents), kFilePerWriterSchema);
    WriterPart part;
    part.identify(target_.path);
    return pack(std::vector{PartHead{rank_, part.bytes, part.seal}}) + pack(target_.ranges);
  }

  void complete(const std::vector<std::string>& closed) override {
    std::vector<WriterPart> parts;
    for (const std::string_view text : closed) {
      if (!text.empty()) {
        const PartHead head = unpack<PartHead>(text.substr(0, sizeof(PartHead))).front();
        parts.push_back({.writer = head.writer,
                         .bytes = head.bytes,
                         .seal = head.seal,
                         .ranges = unpack<PlacedRange>(text.substr(sizeof(PartHead)))});
      }
    }
    Header header = contents_.header;
    header.schema_version = kFilePerWriterSchema;
    write_view(contents_.path, header, contents_.data_sets, parts);
  }

 private:
  const SaveContents contents_;
  const Index rank_;
  WriterTarget target_;
};

}  // namespace

std::unique_ptr<FileScheme> make_file_per_writer(SaveContents contents, Index rank,
                                                 std::vector<PlacedRange> own) {
  return std::make_unique<FilePerWriter>(std::move(contents), rank, std::move(own));
}

}  // namespace mpitron::checkpoint
