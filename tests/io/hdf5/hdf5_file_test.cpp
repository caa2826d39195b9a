#include "io/hdf5/hdf5_file.h"

#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "utils/error.h"

namespace mpitron::io {
namespace hdf5_file_test {

TEST(Hdf5File, SaysWhatHdf5Says) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "a.h5";
  try {
    const Hdf5File file(path, Hdf5File::Mode::read);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::data);
    const std::string text = error.what();
    EXPECT_NE(text.find(path.string()), text.npos) << text;
    EXPECT_NE(text.find("No such file"), text.npos) << text;
  }
}

TEST(Hdf5File, WhatNoFileOfOursHoldsIsRefused) {
  const test::TemporaryFolder folder;
  Hdf5File file(folder.path() / "a.h5", Hdf5File::Mode::create);
  file.create_data_set({.name = "twice", .shape = {2}});
  EXPECT_THROW(file.create_data_set({.name = "twice", .shape = {2}}), Error);
  file.create_data_set({.name = "matrix", .shape = {2, 2}, .dtype = DType::u8});
  EXPECT_THROW(file.read_bytes("matrix"), Error);
  EXPECT_THROW(file.read_bytes("twice"), Error);
  EXPECT_THROW(file.attributes("nowhere"), Error);
  file.write_extents("table", std::vector<Extent>(3));
  EXPECT_THROW(file.data_sets({}), Error);
}

TEST(Hdf5File, AttributesAreReplaced) {
  const test::TemporaryFolder folder;
  Hdf5File file(folder.path() / "a.h5", Hdf5File::Mode::create);
  file.set_attributes("/", {{"a", Index{1}}, {"b", 2.5}});
  file.set_attributes("/", {{"a", std::string("text")}, {"c", Index{-1}}});
  const Attributes expected = {{"a", std::string("text")}, {"b", 2.5}, {"c", Index{-1}}};
  EXPECT_EQ(file.attributes("/"), expected);
}

TEST(Hdf5File, AThreadHasTwoOpen) {
  const test::TemporaryFolder folder;
  Hdf5File one(folder.path() / "a.h5", Hdf5File::Mode::create);
  Hdf5File two(folder.path() / "b.h5", Hdf5File::Mode::create);
  one.write_bytes("text", "first");
  two.write_bytes("text", "second");
  EXPECT_EQ(one.read_bytes("text"), "first");
  EXPECT_EQ(two.read_bytes("text"), "second");
}

// What they show is looked at with other programs (tests/checkpoint/other_tools_test.cpp).
TEST(Hdf5File, VirtualDataSetsAreNoneThatHavePlaces) {
  const test::TemporaryFolder folder;
  Hdf5File file(folder.path() / "a.h5", Hdf5File::Mode::create);
  const std::vector<VirtualPart> parts = {
      {.file = "b.h5", .begin = 0, .end = 4, .source_begin = 2, .source_elements = 6},
      {.file = "c.h5", .begin = 4, .end = 6, .source_begin = 0, .source_elements = 2}};
  file.create_virtual_data_set({.name = "group/x", .shape = {2, 3}}, parts);
  file.create_virtual_data_set({.name = "none", .shape = {0, 3}}, {});
  EXPECT_EQ(file.names_below("/"), (std::vector<std::string>{"group/x", "none"}));
  EXPECT_THROW(file.data_sets({}), Error);
}

TEST(Hdf5Version, RunsWhatItWasBuiltWith) {
  const LibraryVersion version = hdf5_version();
  EXPECT_EQ(version.name, "HDF5");
  EXPECT_EQ(version.built, version.running);
  EXPECT_NO_THROW(require_hdf5("--save"));  // a program without HDF5 has no tests
}

}  // namespace hdf5_file_test

}  // namespace mpitron::io
