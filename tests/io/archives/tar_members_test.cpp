#include "io/archives/tar_members.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "support/fuzz.h"
#include "support/tar.h"
#include "support/temporary_folder.h"

namespace mpitron::io {
namespace tar_members_test {

using test::TemporaryFolder;
using test::write_bytes;

std::string content_of(const MappedFile& archive, const TarMember& member) {
  return std::string(archive.text().substr(static_cast<std::size_t>(member.offset),
                                           static_cast<std::size_t>(member.bytes)));
}

TEST(TarMembers, FilesLieWhereTheyAreSaidTo) {
  const TemporaryFolder folder;
  write_bytes(folder / "a.tar", test::tar_of({{"a/1.txt", "one"}, {"empty", ""}, {"2", "two"}}));
  const MappedFile archive(folder / "a.tar");
  const auto members = tar_members(archive);
  EXPECT_EQ(members,
            (std::vector<TarMember>{{"a/1.txt", 512, 3}, {"empty", 1536, 0}, {"2", 2048, 3}}));
  EXPECT_EQ(content_of(archive, members[2]), "two");
}

/// Names beyond the header's field, folders and links, in the three forms that tar writes.
TEST(TarMembers, WhatTarWritesIsRead) {
  const TemporaryFolder folder;
  const std::string longer(120, 'n'), long_folder = folder / "in" + "/" + std::string(90, 'f');
  std::filesystem::create_directories(long_folder);
  write_bytes(long_folder + "/" + longer, "long");
  write_bytes(folder / "in/b", "short");
  std::filesystem::create_symlink("b", folder / "in/link");
  for (const std::string format : {"gnu", "posix"}) {
    const std::string archive = folder / (format + ".tar");
    const std::string command =
        "tar --sort=name --format=" + format + " -cf " + archive + " -C " + (folder / "in") + " .";
    ASSERT_EQ(std::system(command.c_str()), 0);
    const MappedFile file(archive);
    const auto members = tar_members(file);
    ASSERT_EQ(members.size(), 2U) << format;
    EXPECT_EQ(members[0].name, "./b");
    EXPECT_EQ(members[1].name, "./" + std::string(90, 'f') + "/" + longer);
    EXPECT_EQ(content_of(file, members[0]), "short");
    EXPECT_EQ(content_of(file, members[1]), "long");
  }
}

TEST(TarMembers, DamagedArchivesAreRefusedByByte) {
  const TemporaryFolder folder;
  const std::string whole = test::tar_of({{"a", "content"}, {"b", std::string(3000, 'x')}});
  const auto message = [&](const std::string& bytes) {
    write_bytes(folder / "a.tar", bytes);
    return test::message_of([&] { tar_members(MappedFile(folder / "a.tar")); });
  };
  EXPECT_EQ(message(whole), "");
  EXPECT_NE(message(whole.substr(0, 2000)).find("a.tar: byte 1536: the archive is truncated"),
            std::string::npos);
  std::string damaged = whole;
  damaged[1030] ^= 1;
  EXPECT_NE(message(damaged).find("byte 1024: no header of a tar archive"), std::string::npos);
  EXPECT_NE(message("\x1f\x8b and more").find("compressed"), std::string::npos);
}

TEST(Fuzz, TarArchives) {
  const TemporaryFolder folder;
  write_bytes(folder / "x", std::string(200, 'x'));
  const std::string name(150, 'n');
  write_bytes(folder / name, "y");
  std::vector<std::string> archives = {test::tar_of({{"a", "1"}, {"b", std::string(700, '2')}})};
  for (const std::string format : {"gnu", "posix"}) {
    const std::string command = "tar --format=" + format + " -cf " + (folder / "t.tar") + " -C " +
                                folder.path().string() + " x " + name;
    ASSERT_EQ(std::system(command.c_str()), 0);
    archives.push_back(read_file(folder / "t.tar"));
  }
  test::fuzz(archives, test::FuzzLength::of_ci(1000), [&](const std::string& bytes) {
    write_bytes(folder / "f.tar", bytes);
    const MappedFile archive(folder / "f.tar");
    for (const TarMember& member : tar_members(archive)) {
      EXPECT_EQ(static_cast<Index>(content_of(archive, member).size()), member.bytes);
    }
  });
}

}  // namespace tar_members_test
}  // namespace mpitron::io
