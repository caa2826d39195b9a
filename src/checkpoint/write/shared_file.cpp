#include "checkpoint/write/file_scheme.h"

// The scheme of one file for all ranks (schema 1): rank 0 lays it out, every rank writes at its
// offsets, and rank 0 seals it with everybody's hashes.

namespace mpitron::checkpoint {
namespace {

class SharedFile : public FileScheme {
 public:
  explicit SharedFile(SaveContents contents) : contents_(std::move(contents)) {}

  std::string create() override {
    std::vector<Index> offsets;
    for (const DataSet& data_set :
         create_file(contents_.path, contents_.header, contents_.data_sets)) {
      offsets.push_back(data_set.offset);
    }
    return pack(offsets);
  }

  WriterTarget open(const std::string& created) override {
    const auto offsets = unpack<Index>(created);
    WriterTarget target{.path = contents_.path, .ranges = {}};
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      target.ranges.push_back({.data_set = static_cast<Index>(i),
                               .begin = 0,
                               .end = contents_.data_sets[i].bytes(),
                               .offset = offsets[i]});
    }
    return target;
  }

  std::string close(std::vector<Extent> extents) override { return pack(extents); }

  void complete(const std::vector<std::string>& closed) override {
    std::vector<Extent> extents;
    for (const std::string& text : closed) {
      const auto part = unpack<Extent>(text);
      extents.insert(extents.end(), part.begin(), part.end());
    }
    seal_file(contents_.path, std::move(extents));
  }

 private:
  const SaveContents contents_;
};

}  // namespace

std::unique_ptr<FileScheme> make_shared_file(SaveContents contents) {
  return std::make_unique<SharedFile>(std::move(contents));
}

}  // namespace mpitron::checkpoint
