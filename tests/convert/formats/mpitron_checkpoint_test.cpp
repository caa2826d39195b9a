#include "convert/formats/mpitron_checkpoint.h"

#include <gtest/gtest.h>

#include "convert/names/hugging_face_config.h"
#include "convert/tiny_models.h"
#include "convert/translation.h"
#include "support/sample_checkpoint.h"
#include "support/temporary_folder.h"

namespace mpitron::convert {
namespace mpitron_checkpoint_test {

void ignore_progress(Index, Index, const std::string&) {}

struct Written {
  Written() : model(test::reference_model("qwen2")) {
    description = read_hugging_face_config(model.config, "qwen2", 8);
    description.files["tokenizer.json"] = "{}";
    table = make_name_table("qwen2", description);
    ours = to_ours(model.weights, table);
    path = write_mpitron_checkpoint(folder.path() / "out", description, *ours, "test",
                                    ignore_progress);
  }
  const test::TemporaryFolder folder;
  test::ReferenceModel model;
  ModelDescription description;
  NameTable table;
  std::unique_ptr<TensorSource> ours;
  std::filesystem::path path;
};

TEST(MpitronCheckpoint, ReadsWhatItWrites) {
  Written w;
  EXPECT_EQ(w.path, w.folder.path() / "out/release/checkpoint.h5");
  for (const std::filesystem::path& path :
       {w.path, w.path.parent_path(), w.path.parent_path().parent_path()}) {
    EXPECT_TRUE(is_mpitron_checkpoint(path));
    MpitronCheckpoint checkpoint(path);
    EXPECT_EQ(checkpoint.tensors().size(), w.ours->tensors().size());
    for (const TensorInfo& info : w.ours->tensors()) {
      EXPECT_EQ(test::floats_of(checkpoint.read(info.name)),
                test::floats_of(w.ours->read(info.name)));
    }
    EXPECT_EQ(to_configuration(checkpoint.description()), to_configuration(w.description));
    EXPECT_EQ(checkpoint.description().model_type, "qwen2");
    EXPECT_EQ(checkpoint.description().vocab_size, 61);
    EXPECT_EQ(checkpoint.description().files, w.description.files);
    EXPECT_THROW(checkpoint.read("none"), Error);
  }
  EXPECT_FALSE(is_mpitron_checkpoint(w.folder.path()));
}

TEST(MpitronCheckpoint, ReadsAFilePerWriter) {
  const Written w;
  const checkpoint::File shared(w.path);
  test::write_checkpoint_per_writer(w.folder.path() / "checkpoint.h5", shared.header(),
                                    shared.data_sets(), 3);
  MpitronCheckpoint checkpoint(w.folder.path());
  for (const TensorInfo& info : checkpoint.tensors()) {
    const HostTensor tensor = checkpoint.read(info.name);
    const std::span<const std::byte> bytes = tensor.bytes();
    EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
              test::sample_bytes({.name = "", .shape = info.shape, .dtype = info.dtype}))
        << info.name;
  }
}

TEST(MpitronCheckpoint, NoticesAFlippedBit) {
  const Written w;
  std::string text = read_file(w.path);
  const checkpoint::File file(w.path);
  text[static_cast<std::size_t>(file.data_sets()[3].offset)] ^= 1;
  test::write_text(w.path, text);
  EXPECT_THROW(MpitronCheckpoint{w.path}, Error);
}

TEST(MpitronCheckpoint, DoesNotReplaceACheckpoint) {
  Written w;
  EXPECT_THROW(write_mpitron_checkpoint(w.folder.path() / "out", w.description, *w.ours, "test",
                                        ignore_progress),
               Error);
}

}  // namespace mpitron_checkpoint_test
}  // namespace mpitron::convert
